//! What a plain scalar means: the core schema of YAML 1.2.

use super::tree::Kind;

/// The core schema of YAML 1.2 for a plain scalar.
pub(super) fn resolve(text: &str) -> Kind {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Kind::Null,
        "true" | "True" | "TRUE" => return Kind::Bool(true),
        "false" | "False" | "FALSE" => return Kind::Bool(false),
        ".nan" | ".NaN" | ".NAN" => return Kind::Float(f64::NAN),
        _ => {}
    }
    let (negative, digits) = match text.as_bytes() {
        [b'-', ..] => (true, &text[1..]),
        [b'+', ..] => (false, &text[1..]),
        _ => (false, text),
    };
    if matches!(digits, ".inf" | ".Inf" | ".INF") {
        return Kind::Float(if negative { f64::NEG_INFINITY } else { f64::INFINITY });
    }
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return Kind::Text(text.to_owned());
    }
    if digits.bytes().all(|b| b.is_ascii_digit()) {
        let significant = digits.trim_start_matches('0');
        let significant = if significant.is_empty() { "0" } else { significant };
        return Kind::Integer(if negative { format!("-{significant}") } else { significant.to_owned() });
    }
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        if let Some(number) = text.strip_prefix(prefix).and_then(|rest| {
            let plain = rest.bytes().all(|b| b.is_ascii_alphanumeric());
            plain.then(|| u128::from_str_radix(rest, radix).ok()).flatten()
        }) {
            return Kind::Integer(number.to_string());
        }
    }
    if is_float(digits) {
        return text.parse().map_or_else(|_| Kind::Text(text.to_owned()), Kind::Float);
    }
    Kind::Text(text.to_owned())
}

/// `(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`
fn is_float(text: &str) -> bool {
    let all_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let exponent_fits = exponent.is_none_or(|e| all_digits(e.strip_prefix(['-', '+']).unwrap_or(e)));
    let mantissa_fits = match mantissa.split_once('.') {
        Some(("", fraction)) => all_digits(fraction),
        Some((whole, fraction)) => all_digits(whole) && (fraction.is_empty() || all_digits(fraction)),
        None => all_digits(mantissa),
    };
    exponent_fits && mantissa_fits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn core_schema() {
        let texts = [
            "yes", "on", "1_000", "1.2.3", ".", "-", "+", "e5", "0x", "0xg", "NaN", "12:30", "1e", "- 1",
            "tRue",
        ];
        for text in texts {
            assert!(matches!(resolve(text), Kind::Text(_)), "{text}");
        }
        for (text, digits) in
            [("0", "0"), ("-7", "-7"), ("+7", "7"), ("007", "7"), ("0x1f", "31"), ("0o17", "15")]
        {
            assert!(matches!(resolve(text), Kind::Integer(found) if found == digits), "{text}");
        }
        for (text, value) in
            [("1.", 1.0), (".5", 0.5), ("-1e3", -1000.0), ("+.5E+1", 5.0), ("-.inf", f64::NEG_INFINITY)]
        {
            assert!(matches!(resolve(text), Kind::Float(found) if found == value), "{text}");
        }
    }
}
