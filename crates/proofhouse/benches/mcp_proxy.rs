//! What the gate costs in front of a real MCP server: the same calls to the server alone and through `mcp-proxy`.
//!
//! `cargo bench -p proofhouse --bench mcp_proxy`. Without `--bench` (as `cargo test` starts it) there are few calls. The server is a
//! Python loop over standard input, so a machine without `python3` measures nothing.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const SERVER: &str = "\
import json, sys
for line in sys.stdin:
    m = json.loads(line)
    print(json.dumps({'jsonrpc': '2.0', 'id': m['id'], 'result': {'content': [{'type': 'text', 'text': 'x' * 200}]}}), flush=True)
";

const POLICY: &str = "\
allowed: [read]
rules: [{name: secrets, tools: [read], argument: path, deny_paths: ['/etc/**', '**/.env']}]
";

fn main() {
    let measured = std::env::args().any(|argument| argument == "--bench");
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("mcp-proxy");
    let _ = std::fs::remove_dir_all(&root);
    std::fs::create_dir_all(&root).expect("the target directory can be written");
    std::fs::write(root.join("server.py"), SERVER).expect("the target directory can be written");
    std::fs::write(root.join("policy.yaml"), POLICY).expect("the target directory can be written");
    let calls = if measured { 5_000 } else { 20 };
    let direct = latency(&root, &["python3", "server.py"], calls);
    let own = env!("CARGO_BIN_EXE_proofhouse");
    let proxied =
        latency(&root, &[own, "mcp-proxy", "--policy", "policy.yaml", "--", "python3", "server.py"], calls);
    match (direct, proxied) {
        (Some(direct), Some(proxied)) => println!(
            "{calls} calls, median: {direct:.3} ms to the server alone, {proxied:.3} ms through the gate: {:.3} ms a call (limit 1)",
            proxied - direct
        ),
        _ => println!("left out: there is no python3"),
    }
    std::fs::remove_dir_all(&root).expect("the bench wrote it");
}

/// The median time from a call to its answer, in milliseconds.
#[expect(clippy::disallowed_methods, reason = "a bench starts what a client would, and looks at the clock")]
fn latency(root: &Path, argv: &[&str], calls: u32) -> Option<f64> {
    let mut command = Command::new(argv[0]);
    command
        .args(&argv[1..])
        .current_dir(root)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let mut input = child.stdin.take()?;
    let mut output = BufReader::new(child.stdout.take()?);
    let mut times = Vec::new();
    let mut line = String::new();
    for id in 0..calls {
        let begun = std::time::Instant::now();
        let call = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"read\",\"arguments\":{{\"path\":\"docs/{id}.md\"}}}}}}\n"
        );
        input.write_all(call.as_bytes()).ok()?;
        line.clear();
        output.read_line(&mut line).ok()?;
        times.push(begun.elapsed().as_secs_f64() * 1e3);
        assert!(line.contains("xxx"), "{line}");
    }
    drop(input);
    child.wait().ok()?;
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied()
}
