//! Amounts from decimal text, without a float in between.

/// Maximum number of significant digits that are read one by one; later ones can only round up.
const MAX_DIGITS: usize = 30;

/// A decimal number as JSON writes it, times ten to the power of `scale`, rounded up to a whole number. `None`: the text is
/// no such number, or it is negative or too large.
pub(super) fn scaled(text: &str, scale: i32) -> Option<u64> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    let ends_in_point = mantissa.ends_with('.');
    if whole.is_empty() || ends_in_point || !is_number(whole) || !is_number(fraction) {
        return None;
    }
    let digits = whole.bytes().chain(fraction.bytes()).map(|byte| byte - b'0').skip_while(|digit| *digit == 0);
    let (mut number, mut read, mut left, mut has_rest) = (0_u128, 0_usize, 0_i32, false);
    for digit in digits {
        if read < MAX_DIGITS {
            number = number * 10 + u128::from(digit);
            read += 1;
        } else {
            left = left.checked_add(1)?;
            has_rest |= digit != 0;
        }
    }
    let places = i32::try_from(fraction.len()).ok()?;
    let shift = exponent.checked_add(scale)?.checked_sub(places)?.checked_add(left)?;
    shifted(number, shift, has_rest)
}

/// A number times ten to the power of `shift`, rounded up.
fn shifted(number: u128, shift: i32, has_rest: bool) -> Option<u64> {
    if number == 0 {
        return Some(0);
    }
    let power = 10_u128.checked_pow(shift.unsigned_abs());
    let scaled = if shift >= 0 {
        number.checked_mul(power?)?.checked_add(u128::from(has_rest))?
    } else {
        match power {
            Some(power) => (number / power).checked_add(u128::from(!number.is_multiple_of(power) || has_rest))?,
            None => 1,
        }
    };
    u64::try_from(scaled).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_read_exactly_and_rounded_up() {
        for (text, scale, value) in [
            ("0", 9, 0),
            ("0.0", 9, 0),
            ("0.95", 9, 950_000_000),
            ("19", 9, 19_000_000_000),
            ("1.5e-05", 9, 15_000),
            ("2.5E+1", 9, 25_000_000_000),
            // A float of these has other digits behind them.
            ("0.1", 9, 100_000_000),
            ("0.30000000000000004", 9, 300_000_001),
            ("1e-40", 9, 1),
            ("0.0000000001", 9, 1),
            ("00.25", 3, 250),
            ("0.0375", 3, 38),
            ("18446744073.709551615", 9, u64::MAX),
            ("0.00000000000000000000000000000000000000001", 9, 1),
        ] {
            assert_eq!(scaled(text, scale), Some(value), "{text}");
        }
        let long = format!("1.{}1", "0".repeat(400));
        assert_eq!(scaled(&long, 9), Some(1_000_000_001));
    }

    #[test]
    fn what_is_no_amount_is_none() {
        for text in [
            "",
            "-1",
            "-0.5",
            "+1",
            "NaN",
            "nan",
            "Infinity",
            "null",
            "1.",
            ".5",
            "1e",
            "1e999999999999",
            "1e400",
            "0x1",
            " 1",
            "1_000",
            "18446744073.709551616",
            "\"1\"",
            "1.2.3",
            "1e2147483647",
            "٣",
        ] {
            assert_eq!(scaled(text, 9), None, "{text}");
        }
        assert_eq!(scaled("0e2147483640", -9), Some(0));
    }

    proptest::proptest! {
        #[test]
        fn every_amount_survives_its_decimal_text(nano: u64, zeros in 0_usize..30) {
            let text = format!("{}.{:09}{}", nano / 1_000_000_000, nano % 1_000_000_000, "0".repeat(zeros));
            proptest::prop_assert_eq!(scaled(&text, 9), Some(nano));
            proptest::prop_assert_eq!(scaled(&format!("{nano}e-9"), 9), Some(nano));
            let more = format!("{text}1");
            proptest::prop_assert_eq!(scaled(&more, 9), nano.checked_add(1));
        }

        #[test]
        fn any_text_is_an_amount_or_none(text in "[-+0-9.eE]{0,40}", scale in -20_i32..20) {
            if let Some(amount) = scaled(&text, scale) {
                let near: f64 = text.parse::<f64>().unwrap() * 10_f64.powi(scale);
                proptest::prop_assert!((amount as f64 - near.ceil()).abs() <= 1.0 + near * 1e-9, "{} {}", amount, near);
            }
        }
    }
}
