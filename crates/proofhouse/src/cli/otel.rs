//! A finished run for OpenTelemetry: sent where the user's environment says so, and nowhere otherwise. Whether it arrives changes no byte
//! of the run and not how the command ends.

use proofhouse_ledger::{RunPaths, format};

use super::{Terminal, env};
use crate::family::target::post;
use crate::kinds;
use crate::spine::export::{Source, otlp};

/// Sends a run's spans and events, if there is somewhere to send them to.
pub(super) fn send(paths: &RunPaths, terminal: &Terminal) {
    let Some(collector) = env::collector() else { return };
    if collector.protocol.as_deref().is_some_and(|protocol| protocol != "http/protobuf") {
        terminal.say("note: nothing was sent to OpenTelemetry: OTEL_EXPORTER_OTLP_PROTOCOL asks for another protocol than `http/protobuf`");
        return;
    }
    let Ok(manifest) = format::read_manifest(paths) else { return };
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
    let source = Source { paths, manifest: &manifest, kinds: kinds::own_presentation };
    let mut headers = collector.headers.clone();
    headers.push(("content-type".to_owned(), "application/x-protobuf".to_owned()));
    let environment = env::for_targets();
    let mut refused = None;
    let told = otlp::requests(&source, &collector.service, &mut |signal, body| {
        let to = format!("{}/{}", collector.endpoint.trim_end_matches('/'), signal.path());
        let sent = runtime.block_on(post(&to, &headers, body, &environment));
        refused = sent.err().map(|complaint| format!("`{to}`: {}", complaint.what));
        refused.is_none()
    });
    let failed = told.err().map(|error| error.to_string());
    if let Some(why) = refused.or(failed) {
        terminal.say(&format!("note: not everything was sent to OpenTelemetry: {why}"));
    }
}
