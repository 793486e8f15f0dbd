//! Head of a log: a short text to keep elsewhere, which shows later changes to the covered part.

use crate::SessionKey;
use std::fmt;
use std::io::{self, BufRead, Read};
use std::str::FromStr;
use windlass_types::{AgentId, SessionId};

/// Beginning of a line that contains a checksum.
const CHECKSUM: &[u8] = b"{\"type\":\"windlass-checksum\"";

/// Version at the beginning of a head's text. Another digest method needs another version.
const VERSION: &str = "v1";

/// Digest of a log up to some line. A log is append-only, so an unchanged log always has the same digest there.
///
/// As text, `v1:LINES:BYTES:HEX`, it can be kept out of reach of anyone who may write the log: in a ticket, on paper,
/// in another account. The digest is BLAKE3, so no other bytes with that head can be made.
///
/// ```
/// use windlass_session::{HeadCheck, LogHead};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let log = b"{\"type\":\"user\"}\n{\"type\":\"user\"}\n";
/// let head: LogHead = LogHead::of(&log[..])?.to_string().parse()?;
/// assert_eq!(head.check(&b"{\"type\":\"user\"}\n{\"type\":\"user\"}\n{\"more\":1}\n"[..])?, HeadCheck::Holds);
/// assert_eq!(head.check(&b"{\"type\":\"USER\"}\n{\"type\":\"user\"}\n"[..])?, HeadCheck::Altered);
/// assert_eq!(head.check(&b"{\"type\":\"user\"}\n"[..])?, HeadCheck::Shorter);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LogHead {
    /// Number of covered lines.
    pub lines: u64,
    /// Number of covered bytes.
    pub bytes: u64,
    /// Digest of these bytes, in hexadecimal.
    pub digest: String,
}

/// Head of one of the logs of a session. As text: `SESSION@v1:…`, and `SESSION/AGENT@v1:…` for an agent's log.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct NamedHead {
    /// Id of the session.
    pub session: SessionId,
    /// Agent of the log; `None` for the log of the session.
    pub agent: Option<AgentId>,
    /// Head of the log.
    #[serde(flatten)]
    pub head: LogHead,
}

impl NamedHead {
    /// Returns the head of a log.
    pub fn new(session: SessionId, agent: Option<AgentId>, head: LogHead) -> Self {
        Self { session, agent, head }
    }
}

/// Result of checking a log against a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum HeadCheck {
    /// The covered part is unchanged. Later lines are not checked.
    Holds,
    /// The covered part has changed.
    Altered,
    /// The log is shorter than the covered part.
    Shorter,
    /// The log does not exist any more.
    Missing,
}

/// A text that is not the head of a log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no head of a log: it has the form SESSION@{VERSION}:LINES:BYTES:DIGEST")]
#[non_exhaustive]
pub struct BadHead;

impl LogHead {
    /// Returns the head of a log up to its last checksum, which covers all synced lines. For a log without checksums,
    /// as other programs write, up to its last whole line.
    ///
    /// # Errors
    /// Only those of the reader.
    pub fn of(reader: impl BufRead) -> io::Result<Self> {
        let (mut prefix, mut head, mut is_synced) = (Prefix::new(reader), None, false);
        while let Some(line) = prefix.line()? {
            if line.is_whole && (line.is_checksum || !is_synced) {
                is_synced |= line.is_checksum;
                head = Some(prefix.clone_state());
            }
        }
        Ok(head.unwrap_or_default().head())
    }

    /// Checks that the log still begins with the covered part.
    ///
    /// # Errors
    /// Only those of the reader.
    pub fn check(&self, reader: impl Read) -> io::Result<HeadCheck> {
        let mut hasher = blake3::Hasher::new();
        let mut counted = Counted { reader: reader.take(self.bytes), bytes: 0 };
        hasher.update_reader(&mut counted)?;
        Ok(match hasher.finalize().to_hex().as_str() == self.digest {
            _ if counted.bytes < self.bytes => HeadCheck::Shorter,
            true => HeadCheck::Holds,
            false => HeadCheck::Altered,
        })
    }
}

/// Accumulated state of a prefix of a log.
#[derive(Debug, Clone, Default)]
struct State {
    lines: u64,
    bytes: u64,
    hasher: blake3::Hasher,
}

impl State {
    fn head(&self) -> LogHead {
        LogHead { lines: self.lines, bytes: self.bytes, digest: self.hasher.finalize().to_hex().to_string() }
    }
}

/// Reader of a log, line by line, with bounded memory.
struct Prefix<R> {
    reader: R,
    state: State,
}

/// Properties of a line that was read.
struct PrefixLine {
    is_whole: bool,
    is_checksum: bool,
}

impl<R: BufRead> Prefix<R> {
    fn new(reader: R) -> Self {
        Self { reader, state: State::default() }
    }

    fn clone_state(&self) -> State {
        self.state.clone()
    }

    fn line(&mut self) -> io::Result<Option<PrefixLine>> {
        let mut beginning = Vec::with_capacity(CHECKSUM.len());
        let mut is_empty = true;
        loop {
            let buffer = match self.reader.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                buffer => buffer?,
            };
            let is_checksum = |beginning: &[u8]| beginning == CHECKSUM;
            if buffer.is_empty() {
                let line = PrefixLine { is_whole: false, is_checksum: is_checksum(&beginning) };
                return Ok((!is_empty).then_some(line));
            }
            is_empty = false;
            let end = buffer.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
            let consumed = buffer.get(..end.unwrap_or(buffer.len())).unwrap_or(buffer);
            let room = CHECKSUM.len() - beginning.len();
            beginning.extend(consumed.iter().take(room));
            self.state.hasher.update(consumed);
            let length = consumed.len();
            self.reader.consume(length);
            self.state.bytes += length as u64;
            if end.is_some() {
                self.state.lines += 1;
                return Ok(Some(PrefixLine { is_whole: true, is_checksum: is_checksum(&beginning) }));
            }
        }
    }
}

/// Reader that counts the bytes read from it.
struct Counted<R> {
    reader: R,
    bytes: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.bytes += read as u64;
        Ok(read)
    }
}

impl fmt::Display for LogHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{VERSION}:{}:{}:{}", self.lines, self.bytes, self.digest)
    }
}

impl FromStr for LogHead {
    type Err = BadHead;

    fn from_str(text: &str) -> Result<Self, BadHead> {
        let parts: Vec<&str> = text.trim().split(':').collect();
        let [VERSION, lines, bytes, digest] = parts.as_slice() else { return Err(BadHead) };
        let number = |text: &str| text.parse().map_err(|_| BadHead);
        let digest = digest.to_ascii_lowercase();
        let is_digest = digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_digest {
            return Err(BadHead);
        }
        Ok(Self { lines: number(lines)?, bytes: number(bytes)?, digest })
    }
}

impl fmt::Display for NamedHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.agent {
            Some(agent) => write!(f, "{}/{agent}@{}", self.session, self.head),
            None => write!(f, "{}@{}", self.session, self.head),
        }
    }
}

impl FromStr for NamedHead {
    type Err = BadHead;

    fn from_str(text: &str) -> Result<Self, BadHead> {
        let (log, head) = text.trim().rsplit_once('@').ok_or(BadHead)?;
        let (session, agent) = log.split_once('/').map_or((log, None), |(session, agent)| (session, Some(agent)));
        let (session, agent) = (SessionId::from(session), agent.map(AgentId::from));
        if !session.is_uuid() || agent.as_ref().is_some_and(|agent| !SessionKey::is_agent(agent)) {
            return Err(BadHead);
        }
        Ok(Self { session, agent, head: head.parse()? })
    }
}
