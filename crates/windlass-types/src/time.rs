//! Points in time.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;
use std::time::Duration;

/// A point in time: milliseconds since 1970-01-01T00:00:00Z. Written as RFC 3339
/// in UTC with milliseconds (`2026-01-01T00:00:00.000Z`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(u64);

impl Timestamp {
    /// From milliseconds since the Unix epoch.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the Unix epoch.
    pub const fn millis(self) -> u64 {
        self.0
    }

    /// The time from `earlier` to this, zero when it lies after.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }

    /// This time plus a span, at most the maximum.
    pub fn after(self, span: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(span.as_millis()).unwrap_or(u64::MAX)))
    }

    /// Reads RFC 3339 with `Z` or an offset and any number of fraction digits.
    /// Returns `None` for text of another form or for times before 1970.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let number = |from: usize, to: usize| -> Option<i64> {
            let part = text.get(from..to)?;
            if part.is_empty() || !part.bytes().all(|byte| byte.is_ascii_digit()) {
                return None;
            }
            part.parse().ok()
        };
        let separators = [(4, b"-"), (7, b"-"), (10, b"Tt "), (13, b":"), (16, b":")] as [(usize, &[u8]); 5];
        if !separators.iter().all(|(at, of)| bytes.get(*at).is_some_and(|byte| of.contains(byte))) {
            return None;
        }
        let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
        let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
        if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 23 || minute > 59 || second > 60 {
            return None;
        }
        let mut at = 19;
        let mut millis = 0;
        if bytes.get(at) == Some(&b'.') {
            let digits = text.get(at + 1..)?.bytes().take_while(u8::is_ascii_digit).count();
            let mut padded = text.get(at + 1..at + 1 + digits.min(3))?.to_owned();
            while padded.len() < 3 {
                padded.push('0');
            }
            millis = padded.parse::<i64>().ok()?;
            at += 1 + digits;
        }
        let offset = match text.get(at..)? {
            "Z" | "z" => 0,
            zone => {
                let sign = match zone.as_bytes().first()? {
                    b'+' => 1,
                    b'-' => -1,
                    _ => return None,
                };
                if zone.len() != 6 || zone.as_bytes().get(3) != Some(&b':') {
                    return None;
                }
                sign * (number(at + 1, at + 3)? * 60 + number(at + 4, at + 6)?)
            }
        };
        let seconds = days_from_civil(year, month, day) * 86_400 + hour * 3_600 + (minute - offset) * 60 + second;
        u64::try_from(seconds * 1_000 + millis).ok().map(Self)
    }
}

/// Days from 1970-01-01 to a date of the proleptic Gregorian calendar.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// The date that lies `days` days after 1970-01-01.
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

impl Timestamp {
    /// The text of a time before the year 10000.
    fn text(self) -> Option<[u8; 24]> {
        let seconds = self.0 / 1_000;
        let (year, month, day) = civil_from_days(i64::try_from(seconds / 86_400).ok()?);
        let of_day = seconds % 86_400;
        let mut text = *b"0000-00-00T00:00:00.000Z";
        let mut number = |last: usize, digits: usize, mut number: u64| {
            for place in text.get_mut(..=last)?.iter_mut().rev().take(digits) {
                *place += (number % 10) as u8;
                number /= 10;
            }
            (number == 0).then_some(())
        };
        number(3, 4, year.try_into().ok()?)?;
        number(6, 2, month.try_into().ok()?)?;
        number(9, 2, day.try_into().ok()?)?;
        number(12, 2, of_day / 3_600)?;
        number(15, 2, of_day / 60 % 60)?;
        number(18, 2, of_day % 60)?;
        number(22, 3, self.0 % 1_000)?;
        Some(text)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(text) = self.text() {
            return f.write_str(str::from_utf8(&text).map_err(|_| fmt::Error)?);
        }
        let seconds = self.0 / 1_000;
        let (year, month, day) = civil_from_days((seconds / 86_400) as i64);
        let (of_day, millis) = (seconds % 86_400, self.0 % 1_000);
        let (hour, minute, second) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.text().as_ref().map(|text| str::from_utf8(text)) {
            Some(Ok(text)) => serializer.serialize_str(text),
            _ => serializer.collect_str(self),
        }
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| de::Error::custom(format!("not an RFC 3339 time: {text:?}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_and_parses_known_times() {
        for (millis, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_827_696_789, "2000-02-29T12:34:56.789Z"),
            (1_795_170_000_000, "2026-11-20T10:20:00.000Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
        ] {
            let time = Timestamp::from_millis(millis);
            assert_eq!(time.to_string(), text);
            assert_eq!(serde_json::to_string(&time).unwrap(), format!("{text:?}"));
            assert_eq!(Timestamp::parse(text), Some(time));
        }
        // A year with five digits.
        let late = Timestamp::from_millis(253_402_300_800_000);
        assert_eq!(late.to_string(), "10000-01-01T00:00:00.000Z");
        assert_eq!(serde_json::to_string(&late).unwrap(), "\"10000-01-01T00:00:00.000Z\"");
        assert_eq!(Timestamp::parse("1970-01-01T01:00:00+01:00"), Some(Timestamp::from_millis(0)));
        assert_eq!(Timestamp::parse("1970-01-01T00:00:00.1234567Z"), Some(Timestamp::from_millis(123)));
        for bad in
            ["", "yesterday", "2026-13-01T00:00:00Z", "2026-01-01", "1969-12-31T23:59:59Z", "2026-01-01T00:00:00"]
        {
            assert_eq!(Timestamp::parse(bad), None, "{bad}");
        }
    }
}
