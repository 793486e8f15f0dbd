//! Checksum coverage of the lines of a log.

use crate::audit::{LineRange, LineState};

/// Results of checksums for the lines before them, in order and without overlaps. Lines between are uncovered.
#[derive(Debug, Default)]
pub(crate) struct Coverage(Vec<(LineRange, bool)>);

impl Coverage {
    /// Records a checksum at `line` that covers the `lines` lines before it.
    pub(super) fn note(&mut self, line: u64, lines: usize, matches: bool) {
        let first = line.saturating_sub(u64::try_from(lines).unwrap_or(u64::MAX)).max(1);
        let last_covered = self.0.last().map_or(0, |(range, _)| range.last);
        let range = LineRange { first: first.max(last_covered + 1), last: line };
        match self.0.last_mut() {
            Some((last, state)) if *state == matches && last.last + 1 == range.first => last.last = range.last,
            _ if range.first <= range.last => self.0.push((range, matches)),
            _ => {}
        }
    }

    /// Returns the state of a line.
    pub(crate) fn of(&self, line: u64) -> LineState {
        let at = self.0.partition_point(|(range, _)| range.last < line);
        match self.0.get(at) {
            Some((range, matches)) if range.first <= line => state(*matches),
            _ => LineState::Unchecked,
        }
    }

    /// Returns the lines in a state, out of `total` lines.
    pub(crate) fn ranges(&self, total: u64, wanted: LineState) -> Vec<LineRange> {
        let mut ranges = Vec::new();
        let mut next = 1;
        let end = LineRange { first: total.saturating_add(1), last: total };
        let covered = self.0.iter().map(|(range, matches)| (*range, Some(state(*matches))));
        for (range, state) in covered.chain([(end, None)]) {
            if wanted == LineState::Unchecked && next < range.first {
                ranges.push(LineRange { first: next, last: range.first - 1 });
            }
            if state == Some(wanted) {
                ranges.push(range);
            }
            next = range.last.saturating_add(1);
        }
        ranges
    }
}

fn state(matches: bool) -> LineState {
    if matches { LineState::Checked } else { LineState::Altered }
}
