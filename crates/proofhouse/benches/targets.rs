//! 1,000 requests of 20 ms at 100 in flight against a loopback server: processor time for each request and wall time, beside
//! Python's `openai` and `httpx` clients against the same server in the same run.
//!
//! The Python clients come with `tools/litellm install`; without it they are left out.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench talks, and stops where it cannot go on"
)]

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use proofhouse::family::target::{Chat, Opening, Outcome, TargetConfig};
use rustix::time::{ClockId, clock_gettime};
use servers::{Act, Server, completion};
use tokio::sync::Semaphore;

#[path = "../tests/it/servers.rs"]
#[allow(dead_code, reason = "shared with the tests, which use more of it")]
mod servers;

const REQUESTS: usize = 1_000;
const IN_FLIGHT: usize = 100;
const LATENCY_MS: u64 = 20;

const PEERS: &str = r#"
import asyncio, resource, sys, time
base, which = sys.argv[1], sys.argv[2]
N, K = int(sys.argv[3]), int(sys.argv[4])
body = {"model": "m", "messages": [{"role": "user", "content": "question"}], "seed": 1}
async def main():
    gate = asyncio.Semaphore(K)
    if which == "openai":
        import openai
        client = openai.AsyncOpenAI(base_url=base, api_key="none", max_retries=0)
        async def one():
            async with gate:
                said = await client.chat.completions.create(**body)
                assert said.choices[0].message.content == "Paris"
    else:
        import httpx
        client = httpx.AsyncClient(limits=httpx.Limits(max_connections=K, max_keepalive_connections=K), timeout=60)
        async def one():
            async with gate:
                said = await client.post(base + "/chat/completions", json=body)
                assert said.json()["choices"][0]["message"]["content"] == "Paris"
    await one()
    use = resource.getrusage(resource.RUSAGE_SELF)
    cpu, wall = use.ru_utime + use.ru_stime, time.perf_counter()
    await asyncio.gather(*(one() for _ in range(N)))
    wall = time.perf_counter() - wall
    use = resource.getrusage(resource.RUSAGE_SELF)
    print((use.ru_utime + use.ru_stime - cpu) * 1e6 / N, wall)
asyncio.run(main())
"#;

fn main() {
    // As `cargo test` starts it, it only shows that it works.
    if !std::env::args().any(|argument| argument == "--bench") {
        let server = Server::saying("Paris");
        ours(&server);
        return;
    }
    let server = Server::start(|_, _| Act::After(LATENCY_MS, Box::new(Act::Json(200, completion("Paris")))));
    let ideal = Duration::from_millis(LATENCY_MS) * (REQUESTS / IN_FLIGHT) as u32;
    println!(
        "{REQUESTS} requests of {LATENCY_MS} ms, {IN_FLIGHT} in flight; at best {ideal:?}, wanted within 1.5 x"
    );
    let (micros, wall) = ours(&server);
    let report = |name: &str, micros: f64, wall: f64| {
        println!(
            "{name:22} {micros:9.1} us of CPU a request, {:6.0} ms ({:.2} x the best)",
            wall * 1e3,
            wall / ideal.as_secs_f64()
        );
    };
    report("proofhouse", micros, wall);
    #[expect(clippy::disallowed_methods, reason = "the script knows where it keeps what it installed")]
    let told = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/litellm"))
        .arg("python")
        .output();
    let python = String::from_utf8(told.unwrap().stdout).unwrap().trim().to_owned();
    if !Path::new(&python).exists() {
        println!("the Python clients are left out: `tools/litellm install` brings them");
        return;
    }
    for which in ["httpx", "openai"] {
        #[expect(clippy::disallowed_methods, reason = "the peers are programs of their own")]
        let mut command = Command::new(&python);
        let (requests, in_flight) = (REQUESTS.to_string(), IN_FLIGHT.to_string());
        command.args(["-c", PEERS, &server.base(), which, &requests, &in_flight]).env("NO_PROXY", "*");
        let output = command.stderr(Stdio::inherit()).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let numbers: Vec<f64> = text.split_whitespace().map(|number| number.parse().unwrap()).collect();
        report(&format!("python {which}"), numbers[0], numbers[1]);
        println!("{:22} {:9.1} times as much CPU (20 wanted)", "", numbers[0] / micros);
    }
}

/// CPU microseconds a request on the client's own thread, and wall seconds.
fn ours(server: &Server) -> (f64, f64) {
    let yaml = format!("openai: {{model: m, base_url: '{}'}}", server.base());
    let config: TargetConfig = serde_saphyr::from_str(&yaml).unwrap();
    let target = Arc::new(config.open("slot", &Opening::default()).unwrap());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        // The gate learns how much the endpoint bears, as it would in a run of more than ten rounds.
        flood(&target, 4 * IN_FLIGHT).await;
        let cpu = || {
            let time = clock_gettime(ClockId::ThreadCPUTime);
            time.tv_sec as f64 * 1e6 + time.tv_nsec as f64 / 1e3
        };
        #[expect(clippy::disallowed_methods, reason = "a bench measures")]
        let (before, start) = (cpu(), Instant::now());
        flood(&target, REQUESTS).await;
        ((cpu() - before) / REQUESTS as f64, start.elapsed().as_secs_f64())
    })
}

async fn flood(target: &Arc<proofhouse::family::target::Target>, count: usize) {
    let gate = Arc::new(Semaphore::new(IN_FLIGHT));
    let mut asked = tokio::task::JoinSet::new();
    for n in 0..count {
        let (target, gate) = (Arc::clone(target), Arc::clone(&gate));
        asked.spawn(async move {
            let _permit = gate.acquire().await.unwrap();
            target.chat(&Chat::ask("question", n as u64, 0)).await.outcome
        });
    }
    for outcome in asked.join_all().await {
        assert_eq!(outcome, Outcome::Answered);
    }
}
