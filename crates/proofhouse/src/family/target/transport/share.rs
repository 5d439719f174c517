//! What slots of one endpoint share: its provider counts their requests together, so they go through one gate and draw
//! on one allowance.

use std::sync::{Arc, Mutex, PoisonError};

use hyper::Uri;
use proofhouse_ledger::Part;

use super::super::secret::Secret;
use super::Transport;
use super::gate::Gate;
use super::pace::Pace;
use crate::text::complaint::Complaint;

/// The endpoints that are in use, by scheme, host, port and key.
#[derive(Debug, Clone, Default)]
pub struct Endpoints {
    known: Arc<Mutex<Vec<Known>>>,
    /// Who else draws on the same allowances.
    among: Option<Among>,
}

/// The part of the plan that is run here, and how many parts run at the same time.
#[derive(Debug, Clone, Copy)]
struct Among {
    part: Part,
    at_once: u32,
}

#[derive(Debug)]
struct Known {
    place: EndpointId,
    share: Share,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct EndpointId {
    scheme: String,
    host: String,
    port: u16,
    key: Option<Secret>,
}

/// The gate and the allowances of one endpoint.
#[derive(Debug, Clone)]
pub(crate) struct Share {
    pub(super) gate: Gate,
    pub(super) pace: Arc<Pace>,
}

impl Endpoints {
    /// The same, with what every endpoint allows divided among the parts of a plan: all of them, or those that run at the same
    /// time where that is known.
    #[must_use]
    pub fn divided(&self, part: Option<Part>, at_once: Option<u32>) -> Endpoints {
        let among =
            part.map(|part| Among { part, at_once: at_once.map_or(part.count, |most| most.min(part.count)) });
        Endpoints { among, ..self.clone() }
    }

    /// What of an allowance is ours. The shares of those that run at the same time never add up to more than the whole.
    fn part_of(&self, key: &str, whole: Option<u32>) -> Result<Option<u32>, Complaint> {
        let (Some(whole), Some(Among { part, at_once })) = (whole, self.among) else { return Ok(whole) };
        if whole < at_once {
            let what = format!("`{key}: {whole}` cannot be divided among {at_once} shards");
            let hint = format!(
                "take at most {whole} shards, or let fewer run at a time and say so: `--shards-at-once {whole}`"
            );
            return Err(Complaint::new(what).hint(hint));
        }
        // Where any of them may run, nobody knows which: each has the same. Where all do, what is left over is given away too.
        let upto = |index: u32| u64::from(whole) * u64::from(index) / u64::from(part.count);
        let ours = match at_once < part.count {
            true => whole / at_once,
            false => u32::try_from(upto(part.index + 1) - upto(part.index)).unwrap_or(u32::MAX),
        };
        Ok(Some(ours))
    }

    /// The share of an endpoint. Of several limits that slots name, the smallest holds.
    pub(crate) fn join(
        &self,
        to: &Uri,
        key: Option<&Secret>,
        settings: &Transport,
    ) -> Result<Share, Complaint> {
        let requests = self.part_of("requests_per_minute", settings.requests_per_minute)?;
        let tokens = self.part_of("tokens_per_minute", settings.tokens_per_minute)?;
        // Who has more shards than places runs fewer of them at once: one place each is the least.
        let count = self.among.map_or(1, |among| among.at_once);
        let in_flight = settings.max_in_flight.map(|most| (most / count).max(1));
        let place = EndpointId::of(to, key);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let at = known.iter().position(|known| known.place == place).unwrap_or_else(|| {
            let share = Share { gate: Gate::new(10_000), pace: Arc::default() };
            known.push(Known { place, share });
            known.len() - 1
        });
        let share = known[at].share.clone();
        if let Some(most) = in_flight {
            share.gate.lower(most as usize);
        }
        share.pace.lower(requests, tokens);
        if self.among.is_some() {
            share.pace.keep_even();
        }
        Ok(share)
    }
}

impl EndpointId {
    fn of(to: &Uri, key: Option<&Secret>) -> Self {
        let scheme = to.scheme_str().unwrap_or("http").to_ascii_lowercase();
        let usual = if scheme == "https" { 443 } else { 80 };
        EndpointId {
            host: to.host().unwrap_or_default().to_ascii_lowercase(),
            port: to.port_u16().unwrap_or(usual),
            key: key.cloned(),
            scheme,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::*;
    use crate::family::target::Environment;

    fn join(endpoints: &Endpoints, to: &str, key: &'static str, requests_per_minute: Option<u32>) -> Share {
        let environment = Environment::new(move |_| Some(key.to_owned()));
        let settings = Transport { requests_per_minute, ..Transport::default() };
        endpoints.join(&to.parse().unwrap(), environment.secret("K").as_ref(), &settings).unwrap()
    }

    async fn minutes(shares: &[&Share]) -> u128 {
        let start = Instant::now();
        for share in shares {
            share.pace.wait(1).await;
        }
        start.elapsed().as_millis() / 60_000
    }

    #[tokio::test(start_paused = true)]
    async fn slots_of_one_endpoint_draw_on_the_smaller_allowance_together() {
        let endpoints = Endpoints::default();
        let a = join(&endpoints, "http://h/v1", "k1", Some(5));
        let b = join(&endpoints, "http://H:80/other", "k1", Some(2));
        let c = join(&endpoints, "http://h/v1", "k1", None);
        assert_eq!(minutes(&[&a, &b, &c, &a, &b]).await, 2, "two a minute, whoever asks");
        for other in
            [("https://h/v1", "k1"), ("http://h:81/v1", "k1"), ("http://g/v1", "k1"), ("http://h/v1", "k2")]
        {
            let other = join(&endpoints, other.0, other.1, Some(3));
            assert_eq!(minutes(&[&other, &other, &other]).await, 0);
        }
    }

    #[test]
    fn shares_of_an_allowance_never_add_up_to_more() {
        let ours = |whole: u32, index: u32, count: u32, at_once: Option<u32>| {
            let part = Part::new(index, count).unwrap();
            Endpoints::default().divided(Some(part), at_once).part_of("k", Some(whole))
        };
        for (whole, count) in [(100, 7), (7, 7), (1000, 3), (60, 1)] {
            let all: u32 = (0..count).map(|index| ours(whole, index, count, None).unwrap().unwrap()).sum();
            assert_eq!(all, whole, "{whole} among {count}");
            for at_once in 1..=count {
                let each = ours(whole, 0, count, Some(at_once)).unwrap().unwrap();
                assert!(each * at_once <= whole || at_once == count, "{whole} among {at_once} of {count}");
            }
        }
        assert!(ours(6, 0, 7, None).is_err(), "nobody can send less than one a minute");
        assert_eq!(ours(6, 0, 7, Some(3)), Ok(Some(2)));
        assert_eq!(ours(60, 3, 100, Some(200)), ours(60, 3, 100, None), "no more run than there are");
    }

    #[tokio::test(start_paused = true)]
    async fn slots_of_one_endpoint_go_through_one_gate() {
        let endpoints = Endpoints::default();
        let few = Transport { max_in_flight: Some(2), ..Transport::default() };
        let to = "http://h/v1".parse().unwrap();
        let (a, b) = (
            endpoints.join(&to, None, &Transport::default()).unwrap(),
            endpoints.join(&to, None, &few).unwrap(),
        );
        let _held = (a.gate.enter().await, b.gate.enter().await);
        let third = tokio::time::timeout(Duration::from_secs(1), a.gate.enter()).await;
        assert!(third.is_err(), "a third request passed where two may");
    }
}
