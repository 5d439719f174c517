//! Requests and tokens per minute: no window of a minute ever holds more than was allowed, and what is allowed is spread
//! over the minute, because many endpoints count in seconds.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// A minute, and what a request may be late on its way to the endpoint's own clock.
const WINDOW: Duration = Duration::from_millis(60_250);

/// What may be sent at once, as a part of a minute: its allowance of six seconds.
const BURST: Duration = Duration::from_millis(6_025);

/// Spreads requests over time so that two allowances hold.
#[derive(Debug, Default)]
pub(super) struct Pace(Mutex<Sent>);

#[derive(Debug, Default)]
struct Sent {
    /// Allowances for a minute; none is no limit.
    requests: Option<u32>,
    tokens: Option<u32>,
    /// When each request of the last minute was or will be sent, oldest first, with its tokens.
    entries: VecDeque<Entry>,
    next: u64,
    /// When all that was sent is worked off at an even pace, by each allowance.
    even: [Option<Instant>; 2],
    /// Whether nothing may be sent ahead of an even pace.
    strictly_even: bool,
}

/// The time after which so much of an allowance for a minute is worked off.
fn share(amount: u64, most: u32) -> Duration {
    WINDOW.mul_f64(amount as f64 / f64::from(most))
}

#[derive(Debug)]
struct Entry {
    id: u64,
    at: Instant,
    tokens: u64,
}

/// A request's place in the allowance.
#[derive(Debug, Clone, Copy)]
pub(super) struct Booking(u64);

impl Pace {
    /// No more than this in a minute from now on; none changes nothing.
    pub(super) fn lower(&self, requests: Option<u32>, tokens: Option<u32>) {
        let smaller = |a: Option<u32>, b: Option<u32>| a.into_iter().chain(b).min();
        let mut sent = self.sent();
        sent.requests = smaller(sent.requests, requests);
        sent.tokens = smaller(sent.tokens, tokens);
    }

    /// Sends nothing ahead of an even pace, not even the first request: whoever is started in the place of another that has just
    /// ended must not use the same minute twice.
    pub(super) fn keep_even(&self) {
        self.sent().strictly_even = true;
    }

    fn sent(&self) -> MutexGuard<'_, Sent> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a request of about so many tokens may be sent. Requests go in the order in which they ask.
    pub(super) async fn wait(&self, tokens: u64) -> Option<Booking> {
        let (booking, at) = self.book(tokens)?;
        tokio::time::sleep_until(at).await;
        Some(booking)
    }

    fn book(&self, tokens: u64) -> Option<(Booking, Instant)> {
        let mut sent = self.sent();
        if sent.requests.is_none() && sent.tokens.is_none() {
            return None;
        }
        let now = Instant::now();
        while sent.entries.front().is_some_and(|entry| entry.at + WINDOW <= now) {
            sent.entries.pop_front();
        }
        let mut at = sent.entries.back().map_or(now, |last| last.at.max(now));
        if let Some(most) = sent.requests
            && let Some(behind) = sent.entries.len().checked_sub(most as usize)
        {
            at = at.max(sent.entries[behind].at + WINDOW);
        }
        if let Some(most) = sent.tokens {
            // A request that is larger than the allowance goes alone.
            let mut room = u64::from(most).saturating_sub(tokens);
            for entry in sent.entries.iter().rev() {
                match room.checked_sub(entry.tokens) {
                    Some(left) => room = left,
                    None => {
                        at = at.max(entry.at + WINDOW);
                        break;
                    }
                }
            }
        }
        let allowances = [(sent.requests, 1), (sent.tokens, tokens)];
        if sent.strictly_even {
            for (place, (most, amount)) in allowances.into_iter().enumerate() {
                let Some(most) = most else { continue };
                at = at.max(sent.even[place].unwrap_or_else(|| now + share(amount, most)));
            }
        }
        for (even, (most, _)) in sent.even.iter().zip(allowances) {
            if let (Some(even), Some(_)) = (even, most) {
                at = at.max(even.checked_sub(BURST).unwrap_or(now));
            }
        }
        for (place, (most, amount)) in allowances.into_iter().enumerate() {
            if let Some(most) = most {
                sent.even[place] =
                    Some(sent.even[place].map_or(at, |even| even.max(at)) + share(amount, most));
            }
        }
        let id = sent.next;
        sent.next += 1;
        sent.entries.push_back(Entry { id, at, tokens });
        Some((Booking(id), at))
    }

    /// What the request really used.
    pub(super) fn settle(&self, booking: Option<Booking>, tokens: u64) {
        let Some(Booking(id)) = booking else { return };
        let mut sent = self.sent();
        if let Ok(at) = sent.entries.binary_search_by_key(&id, |entry| entry.id) {
            let booked = std::mem::replace(&mut sent.entries[at].tokens, tokens);
            if let (Some(even), Some(most)) = (sent.even[1], sent.tokens) {
                let even = even.checked_sub(share(booked.saturating_sub(tokens), most)).unwrap_or(even);
                sent.even[1] = Some(even + share(tokens.saturating_sub(booked), most));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace(requests: Option<u32>, tokens: Option<u32>) -> Pace {
        let pace = Pace::default();
        pace.lower(requests, tokens);
        pace
    }

    /// Ten instances one after the other, each ended after nine seconds: together they keep to the allowance of one.
    #[tokio::test(start_paused = true)]
    async fn whoever_comes_next_does_not_use_the_same_minute_twice() {
        let start = Instant::now();
        let mut sent = Vec::new();
        for instance in 0..10 {
            let pace = pace(Some(30), None);
            pace.keep_even();
            let end = start + Duration::from_secs(9 * (instance + 1));
            while tokio::time::timeout_at(end, pace.wait(1)).await.is_ok() {
                sent.push(start.elapsed());
            }
        }
        let most = sent.iter().map(|from| {
            let within = |at: &&Duration| **at >= *from && **at < *from + Duration::from_secs(60);
            sent.iter().filter(within).count()
        });
        assert!(most.clone().max() <= Some(30), "{most:?}");
        assert!(sent.len() >= 35, "and the allowance is used: {}", sent.len());
    }

    #[tokio::test(start_paused = true)]
    async fn no_minute_holds_more_requests_than_allowed() {
        let pace = pace(Some(5), None);
        let mut times = Vec::new();
        for _ in 0..23 {
            pace.wait(0).await;
            times.push(Instant::now());
        }
        for pair in times.windows(6) {
            assert!(pair[5] - pair[0] >= Duration::from_secs(60), "six within a minute");
        }
        // The allowance is used: 22 further requests of 5 a minute take 22 fifths of a window, but for what goes at once.
        assert!(times[22] - times[0] <= WINDOW * 22 / 5, "{:?}", times[22] - times[0]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_minute_s_allowance_is_spread_over_the_minute() {
        let pace = pace(Some(600), None);
        let start = Instant::now();
        let mut in_first_second = 0;
        for _ in 0..600 {
            pace.wait(0).await;
            in_first_second += u32::from(start.elapsed() < Duration::from_secs(1));
        }
        assert!((60..=75).contains(&in_first_second), "{in_first_second} at once");
        let took = start.elapsed();
        assert!(took > Duration::from_secs(50) && took < WINDOW, "{took:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn tokens_hold_and_are_corrected_by_what_was_used() {
        let pace = pace(None, Some(1_000));
        let start = Instant::now();
        let first = pace.wait(900).await;
        pace.settle(first, 100);
        pace.wait(800).await;
        assert_eq!(start.elapsed(), Duration::ZERO, "the first used less than it had booked");
        pace.wait(101).await;
        assert!(start.elapsed() >= WINDOW, "{:?}", start.elapsed());
        let before = start.elapsed();
        pace.wait(5_000).await;
        assert!(start.elapsed() >= before + WINDOW, "what is larger than the allowance goes alone");
    }

    #[tokio::test(start_paused = true)]
    async fn without_allowance_nothing_waits() {
        let start = Instant::now();
        for _ in 0..1_000 {
            assert!(pace(None, None).wait(1_000_000).await.is_none());
        }
        assert_eq!(start.elapsed(), Duration::ZERO);
    }
}
