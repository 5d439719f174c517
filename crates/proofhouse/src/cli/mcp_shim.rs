//! `mcp-shim`: a server of tools on standard input and output that is another one by HTTP. Agents under trial that start their
//! servers themselves are given this one; it decides nothing.

use std::io::{BufRead, Read, Write};
use std::net::TcpStream;

use clap::Args;

use super::exit::Exit;
use super::failure::Failure;

/// The longest message.
const MAX_BYTES: u64 = 8 << 20;

/// Pass messages of MCP on to an address.
#[derive(Debug, Args)]
pub(super) struct McpShim {
    /// The address: `http://127.0.0.1:PORT/PATH`.
    url: String,
}

impl McpShim {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let usage = || Failure::say(Exit::Usage, format!("`{}` is not a plain HTTP address", self.url));
        let (host, path) =
            self.url.strip_prefix("http://").and_then(|rest| rest.split_once('/')).ok_or_else(usage)?;
        let mut input = std::io::stdin().lock();
        let mut line = Vec::new();
        loop {
            line.clear();
            if (&mut input).take(MAX_BYTES).read_until(b'\n', &mut line)? == 0 {
                return Ok(Exit::Ok);
            }
            let answer = post(host, path, line.trim_ascii())?;
            if !answer.is_empty() {
                let mut out = std::io::stdout().lock();
                out.write_all(&answer)?;
                out.write_all(b"\n")?;
                out.flush()?;
            }
        }
    }
}

fn post(host: &str, path: &str, message: &[u8]) -> std::io::Result<Vec<u8>> {
    if message.is_empty() {
        return Ok(Vec::new());
    }
    let mut stream = TcpStream::connect(host)?;
    let head = format!(
        "POST /{path} HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        message.len()
    );
    stream.write_all(head.as_bytes())?;
    // A server that has read enough may close; what it said is there all the same.
    let _ = stream.write_all(message);
    let mut answer = Vec::new();
    stream.take(MAX_BYTES).read_to_end(&mut answer)?;
    let body = answer.windows(4).position(|four| four == b"\r\n\r\n").map_or(answer.len(), |at| at + 4);
    let refused = answer.get(9..10).is_some_and(|status| status != b"2");
    if refused && body == answer.len() {
        return Ok(
            br#"{"error":{"code":-32600,"message":"the message was refused"},"id":null,"jsonrpc":"2.0"}"#
                .to_vec(),
        );
    }
    Ok(answer.split_off(body))
}
