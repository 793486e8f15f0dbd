//! Identifiers: opaque strings with a type each.

use serde::{Deserialize, Serialize};
use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

macro_rules! string_id {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Wraps an identifier. No format is enforced: ids of other programs pass through.
            pub fn new(id: impl Into<Arc<str>>) -> Self {
                Self(id.into())
            }

            /// The identifier as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", &*self.0)
            }
        }

        impl From<&str> for $name {
            fn from(id: &str) -> Self {
                Self(Arc::from(id))
            }
        }

        impl From<String> for $name {
            fn from(id: String) -> Self {
                Self(Arc::from(id))
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0.as_ref().to_owned()
            }
        }

        impl From<&$name> for String {
            fn from(id: &$name) -> Self {
                id.0.as_ref().to_owned()
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    };
}

string_id! {
    /// A session: many runs over one history. A UUID when windlass makes it.
    SessionId
}
string_id! {
    /// One line of the session log. Formatted as a UUID v4.
    EntryId
}
string_id! {
    /// One run: a prompt until its result. Formatted as a UUID v4.
    RunId
}
string_id! {
    /// One attempt of a model call: the request and its answer. Formatted as a UUID v4.
    AttemptId
}
string_id! {
    /// A model message, as the provider named it (`msg_…`).
    MessageId
}
string_id! {
    /// One tool use, as the model named it (`toolu_…`), or a new id when the model repeats one. Unique in its
    /// conversation.
    ToolUseId
}
string_id! {
    /// Work in the background. Unique in its session.
    TaskId
}
string_id! {
    /// An agent below the main one. Unique in its session.
    AgentId
}

string_id! {
    /// A question to the host. Unique in its session, over all agents. Formatted as a UUID v4.
    QuestionId
}

/// Formats 128 bits as a UUID v4 (RFC 9562, section 5.4): version and variant
/// bits are set over the given bits.
fn uuid_v4<Id: for<'a> From<&'a str>>(bits: u128) -> Id {
    let bits = (bits & !(0xf_u128 << 76)) | (0x4_u128 << 76);
    let bits = (bits & !(0x3_u128 << 62)) | (0x2_u128 << 62);
    let digits = (0..u128::BITS / 4).rev().map(|at| ((bits >> (at * 4)) & 0xf) as u8);
    let mut text = [b'-'; 36];
    let places = text.iter_mut().enumerate().filter(|(at, _)| !matches!(at, 8 | 13 | 18 | 23));
    for ((_, place), digit) in places.zip(digits) {
        *place = if digit < 10 { b'0' + digit } else { b'a' + digit - 10 };
    }
    // Digits and hyphens are text.
    Id::from(str::from_utf8(&text).unwrap_or_default())
}

impl QuestionId {
    /// An id from 128 bits, formatted as a UUID v4.
    pub fn from_bits(bits: u128) -> Self {
        uuid_v4(bits)
    }
}

impl EntryId {
    /// An id from 128 bits, formatted as a UUID v4.
    pub fn from_bits(bits: u128) -> Self {
        uuid_v4(bits)
    }

    /// Returns `true` if the id has the form of a UUID.
    pub fn is_uuid(&self) -> bool {
        is_uuid(self.as_str())
    }
}

impl AttemptId {
    /// Formats 128 bits as a UUID v4.
    pub fn from_bits(bits: u128) -> Self {
        uuid_v4(bits)
    }
}

impl RunId {
    /// An id from 128 bits, formatted as a UUID v4.
    pub fn from_bits(bits: u128) -> Self {
        uuid_v4(bits)
    }
}

impl SessionId {
    /// An id from 128 bits, formatted as a UUID v4.
    pub fn from_bits(bits: u128) -> Self {
        uuid_v4(bits)
    }

    /// Returns `true` if the id has the form of a UUID, which the files on disk require.
    pub fn is_uuid(&self) -> bool {
        is_uuid(self.as_str())
    }
}

fn is_uuid(text: &str) -> bool {
    let text = text.as_bytes();
    text.len() == 36
        && text.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_from_bits_are_uuid_v4() {
        for bits in [0, u128::MAX, 0x0123_4567_89ab_cdef_0123_4567_89ab_cdef] {
            let id = SessionId::from_bits(bits);
            assert!(id.is_uuid(), "{id}");
            assert_eq!(id.as_str().as_bytes()[14], b'4');
            assert!(matches!(id.as_str().as_bytes()[19], b'8' | b'9' | b'a' | b'b'));
        }
        let id = EntryId::from_bits(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef);
        assert_eq!(id.as_str(), "01234567-89ab-4def-8123-456789abcdef");
        assert!(!SessionId::from("../../etc/passwd").is_uuid());
        assert!(!SessionId::from("").is_uuid());
    }
}
