//! Tokens of permission requests: generated from a secret of one opening, and compared by their hashes.

use std::fmt;
use windlass_types::{QuestionId, QuestionToken, TokenHash};

/// Domain prefix of a token's hash, so that no other hash can be used as one.
const PURPOSE: &[u8] = b"windlass question token\0";

/// Random bits from which tokens are generated. Kept in memory only, fresh at each opening of a session: a known token
/// does not reveal another.
#[derive(Clone, PartialEq, Eq)]
pub struct TokenSecret([u8; 32]);

impl TokenSecret {
    /// Returns a secret of twice 128 random bits.
    pub fn new(first: u128, second: u128) -> Self {
        let mut bytes = [0; 32];
        for (to, from) in bytes.iter_mut().zip(first.to_le_bytes().into_iter().chain(second.to_le_bytes())) {
            *to = from;
        }
        Self(bytes)
    }

    /// Returns the token of a request: 160 bits in hexadecimal.
    pub fn token(&self, question: &QuestionId) -> QuestionToken {
        let hex = blake3::keyed_hash(&self.0, question.as_str().as_bytes()).to_hex();
        QuestionToken::new(hex.chars().take(40).collect::<String>())
    }
}

impl fmt::Debug for TokenSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenSecret(..)")
    }
}

/// Returns the hash of a token for the log.
pub fn token_hash(token: &QuestionToken) -> TokenHash {
    TokenHash::new(hash(token).to_hex().as_str())
}

/// `true` if a token has this hash. Takes as long for a wrong token as for the right one.
pub fn is_token_of(token: &QuestionToken, expected: &TokenHash) -> bool {
    // The comparison of these hashes is constant in time.
    blake3::Hash::from_hex(expected.as_str()).is_ok_and(|expected| hash(token) == expected)
}

fn hash(token: &QuestionToken) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(PURPOSE);
    hasher.update(token.reveal().as_bytes());
    hasher.finalize()
}
