//! The monotonic clock, which supervision cannot do without: deadlines and measured times, never a date.

use rustix::time::{ClockId, clock_gettime};

/// Microseconds since some fixed moment.
pub(crate) fn now_us() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    let seconds = u64::try_from(now.tv_sec).unwrap_or_default();
    let nanos = u64::try_from(now.tv_nsec).unwrap_or_default();
    seconds * 1_000_000 + nanos / 1_000
}
