//! What slots of one endpoint share: its provider counts their requests together, so they go through one gate and draw
//! on one allowance.

use std::sync::{Arc, Mutex, PoisonError};

use hyper::Uri;

use super::super::secret::Secret;
use super::Transport;
use super::gate::Gate;
use super::pace::Pace;

/// The endpoints that are in use, by scheme, host, port and key.
#[derive(Debug, Clone, Default)]
pub struct Endpoints(Arc<Mutex<Vec<Known>>>);

#[derive(Debug)]
struct Known {
    place: Place,
    share: Share,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
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
    /// The share of an endpoint. Of several limits that slots name, the smallest holds.
    pub(crate) fn join(&self, to: &Uri, key: Option<&Secret>, settings: &Transport) -> Share {
        let place = Place::of(to, key);
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = known.iter().position(|known| known.place == place).unwrap_or_else(|| {
            let share = Share { gate: Gate::new(10_000), pace: Arc::default() };
            known.push(Known { place, share });
            known.len() - 1
        });
        let share = known[at].share.clone();
        if let Some(most) = settings.max_in_flight {
            share.gate.lower(most as usize);
        }
        share.pace.lower(settings.requests_per_minute, settings.tokens_per_minute);
        share
    }
}

impl Place {
    fn of(to: &Uri, key: Option<&Secret>) -> Self {
        let scheme = to.scheme_str().unwrap_or("http").to_ascii_lowercase();
        let usual = if scheme == "https" { 443 } else { 80 };
        Place {
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
        endpoints.join(&to.parse().unwrap(), environment.secret("K").as_ref(), &settings)
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

    #[tokio::test(start_paused = true)]
    async fn slots_of_one_endpoint_go_through_one_gate() {
        let endpoints = Endpoints::default();
        let few = Transport { max_in_flight: Some(2), ..Transport::default() };
        let to = "http://h/v1".parse().unwrap();
        let (a, b) = (endpoints.join(&to, None, &Transport::default()), endpoints.join(&to, None, &few));
        let _held = (a.gate.enter().await, b.gate.enter().await);
        let third = tokio::time::timeout(Duration::from_secs(1), a.gate.enter()).await;
        assert!(third.is_err(), "a third request passed where two may");
    }
}
