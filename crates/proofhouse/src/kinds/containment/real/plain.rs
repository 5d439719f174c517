//! What agents tell their models about this machine and this day, taken out: the same trial asks the same tomorrow and elsewhere.

use proofhouse_ledger::spine::Stamp;

use crate::family::target::{Chat, Message};

/// What stands in the place of today.
const SOME_DAY: &str = "2000-01-01";
/// What stands in the place of the kernel's version.
const SOME_KERNEL: &str = "0.0.0";
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// Texts that differ from day to day and from machine to machine, and what is said instead.
#[derive(Debug, Clone, Default)]
pub(super) struct Plain(Vec<(String, &'static str)>);

impl Plain {
    /// For a trial that begins now, on a machine with this kernel.
    pub(super) fn new(now: Stamp, kernel: &str) -> Plain {
        const DAY_US: i64 = 86_400_000_000;
        let mut all: Vec<(String, &'static str)> = Vec::new();
        // A trial may last over midnight.
        for stamp in [now, Stamp(now.0.saturating_add(DAY_US))] {
            let text = stamp.to_string();
            let Some((year, rest)) = text.get(..10).and_then(|day| day.split_once('-')) else { continue };
            let Some((month, day)) = rest.split_once('-') else { continue };
            let (Ok(number), Ok(of_month)) = (month.parse::<usize>(), day.parse::<u32>()) else { continue };
            let Some(name) = MONTHS.get(number.wrapping_sub(1)) else { continue };
            let short = &name[..3];
            for form in [
                format!("{year}-{month}-{day}"),
                format!("{name} {of_month}, {year}"),
                format!("{short} {of_month}, {year}"),
                format!("{short} {day} {year}"),
                format!("{of_month} {name} {year}"),
                format!("{of_month} {short} {year}"),
                format!("{number}/{of_month}/{year}"),
            ] {
                all.push((form, SOME_DAY));
            }
        }
        if kernel.len() >= 5 {
            all.push((kernel.to_owned(), SOME_KERNEL));
        }
        Plain(all)
    }

    /// A text without them.
    pub(super) fn text(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (from, to) in &self.0 {
            if text.contains(from.as_str()) {
                text = text.replace(from.as_str(), to);
            }
        }
        text
    }

    /// What an agent wrote into a conversation, without them. What the model said is left as it is, and of results nothing is
    /// changed but the time that an agent says they took.
    pub(super) fn chat(&self, chat: &mut Chat) {
        chat.system = chat.system.as_deref().map(|text| self.text(text));
        for message in &mut chat.messages {
            match message {
                Message::User(text) => *text = self.text(text),
                Message::Tool { content, .. } => {
                    if let Some(timeless) = timeless(content) {
                        *content = timeless;
                    }
                }
                // No agent shows pictures to a model that is put in its place.
                Message::Shown(_) | Message::Assistant { .. } => {}
            }
        }
        for tool in &mut chat.tools {
            tool.description = self.text(&tool.description);
        }
    }
}

/// A result without how long it took, as codex writes it above each one.
fn timeless(result: &str) -> Option<String> {
    let (seconds, rest) = result.strip_prefix("Wall time: ")?.split_once(" seconds\n")?;
    let is_number = !seconds.is_empty() && seconds.chars().all(|c| c.is_ascii_digit() || c == '.');
    is_number.then(|| format!("Wall time: 0 seconds\n{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn today_and_this_kernel_are_no_part_of_a_question() {
        // The 17th of November 2026, at eleven at night.
        let plain = Plain::new(Stamp(1_794_956_400_000_000), "6.1.0-42-amd64");
        for (text, expected) in [
            ("Today's date: 2026-11-17.", "Today's date: 2000-01-01."),
            ("It is November 17, 2026", "It is 2000-01-01"),
            ("Tue Nov 17 2026", "Tue 2000-01-01"),
            ("2026-11-18T00:10:00Z", "2000-01-01T00:10:00Z"),
            ("OS Version: Linux 6.1.0-42-amd64", "OS Version: Linux 0.0.0"),
            ("2026-11-16", "2026-11-16"),
        ] {
            assert_eq!(plain.text(text), expected);
        }
        assert_eq!(
            timeless("Wall time: 0.0604 seconds\nOutput:\nx").as_deref(),
            Some("Wall time: 0 seconds\nOutput:\nx")
        );
        for other in ["Wall time: a seconds\nx", "x Wall time: 1 seconds\n", "Wall time: 1 seconds"] {
            assert_eq!(timeless(other), None);
        }
    }
}
