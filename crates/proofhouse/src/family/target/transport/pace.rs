//! Requests and tokens per minute: no window of a minute ever holds more than was allowed.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// A minute, and what a request may be late on its way to the endpoint's own clock.
const WINDOW: Duration = Duration::from_millis(60_250);

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
            sent.entries[at].tokens = tokens;
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
        // The allowance is used: 23 requests of 5 a minute need four more windows, not five.
        assert_eq!(times[22] - times[0], WINDOW * 4);
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
        assert_eq!(start.elapsed(), WINDOW);
        pace.wait(5_000).await;
        assert_eq!(start.elapsed(), WINDOW * 2, "what is larger than the allowance goes alone");
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
