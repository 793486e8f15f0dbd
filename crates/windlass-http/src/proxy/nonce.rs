use std::fmt;

use subtle::ConstantTimeEq;

use super::ProxyError;

/// Prefix that identifies a nonce in a log or an environment.
const PREFIX: &str = "windlass-nonce-";

/// Nonce that a client of the proxy shows instead of a key: 256 random bits of the system. Its debug form does not show
/// it.
#[derive(Clone)]
pub(super) struct Nonce(String);

impl Nonce {
    #[expect(clippy::disallowed_methods, reason = "a secret is random bits of the system, never of a port")]
    pub(super) fn fresh() -> Result<Self, ProxyError> {
        let mut bytes = [0_u8; 32];
        getrandom::fill(&mut bytes).map_err(|_| ProxyError::Randomness)?;
        let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        let digits = digits.filter_map(|digit| char::from_digit(u32::from(digit), 16));
        Ok(Self(PREFIX.chars().chain(digits).collect()))
    }

    pub(super) fn text(&self) -> &str {
        &self.0
    }

    /// Compares in a time that does not depend on the position of the first difference.
    pub(super) fn is(&self, shown: &[u8]) -> bool {
        self.0.as_bytes().ct_eq(shown).into()
    }
}

impl fmt::Debug for Nonce {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("[nonce]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_long_new_and_not_shown() {
        let (one, two) = (Nonce::fresh().unwrap(), Nonce::fresh().unwrap());
        assert_eq!(one.text().len(), PREFIX.len() + 64);
        assert_ne!(one.text(), two.text());
        assert!(one.is(one.text().as_bytes()) && !one.is(two.text().as_bytes()));
        assert!(!one.is(b"") && !one.is(&one.text().as_bytes()[1..]));
        assert_eq!(format!("{one:?}"), "[nonce]");
    }
}
