//! Requests and their answers over HTTP: only GET, from this machine alone unless there is a token, and nothing that a browser could be
//! made to load from elsewhere.

use std::convert::Infallible;
use std::fs::File;
use std::io::Read as _;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http_body_util::{Either, Full};
use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, HeaderValue, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use super::site::Site;

/// Bytes of a file that are on their way at a time.
const PIECE: usize = 256 << 10;

pub(super) type Answer = Response<Either<Full<Bytes>, Pieces>>;

/// A body as it comes: events, or the pieces of a file.
pub(super) struct Pieces(pub(super) mpsc::Receiver<Bytes>);

impl Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}

impl Pieces {
    /// A file, in memory that does not grow with it.
    fn of(mut file: File) -> Self {
        let (sender, receiver) = mpsc::channel(2);
        drop(tokio::task::spawn_blocking(move || {
            loop {
                let mut piece = vec![0; PIECE];
                match file.read(&mut piece) {
                    Ok(0) | Err(_) => return,
                    Ok(length) => piece.truncate(length),
                }
                if sender.blocking_send(Bytes::from(piece)).is_err() {
                    return;
                }
            }
        }));
        Pieces(receiver)
    }
}

/// Serves until the process ends.
pub(super) async fn serve(socket: std::net::TcpListener, site: Arc<Site>) {
    let Ok(listener) = socket.set_nonblocking(true).and_then(|()| TcpListener::from_std(socket)) else {
        return;
    };
    if let Some(watch) = &site.watched {
        drop(tokio::spawn(Arc::clone(watch).go()));
    }
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let _ = stream.set_nodelay(true);
        let site = Arc::clone(&site);
        drop(tokio::spawn(async move {
            let answer = hyper::service::service_fn(|request: Request<Incoming>| {
                let site = Arc::clone(&site);
                async move { Ok::<_, Infallible>(answer(site, request.into_parts().0).await) }
            });
            // A client that goes away or speaks no HTTP harms itself alone.
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), answer)
                .await;
        }));
    }
}

async fn answer(site: Arc<Site>, request: Parts) -> Answer {
    if request.method != Method::GET && request.method != Method::HEAD {
        return reply(StatusCode::METHOD_NOT_ALLOWED, "text/plain", "only GET\n");
    }
    if !is_meant(&site, &request) {
        return reply(StatusCode::FORBIDDEN, "text/plain", "not for this address\n");
    }
    let Some(path) = request.uri.path().strip_prefix(site.base.as_str()).map(str::to_owned) else {
        return reply(StatusCode::FORBIDDEN, "text/plain", "the address lacks its token\n");
    };
    let query = request.uri.query().unwrap_or_default().to_owned();
    if path == "/events" {
        return site.events(&query);
    }
    let page = tokio::task::spawn_blocking(move || site.page(&path, &query)).await;
    page.unwrap_or_else(|_| reply(StatusCode::INTERNAL_SERVER_ERROR, "text/plain", "that went wrong\n"))
}

/// A page of somebody else that names this machine's address by another name gets nothing.
fn is_meant(site: &Site, request: &Parts) -> bool {
    let host = request.headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let is_own = name.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback());
    !site.loopback || is_own || ["localhost", "[::1]"].contains(&name)
}

fn with_headers(kind: &'static str, body: Either<Full<Bytes>, Pieces>) -> Answer {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    for (name, value) in [
        (CONTENT_TYPE, kind),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (CACHE_CONTROL, "no-store"),
        (REFERRER_POLICY, "no-referrer"),
        (X_FRAME_OPTIONS, "DENY"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

pub(super) fn reply(status: StatusCode, kind: &'static str, body: impl Into<Bytes>) -> Answer {
    let mut response = with_headers(kind, Either::Left(Full::new(body.into())));
    *response.status_mut() = status;
    response
}

pub(super) fn html(page: String) -> Answer {
    reply(StatusCode::OK, "text/html; charset=utf-8", page)
}

pub(super) fn script(part: Vec<u8>) -> Answer {
    reply(StatusCode::OK, "text/javascript; charset=utf-8", part)
}

/// A report, from a file or just made, under a policy that it cannot widen.
pub(super) fn report(page: Either<Vec<u8>, File>, policy: &str) -> Answer {
    let body = match page {
        Either::Left(bytes) => Either::Left(Full::new(Bytes::from(bytes))),
        Either::Right(file) => Either::Right(Pieces::of(file)),
    };
    let mut response = with_headers("text/html; charset=utf-8", body);
    if let Ok(policy) = HeaderValue::from_str(policy) {
        response.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
    }
    response
}

/// A stream of events.
pub(super) fn events(receiver: mpsc::Receiver<Bytes>) -> Answer {
    with_headers("text/event-stream", Either::Right(Pieces(receiver)))
}

/// The values of a key in a query.
pub(super) fn values(query: &str, key: &str) -> Vec<String> {
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.filter(|(name, _)| *name == key).map(|(_, value)| unescaped(value)).collect()
}

/// `a%20b+c` as people wrote it.
pub(super) fn unescaped(text: &str) -> String {
    let (mut out, mut rest) = (Vec::new(), text.as_bytes());
    while let [first, tail @ ..] = rest {
        let digits = tail.get(..2).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let byte = digits.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        match (first, byte) {
            (b'%', Some(byte)) => {
                out.push(byte);
                rest = &tail[2..];
            }
            (b'+', _) => {
                out.push(b' ');
                rest = tail;
            }
            _ => {
                out.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_read_as_they_were_meant() {
        assert_eq!(values("run=a%2Fb&q=x+y&run=%C3%A4%zz%+1", "run"), ["a/b", "ä%zz% 1"]);
        assert_eq!(values("", "run"), [""; 0]);
    }
}
