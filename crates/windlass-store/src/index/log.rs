//! Reading of one log for a list or a search.

use crate::locate::Ends;
use crate::open;
use std::fs::{File, Metadata};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use windlass_session::{LogText, LogTextKind, SessionDigest, SessionSummary};
use windlass_types::SessionId;

/// Maximum length of a line, in bytes. A longer one is skipped.
const MAX_LINE_BYTES: u64 = 16 * 1024 * 1024;

/// Log of a session, open for reading.
#[derive(Debug)]
pub(super) struct LogReader {
    file: File,
    metadata: Metadata,
}

impl LogReader {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = open::read(path)?;
        let metadata = file.metadata()?;
        Ok(Self { file, metadata })
    }

    /// Returns the metadata from the time when the log was opened.
    #[cfg(feature = "index")]
    pub(super) fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    pub(super) fn summary(&mut self, ends: &mut Ends, id: &SessionId) -> io::Result<Option<SessionSummary>> {
        ends.summary_of(&mut self.file, &self.metadata, id)
    }

    /// Adds the whole lines after an offset to a digest, passes their texts to `found`, and returns the offset after
    /// the last one. The part after the last line break is not read: another process may be writing it.
    pub(super) fn lines(
        &mut self,
        from: u64,
        digest: &mut SessionDigest,
        mut found: impl FnMut(LogText),
    ) -> io::Result<u64> {
        self.file.seek(SeekFrom::Start(from))?;
        let mut reader = BufReader::with_capacity(64 * 1024, &self.file);
        let (mut line, mut end) = (Vec::new(), from);
        loop {
            line.clear();
            let mut length = reader.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line)? as u64;
            if line.pop_if(|last| *last == b'\n').is_some() {
                digest.add(&line, &mut found);
            } else if length == MAX_LINE_BYTES {
                line.clear();
                match skip_line(&mut reader)? {
                    Some(rest) => length += rest,
                    None => return Ok(end),
                }
            } else {
                return Ok(end);
            }
            end += length;
        }
    }

    /// Returns a digest of the beginning of a log and of the part before an offset, which identifies the log: another
    /// log, or a rewritten one, has another digest.
    #[cfg(feature = "index")]
    pub(super) fn mark(&mut self, before: u64) -> io::Result<[u8; 32]> {
        const BYTES: u64 = 512;
        let mut hash = blake3::Hasher::new();
        for (from, length) in [(0, before.min(BYTES)), (before.saturating_sub(BYTES), before.min(BYTES))] {
            let mut part = Vec::new();
            self.file.seek(SeekFrom::Start(from))?;
            self.file.by_ref().take(length).read_to_end(&mut part)?;
            hash.update(&part);
        }
        Ok(*hash.finalize().as_bytes())
    }
}

/// Skips the rest of a line and returns its length with the line break; `None` without a line break.
fn skip_line(reader: &mut impl BufRead) -> io::Result<Option<u64>> {
    let mut skipped = 0;
    loop {
        let bytes = reader.fill_buf()?;
        if bytes.is_empty() {
            return Ok(None);
        }
        let at = bytes.iter().position(|byte| *byte == b'\n');
        let used = at.map_or(bytes.len(), |at| at + 1);
        reader.consume(used);
        skipped += used as u64;
        if at.is_some() {
            return Ok(Some(skipped));
        }
    }
}

/// Returns the text by which a session is found beside its messages.
pub(super) fn title_text(summary: &SessionSummary) -> Option<LogText> {
    let texts: Vec<&str> = summary.custom_title.iter().chain(&summary.tag).map(String::as_str).collect();
    (!texts.is_empty()).then(|| LogText::new(LogTextKind::Title, texts.join("\n")))
}
