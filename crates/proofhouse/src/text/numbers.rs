//! Numbers as people read them, without rounding anything into a claim: 99.99 % is never printed as 100 %.

/// Between a number and its unit.
pub const NBSP: char = '\u{a0}';

/// A text in which no line breaks before a percent sign. Sentences of summaries have plain spaces, because files keep them.
pub fn kept_together(text: &str) -> String {
    text.replace(" %", &format!("{NBSP}%"))
}

/// A share as a percentage with one decimal; only all is 100 %, only none is 0 %.
pub fn percent(share: f64) -> String {
    let digits = match rounded(share).as_str() {
        "100" if share < 1.0 => ">99.9".to_owned(),
        "0" if share > 0.0 => "<0.1".to_owned(),
        digits => digits.to_owned(),
    };
    format!("{digits}{NBSP}%")
}

/// A share that may be negative, such as a relative loss.
pub fn signed_percent(share: f64) -> String {
    if share < 0.0 { format!("−{}", percent(-share)) } else { percent(share) }
}

fn rounded(share: f64) -> String {
    let digits = format!("{:.1}", share * 100.0);
    match digits.as_str() {
        "100.0" => "100".to_owned(),
        "0.0" | "-0.0" => "0".to_owned(),
        _ => digits,
    }
}

/// `84.4–95.7 %`, or nothing where there is no interval. Its ends are no claims, so they are simply rounded.
pub fn interval(low: Option<f64>, high: Option<f64>) -> Option<String> {
    Some(format!("{}–{}{NBSP}%", rounded(low?), rounded(high?)))
}

/// `12,345`
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `3 of 1,200`
pub fn of(part: u64, all: u64) -> String {
    format!("{} of {}", count(part), count(all))
}

/// `1 trial`, `2 trials`
pub fn plural(number: u64, one: &str, many: &str) -> String {
    format!("{}{NBSP}{}", count(number), if number == 1 { one } else { many })
}

/// The same for messages that are no documents: their words are searched for and copied.
pub fn spaced(number: u64, one: &str, many: &str) -> String {
    plural(number, one, many).replace(NBSP, " ")
}

/// A difference of two shares in percentage points, with its sign.
pub fn points(difference: f64) -> String {
    let digits = format!("{:.1}", (difference * 100.0).abs());
    match digits.as_str() {
        "0.0" => "0".to_owned(),
        _ if difference < 0.0 => format!("−{digits}"),
        _ => format!("+{digits}"),
    }
}

/// `p = 0.035`; very small values are bounded, not rounded to 0.
pub fn p_value(p: f64) -> String {
    match bounded(p) {
        Some(bound) => format!("p{NBSP}{bound}"),
        None => format!("p{NBSP}={NBSP}{p:.3}"),
    }
}

/// The same in a column that says `p`: `0.035`, `< 0.001`.
pub fn p_number(p: f64) -> String {
    bounded(p).unwrap_or_else(|| format!("{p:.3}"))
}

fn bounded(p: f64) -> Option<String> {
    (p < 0.001).then(|| format!("<{NBSP}0.001"))
}

/// How often chance alone would do this.
pub fn chance(p: f64) -> String {
    if p >= 0.995 {
        "practically always".to_owned()
    } else if p >= 0.1 {
        format!("in about {:.0} of 100 such runs", p * 100.0)
    } else if p >= 0.000_001 {
        format!("in about 1 of {} such runs", count((1.0 / p).round() as u64))
    } else {
        "in fewer than 1 of 1,000,000 such runs".to_owned()
    }
}

/// US dollars: cents where there are dollars, two significant digits below a cent.
pub fn dollars(sum: f64) -> String {
    match sum {
        0.0 => "$0".to_owned(),
        sum if sum >= 0.995 => format!("${sum:.2}"),
        sum => {
            let digits = (1.0 - sum.log10().floor()).clamp(2.0, 12.0) as usize;
            format!("${sum:.digits$}")
        }
    }
}

/// A time span as people read it.
pub fn milliseconds(span: f64) -> String {
    match span {
        span if span < 10.0 => format!("{span:.1} ms"),
        span if span < 999.5 => format!("{span:.0} ms"),
        span if span < 9_995.0 => format!("{:.2} s", span / 1e3),
        span => format!("{:.1} s", span / 1e3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_rounded_into_certainty() {
        let table = [
            (1.0, "100"),
            (0.9999, ">99.9"),
            (2999.0 / 3000.0, ">99.9"),
            (0.0, "0"),
            (0.0001, "<0.1"),
            (0.9167, "91.7"),
            (0.5, "50.0"),
        ];
        for (share, expected) in table {
            assert_eq!(percent(share), format!("{expected}\u{a0}%"));
        }
        assert_eq!(signed_percent(-0.0001), "−<0.1\u{a0}%");
        assert_eq!(interval(Some(0.844), Some(0.99999)).unwrap(), "84.4–100\u{a0}%");
        assert_eq!(interval(None, Some(1.0)), None);
        assert_eq!(p_value(0.0), "p\u{a0}<\u{a0}0.001");
        assert_eq!((p_number(0.0009).as_str(), p_number(0.0354).as_str()), ("<\u{a0}0.001", "0.035"));
    }

    #[test]
    fn counts_are_grouped() {
        for (number, expected) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(count(number), expected);
        }
        assert_eq!(points(-0.125), "−12.5");
        assert_eq!(points(0.0001), "0");
    }
}
