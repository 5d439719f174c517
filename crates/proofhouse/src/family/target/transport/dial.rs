//! Connections: straight to the endpoint, or by the proxy that the environment names.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper::Uri;
use hyper::header::HeaderValue;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::client::proxy::matcher::Matcher;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tower_service::Service;

use super::super::Environment;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Opens connections. HTTPS goes through a proxy as a tunnel, plain HTTP as a request that the proxy passes on.
#[derive(Debug, Clone)]
pub(super) struct Dial {
    http: HttpConnector,
    proxies: Arc<Matcher>,
}

impl Dial {
    /// Honours `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`, in capitals or not.
    pub(super) fn new(environment: &Environment) -> Self {
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        http.set_nodelay(true);
        let first = |names: &[&str]| environment.first(names).unwrap_or_default();
        let proxies = Matcher::builder()
            .all(first(&["ALL_PROXY", "all_proxy"]))
            .http(first(&["HTTP_PROXY", "http_proxy"]))
            .https(first(&["HTTPS_PROXY", "https_proxy"]))
            .no(first(&["NO_PROXY", "no_proxy"]))
            .build();
        Dial { http, proxies: Arc::new(proxies) }
    }

    /// What a proxy on the way to a plain HTTP endpoint wants to see in the request itself.
    pub(super) fn proxy_auth(&self, to: &Uri) -> Option<HeaderValue> {
        let plain = to.scheme_str() == Some("http");
        self.proxies.intercept(to).filter(|_| plain)?.basic_auth().cloned()
    }
}

impl Service<Uri> for Dial {
    type Response = Stream;
    type Error = Failure;
    type Future = Pin<Box<dyn Future<Output = Result<Stream, Failure>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        self.http.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, to: Uri) -> Self::Future {
        let Some(proxy) = self.proxies.intercept(&to) else {
            let connecting = self.http.call(to);
            return Box::pin(async move { Ok(Stream { inner: connecting.await?, proxied: false }) });
        };
        if to.scheme_str() == Some("https") {
            let mut tunnel = Tunnel::new(proxy.uri().clone(), self.http.clone());
            if let Some(auth) = proxy.basic_auth() {
                tunnel = tunnel.with_auth(auth.clone());
            }
            let connecting = tunnel.call(to);
            return Box::pin(async move { Ok(Stream { inner: connecting.await?, proxied: false }) });
        }
        let connecting = self.http.call(proxy.uri().clone());
        Box::pin(async move { Ok(Stream { inner: connecting.await?, proxied: true }) })
    }
}

/// A connection that knows whether a proxy reads the requests on it.
#[derive(Debug)]
pub(super) struct Stream {
    inner: TokioIo<TcpStream>,
    proxied: bool,
}

impl Connection for Stream {
    fn connected(&self) -> Connected {
        self.inner.connected().proxy(self.proxied)
    }
}

impl Read for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(cx, buffer)
    }
}

impl Write for Stream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, bytes)
    }
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }
    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write_vectored(cx, slices)
    }
}
