//! Lines of a log, in frames.

use crate::line;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

/// Maximum number of bytes of lines in a frame, unless one line alone has more.
const MAX_BATCH_BYTES: usize = 256 * 1024;

/// Types of lines that are only about the bytes of a log.
const CHECKSUM: &str = "windlass-checksum";
const TORN: &str = "windlass-torn";

/// Lines that are ready to be sent.
#[derive(Debug)]
pub(super) struct MirrorBatch {
    /// Frame; empty when there are no lines for the host.
    pub(super) frame: Vec<u8>,
    /// Start of the next batch.
    pub(super) end: u64,
    /// Number of lost lines.
    pub(super) lost: usize,
}

impl MirrorBatch {
    /// Batch that skips an unreadable part, up to `end`.
    pub(super) fn unread(end: u64, error: &io::Error) -> Self {
        tracing::warn!(%error, "the session log cannot be read to be mirrored");
        Self { frame: Vec::new(), end, lost: 1 }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Frame<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    file_path: &'a str,
    entries: &'a [Box<RawValue>],
}

/// Appends the frame of some entries of a log, unless it is longer than `max_bytes` bytes.
pub(super) fn push_frame(out: &mut Vec<u8>, path: &Path, entries: &[Box<RawValue>], max_bytes: usize) -> bool {
    let path = path.to_string_lossy();
    line::push_within(out, &Frame { kind: "transcript_mirror", file_path: &path, entries }, max_bytes)
}

/// Reads the lines of a part of a log, as many as fit in a frame of `max_bytes` bytes.
pub(super) fn read_batch(mut file: &File, path: &Path, part: Range<u64>, max_bytes: usize) -> io::Result<MirrorBatch> {
    file.seek(SeekFrom::Start(part.start))?;
    let mut lines = BufReader::new(file.take(part.end.saturating_sub(part.start)));
    let (mut entries, mut size, mut end, mut lost) = (Vec::new(), 0, part.start, 0);
    let mut line = Vec::new();
    loop {
        line.clear();
        let count = (&mut lines).take(max_bytes as u64).read_until(b'\n', &mut line)? as u64;
        if count == 0 {
            break;
        }
        if line.last() != Some(&b'\n') && end + count < part.end {
            // No frame can hold the line.
            let rest = lines.skip_until(b'\n')? as u64;
            (end, lost) = (end + count + rest, lost + 1);
            continue;
        }
        if size > 0 && size + line.len() > MAX_BATCH_BYTES {
            break;
        }
        end += count;
        match entry(&line) {
            MirroredLine::Entry(entry) => {
                size += entry.get().len();
                entries.push(entry);
            }
            MirroredLine::Skipped => {}
            MirroredLine::Damaged => lost += 1,
        }
        // A line that is larger than the rest of a frame may not fit beside others.
        if size > MAX_BATCH_BYTES {
            break;
        }
    }
    let mut frame = Vec::new();
    if !entries.is_empty() && !push_frame(&mut frame, path, &entries, max_bytes) {
        lost += entries.len();
    }
    Ok(MirrorBatch { frame, end, lost })
}

enum MirroredLine {
    Entry(Box<RawValue>),
    /// Blank, or not for others.
    Skipped,
    /// The line is no entry.
    Damaged,
}

fn entry(line: &[u8]) -> MirroredLine {
    #[derive(Deserialize)]
    struct TypedLine<'a> {
        #[serde(borrow, rename = "type")]
        kind: Cow<'a, str>,
    }
    let line = line.trim_ascii();
    if line.is_empty() {
        return MirroredLine::Skipped;
    }
    let Ok(text) = std::str::from_utf8(line) else { return MirroredLine::Damaged };
    match serde_json::from_str::<TypedLine<'_>>(text) {
        Ok(TypedLine { kind }) if kind == CHECKSUM || kind == TORN => MirroredLine::Skipped,
        Ok(_) => RawValue::from_string(text.to_owned()).map_or(MirroredLine::Damaged, MirroredLine::Entry),
        Err(_) => MirroredLine::Damaged,
    }
}
