//! How many requests may be under way: slow start, additive increase, halved when the endpoint asks for less.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;
use tokio::time::Instant;

// This is how TCP finds out what a network bears, for the same reason: nobody tells, endpoints differ by a factor of a thousand, and
// pushing on where requests are turned away only makes it worse.

/// With how many requests a run begins before it knows how much the endpoint bears.
const FIRST_LIMIT: f64 = 10.0;

/// Lets requests pass, first come first served, as many at a time as the endpoint has shown that it bears.
#[derive(Debug, Clone)]
pub(super) struct Gate(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    /// Requests that may be under way; whole requests count.
    limit: f64,
    /// Below it the limit grows by one with each answer, above it by one with each round of answers.
    threshold: f64,
    most: f64,
    in_flight: usize,
    waiting: VecDeque<oneshot::Sender<Permit>>,
    /// When the limit was halved last: requests from before it say nothing new.
    cut: Option<Instant>,
    /// Nothing is sent before this.
    closed_until: Option<Instant>,
}

/// The right to have one request under way; given back when it is dropped.
#[derive(Debug)]
pub(super) struct Permit {
    gate: Option<Gate>,
    taken: Instant,
}

impl Gate {
    /// A gate that never lets more than `most` pass at a time.
    pub(super) fn new(most: usize) -> Self {
        let most = most.max(1) as f64;
        Gate(Arc::new(Mutex::new(State {
            limit: FIRST_LIMIT.min(most),
            threshold: most,
            most,
            in_flight: 0,
            waiting: VecDeque::new(),
            cut: None,
            closed_until: None,
        })))
    }

    /// No more than `most` from now on.
    pub(super) fn lower(&self, most: usize) {
        let mut state = self.state();
        state.most = state.most.min(most.max(1) as f64);
        state.limit = state.limit.min(state.most);
        state.threshold = state.threshold.min(state.most);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No code that holds the lock can panic half-way through a change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a place, and until the endpoint wants requests again.
    pub(super) async fn enter(&self) -> Permit {
        let mut permit = match self.place() {
            Ok(permit) => permit,
            Err(waiting) => waiting.await.expect("a waiting request is woken or dropped, never forgotten"),
        };
        loop {
            let closed_until = self.state().closed_until;
            match closed_until {
                Some(until) if until > Instant::now() => tokio::time::sleep_until(until).await,
                _ => break,
            }
        }
        permit.taken = Instant::now();
        permit
    }

    /// A place at once, or the way to wait for one.
    fn place(&self) -> Result<Permit, oneshot::Receiver<Permit>> {
        let mut state = self.state();
        // Where somebody waits already, nobody passes by: otherwise retries would overtake the first requests of other trials.
        if state.waiting.is_empty() && state.has_room() {
            state.in_flight += 1;
            return Ok(self.permit());
        }
        let (sender, receiver) = oneshot::channel();
        state.waiting.push_back(sender);
        Err(receiver)
    }

    fn permit(&self) -> Permit {
        Permit { gate: Some(self.clone()), taken: Instant::now() }
    }

    /// An answer came: the endpoint bears a little more.
    pub(super) fn answered(&self, permit: &Permit) {
        let mut state = self.state();
        if state.cut.is_some_and(|cut| permit.taken < cut) {
            return;
        }
        let step = if state.limit < state.threshold { 1.0 } else { 1.0 / state.limit };
        state.limit = (state.limit + step).min(state.most);
        self.wake(state);
    }

    /// The endpoint asked for fewer requests, and perhaps for none for a while.
    pub(super) fn pushed_back(&self, permit: &Permit, closed_until: Option<Instant>) {
        let mut state = self.state();
        state.closed_until = state.closed_until.max(closed_until);
        // Many requests under way are turned away at the same moment: that is one message, and halves the limit once.
        if state.cut.is_some_and(|cut| permit.taken < cut) {
            return;
        }
        state.cut = Some(Instant::now());
        state.limit = (state.limit / 2.0).max(1.0);
        state.threshold = state.limit;
    }

    /// Nothing is sent before this: the endpoint said how long its allowance is used up.
    pub(super) fn close_until(&self, until: Instant) {
        let mut state = self.state();
        state.closed_until = state.closed_until.max(Some(until));
    }

    /// Lets in whoever has waited longest, as long as there is room.
    fn wake(&self, mut state: MutexGuard<'_, State>) {
        let mut unwanted = Vec::new();
        while state.has_room() {
            let Some(sender) = state.waiting.pop_front() else { break };
            // One that stopped waiting gives its place back; its permit must not be dropped under the lock.
            match sender.send(self.permit()) {
                Ok(()) => state.in_flight += 1,
                Err(permit) => unwanted.push(permit),
            }
        }
        drop(state);
        unwanted.iter_mut().for_each(|permit| permit.gate = None);
    }

    #[cfg(test)]
    fn limit(&self) -> f64 {
        self.state().limit
    }
}

impl State {
    fn has_room(&self) -> bool {
        (self.in_flight as f64) < self.limit.floor()
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if let Some(gate) = self.gate.take() {
            let mut state = gate.state();
            state.in_flight -= 1;
            gate.wake(state);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    async fn enter_many(gate: &Gate, count: usize) -> Vec<Permit> {
        let mut permits = Vec::new();
        for _ in 0..count {
            let entered = tokio::time::timeout(Duration::from_millis(1), gate.enter()).await;
            permits.extend(entered.ok());
        }
        permits
    }

    #[tokio::test(start_paused = true)]
    async fn starts_slowly_doubles_halves_and_climbs_again() {
        let gate = Gate::new(64);
        let mut permits = enter_many(&gate, 64).await;
        assert_eq!(permits.len(), 10);
        permits.drain(..).for_each(|permit| gate.answered(&permit));
        let mut permits = enter_many(&gate, 64).await;
        assert_eq!(permits.len(), 20);
        permits.drain(..).for_each(|permit| gate.answered(&permit));
        let permits = enter_many(&gate, 64).await;
        assert_eq!(permits.len(), 40);
        tokio::time::advance(Duration::from_millis(5)).await;
        // Forty push back together, but it is one message: the limit is halved once.
        permits.iter().for_each(|permit| gate.pushed_back(permit, None));
        assert_eq!(gate.limit(), 20.0);
        // An answer to a request from before the cut does not raise it.
        gate.answered(&permits[0]);
        assert_eq!(gate.limit(), 20.0);
        drop(permits);
        let mut permits = enter_many(&gate, 64).await;
        assert_eq!(permits.len(), 20);
        permits.drain(..).for_each(|permit| gate.answered(&permit));
        assert!(
            (20.9..21.0).contains(&gate.limit()),
            "one more a round, not twice as many: {}",
            gate.limit()
        );
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_longest_is_next_and_who_left_takes_no_place() {
        let gate = Gate::new(1);
        let first = gate.enter().await;
        assert_eq!(enter_many(&gate, 3).await.len(), 0);
        let waiting = tokio::spawn({
            let gate = gate.clone();
            async move { gate.enter().await }
        });
        tokio::task::yield_now().await;
        drop(first);
        let second = waiting.await.unwrap();
        assert_eq!(enter_many(&gate, 1).await.len(), 0);
        drop(second);
        assert_eq!(enter_many(&gate, 1).await.len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_closed_gate_opens_when_the_endpoint_said() {
        let gate = Gate::new(4);
        let permit = gate.enter().await;
        let start = Instant::now();
        gate.pushed_back(&permit, Some(start + Duration::from_secs(7)));
        drop(permit);
        let _permit = gate.enter().await;
        assert_eq!(start.elapsed(), Duration::from_secs(7));
    }
}
