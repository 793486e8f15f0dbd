//! Conversion of lines to nodes.

use super::lines::{LONGEST, Line, Lines};
use super::{Coverage, Link, Node, NodeBody};
use crate::codec::{Body, Decoded, LineSum, Parent, ResultLine, decode};
use crate::repair::derived_id;
use crate::store::{LoadReport, SkippedLine};
use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, BufRead};
use windlass_types::text::lone_surrogates_replaced;
use windlass_types::{ContentBlock, EntryId, Timestamp, UserEntry};

/// Maximum number of positions inside a damaged line at which another record is searched.
const RESYNCS: usize = 32;

/// Beginnings of the records of the conversation, and of most others.
const RECORD_STARTS: [&str; 2] = ["{\"parentUuid\":", "{\"type\":"];

#[derive(Default)]
pub(crate) struct Scanned {
    pub(crate) nodes: Vec<Node>,
    pub(crate) report: LoadReport,
    pub(super) bytes: u64,
    pub(crate) lines: u64,
    /// Results of checksums.
    pub(crate) coverage: Coverage,
    /// Last node of each id.
    pub(super) by_id: HashMap<EntryId, usize>,
}

impl Scanned {
    /// Treats the conversation of an agent as that of the log. In its log the parent of a result is the record before
    /// it; here each follows its call again.
    pub(super) fn take_agent(&mut self) {
        for node in &mut self.nodes {
            node.aside = false;
            if let (NodeBody::Result(ResultLine { assistant: Some(call), .. }), Link::Id(_)) =
                (&node.body, &node.parent)
                && self.by_id.contains_key(call)
            {
                node.parent = Link::Id(call.clone());
            }
        }
    }
}

pub(crate) fn scan(reader: impl BufRead) -> io::Result<Scanned> {
    let mut scan = Scan::default();
    let mut lines = Lines::new(reader, LONGEST);
    while let Some(line) = lines.next()? {
        match line {
            Line::Whole(bytes) => scan.line(bytes),
            Line::TooLong => scan.too_long(),
        }
    }
    (scan.out.bytes, scan.out.lines) = (lines.bytes, lines.number);
    scan.out.by_id = scan.by_id.into_iter().map(|(id, seen)| (id, seen.node)).collect();
    Ok(scan.out)
}

#[derive(Default)]
struct Scan {
    out: Scanned,
    line: u64,
    /// Last node of each id, and its record.
    by_id: HashMap<EntryId, Seen>,
    sum: LineSum,
    timestamp: Timestamp,
}

struct Seen {
    node: usize,
    hash: blake3::Hash,
    line: u64,
}

/// Result of reading the text at some position.
enum ScanResult {
    /// A record that ends here, used or reported.
    Record(usize),
    /// No record, with the reason.
    Damage(String),
}

impl Scan {
    fn line(&mut self, bytes: &[u8]) {
        self.line += 1;
        let start = bytes.strip_prefix(b"\xef\xbb\xbf").filter(|_| self.line == 1).unwrap_or(bytes);
        let hash = blake3::hash(bytes);
        let mut is_checksum = false;
        for (at, segment) in start.split(|byte| *byte == 0).enumerate() {
            if at == 1 {
                self.skip("it holds zero bytes");
            }
            let segment = segment.trim_ascii();
            if !segment.is_empty() {
                is_checksum |= self.segment(segment, (segment.len() == bytes.len()).then_some(hash));
            }
        }
        if is_checksum {
            self.sum.clear();
        } else {
            self.sum.add_hash(&hash);
        }
    }

    fn too_long(&mut self) {
        self.line += 1;
        self.sum.clear();
        self.skip(format!("it is longer than {LONGEST} bytes"));
    }

    fn skip(&mut self, reason: impl Into<String>) {
        self.out.report.skip(self.line, reason);
    }

    fn warn(&mut self, warning: &str) {
        self.out.report.warn(format!("line {}: {warning}", self.line));
    }

    /// Reads one or more records without zero bytes between them. `hash` is that of these bytes, if known. Returns
    /// `true` if one was a checksum.
    fn segment(&mut self, bytes: &[u8], hash: Option<blake3::Hash>) -> bool {
        let text = String::from_utf8_lossy(bytes);
        let mended = matches!(text, Cow::Owned(_));
        // Nearly every line is one intact record, which is read in one pass.
        if !mended && text.starts_with('{') {
            let sound = lone_surrogates_replaced(&text);
            if let (Cow::Borrowed(sound), Ok(decoded)) = (&sound, decode(&sound)) {
                let is_checksum = matches!(decoded.body, Body::Checksum(_));
                self.push(decoded, hash.unwrap_or_else(|| blake3::hash(sound.as_bytes())));
                return is_checksum;
            }
        }
        let mut rest: &str = &text;
        let mut damage = None;
        let mut tries = 0;
        let mut is_checksum = false;
        while !rest.is_empty() {
            match self.record(rest, mended, damage.is_some(), &mut is_checksum) {
                ScanResult::Record(end) => rest = rest.get(end..).unwrap_or_default().trim_start(),
                ScanResult::Damage(reason) => {
                    damage.get_or_insert(reason);
                    tries += 1;
                    let next = if tries > RESYNCS { None } else { next_start(rest) };
                    rest = next.and_then(|at| rest.get(at..)).unwrap_or_default();
                }
            }
        }
        if let Some(reason) = damage {
            self.skip(reason);
        }
        is_checksum
    }

    /// Reads the record at the start of the text. After damage an object may be a part of the damaged record, so only
    /// objects in the form of a record are accepted.
    fn record(&mut self, text: &str, mended: bool, after_damage: bool, is_checksum: &mut bool) -> ScanResult {
        let mut stream = serde_json::Deserializer::from_str(text).into_iter::<&serde_json::value::RawValue>();
        let record = match stream.next() {
            Some(Ok(record)) if record.get().starts_with('{') => record.get(),
            Some(Err(error)) => return ScanResult::Damage(format!("it is no JSON record: {error}")),
            _ => return ScanResult::Damage("it is no JSON object".to_owned()),
        };
        let end = stream.byte_offset();
        let sound = lone_surrogates_replaced(record);
        let mended = mended || matches!(sound, Cow::Owned(_));
        match decode(&sound) {
            Ok(decoded) if after_damage && !is_record(&decoded) => {
                return ScanResult::Damage("it is a part of a record".to_owned());
            }
            Ok(decoded) if mended && has_reasoning(&decoded) => {
                self.skip("its reasoning is signed and has broken Unicode");
            }
            Ok(decoded) => {
                if mended {
                    self.warn("broken Unicode is replaced");
                }
                *is_checksum |= matches!(decoded.body, Body::Checksum(_));
                self.push(decoded, blake3::hash(record.as_bytes()));
            }
            Err(reason) if after_damage => return ScanResult::Damage(reason),
            Err(reason) => self.skip(reason),
        }
        ScanResult::Record(end)
    }

    /// Counts the line before as cut off while it was written: that is not damage.
    fn forgive_torn(&mut self) {
        let report = &mut self.out.report;
        let is_before = |line: u64| line + 1 == self.line;
        let cut = |skipped: &mut SkippedLine| is_before(skipped.line) && skipped.reason.contains("EOF while parsing");
        if report.skipped.pop_if(cut).is_some() {
            report.skipped_total = report.skipped_total.saturating_sub(1);
            report.torn += 1;
        }
    }

    fn push(&mut self, mut decoded: Decoded, hash: blake3::Hash) {
        if matches!(decoded.body, Body::Torn) {
            return self.forgive_torn();
        }
        for warning in std::mem::take(&mut decoded.warnings) {
            self.warn(&warning);
        }
        if let Body::Checksum(checksum) = &decoded.body {
            let matches = self.sum.of_last(checksum.lines).as_ref() == Some(&checksum.sum);
            self.out.coverage.note(self.line, checksum.lines, matches);
            if !matches {
                let warning = format!("the {} lines before it do not match their checksum", checksum.lines);
                self.warn(&warning);
            }
            return;
        }
        let mut parent = match decoded.parent.clone() {
            Parent::Root => Link::Root,
            Parent::Line(id) => Link::Id(id),
            Parent::Unreadable => Link::Unknown,
        };
        let (id, fresh) = match decoded.uuid.take() {
            None => {
                if !matches!(decoded.body, Body::Beside(_)) {
                    self.warn("it has no id");
                }
                let id = derived_id("line", &[hash.to_hex().as_str(), &self.line.to_string()]);
                (id.clone(), id)
            }
            Some(id) => match self.by_id.get(&id) {
                None => (id.clone(), id),
                Some(seen) if seen.hash == hash => {
                    let reason = format!("it repeats line {}", seen.line);
                    self.skip(reason);
                    return;
                }
                Some(seen) => {
                    // Two records under one id: both are kept, one after the other.
                    parent = Link::Node(seen.node);
                    let warning = format!("it has the id of line {} and other content", seen.line);
                    self.warn(&warning);
                    let fresh = derived_id("again", &[id.as_str(), hash.to_hex().as_str()]);
                    (id, fresh)
                }
            },
        };
        self.push_nodes(decoded, &fresh, &parent);
        let node = self.out.nodes.len().saturating_sub(1);
        self.by_id.insert(id, Seen { node, hash, line: self.line });
    }

    fn push_nodes(&mut self, decoded: Decoded, id: &EntryId, parent: &Link) {
        self.timestamp = decoded.timestamp.unwrap_or(self.timestamp);
        let body = match decoded.body {
            Body::Checksum(_) | Body::Torn => return,
            Body::Assistant(message) => NodeBody::Assistant(message),
            Body::Beside(kind) => NodeBody::Beside(kind),
            Body::Passive { json, is_boundary } => {
                NodeBody::Passive { json, boundary: is_boundary.then_some(decoded.logical_parent) }
            }
            Body::User { mut results, user, is_summary } => {
                // The last record of a line has its id, which later lines refer to.
                let last = if user.is_none() { results.pop() } else { None };
                for (at, result) in results.into_iter().enumerate() {
                    let part = derived_id("part", &[id.as_str(), &at.to_string()]);
                    self.push_node(part, parent.clone(), decoded.aside, NodeBody::Result(result));
                }
                match (last, user) {
                    (Some(result), _) => NodeBody::Result(result),
                    (None, user) => {
                        NodeBody::User { user: user.unwrap_or_else(|| UserEntry::new(Vec::new())), is_summary }
                    }
                }
            }
        };
        self.push_node(id.clone(), parent.clone(), decoded.aside, body);
    }

    fn push_node(&mut self, id: EntryId, parent: Link, aside: bool, body: NodeBody) {
        self.out.nodes.push(Node { line: self.line, id, parent, timestamp: self.timestamp, aside, body });
    }
}

/// Returns the position where the next record may begin, after the first character.
fn next_start(text: &str) -> Option<usize> {
    let mut chars = text.char_indices();
    chars.next();
    let (behind, _) = chars.next()?;
    let rest = text.get(behind..)?;
    RECORD_STARTS.iter().filter_map(|start| rest.find(start)).min().map(|at| behind + at)
}

fn is_record(decoded: &Decoded) -> bool {
    decoded.uuid.is_some() || matches!(decoded.body, Body::Checksum(_))
}

fn has_reasoning(decoded: &Decoded) -> bool {
    matches!(&decoded.body, Body::Assistant(message) if message.content.iter().any(ContentBlock::is_thinking))
}
