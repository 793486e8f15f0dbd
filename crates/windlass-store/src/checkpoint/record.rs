//! Lines of the index.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::path::{Path, PathBuf};
use windlass_session::CheckpointKind;
use windlass_types::{EntryId, Timestamp, ToolUseId};

/// Length of the checksum that begins each line, in hexadecimal digits.
const SUM: usize = 32;

/// Content of an index line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "lowercase")]
pub(crate) enum Record {
    /// Beginning of a checkpoint.
    Begin { id: EntryId, kind: Kind, at: Timestamp },
    /// Earlier state of a file, the first time since the checkpoint began.
    Kept {
        id: EntryId,
        #[serde(skip_serializing_if = "Option::is_none")]
        tool: Option<ToolUseId>,
        #[serde(with = "path_text")]
        path: PathBuf,
        state: State,
    },
    /// State of a file as a tool or a rewind left it.
    Left {
        #[serde(with = "path_text")]
        path: PathBuf,
        state: State,
    },
    /// Change of a file by others since a tool's change, after the last checkpoint.
    Others {
        #[serde(with = "path_text")]
        path: PathBuf,
    },
    /// Path missing from the baseline that was made after this checkpoint.
    LeftOut {
        id: EntryId,
        #[serde(with = "path_text")]
        path: PathBuf,
        why: String,
    },
    /// Removal of the contents that only this checkpoint and earlier ones needed.
    Dropped { through: EntryId },
}

/// Kind of a checkpoint's beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Prompt,
    Rewind,
}

impl From<Kind> for CheckpointKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Prompt => Self::Prompt,
            Kind::Rewind => Self::Rewind,
        }
    }
}

/// State of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    /// Missing, with the number of missing directories above it.
    Absent { parents: u32 },
    /// A file with this content.
    File {
        #[serde(with = "hash_text")]
        hash: blake3::Hash,
        size: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        mode: Option<u32>,
    },
    /// A path that was not kept, with the reason.
    Unkept { why: String },
}

impl State {
    /// `true` if both states are the same. An unkept state equals no state.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Absent { .. }, Self::Absent { .. }) => true,
            (Self::File { hash, mode, .. }, Self::File { hash: other, mode: other_mode, .. }) => {
                hash == other && mode == other_mode
            }
            _ => false,
        }
    }
}

impl Record {
    /// Appends the line of this record.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        // The record has string keys only, and writing to memory does not fail.
        let Ok(json) = serde_json::to_vec(self) else { return };
        out.extend(sum(&json));
        out.push(b' ');
        out.extend(json);
        out.push(b'\n');
    }

    /// Reads a line without its line break. `None` if it is damaged.
    pub(crate) fn read(line: &[u8]) -> Option<Self> {
        let (found, rest) = line.split_at_checked(SUM)?;
        let json = rest.strip_prefix(b" ")?;
        if found != sum(json) {
            return None;
        }
        serde_json::from_slice(json).ok()
    }
}

fn sum(json: &[u8]) -> Vec<u8> {
    blake3::hash(json).to_hex().bytes().take(SUM).collect()
}

mod hash_text {
    use super::*;

    pub(super) fn serialize<S: Serializer>(hash: &blake3::Hash, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&hash.to_hex())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<blake3::Hash, D::Error> {
        let text = String::deserialize(from)?;
        blake3::Hash::from_hex(text).map_err(serde::de::Error::custom)
    }
}

/// Encoding of paths: text if they are Unicode, else the digits of their bytes.
mod path_text {
    use super::*;

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Text {
        Unicode(String),
        Bytes { hex: String },
    }

    pub(super) fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        let text = match path.to_str() {
            Some(text) => Text::Unicode(text.to_owned()),
            None => Text::Bytes { hex: hex(path) },
        };
        text.serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
        match Text::deserialize(from)? {
            Text::Unicode(text) => Ok(PathBuf::from(text)),
            Text::Bytes { hex } => bytes(&hex).map_err(serde::de::Error::custom),
        }
    }

    fn hex(path: &Path) -> String {
        path.as_os_str().as_encoded_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[cfg(unix)]
    fn bytes(hex: &str) -> Result<PathBuf, &'static str> {
        use std::os::unix::ffi::OsStringExt;
        let pairs = hex.as_bytes().chunks(2);
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        let bytes: Option<Vec<u8>> = pairs.map(byte).collect();
        Ok(std::ffi::OsString::from_vec(bytes.ok_or("a path is no sequence of bytes")?).into())
    }

    #[cfg(not(unix))]
    fn bytes(_: &str) -> Result<PathBuf, &'static str> {
        Err("the path is none of this system")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records() -> Vec<Record> {
        let id = EntryId::from_bits(1);
        let file = State::File { hash: blake3::hash(b"x"), size: 1, mode: Some(0o644) };
        vec![
            Record::Begin { id: id.clone(), kind: Kind::Rewind, at: Timestamp::from_millis(7) },
            Record::Kept { id: id.clone(), tool: Some("t".into()), path: "/a b\n".into(), state: file },
            Record::Left { path: "/ä".into(), state: State::Absent { parents: 2 } },
            Record::Left { path: "/x".into(), state: State::Unkept { why: "too large".to_owned() } },
            Record::Others { path: "/x".into() },
            Record::LeftOut { id: id.clone(), path: "/x".into(), why: "too large".to_owned() },
            Record::Dropped { through: id },
        ]
    }

    #[test]
    fn every_record_is_one_line_and_comes_back() {
        for record in records() {
            let mut line = Vec::new();
            record.write(&mut line);
            assert_eq!(line.pop(), Some(b'\n'));
            assert!(!line.contains(&b'\n'), "{record:?}");
            assert_eq!(Record::read(&line), Some(record));
        }
    }

    #[cfg(unix)]
    #[test]
    fn paths_that_are_not_unicode_come_back() {
        use std::os::unix::ffi::OsStringExt;
        let path = PathBuf::from(std::ffi::OsString::from_vec(b"/\xff\xfe/x".to_vec()));
        let record = Record::Left { path, state: State::Absent { parents: 0 } };
        let mut line = Vec::new();
        record.write(&mut line);
        line.pop();
        assert_eq!(Record::read(&line), Some(record));
    }

    #[test]
    fn a_line_that_was_changed_in_any_place_is_not_read() {
        for record in records() {
            let mut line = Vec::new();
            record.write(&mut line);
            line.pop();
            for at in 0..line.len() {
                let mut other = line.clone();
                other[at] ^= 1;
                assert_eq!(Record::read(&other), None, "{at}");
                assert_eq!(Record::read(&line[..at]), None, "{at}");
            }
        }
    }
}
