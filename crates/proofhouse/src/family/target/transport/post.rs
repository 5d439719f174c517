//! One request that is no question to a target: its body goes out as it is, and what counts is that it was taken.

use std::time::Duration;

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::{Method, Request, Uri};
use tokio::time::Instant;

use super::super::Environment;
use super::client::{Bounds, Broken, Client};
use crate::text::complaint::Complaint;

/// How long a request may take.
const WHOLE: Duration = Duration::from_secs(10);

/// Posts a body; the words for what went wrong hold no header, which may be a key.
///
/// # Errors
/// Where nobody takes it.
pub(crate) async fn post(
    to: &str,
    headers: &[(String, String)],
    body: Vec<u8>,
    environment: &Environment,
) -> Result<(), Complaint> {
    let uri: Uri = to.parse().map_err(|_| Complaint::new("it is not an address"))?;
    let mut request = Request::builder().method(Method::POST).uri(uri.clone());
    for (name, value) in headers {
        request = request.header(name, value);
    }
    let request = request
        .body(Full::new(Bytes::from(body)))
        .map_err(|_| Complaint::new("its address or its headers cannot be sent"))?;
    let bounds = Bounds {
        connect: WHOLE,
        whole: WHOLE,
        deadline: Instant::now() + WHOLE,
        stall: WHOLE,
        body_bytes: 1 << 20,
    };
    let (answer, _) = Client::new(&uri, environment)?.send(request, &bounds).await;
    match answer {
        Ok(answer) if (200..300).contains(&answer.status) => Ok(()),
        Ok(answer) => Err(Complaint::new(format!("it answered with status {}", answer.status))),
        Err(Broken::NotConnected(why) | Broken::Cut(why) | Broken::Packed(why)) => Err(Complaint::new(why)),
        Err(Broken::TimedOut | Broken::Stalled) => Err(Complaint::new("no answer within 10 seconds")),
        Err(Broken::TooLarge(_)) => Err(Complaint::new("its answer is too long")),
    }
}
