//! The time spine: every timestamp in a canonical file derives from `run_id` and the trial's index.
//!
//! It is not a measurement. It gives consumers that expect timestamps an order that is the plan's, the same on every
//! machine; real times are in the envelope and the telemetry beside the run directory.

use crate::RunId;

/// The spine starts here (2001-01-01T00:00:00Z) plus up to a billion seconds taken from the run id.
const EPOCH_SECONDS: i64 = 978_307_200;
const SPREAD_SECONDS: u64 = 1_000_000_000;
/// Microseconds between one trial's start and the next one's.
const STEP_MICROS: i64 = 1_000;

/// The timestamps of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spine {
    start_micros: i64,
}

impl Spine {
    /// The spine of a run.
    pub fn new(run_id: &RunId) -> Self {
        let number = run_id.bytes().iter().fold(0u64, |sum, byte| (sum << 8) | u64::from(*byte));
        Self { start_micros: (EPOCH_SECONDS + (number % SPREAD_SECONDS) as i64) * 1_000_000 }
    }

    /// When the run starts: before its first trial.
    pub fn run_start(&self) -> Stamp {
        Stamp(self.start_micros)
    }

    /// When the run ends: after the last of `count` trials.
    pub fn run_end(&self, count: u64) -> Stamp {
        self.after(count, STEP_MICROS)
    }

    /// When trial `index` starts.
    pub fn started(&self, index: u64) -> Stamp {
        self.after(index, STEP_MICROS / 2)
    }

    /// When trial `index` is complete.
    pub fn completed(&self, index: u64) -> Stamp {
        self.after(index, STEP_MICROS)
    }

    /// An index from a hostile file may be anything; it must not end the program.
    fn after(&self, steps: u64, micros: i64) -> Stamp {
        let steps = i64::try_from(steps).unwrap_or(i64::MAX);
        Stamp(steps.saturating_mul(STEP_MICROS).saturating_add(self.start_micros).saturating_add(micros))
    }
}

/// A moment in microseconds since 1970, UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp(pub i64);

impl Stamp {
    /// `2026-02-13T15:24:54.238593+00:00`, without an allocation.
    pub fn text(&self) -> [u8; 32] {
        let seconds = self.0.div_euclid(1_000_000);
        let micros = self.0.rem_euclid(1_000_000);
        let (year, month, day) = civil(seconds.div_euclid(86_400));
        let second = seconds.rem_euclid(86_400);
        let mut out = *b"0000-00-00T00:00:00.000000+00:00";
        put(&mut out[0..4], year);
        put(&mut out[5..7], month);
        put(&mut out[8..10], day);
        put(&mut out[11..13], second / 3600);
        put(&mut out[14..16], second / 60 % 60);
        put(&mut out[17..19], second % 60);
        put(&mut out[20..26], micros);
        out
    }

    /// Reads what [`Stamp::text`] writes; nothing for any other form.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let number = |from: usize, to: usize| {
            let digits = bytes.get(from..to).filter(|digits| digits.iter().all(u8::is_ascii_digit))?;
            Some(digits.iter().fold(0i64, |sum, digit| sum * 10 + i64::from(digit - b'0')))
        };
        let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
        let seconds = number(11, 13)? * 3600 + number(14, 16)? * 60 + number(17, 19)?;
        // The inverse of `civil`: years from March, so that the leap day is a year's last one.
        let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
        let era = year.div_euclid(400);
        let year = year.rem_euclid(400);
        let days =
            era * 146_097 + year * 365 + year / 4 - year / 100 + (month * 153 + 2) / 5 + day - 1 - 719_468;
        let stamp = Stamp((days * 86_400 + seconds) * 1_000_000 + number(20, 26)?);
        (stamp.text() == *bytes).then_some(stamp)
    }

    /// `20260213T152454`: the form of a run instance id.
    pub fn compact(&self) -> String {
        self.to_string()[..19].replace(['-', ':'], "")
    }
}

/// The texts of moments that come one after the other: most are in the second of the one before, of which all but six digits stay.
#[derive(Debug, Clone)]
pub struct StampTexts {
    text: [u8; 32],
    second: i64,
}

impl Default for StampTexts {
    fn default() -> Self {
        Self { text: Stamp(0).text(), second: 0 }
    }
}

impl StampTexts {
    /// What [`Stamp::text`] gives.
    pub fn of(&mut self, stamp: Stamp) -> &[u8; 32] {
        let second = stamp.0.div_euclid(1_000_000);
        match second == self.second {
            true => put(&mut self.text[20..26], stamp.0.rem_euclid(1_000_000)),
            false => (self.second, self.text) = (second, stamp.text()),
        }
        &self.text
    }
}

impl std::fmt::Display for Stamp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(std::str::from_utf8(&self.text()).expect("digits are ASCII"))
    }
}

fn put(out: &mut [u8], number: i64) {
    // No part of a moment is longer, and dividing is twice as fast so; two moments of every record are checked.
    let mut number = number as u32;
    for digit in out.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

/// Year, month and day of a day number since 1970-01-01, in the proleptic Gregorian calendar.
fn civil(days: i64) -> (i64, i64, i64) {
    // Years are counted from March, so that the leap day is a year's last one.
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

/// Whether a text is a moment as [`Stamp`] writes it.
pub(crate) fn is_moment(text: &str) -> bool {
    const FORM: &[u8; 32] = b"0000-00-00T00:00:00.000000+00:00";
    let fits = |(byte, form): (&u8, &u8)| match form {
        b'0' => byte.is_ascii_digit(),
        other => byte == other,
    };
    text.len() == FORM.len() && text.ends_with("+00:00") && text.as_bytes()[..26].iter().zip(FORM).all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_read_as_it_is_written() {
        for micros in
            [0, 1, 951_782_400_000_000, 1_709_164_800_123_456, 1_772_000_000_000_001, 4_102_444_799_999_999]
        {
            assert_eq!(Stamp::parse(&Stamp(micros).to_string()), Some(Stamp(micros)));
        }
        for other in [
            "",
            "2026-13-01T00:00:00.000000+00:00",
            "2026-02-30T00:00:00.000000+00:00",
            "2026-02-13T15:24:54Z",
        ] {
            assert_eq!(Stamp::parse(other), None, "{other}");
        }
    }

    #[test]
    fn known_moments() {
        let table = [
            (0, "1970-01-01T00:00:00.000000+00:00"),
            (951_782_400_000_000, "2000-02-29T00:00:00.000000+00:00"),
            (1_770_996_294_238_593, "2026-02-13T15:24:54.238593+00:00"),
            (4_107_542_399_999_999, "2100-02-28T23:59:59.999999+00:00"),
            (-1, "1969-12-31T23:59:59.999999+00:00"),
        ];
        for (micros, expected) in table {
            assert_eq!(Stamp(micros).to_string(), expected);
        }
        assert_eq!(Stamp(1_770_996_294_238_593).compact(), "20260213T152454");
    }

    #[test]
    fn strictly_increasing_within_the_run() {
        let spine = Spine::new(&RunId::of_identity(b"x"));
        let mut last = spine.run_start();
        for index in 0..5 {
            assert!(last < spine.started(index));
            assert!(spine.started(index) < spine.completed(index));
            last = spine.completed(index);
        }
        assert!(last < spine.run_end(5));
    }

    #[test]
    fn texts_one_after_the_other_are_those_of_each() {
        let mut texts = StampTexts::default();
        for micros in [999_999, 1, 1_000_000, 1_999_999, -1, 0, 951_782_399_999_999, 951_782_400_000_000, 7] {
            assert_eq!(*texts.of(Stamp(micros)), Stamp(micros).text(), "{micros}");
        }
    }

    /// 0x0123456789ab is 1,250,999,896,491, of which 999,896,491 seconds are left beyond whole billions.
    #[test]
    fn moments_follow_from_the_run_id_and_the_index() {
        let spine = Spine::new(&RunId::from_hex(b"0123456789ab").unwrap());
        let start = (978_307_200 + 999_896_491) * 1_000_000;
        assert_eq!(spine.run_start(), Stamp(start));
        assert_eq!([0, 1, 7].map(|at| spine.started(at).0 - start), [500, 1_500, 7_500]);
        assert_eq!([0, 1, 7].map(|at| spine.completed(at).0 - start), [1_000, 2_000, 8_000]);
        assert_eq!([0, 1, 7].map(|count| spine.run_end(count).0 - start), [1_000, 2_000, 8_000]);
        assert_eq!(spine.completed(u64::MAX), Stamp(i64::MAX));
    }

    #[test]
    fn a_moment_has_its_form_and_no_other() {
        let moment = "2026-02-13T15:24:54.238593+00:00";
        assert!(is_moment(moment));
        for at in 0..moment.len() {
            let other = format!("{}x{}", &moment[..at], &moment[at + 1..]);
            assert!(!is_moment(&other), "{other}");
            assert_eq!(Stamp::parse(&other), None, "{other}");
        }
        let (short, long) = ("2026-02-13T15:24:54.23859+00:00", "2026-02-13T15:24:54.2385933+00:00");
        for other in ["", "+00:00", short, long, "2026-02-13T15:24:54.238593+01:00"] {
            assert!(!is_moment(other), "{other}");
        }
    }

    /// Each century has one leap day fewer, but for every fourth: the days on both sides of such ends.
    #[test]
    fn days_on_both_sides_of_leap_days_and_centuries() {
        let table = [
            (-2_203_977_600, "1900-02-28"),
            (-2_203_891_200, "1900-03-01"),
            (946_598_400, "1999-12-31"),
            (946_684_800, "2000-01-01"),
            (951_868_800, "2000-03-01"),
            (1_078_012_800, "2004-02-29"),
            (1_078_099_200, "2004-03-01"),
            (4_107_542_400, "2100-03-01"),
            (13_574_563_200, "2400-02-29"),
            (13_574_649_600, "2400-03-01"),
        ];
        for (seconds, day) in table {
            let stamp = Stamp(seconds * 1_000_000);
            assert_eq!(stamp.to_string(), format!("{day}T00:00:00.000000+00:00"));
            assert_eq!(Stamp::parse(&stamp.to_string()), Some(stamp));
        }
    }
}
