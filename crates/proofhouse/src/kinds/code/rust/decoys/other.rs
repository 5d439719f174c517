//! Other literals in place of one: of its type, its length and its kind, so that nothing but the task itself tells them apart.

use super::Dice;

/// Tries before it is believed that there is no other.
const MAX_TRIES: usize = 40;

/// Up to so many others. `pools` are literals of the same tests, which no other could be more like, the first before the second;
/// `beside` are those that the same value has already, which would be no other where order and number do not count.
pub(super) fn others(
    literal: &str,
    pools: &[Vec<&str>; 2],
    beside: &[&str],
    most: usize,
    dice: &mut Dice,
) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let fits = |other: &str, found: &[String]| {
        other != literal && !beside.contains(&other) && !found.iter().any(|each| each == other)
    };
    // Half of them are from the tests.
    for pool in pools {
        let mut near: Vec<&str> = pool.iter().copied().filter(|other| is_alike(literal, other)).collect();
        dice.shuffle(&mut near);
        for other in near {
            if found.len() < most.div_ceil(2) && fits(other, &found) {
                found.push(other.to_owned());
            }
        }
    }
    for _ in 0..MAX_TRIES {
        if found.len() >= most {
            break;
        }
        match made(literal, dice) {
            Some(other) if fits(&other, &found) => found.push(other),
            _ => {}
        }
    }
    found
}

/// Whether two literals are of one type.
fn is_alike(one: &str, other: &str) -> bool {
    let sort = |text: &str| match text {
        "true" | "false" => Some(("bool".to_owned(), 0)),
        _ if text.starts_with('"') || text.starts_with("r\"") || text.starts_with("r#") => {
            Some(("text".to_owned(), 0))
        }
        _ if text.starts_with("b\"") && !text.contains('\\') => Some(("bytes".to_owned(), text.len())),
        _ if text.starts_with('\'') => Some(("char".to_owned(), 0)),
        _ if text.starts_with("b'") => Some(("byte".to_owned(), 0)),
        _ if text.starts_with(|c: char| c.is_ascii_digit()) && !text.starts_with("0x") => {
            let rest = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '_');
            let is_float = rest.starts_with(['.', 'e', 'E']);
            let suffix = rest
                .trim_start_matches(|c: char| !c.is_ascii_alphabetic() || is_float && matches!(c, 'e' | 'E'));
            Some((format!("{is_float}{suffix}"), 0))
        }
        _ => None,
    };
    sort(one).is_some() && sort(one) == sort(other)
}

/// Another literal.
fn made(literal: &str, dice: &mut Dice) -> Option<String> {
    match literal {
        "true" => return Some("false".to_owned()),
        "false" => return Some("true".to_owned()),
        _ => {}
    }
    let quote = literal.find(['"', '\'']);
    match quote {
        Some(at) if !literal.starts_with(|c: char| c.is_ascii_digit()) => {
            let close = literal.rfind(['"', '\''])?;
            let is_raw = literal[..at].contains('r');
            let inside = literal.get(at + 1..close)?;
            let other =
                text(inside, is_raw, literal.as_bytes()[at] == b'"' && !literal.starts_with('b'), dice)?;
            Some(format!("{}{other}{}", &literal[..=at], &literal[close..]))
        }
        _ => number(literal, dice),
    }
}

/// Another text with one character changed for one of its kind, or two of them swapped.
fn text(inside: &str, is_raw: bool, may_grow: bool, dice: &mut Dice) -> Option<String> {
    let plain = plain_places(inside, is_raw);
    if inside.is_empty() {
        return may_grow.then(|| char::from(b'a' + dice.below(26) as u8).to_string());
    }
    let bytes = inside.as_bytes();
    let worded: Vec<usize> = plain.iter().copied().filter(|at| bytes[*at].is_ascii_alphanumeric()).collect();
    let mut out = bytes.to_vec();
    let neighbours = |at: &&usize| plain.contains(&(**at + 1)) && bytes[**at] != bytes[**at + 1];
    let swapped: Vec<&usize> = plain.iter().filter(neighbours).collect();
    if !swapped.is_empty() && (worded.is_empty() || dice.below(3) == 0) {
        let at = *swapped[dice.below(swapped.len())];
        out.swap(at, at + 1);
    } else {
        let among = if worded.is_empty() { &plain } else { &worded };
        let at = *among.get(dice.below(among.len()))?;
        out[at] = match bytes[at] {
            b'0'..=b'9' => b'0' + dice.below(10) as u8,
            b'a'..=b'z' => b'a' + dice.below(26) as u8,
            b'A'..=b'Z' => b'A' + dice.below(26) as u8,
            _ => b"*+-#.,:;()[]<>"[dice.below(14)],
        };
    }
    String::from_utf8(out).ok()
}

/// Where a text has one-byte characters that stand for themselves.
fn plain_places(inside: &str, is_raw: bool) -> Vec<usize> {
    let bytes = inside.as_bytes();
    let (mut found, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        if bytes[at] == b'\\' && !is_raw {
            at += match bytes.get(at + 1) {
                Some(b'x') => 4,
                Some(b'u') => inside[at..].find('}').map_or(2, |end| end + 1),
                _ => 2,
            };
            continue;
        }
        if (b' '..=b'~').contains(&bytes[at]) && !matches!(bytes[at], b'"' | b'\'') {
            found.push(at);
        }
        at += 1;
    }
    found
}

/// Another number of about the same size: never larger than its type may hold where the first is not.
fn number(literal: &str, dice: &mut Dice) -> Option<String> {
    if let Some(digits) = literal
        .strip_prefix("0x")
        .or_else(|| literal.strip_prefix("0b"))
        .or_else(|| literal.strip_prefix("0o"))
    {
        // A lower digit for one of them.
        let last = digits.bytes().take_while(|byte| byte.is_ascii_hexdigit() || *byte == b'_').count();
        let places: Vec<usize> =
            (0..last).filter(|at| (b'1'..=b'9').contains(&digits.as_bytes()[*at])).collect();
        let at = *places.get(dice.below(places.len()))?;
        let lower = dice.below(usize::from(digits.as_bytes()[at] - b'0'));
        return Some(format!("{}{}{lower}{}", &literal[..2], &digits[..at], &digits[at + 1..]));
    }
    let count = literal.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'_').count();
    let (number, rest) = literal.split_at(count);
    let number: u128 = number.replace('_', "").parse().ok()?;
    let by = 1 + dice.below(9) as u128;
    let other = match dice.below(3) {
        // Of a small one another digit.
        _ if number < 10 => (number + by) % 10,
        0 if number < 120 => number + by,
        1 => number - by,
        _ => {
            let least = 10_u128.pow(number.ilog10());
            least + dice.below(usize::try_from(number - least + 1).unwrap_or(usize::MAX)) as u128
        }
    };
    Some(format!("{other}{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(literal: &str, pool: &[&str]) -> Vec<String> {
        others(literal, &[Vec::new(), pool.to_vec()], &[], 6, &mut Dice::of("00000000000000ff"))
    }

    #[test]
    fn others_are_of_the_same_length_and_kind() {
        for literal in [
            "\"triangle\"",
            "\"<3>\"",
            "\"\\n12\\u{1F600}x\"",
            "b\"ab\"",
            "'x'",
            "b'x'",
            "\"***\"",
            "r\"a\\n\"",
        ] {
            let found = all(literal, &[]);
            assert!(found.len() >= 3, "{literal} {found:?}");
            for other in found {
                assert_eq!(other.len(), literal.len(), "{literal} {other}");
                assert!(
                    other.parse::<proc_macro2::Literal>().is_ok() && other != literal,
                    "{literal} {other}"
                );
            }
        }
        for literal in ["7", "42u8", "1_000", "1.5", "0.25f32", "3e5", "0x1F", "0", "255"] {
            let found = all(literal, &[]);
            assert!(!found.is_empty(), "{literal}");
            for other in found {
                assert!(
                    other.parse::<proc_macro2::Literal>().is_ok() && other != literal,
                    "{literal} {other}"
                );
            }
        }
        assert_eq!(all("true", &["false"]), ["false"]);
        assert!(all("255u8", &[]).iter().all(|other| other.trim_end_matches("u8").parse::<u8>().is_ok()));
    }

    #[test]
    fn what_the_tests_have_comes_first() {
        let found = all("\"red\"", &["\"red\"", "\"green\"", "7", "'g'", "\"blue\""]);
        assert!(
            found[..2].contains(&"\"green\"".to_owned()) && found[..2].contains(&"\"blue\"".to_owned()),
            "{found:?}"
        );
        let beside = others("1", &[vec!["2", "3"], Vec::new()], &["2"], 6, &mut Dice::of("00000000000000ff"));
        assert!(!beside.contains(&"2".to_owned()) && beside.contains(&"3".to_owned()));
    }
}
