//! `-v` and `-vv`: what the program does, one line each, on standard error.
//!
//! Off by default; an event then costs one comparison. Nothing of it reaches a run directory. The subscriber is our own:
//! there are no spans to follow, and a line may hold text of anybody, which has to be made visible by our own table.

use std::fmt::{self, Write as _};
use std::io::{self, Write as _};

use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::spine::run::clock::Watch;
use crate::text::visible::one_line;

/// Listens from now on: to decisions and requests with one `-v`, to each box and each kept verdict with two.
pub(super) fn listen(count: u8) {
    let most = match count {
        0 => return,
        1 => Level::INFO,
        _ => Level::DEBUG,
    };
    // The program asks once; a test that has asked before keeps its own.
    let _ = tracing::subscriber::set_global_default(Log { most, since: Watch::start() });
}

struct Log {
    most: Level,
    since: Watch,
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        // Libraries below us write down what they send, headers included.
        *metadata.level() <= self.most && metadata.target().starts_with("proofhouse")
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::from_level(self.most))
    }

    fn event(&self, event: &Event<'_>) {
        let mut told = EventLine::default();
        event.record(&mut told);
        let line = format!("[{:9.3} s] {}{}", self.since.elapsed().as_secs_f64(), told.message, told.fields);
        // Nobody reads it: then nobody misses it.
        let _ = writeln!(io::stderr().lock(), "{}", one_line(&line));
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// The parts of a line.
#[derive(Default)]
struct EventLine {
    message: String,
    fields: String,
}

impl Visit for EventLine {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.record_debug(field, &format_args!("{value:.1}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, " {name}={value:?}"),
        };
    }
}
