//! Tokens of questions: made from a secret of one opening, and compared by their hashes.

use std::fmt;
use windlass_types::{QuestionId, QuestionToken, TokenHash};

/// What the hash of a token begins with, so that it is the hash of nothing else.
const PURPOSE: &[u8] = b"windlass question token\0";

/// Random bits that tokens are made from. Kept in memory only, fresh at each opening of a session: who knows one token
/// cannot make another.
#[derive(Clone, PartialEq, Eq)]
pub struct TokenSecret([u8; 32]);

impl TokenSecret {
    /// A secret of twice 128 random bits.
    pub fn new(first: u128, second: u128) -> Self {
        let mut bytes = [0; 32];
        for (to, from) in bytes.iter_mut().zip(first.to_le_bytes().into_iter().chain(second.to_le_bytes())) {
            *to = from;
        }
        Self(bytes)
    }

    /// The token of a question: 160 bits in hexadecimal.
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

/// What the log keeps of a token.
pub fn token_hash(token: &QuestionToken) -> TokenHash {
    TokenHash::new(hash(token).to_hex().as_str())
}

/// Whether a token has this hash. Takes as long for a wrong token as for the right one.
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
