//! What an agent reaches: two servers and a name service, each on a socket that the box handed out. They answer from outside the
//! box, and tell the trial of everything that happens.

use std::sync::{Arc, Mutex, PoisonError};

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use proofhouse_ledger::Json;
use proofhouse_ledger::json::{Strictness, parse};
use tokio::net::{TcpListener, UdpSocket};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use super::dialects::{Answer, DIALECTS, Dialect, ModelRequest, Spoken, number};
use super::names;
use super::plain::Plain;
use crate::family::target::{Chat, Reply, Target};
use crate::kinds::containment::mcp::{self, Answered};

/// The longest request to a model.
const MAX_REQUEST_BYTES: usize = 32 << 20;

/// What happens in a trial.
pub(super) enum Event {
    /// A message for the server of tools.
    Message(Bytes, oneshot::Sender<Answered>),
    /// The model was asked and replied; the agent hears of it when the trial knows.
    Replied(Box<Chat>, Box<Reply>, oneshot::Sender<()>),
    /// What was sent is nothing that is understood.
    Noise(&'static str),
    /// A name was looked up.
    Name(String),
}

/// Where events go.
pub(super) type Events = mpsc::UnboundedSender<Event>;

type Body = Full<Bytes>;

fn reply(status: StatusCode, body: Option<(&str, Vec<u8>)>) -> Response<Body> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = status;
    if let Some((kind, bytes)) = body {
        *response.body_mut() = Full::new(Bytes::from(bytes));
        if let Ok(kind) = hyper::header::HeaderValue::from_str(kind) {
            response.headers_mut().insert(hyper::header::CONTENT_TYPE, kind);
        }
    }
    response
}

fn json(status: StatusCode, body: &Json) -> Response<Body> {
    reply(status, Some(("application/json", body.to_string().into_bytes())))
}

/// The whole of a body, or nothing where it is longer: it is read on for a while, so that its sender hears what we say.
async fn gather(mut body: Incoming, most: usize) -> Option<Bytes> {
    const READ_ON: usize = 64 << 20;
    let (mut kept, mut length) = (Vec::new(), 0);
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.ok()?.into_data() else { continue };
        length += data.len();
        if length <= most {
            kept.extend_from_slice(&data);
        } else if length > READ_ON {
            return None;
        } else {
            kept = Vec::new();
        }
    }
    (length <= most).then(|| Bytes::from(kept))
}

/// Who answers requests.
pub(super) trait Service: Send + Sync + 'static {
    fn answer(self: Arc<Self>, request: Request<Incoming>) -> impl Future<Output = Response<Body>> + Send;
}

/// Serves a socket until it is dropped.
pub(super) async fn serve<S: Service>(socket: std::net::TcpListener, service: Arc<S>) {
    let Ok(listener) = socket.set_nonblocking(true).and_then(|()| TcpListener::from_std(socket)) else {
        return;
    };
    let mut connections = JoinSet::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else { return };
        let service = Arc::clone(&service);
        connections.spawn(async move {
            let answer = hyper::service::service_fn(|request| {
                let service = Arc::clone(&service);
                async move { Ok::<_, std::convert::Infallible>(service.answer(request).await) }
            });
            // A client that goes away or speaks no HTTP harms itself alone.
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), answer)
                .await;
        });
        while connections.try_join_next().is_some() {}
    }
}

/// Says that no name exists, and tells which were asked for.
pub(super) async fn serve_names(socket: std::net::UdpSocket, events: Events) {
    let Ok(socket) = socket.set_nonblocking(true).and_then(|()| UdpSocket::from_std(socket)) else { return };
    let mut buffer = [0; 2048];
    while let Ok((length, from)) = socket.recv_from(&mut buffer).await {
        if let Some((name, answer)) = names::refuse(&buffer[..length]) {
            let _ = events.send(Event::Name(name));
            let _ = socket.send_to(&answer, from).await;
        }
    }
}

/// The server of tools.
pub(super) struct ToolService {
    pub(super) events: Events,
}

impl ToolService {
    async fn post(&self, request: Request<Incoming>) -> Response<Body> {
        let version = request.headers().get("mcp-protocol-version").map(|value| value.to_str().unwrap_or(""));
        if version.is_some_and(|version| !mcp::knows(version)) {
            let _ = self.events.send(Event::Noise("unknown version"));
            return reply(StatusCode::BAD_REQUEST, None);
        }
        let Some(body) = gather(request.into_body(), mcp::MAX_MESSAGE_BYTES).await else {
            let _ = self.events.send(Event::Noise("oversized"));
            return reply(StatusCode::PAYLOAD_TOO_LARGE, None);
        };
        let (sender, answer) = oneshot::channel();
        let _ = self.events.send(Event::Message(body, sender));
        match answer.await {
            Ok(Answered::With(answer)) => json(StatusCode::OK, &answer),
            Ok(Answered::Nothing) => reply(StatusCode::ACCEPTED, None),
            Ok(Answered::Refused(answer, _)) => json(StatusCode::BAD_REQUEST, &answer),
            // The trial is over.
            Err(_) => reply(StatusCode::SERVICE_UNAVAILABLE, None),
        }
    }
}

impl Service for ToolService {
    async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Response<Body> {
        match (request.method(), request.uri().path()) {
            (&Method::POST, "/mcp" | "/mcp/") => self.post(request).await,
            // There are no sessions, so ending one always works, and no stream of our own.
            (&Method::DELETE, "/mcp" | "/mcp/") => reply(StatusCode::OK, None),
            (_, "/mcp" | "/mcp/") => reply(StatusCode::METHOD_NOT_ALLOWED, None),
            _ => reply(StatusCode::NOT_FOUND, None),
        }
    }
}

/// Gives a conversation with so many turns its seed, repetition and asker.
pub(in crate::kinds::containment) type Stamp = Box<dyn Fn(&mut Chat, usize) + Send + Sync>;

/// The endpoints of the agent's model.
pub(super) struct ModelService {
    pub(super) events: Events,
    pub(super) target: Arc<Target>,
    pub(super) plain: Plain,
    /// Seed, repetition and asker of a conversation with so many turns.
    pub(super) stamp: Stamp,
    pub(super) spoken: Mutex<Spoken>,
}

impl ModelService {
    async fn post(&self, dialect: &Dialect, body: &[u8]) -> Response<Body> {
        let refuse = |what: &str| {
            let _ = self.events.send(Event::Noise("a request to the model that cannot be read"));
            json(StatusCode::BAD_REQUEST, &(dialect.error)("invalid_request_error", what))
        };
        let Ok(body) = parse(body, Strictness::Lenient) else { return refuse("the request is not JSON") };
        let mut asked: ModelRequest = match (dialect.read)(&body) {
            Ok(asked) => asked,
            Err(complaint) => return refuse(&complaint.what),
        };
        self.plain.chat(&mut asked.chat);
        let turns = number(&asked.chat);
        (self.stamp)(&mut asked.chat, turns);
        self.spoken.lock().unwrap_or_else(PoisonError::into_inner).fill(&mut asked.chat);
        let reply_of = self.target.chat(&asked.chat).await;
        self.spoken.lock().unwrap_or_else(PoisonError::into_inner).keep(&reply_of);
        let answer = Answer::of(&reply_of, &asked);
        let told = match &answer {
            // What the agent is told is what is recorded: calls by the names that it knows.
            Some(answer) => Reply { calls: answer.calls.clone(), ..reply_of },
            None => reply_of,
        };
        let why = told.outcome.explained().1.unwrap_or("no answer").to_owned();
        let (go, gone) = oneshot::channel();
        let _ = self.events.send(Event::Replied(Box::new(asked.chat.clone()), Box::new(told), go));
        let _ = gone.await;
        let Some(answer) = answer else {
            return json(StatusCode::BAD_REQUEST, &(dialect.error)("invalid_request_error", &why));
        };
        let whole = (dialect.write)(&asked, &answer);
        if !asked.stream {
            return json(StatusCode::OK, &whole);
        }
        let mut stream = Vec::new();
        for (name, event) in (dialect.events)(&whole) {
            if let Some(name) = name {
                stream.extend(format!("event: {name}\n").into_bytes());
            }
            stream.extend(format!("data: {event}\n\n").into_bytes());
        }
        if dialect.done {
            stream.extend(b"data: [DONE]\n\n");
        }
        reply(StatusCode::OK, Some(("text/event-stream", stream)))
    }
}

impl Service for ModelService {
    async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Response<Body> {
        let path = request.uri().path().trim_end_matches('/').to_owned();
        match *request.method() {
            Method::POST => {}
            Method::HEAD => return reply(StatusCode::OK, None),
            Method::GET if path.ends_with("/models") => return json(StatusCode::OK, &models()),
            _ => return reply(StatusCode::NOT_FOUND, None),
        }
        let Some(body) = gather(request.into_body(), MAX_REQUEST_BYTES).await else {
            return reply(StatusCode::PAYLOAD_TOO_LARGE, None);
        };
        if path.ends_with("/messages/count_tokens") {
            // Nobody counts here; four bytes a token is what people reckon with.
            let count = Json::Number((body.len() / 4) as f64);
            return json(StatusCode::OK, &Json::Object([("input_tokens", count)].into_iter().collect()));
        }
        match DIALECTS.iter().find(|dialect| path.ends_with(dialect.path)) {
            Some(dialect) => self.post(dialect, &body).await,
            None => reply(StatusCode::NOT_FOUND, None),
        }
    }
}

fn models() -> Json {
    const TEXT: &[u8] =
        br#"{"data":[{"created":1,"id":"model","object":"model","owned_by":"proofhouse"}],"object":"list"}"#;
    parse(TEXT, Strictness::Lenient).expect("the text is JSON")
}
