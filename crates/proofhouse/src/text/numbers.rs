//! Numbers as people read them, without rounding anything into a claim: 99.99 % is never printed as 100 %.

/// Between a number and its unit.
pub const NBSP: char = '\u{a0}';

/// A text in which no line breaks before a percent sign. Sentences of summaries have plain spaces, because files keep them.
pub fn kept_together(text: &str) -> String {
    text.replace(" %", &format!("{NBSP}%"))
}

/// A share as a percentage with one decimal; only all is 100 %, only none is 0 %.
pub fn percent(share: f64) -> String {
    format!("{}{NBSP}%", bounded_share(share))
}

/// A share that may be negative, such as a relative loss.
pub fn signed_percent(share: f64) -> String {
    if share < 0.0 { format!("−{}", percent(-share)) } else { percent(share) }
}

fn bounded_share(share: f64) -> String {
    let digits = format!("{:.1}", share * 100.0);
    match digits.as_str() {
        // What rounding leaves of all or nothing is that.
        "100.0" if share < 1.0 - 1e-11 => ">99.9".to_owned(),
        "100.0" => "100".to_owned(),
        "0.0" if share > 1e-11 => "<0.1".to_owned(),
        "0.0" | "-0.0" => "0".to_owned(),
        _ => digits,
    }
}

/// `84.4–95.7 %`, or nothing where there is no interval. Its ends are claims of what can be excluded: one that is not 0 or 100 is not
/// told as such.
pub fn interval(low: Option<f64>, high: Option<f64>) -> Option<String> {
    Some(format!("{}–{}{NBSP}%", bounded_share(low?), bounded_share(high?)))
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

/// A difference of two shares in percentage points, with its sign: `+4.1`, and with as many digits as it takes where one would say
/// none or all.
pub fn points(difference: f64) -> String {
    let size = (difference * 100.0).abs();
    // What rounding leaves of two equal shares is no difference.
    if size < 1e-9 {
        return "0".to_owned();
    }
    let told = |places: usize| format!("{size:.places$}");
    let says =
        |text: &str| text.parse::<f64>().is_ok_and(|told| told > 0.0 && (told < 100.0 || size >= 100.0));
    let digits = (1..=12).map(told).find(|text| says(text)).unwrap_or_else(|| told(1));
    let sign = if difference < 0.0 { '−' } else { '+' };
    format!("{sign}{digits}")
}

/// `p = 0.035`; very small values are bounded, not rounded to 0.
pub fn p_value(p: f64) -> String {
    match bounded(p) {
        Some(bound) => format!("p{NBSP}{bound}"),
        None => format!("p{NBSP}={NBSP}{}", chance_digits(p)),
    }
}

/// The same in a column that says `p`: `0.035`, `< 0.001`.
pub fn p_number(p: f64) -> String {
    bounded(p).unwrap_or_else(|| chance_digits(p))
}

fn bounded(p: f64) -> Option<String> {
    match p {
        p if p < 0.001 => Some(format!("<{NBSP}0.001")),
        p if p < 1.0 - 1e-9 && p > 0.9995 => Some(format!(">{NBSP}0.999")),
        _ => None,
    }
}

/// Three digits, or more where rounding would put it on the other side of 0.05, by which tests are decided.
fn chance_digits(p: f64) -> String {
    let same_side = |text: &String| text.parse::<f64>().is_ok_and(|told| (told < 0.05) == (p < 0.05));
    (3..=12).map(|places: usize| format!("{p:.places$}")).find(same_side).unwrap_or_else(|| format!("{p:.3}"))
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

/// A value from 0 (or −1) to 1 with so many decimals: `0.997`, and `>0.999` or `<0.001` for one that is not 1 or 0.
pub fn decimals(value: f64, places: usize) -> String {
    let told = |value: f64| format!("{value:.places$}").replace('-', "−");
    let step = 10f64.powi(-i32::try_from(places).unwrap_or(12));
    match told(value).trim_start_matches('−').parse::<f64>() {
        Ok(1.0) if value > 0.0 && value < 1.0 => format!(">{}", told(1.0 - step)),
        Ok(0.0) if value > 0.0 => format!("<{}", told(step)),
        Ok(0.0) => told(0.0),
        _ => told(value),
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
        assert_eq!(interval(Some(0.844), Some(0.99999)).unwrap(), "84.4–>99.9\u{a0}%");
        assert_eq!(interval(Some(1e-5), Some(1.0)).unwrap(), "<0.1–100\u{a0}%");
        assert_eq!(interval(Some(0.0), Some(-0.0)).unwrap(), "0–0\u{a0}%");
        assert_eq!(interval(None, Some(1.0)), None);
        assert_eq!(p_value(0.0), "p\u{a0}<\u{a0}0.001");
        assert_eq!((p_number(0.0009).as_str(), p_number(0.0354).as_str()), ("<\u{a0}0.001", "0.035"));
        assert_eq!((p_number(0.99999).as_str(), p_number(1.0).as_str()), (">\u{a0}0.999", "1.000"));
        assert_eq!([0.0499, 0.04996, 0.05, 0.0501].map(p_number), ["0.0499", "0.04996", "0.050", "0.050"]);
    }

    #[test]
    fn scores_that_are_nearly_all_or_nothing_are_not_told_as_such() {
        let table = [
            (1.0, "1.00"),
            (0.9999, ">0.99"),
            (0.99, "0.99"),
            (0.001, "<0.01"),
            (0.0, "0.00"),
            (-0.5, "−0.50"),
        ];
        for (value, expected) in table {
            assert_eq!(decimals(value, 2), expected);
        }
        assert_eq!((decimals(0.99999, 3).as_str(), decimals(-1e-9, 3).as_str()), (">0.999", "0.000"));
    }

    #[test]
    fn counts_are_grouped() {
        for (number, expected) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(count(number), expected);
        }
        assert_eq!(points(-0.125), "−12.5");
        let table =
            [(0.0001, "+0.01"), (-4e-6, "−0.0004"), (0.99996, "+99.996"), (1.0, "+100.0"), (-1e-17, "0")];
        for (difference, expected) in table {
            assert_eq!(points(difference), expected);
        }
    }
}
