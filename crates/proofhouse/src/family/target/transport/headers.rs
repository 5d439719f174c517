//! What an endpoint says about waiting, in the headers that are in use.

use std::time::Duration;

use hyper::HeaderMap;

/// How long the endpoint asks to wait: `retry-after-ms`, or `Retry-After` in seconds or as a date.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    if let Some(milliseconds) = text("retry-after-ms").and_then(|text| text.parse::<f64>().ok()) {
        return seconds(milliseconds / 1e3);
    }
    let wanted = text("retry-after")?;
    if let Ok(count) = wanted.parse::<f64>() {
        return seconds(count);
    }
    // The difference to the response's own date needs no clock of ours.
    let (then, now) = (http_date(wanted)?, http_date(text("date")?)?);
    Some(Duration::from_secs(u64::try_from(then - now).unwrap_or(0)))
}

/// How long the allowance is used up, from the rate-limit headers: only where nothing of it is left.
pub(super) fn exhausted(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: String| headers.get(name)?.to_str().ok().map(str::trim);
    let of = |stem: &str, what: &str| {
        let left: f64 = text(format!("{stem}remaining{what}"))?.parse().ok()?;
        let reset = text(format!("{stem}reset{what}"))?;
        (left <= 0.0).then(|| span(reset))?
    };
    let known = [("x-ratelimit-", "-requests"), ("x-ratelimit-", "-tokens"), ("ratelimit-", "")];
    known.iter().filter_map(|(stem, what)| of(stem, what)).max()
}

fn seconds(count: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(count.max(0.0)).ok()
}

/// A span as rate-limit headers write it: `6m0s`, `1h2m3.5s`, `20ms`, or plain seconds.
fn span(text: &str) -> Option<Duration> {
    if let Ok(count) = text.parse::<f64>() {
        // Some endpoints give the second of the epoch instead; that is not a span.
        return (count < 1e6).then(|| seconds(count)).flatten();
    }
    let mut total = Duration::ZERO;
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let count: f64 = rest[..end].parse().ok()?;
        rest = &rest[end..];
        let units = [("ms", 1e-3), ("h", 3600.0), ("m", 60.0), ("s", 1.0)];
        let (unit, factor) = units.into_iter().find(|(unit, _)| rest.starts_with(unit))?;
        rest = &rest[unit.len()..];
        total = total.checked_add(seconds(count * factor)?)?;
    }
    Some(total)
}

/// The second of the epoch of a date such as `Sun, 06 Nov 1994 08:49:37 GMT`.
fn http_date(text: &str) -> Option<i64> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let [_, day, month, year, time, "GMT"] = words[..] else { return None };
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let month = months.iter().position(|name| *name == month)? as i64 + 1;
    let (day, year): (i64, i64) = (day.parse().ok()?, year.parse().ok()?);
    let clock: Vec<i64> = time.split(':').map(str::parse).collect::<Result<_, _>>().ok()?;
    let [hour, minute, second] = clock[..] else { return None };
    // Days since the epoch of a date in the Gregorian calendar, with March as the first month.
    let (years, months) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = years * 365 + years.div_euclid(4) - years.div_euclid(100)
        + years.div_euclid(400)
        + (months * 153 + 2) / 5
        + day
        - 1
        - 719_468;
    Some(days * 86_400 + hour * 3_600 + minute * 60 + second)
}

#[cfg(test)]
mod tests {
    use hyper::header::{HeaderName, HeaderValue};

    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &'static str)| {
            (HeaderName::from_static(name), HeaderValue::from_static(value))
        };
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn retry_after_in_its_three_forms() {
        let check = |pairs: &[(&'static str, &'static str)], expected: Option<u64>| {
            assert_eq!(retry_after(&headers(pairs)), expected.map(Duration::from_millis), "{pairs:?}");
        };
        check(&[("retry-after", "2")], Some(2_000));
        check(&[("retry-after", "0.25")], Some(250));
        check(&[("retry-after", "-3")], Some(0));
        check(&[("retry-after-ms", "1500"), ("retry-after", "2")], Some(1_500));
        let now = ("date", "Sun, 06 Nov 1994 08:49:37 GMT");
        check(&[("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT"), now], Some(30_000));
        check(&[("retry-after", "Sun, 06 Nov 1994 08:49:07 GMT"), now], Some(0));
        check(&[("retry-after", "soon"), now], None);
        check(&[("retry-after", "inf")], None);
        check(&[], None);
        assert_eq!(http_date("Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777));
        assert_eq!(http_date("Thu, 29 Feb 2024 00:00:00 GMT"), Some(1_709_164_800));
    }

    #[test]
    fn an_allowance_that_is_used_up_says_until_when() {
        let check = |pairs: &[(&'static str, &'static str)], expected: Option<u64>| {
            assert_eq!(exhausted(&headers(pairs)), expected.map(Duration::from_millis), "{pairs:?}");
        };
        check(
            &[("x-ratelimit-remaining-requests", "0"), ("x-ratelimit-reset-requests", "1m2.5s")],
            Some(62_500),
        );
        check(&[("x-ratelimit-remaining-requests", "1"), ("x-ratelimit-reset-requests", "1m")], None);
        check(&[("x-ratelimit-remaining-tokens", "0"), ("x-ratelimit-reset-tokens", "20ms")], Some(20));
        check(&[("ratelimit-remaining", "0"), ("ratelimit-reset", "3")], Some(3_000));
        check(&[("ratelimit-remaining", "0"), ("ratelimit-reset", "1800000000")], None);
        check(&[("ratelimit-remaining", "0"), ("ratelimit-reset", "x")], None);
    }
}
