//! Loopback servers for tests: written by hand on sockets, so that they can misbehave in every way that a network can.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// What the server does with a request.
#[derive(Debug, Clone)]
pub enum Act {
    /// A whole response of JSON.
    Json(u16, Value),
    /// A whole response with these headers and this body.
    Whole(u16, Vec<(&'static str, String)>, String),
    /// Exactly these bytes, then the connection is closed.
    Raw(String),
    /// A body that is packed, with the word for that.
    Packed(&'static str, Vec<u8>),
    /// Nothing at all.
    Hang,
    /// Headers and the beginning of a body, then nothing.
    HangAfterHeaders,
    /// One byte of the body every so many milliseconds, without end.
    Trickle(u64),
    /// A body without end, as fast as it goes.
    Endless,
    /// The connection is closed without a word.
    Cut,
    /// Another act when so many requests are under way, or after so many milliseconds at the latest.
    Crowd(usize, u64, Box<Act>),
    /// Another act, a little later.
    After(u64, Box<Act>),
}

/// A request as the server saw it.
#[derive(Debug, Clone)]
pub struct Seen {
    pub path: String,
    pub head: String,
    pub body: Value,
    /// The body as it came.
    pub raw: String,
    /// How many requests were under way when it came, itself among them.
    pub under_way: usize,
}

pub struct Server {
    pub address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
    peak: Arc<AtomicUsize>,
    _stop: tokio::sync::oneshot::Sender<()>,
}

type Behave = dyn Fn(&Seen, usize) -> Act + Send + Sync;

impl Server {
    /// Starts a server on a thread of its own; it ends when it is dropped. The behaviour sees each request and how many
    /// came before it.
    pub fn start(behave: impl Fn(&Seen, usize) -> Act + Send + Sync + 'static) -> Server {
        Server::remembering(usize::MAX, behave)
    }

    /// The same without a memory: for more requests than there is room for.
    pub fn forgetful(behave: impl Fn(&Seen, usize) -> Act + Send + Sync + 'static) -> Server {
        Server::remembering(0, behave)
    }

    fn remembering(most_seen: usize, behave: impl Fn(&Seen, usize) -> Act + Send + Sync + 'static) -> Server {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (busy, peak) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let (tell, told) = std::sync::mpsc::channel();
        let behave: Arc<Behave> = Arc::new(behave);
        let (log, most) = ((seen.clone(), most_seen), peak.clone());
        let came = Arc::new(AtomicUsize::new(0));
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async move {
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                tell.send(listener.local_addr().unwrap()).unwrap();
                let accept = async {
                    loop {
                        let (stream, _) = listener.accept().await.unwrap();
                        let (behave, log) = (behave.clone(), log.clone());
                        let (busy, most, came) = (busy.clone(), most.clone(), came.clone());
                        tokio::spawn(async move {
                            let _ = serve(stream, &*behave, &log, [&busy, &most, &came]).await;
                        });
                    }
                };
                tokio::select! { () = accept => {}, _ = stopped => {} }
            });
        });
        Server { address: told.recv().unwrap(), seen, peak, _stop: stop }
    }

    /// A server that always answers with this text.
    pub fn saying(text: &str) -> Server {
        let text = text.to_owned();
        Server::start(move |_, _| Act::Json(200, completion(&text)))
    }

    /// The address before `/chat/completions`.
    pub fn base(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// The most requests that were under way at one time.
    pub fn peak(&self) -> usize {
        self.peak.load(Ordering::SeqCst)
    }
}

/// An answer of the OpenAI shape.
pub fn completion(text: &str) -> Value {
    json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": "m-2024", "system_fingerprint": "fp_1",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14},
    })
}

async fn serve(
    stream: TcpStream,
    behave: &Behave,
    (log, most_seen): &(Arc<Mutex<Vec<Seen>>>, usize),
    [busy, most, came]: [&AtomicUsize; 3],
) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut stream = BufReader::new(stream);
    while let Some(mut seen) = request(&mut stream).await? {
        let now = busy.fetch_add(1, Ordering::SeqCst) + 1;
        most.fetch_max(now, Ordering::SeqCst);
        seen.under_way = now;
        let before = {
            let mut log = log.lock().unwrap();
            if log.len() < *most_seen {
                log.push(seen.clone());
            }
            came.fetch_add(1, Ordering::SeqCst)
        };
        let goes_on = act(stream.get_mut(), behave(&seen, before), most).await;
        busy.fetch_sub(1, Ordering::SeqCst);
        if !goes_on? {
            break;
        }
    }
    Ok(())
}

async fn request(stream: &mut BufReader<TcpStream>) -> std::io::Result<Option<Seen>> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => return Ok(None),
        }
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let length =
        head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ").map(str::to_owned));
    let mut body = vec![0; length.map_or(0, |length| length.trim().parse().unwrap())];
    stream.read_exact(&mut body).await?;
    let path = head.split_whitespace().nth(1).unwrap_or_default().to_owned();
    let raw = String::from_utf8_lossy(&body).into_owned();
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    Ok(Some(Seen { path, head, body, raw, under_way: 0 }))
}

/// Whether the connection goes on.
async fn act(stream: &mut TcpStream, act: Act, most: &AtomicUsize) -> std::io::Result<bool> {
    let mut act = act;
    if let Act::Crowd(count, wait, then) = act {
        let until = tokio::time::Instant::now() + Duration::from_millis(wait);
        while most.load(Ordering::SeqCst) < count && tokio::time::Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        act = *then;
    }
    while let Act::After(wait, then) = act {
        tokio::time::sleep(Duration::from_millis(wait)).await;
        act = *then;
    }
    let started =
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n1\r\n{\r\n";
    match act {
        Act::After(..) | Act::Crowd(..) => unreachable!("unwrapped above"),
        Act::Json(status, body) => {
            let kind = vec![("content-type", "application/json".to_owned())];
            whole(stream, status, &kind, &body.to_string()).await?;
            return Ok(true);
        }
        Act::Whole(status, headers, body) => {
            whole(stream, status, &headers, &body).await?;
            return Ok(true);
        }
        Act::Raw(bytes) => stream.write_all(bytes.as_bytes()).await?,
        Act::Packed(encoding, body) => {
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: {encoding}\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            stream.write_all(head.as_bytes()).await?;
            stream.write_all(&body).await?;
            return Ok(true);
        }
        Act::Cut => {}
        Act::Hang => until_closed(stream).await,
        Act::HangAfterHeaders => {
            stream.write_all(started.as_bytes()).await?;
            until_closed(stream).await;
        }
        Act::Trickle(every) => {
            stream.write_all(started.as_bytes()).await?;
            loop {
                stream.write_all(b"1\r\n \r\n").await?;
                tokio::time::sleep(Duration::from_millis(every)).await;
            }
        }
        Act::Endless => {
            stream.write_all(started.as_bytes()).await?;
            let piece = format!("4000\r\n{}\r\n", " ".repeat(0x4000));
            loop {
                stream.write_all(piece.as_bytes()).await?;
            }
        }
    }
    stream.shutdown().await?;
    Ok(false)
}

/// Says nothing until the other side has gone away: half an hour of silence must not cost this process its last descriptor.
async fn until_closed(stream: &mut TcpStream) {
    let mut bytes = [0; 64];
    while stream.read(&mut bytes).await.is_ok_and(|count| count > 0) {}
}

async fn whole(
    stream: &mut TcpStream,
    status: u16,
    headers: &[(&str, String)],
    body: &str,
) -> std::io::Result<()> {
    let mut text = format!("HTTP/1.1 {status} Status\r\ncontent-length: {}\r\n", body.len());
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("\r\n");
    text.push_str(body);
    stream.write_all(text.as_bytes()).await
}
