//! OpenTelemetry: what a collector on loopback receives when there is an endpoint, and that nothing is sent without one.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use super::lab::Lab;
use super::readers;

/// A request: its path, its head and its body.
type Taken = (String, String, Vec<u8>);

/// A collector that keeps what it is sent, for as long as the test runs.
fn collector(listener: TcpListener, status: u16) -> Arc<Mutex<Vec<Taken>>> {
    let taken = Arc::new(Mutex::new(Vec::new()));
    let all = Arc::clone(&taken);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") && stream.read_line(&mut head).unwrap_or(0) > 0 {}
            let length = head
                .to_lowercase()
                .lines()
                .find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
            let mut body = vec![0; length.unwrap_or(0)];
            stream.read_exact(&mut body).unwrap();
            let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
            all.lock().unwrap().push((path, head, body));
            let answer = format!("HTTP/1.1 {status} Said\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            stream.get_mut().write_all(answer.as_bytes()).unwrap();
        }
    });
    taken
}

/// The fields of a protobuf message: number, and what has a length or a fixed size as bytes.
fn fields(mut bytes: &[u8]) -> Vec<(u64, Vec<u8>)> {
    fn varint(bytes: &mut &[u8]) -> u64 {
        let mut value = 0;
        for shift in (0..).step_by(7) {
            let (first, rest) = bytes.split_first().expect("a whole number");
            *bytes = rest;
            value |= u64::from(first & 0x7f) << shift;
            if first & 0x80 == 0 {
                break;
            }
        }
        value
    }
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let value = match key & 7 {
            0 => varint(&mut bytes).to_le_bytes().to_vec(),
            1 => bytes.split_off(..8).unwrap().to_vec(),
            2 => {
                let length = varint(&mut bytes) as usize;
                bytes.split_off(..length).unwrap().to_vec()
            }
            other => panic!("wire type {other}"),
        };
        found.push((key >> 3, value));
    }
    found
}

fn all(bytes: &[u8], path: &[u64]) -> Vec<Vec<u8>> {
    match path {
        [] => vec![bytes.to_vec()],
        [first, rest @ ..] => {
            let own = fields(bytes).into_iter().filter(|(number, _)| number == first);
            own.flat_map(|(_, inside)| all(&inside, rest)).collect()
        }
    }
}

fn texts(bytes: &[u8], path: &[u64]) -> Vec<String> {
    all(bytes, path).into_iter().map(|text| String::from_utf8(text).unwrap()).collect()
}

const SPANS: [u64; 3] = [1, 2, 2];

#[test]
fn spans_and_evaluations_reach_the_endpoint_and_change_nothing() {
    let lab = Lab::new();
    lab.small_suite();
    lab.run("run small.yaml --run-dir quiet --quiet").exits(0);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}/", listener.local_addr().unwrap());
    let taken = collector(listener, 200);
    let mut command = lab.command(&["run", "small.yaml", "--run-dir", "told"]);
    command
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint)
        .env("OTEL_EXPORTER_OTLP_HEADERS", "x-key=hidden,other = 1");
    let told = lab.finish(command.env("OTEL_SERVICE_NAME", "mine")).exits(0);
    assert!(!told.said().contains("OpenTelemetry"), "{}", told.said());
    assert_eq!(lab.run_files("quiet"), lab.run_files("told"), "no byte of the run");

    let taken = taken.lock().unwrap().clone();
    let paths: Vec<&str> = taken.iter().map(|(path, ..)| path.as_str()).collect();
    assert_eq!(paths, ["/v1/traces", "/v1/logs"]);
    let head = taken[0].1.to_lowercase();
    for part in ["content-type: application/x-protobuf", "x-key: hidden", "other: 1"] {
        assert!(head.contains(part), "{part} in {head}");
    }
    let records = lab.records("told");
    let (traces, logs) = (&taken[0].2, &taken[1].2);
    let spans = all(traces, &SPANS);
    assert_eq!(spans.len(), records.len() + 1, "each trial, and the run");
    assert!(texts(traces, &[1, 1, 1, 2, 1]).contains(&"mine".to_owned()), "the service");
    let root = all(&spans[0], &[2]).remove(0);
    assert_eq!(texts(&spans[0], &[5]), ["evaluate small"]);
    for (span, record) in spans[1..].iter().zip(&records) {
        assert_eq!(all(span, &[4]).first(), Some(&root), "below the run");
        assert_eq!(all(span, &[1]), all(&spans[0], &[1]), "in one trace");
        let values = texts(span, &[9, 2, 1]);
        for field in ["record_id", "case_id", "slot"] {
            assert!(values.contains(&record[field].as_str().unwrap().to_owned()), "{field}: {values:?}");
        }
        let failed = all(span, &[15, 3]);
        assert_eq!(failed.len(), usize::from(record["status"] != "success"), "{record}");
        let time = |field: u64| u64::from_le_bytes(all(span, &[field])[0].as_slice().try_into().unwrap());
        assert!(time(7) > 1_600_000_000_000_000_000 && time(7) <= time(8), "nanoseconds of a real clock");
    }
    let scores: usize = records
        .iter()
        .map(|record| record["scores"].as_object().unwrap().values().filter(|score| !score.is_null()).count())
        .sum();
    let events = all(logs, &SPANS);
    assert_eq!(events.len(), scores, "an event for each score");
    assert!(events.iter().all(|event| texts(event, &[12]) == ["gen_ai.evaluation.result"]));
    let whole = [traces.as_slice(), logs].concat();
    assert!(!String::from_utf8_lossy(&whole).contains("gamma"), "no content");

    // The same by OpenTelemetry's own classes.
    for (signal, body) in [("traces", traces), ("logs", logs)] {
        lab.write("body", body);
        let Some((read, said)) = readers::read(&lab, &["otlp", signal, "body"]) else { return };
        assert!(read, "{said}");
        let needle =
            if signal == "traces" { "\"gen_ai.request.model\"" } else { "\"gen_ai.evaluation.score.value\"" };
        assert!(said.contains(needle), "{said}");
    }
}

#[test]
fn a_collector_that_is_away_or_refuses_is_a_note() {
    let lab = Lab::new();
    lab.small_suite();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let refusing = format!("http://{}", listener.local_addr().unwrap());
    let taken = collector(listener, 503);
    for (at, (endpoint, why)) in
        [(refusing.as_str(), "status 503"), ("http://127.0.0.1:1", "refused"), ("not an address", "address")]
            .into_iter()
            .enumerate()
    {
        let dir = format!("run{at}");
        let mut command = lab.command(&["run", "small.yaml", "--run-dir", &dir]);
        command.env("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint);
        lab.finish(&mut command).exits(0).says("note: not everything was sent to OpenTelemetry").says(why);
    }
    assert_eq!(taken.lock().unwrap().len(), 1, "no second try");
}

/// No variable, no telemetry; `OTEL_SDK_DISABLED` is obeyed. The usual port of a collector is listened on, too.
#[test]
fn nothing_is_sent_without_an_endpoint() {
    let lab = Lab::new();
    lab.small_suite();
    let usual = TcpListener::bind("127.0.0.1:4318").ok().map(|listener| collector(listener, 200));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let other = collector(listener, 200);
    lab.run("run small.yaml --run-dir a --quiet").exits(0);
    let mut command = lab.command(&["run", "small.yaml", "--run-dir", "b", "--quiet"]);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint).env("OTEL_SDK_DISABLED", "true");
    lab.finish(&mut command).exits(0);
    assert!(other.lock().unwrap().is_empty() && usual.is_none_or(|usual| usual.lock().unwrap().is_empty()));
}
