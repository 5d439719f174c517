//! One attempt: a request goes out on a pooled connection, and what comes back is taken in within limits.

use std::error::Error as _;
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_ENCODING, PROXY_AUTHORIZATION};
use hyper::{HeaderMap, Request, Response, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client as Pooled;
use hyper_util::client::legacy::connect::capture_connection;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

use super::super::Environment;
use super::dial::Dial;
use super::encoding::{ENCODINGS, NotUnpacked, unpacked};
use crate::text::complaint::Complaint;

/// The pooled connections to one endpoint.
#[derive(Debug)]
pub(super) struct Client {
    pool: Pool,
    dial: Dial,
}

#[derive(Debug)]
enum Pool {
    Plain(Pooled<Dial, Full<Bytes>>),
    Tls(Pooled<HttpsConnector<Dial>, Full<Bytes>>),
}

/// A response that came whole.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The status line's number.
    pub(crate) status: u16,
    /// The headers.
    pub(crate) headers: HeaderMap,
    /// The body.
    pub(crate) body: Vec<u8>,
}

/// Why no whole response came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Broken {
    /// There was no connection, so nothing was sent.
    NotConnected(String),
    /// The connection broke after the request had been sent.
    Cut(String),
    /// No answer in time.
    TimedOut,
    /// The body began and then no byte came for too long.
    Stalled,
    /// The body is larger than is taken.
    TooLarge(u64),
    /// The body is packed in a way that cannot be undone.
    Packed(String),
}

/// The limits of one attempt.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) connect: Duration,
    /// From being sent to the last byte.
    pub(super) whole: Duration,
    /// The trial's own end, however long the attempt might have.
    pub(super) deadline: Instant,
    /// Between two pieces of the body.
    pub(super) stall: Duration,
    pub(super) body_bytes: u64,
}

impl Client {
    /// Makes the pool ready; certificates are read only where they are needed.
    ///
    /// # Errors
    /// When the machine has no root certificates to check the endpoint's with.
    pub(super) fn new(to: &Uri, environment: &Environment) -> Result<Self, Complaint> {
        let dial = Dial::new(environment);
        let mut builder = Pooled::builder(TokioExecutor::new());
        builder.pool_timer(TokioTimer::new()).pool_idle_timeout(Duration::from_secs(30));
        let pool = if to.scheme_str() == Some("https") {
            let connector = HttpsConnectorBuilder::new()
                .with_native_roots()
                .map_err(|error| {
                    Complaint::new(format!("this machine's root certificates cannot be read: {error}"))
                        .hint("install the `ca-certificates` package")
                })?
                .https_or_http()
                .enable_http1()
                .wrap_connector(dial.clone());
            Pool::Tls(builder.build(connector))
        } else {
            Pool::Plain(builder.build(dial.clone()))
        };
        Ok(Client { pool, dial })
    }

    /// Sends a request and takes the whole response. The second value says when the request was sent, if it was.
    pub(super) async fn send(
        &self,
        mut request: Request<Full<Bytes>>,
        bounds: &Bounds,
    ) -> (Result<Answer, Broken>, Option<Instant>) {
        if let Some(auth) = self.dial.proxy_auth(request.uri()) {
            request.headers_mut().insert(PROXY_AUTHORIZATION, auth);
        }
        let mut connection = capture_connection(&mut request);
        let mut response = match &self.pool {
            Pool::Plain(pool) => pool.request(request),
            Pool::Tls(pool) => pool.request(request),
        };
        let connected_by = (Instant::now() + bounds.connect).min(bounds.deadline);
        // The request's own clock starts when there is a connection for it: waiting for one is not the target's time.
        let connected = tokio::select! {
            biased;
            early = &mut response => Some(early),
            _ = connection.wait_for_connection_metadata() => None,
            () = sleep_until(connected_by) => {
                return (Err(Broken::NotConnected("no connection in time".to_owned())), None);
            }
        };
        let sent = Instant::now();
        let until = (sent + bounds.whole).min(bounds.deadline);
        let response = match connected {
            Some(early) => Ok(early),
            None => timeout_at(until, response).await,
        };
        match response {
            Err(_) => (Err(Broken::TimedOut), Some(sent)),
            Ok(Err(error)) if error.is_connect() => (Err(Broken::NotConnected(causes(&error))), None),
            Ok(Err(error)) => (Err(Broken::Cut(causes(&error))), Some(sent)),
            Ok(Ok(response)) => (take(response, bounds, until).await, Some(sent)),
        }
    }
}

/// Takes the body piece by piece, no more than is allowed and no longer than is allowed.
async fn take(response: Response<Incoming>, bounds: &Bounds, until: Instant) -> Result<Answer, Broken> {
    let (parts, mut body) = response.into_parts();
    let mut bytes = Vec::new();
    loop {
        let frame = match timeout_at(until, timeout(bounds.stall, body.frame())).await {
            Err(_) => return Err(Broken::TimedOut),
            Ok(Err(_)) => return Err(Broken::Stalled),
            Ok(Ok(None)) => break,
            Ok(Ok(Some(frame))) => frame.map_err(|error| Broken::Cut(error.to_string()))?,
        };
        if let Some(piece) = frame.data_ref() {
            if (bytes.len() + piece.len()) as u64 > bounds.body_bytes {
                return Err(Broken::TooLarge(bounds.body_bytes));
            }
            bytes.extend_from_slice(piece);
        }
    }
    // An empty body is not packed, whatever the headers say.
    let is_packed = !bytes.is_empty();
    for header in parts.headers.get_all(CONTENT_ENCODING).iter().rev().filter(|_| is_packed) {
        let header = header.to_str().unwrap_or("an unreadable encoding");
        bytes =
            unpacked(std::mem::take(&mut bytes), header, bounds.body_bytes).map_err(|error| match error {
                NotUnpacked::TooLarge => Broken::TooLarge(bounds.body_bytes),
                NotUnpacked::Unknown(name) => Broken::Packed(format!(
                    "the answer is compressed as `{name}`, which was not asked for: {ENCODINGS} are read"
                )),
                NotUnpacked::Broken(why) => {
                    Broken::Packed(format!("the answer is not compressed as it says (`{header}`): {why}"))
                }
            })?;
    }
    Ok(Answer { status: parts.status.as_u16(), headers: parts.headers, body: bytes })
}

/// The innermost cause in words: what people know from their shell (`Connection refused`).
fn causes(error: &hyper_util::client::legacy::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = cause.to_string();
        source = cause.source();
    }
    text
}
