//! Placement of the hunks of a patch in a file, and the bytes of the changed file.
//!
//! Lines are compared in four ways, one after the other: exactly, without trailing blanks, without blanks at both ends,
//! and also with plain instead of typographic quotes, dashes and blanks. The first comparison with a match decides, and
//! a hunk with more than one match is refused. Lines that a hunk keeps stay unchanged in the file, whichever comparison
//! matched.

use std::borrow::Cow;

use super::patch::{Anchor, Hunk, HunkLine, Mark};
use crate::files::canonical::{Ending, Fold, canonical};
use crate::files::charset::TextFormat;
use crate::files::edit::{EditError, Span, replace_spans};
use crate::files::near;

/// Maximum number of line comparisons for the hunks of one file.
const MAX_COMPARED: usize = 20_000_000;

/// A file with the hunks applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Applied {
    pub(super) bytes: Vec<u8>,
    /// Lines of the old file, from 1, at which a hunk matched inexactly.
    pub(super) inexact: Vec<usize>,
}

/// Reason why hunks do not fit a file. The texts are written for the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum PlaceError {
    #[error("the hunk at line {hunk} of the patch: its lines are not in the file{below}. {hint}")]
    NotFound { hunk: usize, below: String, hint: String },
    #[error(
        "the hunk at line {hunk} of the patch: its lines are only before line {line} of the file, where the hunk before \
         it ends. Give the hunks in the order of the file"
    )]
    OutOfOrder { hunk: usize, line: usize },
    #[error(
        "the hunk at line {hunk} of the patch: its lines fit in {} places (lines {}). Add lines around them, or a line \
         `@@ TEXT` with a line of the file above the place", .lines.len(), listed(.lines)
    )]
    Ambiguous { hunk: usize, lines: Vec<usize> },
    #[error("the hunk at line {hunk} of the patch: the file has no line {header:?} for its `@@`. {hint}")]
    NoHeader { hunk: usize, header: String, hint: String },
    #[error(
        "the hunk at line {hunk} of the patch only adds lines and does not say where. Add lines around the place, which \
         begin with a blank"
    )]
    NoContext { hunk: usize },
    #[error(
        "the hunk at line {hunk} of the patch is not at the end of the file, as its `*** End of File` says. {hint}"
    )]
    NotAtEnd { hunk: usize, hint: String },
    #[error(
        "the hunk at line {hunk} of the patch says `No newline at end of file` of a line that is not the last, or that \
         has one"
    )]
    MisplacedNoNewline { hunk: usize },
    #[error("the hunks have too many places to look at. Make smaller patches")]
    TooManyComparisons,
    #[error(transparent)]
    Edit(#[from] EditError),
}

fn listed(lines: &[usize]) -> String {
    const SHOWN: usize = 8;
    let shown: Vec<String> = lines.iter().take(SHOWN).map(usize::to_string).collect();
    format!("{}{}", shown.join(", "), if lines.len() > SHOWN { ", …" } else { "" })
}

/// Applies hunks, in the order of the file, to its bytes. Applies none of them if one does not fit.
pub(super) fn apply(raw: &[u8], format: TextFormat, hunks: &[Hunk]) -> Result<Applied, PlaceError> {
    // Line breaks are not folded if the patch contains a CR, because it then means a CR of the file.
    let has_cr = hunks.iter().flat_map(|hunk| &hunk.lines).any(|line| line.text.contains('\r'));
    let fold = if has_cr { Fold::No } else { Fold::LineBreaks };
    let (_, body) = format.split_bom(raw);
    let text = canonical(body, format, fold);
    let file = Lines::of(&text);
    let mut placer = HunkPlacer { file: &file, compared: 0, cursor: 0, line_offset: 0 };
    let (mut edits, mut inexact, mut ends_with_break) = (Edits::default(), Vec::new(), file.ends_with_break);
    for hunk in hunks {
        let (at, comparison) = placer.find(hunk)?;
        if comparison != Comparison::Exact {
            inexact.push(at + 1);
        }
        ends_with_break = ending(hunk, at, &file)?.unwrap_or(ends_with_break);
        edits.add(hunk, at);
        placer.cursor = at + hunk.old().len();
    }
    let spans = edits.spans(&file, ends_with_break);
    Ok(Applied { bytes: replace_spans(raw, format, fold, &spans, Ending::Lf)?, inexact })
}

/// `Some(true)` if the changed file ends with a line break; `None` if the hunk does not decide that.
fn ending(hunk: &Hunk, at: usize, file: &Lines<'_>) -> Result<Option<bool>, PlaceError> {
    let unended_error = Err(PlaceError::MisplacedNoNewline { hunk: hunk.line });
    let at_end = at + hunk.old().len() == file.lines.len();
    let lines_without = |left_out: Mark| hunk.lines.iter().filter(move |line| line.mark != left_out);
    let is_misplaced = |left_out: Mark| lines_without(left_out).rev().skip(1).any(|line| line.unended);
    if is_misplaced(Mark::Add) || is_misplaced(Mark::Remove) {
        return unended_error;
    }
    let old = lines_without(Mark::Add).next_back().is_some_and(|line| line.unended);
    let new = lines_without(Mark::Remove).next_back().is_some_and(|line| line.unended);
    if old && file.ends_with_break || (old || new) && !at_end {
        return unended_error;
    }
    Ok((old || new).then_some(!new))
}

/// Lines of a text, without their breaks.
struct Lines<'t> {
    text: &'t [u8],
    lines: Vec<&'t [u8]>,
    /// Start of each line, and the end of the text.
    starts: Vec<usize>,
    /// `true` if the text is empty or its last line has a break.
    ends_with_break: bool,
}

impl<'t> Lines<'t> {
    fn of(text: &'t [u8]) -> Self {
        let mut lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
        let ends_with_break = lines.last().is_none_or(|last| last.is_empty());
        if ends_with_break {
            lines.pop();
        }
        let mut starts = Vec::with_capacity(lines.len() + 1);
        let mut at = 0;
        for line in &lines {
            starts.push(at);
            at += line.len() + 1;
        }
        starts.push(text.len());
        Self { text, lines, starts, ends_with_break }
    }

    fn start(&self, line: usize) -> usize {
        self.starts.get(line).copied().unwrap_or(self.text.len())
    }
}

/// Comparison of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Exact,
    TrailingBlanks,
    Blanks,
    Typography,
}

impl Comparison {
    const ALL: [Self; 4] = [Self::Exact, Self::TrailingBlanks, Self::Blanks, Self::Typography];

    fn matches(self, line: &[u8], wanted: &str) -> bool {
        let bytes = wanted.as_bytes();
        match self {
            Self::Exact => line == bytes,
            Self::TrailingBlanks => line.trim_ascii_end() == bytes.trim_ascii_end(),
            Self::Blanks => line.trim_ascii() == bytes.trim_ascii(),
            Self::Typography => {
                let line = String::from_utf8_lossy(line);
                line.trim().chars().map(plain_char).eq(wanted.trim().chars().map(plain_char))
            }
        }
    }
}

/// Replaces typographic quotes, dashes and blanks by their plain counterparts.
fn plain_char(c: char) -> char {
    match c {
        '\u{2018}'..='\u{201B}' => '\'',
        '\u{201C}'..='\u{201F}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{A0}' | '\u{2002}'..='\u{200A}' | '\u{202F}' | '\u{205F}' | '\u{3000}' => ' ',
        other => other,
    }
}

/// Finds the hunks of a file in order.
struct HunkPlacer<'f> {
    file: &'f Lines<'f>,
    /// Number of line comparisons so far.
    compared: usize,
    /// First line that no earlier hunk has used.
    cursor: usize,
    /// Lines by which the last hunk was found below the line in its header; negative if above.
    line_offset: isize,
}

impl HunkPlacer<'_> {
    /// Returns the first line of a hunk, from 0, and the comparison that matched.
    fn find(&mut self, hunk: &Hunk) -> Result<(usize, Comparison), PlaceError> {
        let old = hunk.old();
        match &hunk.anchor {
            Anchor::Line(line) => self.find_near_line(hunk, &old, *line),
            Anchor::Below { headers, at_end } => self.find_below_headers(hunk, &old, headers, *at_end),
        }
    }

    fn find_near_line(
        &mut self,
        hunk: &Hunk,
        old: &[&HunkLine],
        line: usize,
    ) -> Result<(usize, Comparison), PlaceError> {
        if old.is_empty() {
            let is_empty = self.file.lines.is_empty();
            return if is_empty { Ok((0, Comparison::Exact)) } else { Err(PlaceError::NoContext { hunk: hunk.line }) };
        }
        let header_line = line.saturating_sub(1);
        if let Some(expected) = header_line.checked_add_signed(self.line_offset).filter(|at| *at >= self.cursor)
            && self.matches_at(Comparison::Exact, old, expected)
        {
            return Ok((expected, Comparison::Exact));
        }
        let (places, comparison) = self.places(old, self.cursor, self.file.lines.len())?;
        let at = self.single_place(hunk, old, &places)?;
        self.line_offset = isize::try_from(at).unwrap_or(0) - isize::try_from(header_line).unwrap_or(0);
        Ok((at, comparison))
    }

    fn find_below_headers(
        &mut self,
        hunk: &Hunk,
        old: &[&HunkLine],
        headers: &[String],
        at_end: bool,
    ) -> Result<(usize, Comparison), PlaceError> {
        let count = self.file.lines.len();
        if at_end {
            let at = count.checked_sub(old.len()).filter(|at| *at >= self.cursor);
            let fitting = at.and_then(|at| {
                Comparison::ALL
                    .into_iter()
                    .find(|comparison| self.matches_at(*comparison, old, at))
                    .map(|comparison| (at, comparison))
            });
            return fitting.ok_or_else(|| PlaceError::NotAtEnd { hunk: hunk.line, hint: self.hint(old) });
        }
        let windows = self.windows(hunk, headers)?;
        if old.is_empty() {
            return match windows.as_slice() {
                // Directly below the header.
                [window] if window.starts_at_header => Ok((window.start + 1, Comparison::Exact)),
                [_] if count == 0 => Ok((0, Comparison::Exact)),
                [_] => Err(PlaceError::NoContext { hunk: hunk.line }),
                _ => {
                    let lines = windows.iter().map(|window| window.start + 1).collect();
                    Err(PlaceError::Ambiguous { hunk: hunk.line, lines })
                }
            };
        }
        if headers.is_empty() || windows.iter().any(|window| !window.starts_at_header) {
            let (places, comparison) = self.places(old, self.cursor, count)?;
            return self.single_place(hunk, old, &places).map(|at| (at, comparison));
        }
        // Each header line contributes only the first match below it.
        for comparison in Comparison::ALL {
            let mut places = Vec::new();
            for window in &windows {
                let last = window.end.min(count.saturating_sub(old.len()) + 1);
                for at in window.start..last {
                    if self.matches_at(comparison, old, at) {
                        places.push(at);
                        break;
                    }
                }
            }
            self.check_work()?;
            if !places.is_empty() {
                return self.single_place(hunk, old, &places).map(|at| (at, comparison));
            }
        }
        self.single_place(hunk, old, &[]).map(|at| (at, Comparison::Exact))
    }

    /// Returns the ranges of lines in which a hunk below these nested headers may begin.
    fn windows(&mut self, hunk: &Hunk, headers: &[String]) -> Result<Vec<Window>, PlaceError> {
        let mut windows = vec![Window { starts_at_header: false, start: self.cursor, end: self.file.lines.len() }];
        for header in headers {
            let mut found = Vec::new();
            for comparison in Comparison::ALL {
                for window in &windows {
                    // A nested header uses its first match only; the first header may mean any of its matches.
                    let max_matches = if window.starts_at_header { 1 } else { usize::MAX };
                    let lines = (window.start..window.end)
                        .filter(|at| self.file.lines.get(*at).is_some_and(|line| comparison.matches(line, header)));
                    let lines: Vec<usize> = lines.take(max_matches).collect();
                    let ends = lines.iter().skip(1).copied().chain([window.end]);
                    let bounded = lines.iter().zip(ends);
                    found.extend(bounded.map(|(start, end)| Window { starts_at_header: true, start: *start, end }));
                    self.compared += window.end.saturating_sub(window.start);
                }
                self.check_work()?;
                if !found.is_empty() {
                    break;
                }
            }
            if found.is_empty() {
                // A header above the cursor is accepted, because an earlier hunk may have used it already.
                let above = self.file.lines.get(..self.cursor).unwrap_or_default();
                if Comparison::ALL
                    .into_iter()
                    .any(|comparison| above.iter().any(|line| comparison.matches(line, header)))
                {
                    continue;
                }
                let hint = near::hint_for(self.file.text, header, "`@@`");
                return Err(PlaceError::NoHeader { hunk: hunk.line, header: header.clone(), hint });
            }
            windows = found;
        }
        Ok(windows)
    }

    /// All matches of a hunk in a range of lines, by the first comparison with a match.
    fn places(&mut self, old: &[&HunkLine], from: usize, to: usize) -> Result<(Vec<usize>, Comparison), PlaceError> {
        for comparison in Comparison::ALL {
            let last = (to + 1).saturating_sub(old.len());
            let mut places = Vec::new();
            for at in from..last {
                if self.matches_at(comparison, old, at) {
                    places.push(at);
                }
            }
            self.check_work()?;
            if !places.is_empty() {
                return Ok((places, comparison));
            }
        }
        Ok((Vec::new(), Comparison::Exact))
    }

    /// `true` if the hunk matches at a line. Always `false` beyond the comparison limit, which
    /// [`HunkPlacer::check_work`] reports.
    fn matches_at(&mut self, comparison: Comparison, old: &[&HunkLine], at: usize) -> bool {
        if self.compared > MAX_COMPARED {
            return false;
        }
        let Some(lines) = self.file.lines.get(at..).and_then(|rest| rest.get(..old.len())) else { return false };
        let matching =
            lines.iter().zip(old).take_while(|(line, wanted)| comparison.matches(line, &wanted.text)).count();
        self.compared += matching + 1;
        matching == old.len()
    }

    fn check_work(&self) -> Result<(), PlaceError> {
        if self.compared > MAX_COMPARED { Err(PlaceError::TooManyComparisons) } else { Ok(()) }
    }

    fn single_place(&mut self, hunk: &Hunk, old: &[&HunkLine], places: &[usize]) -> Result<usize, PlaceError> {
        match places {
            [at] => Ok(*at),
            [] => {
                let cursor = self.cursor;
                if cursor > 0 && !self.places(old, 0, cursor)?.0.is_empty() {
                    return Err(PlaceError::OutOfOrder { hunk: hunk.line, line: cursor + 1 });
                }
                let below = match &hunk.anchor {
                    Anchor::Below { headers, .. } => headers.last().map(|header| format!(" below {header:?}")),
                    Anchor::Line(_) => None,
                };
                let below = below.unwrap_or_default();
                Err(PlaceError::NotFound { hunk: hunk.line, below, hint: self.hint(old) })
            }
            _ => Err(PlaceError::Ambiguous { hunk: hunk.line, lines: places.iter().map(|at| at + 1).collect() }),
        }
    }

    fn hint(&self, old: &[&HunkLine]) -> String {
        let wanted: Vec<&str> = old.iter().map(|line| line.text.as_str()).collect();
        near::hint_for(self.file.text, &wanted.join("\n"), "the hunk")
    }
}

/// Range of lines in which a hunk may begin.
struct Window {
    /// `true` if the window starts at a header line.
    starts_at_header: bool,
    start: usize,
    end: usize,
}

/// Line edits in the order of the file. Adjacent edits are merged.
#[derive(Default)]
struct Edits<'h>(Vec<LineEdit<'h>>);

struct LineEdit<'h> {
    at: usize,
    removed: usize,
    added: Vec<&'h str>,
}

impl<'h> Edits<'h> {
    fn add(&mut self, hunk: &'h Hunk, mut at: usize) {
        for line in &hunk.lines {
            match line.mark {
                Mark::Keep => at += 1,
                Mark::Remove => {
                    self.change(at, |edit| edit.removed += 1);
                    at += 1;
                }
                Mark::Add => self.change(at, |edit| edit.added.push(&line.text)),
            }
        }
    }

    /// Extends the last edit if it reaches this line, or adds a new one.
    fn change(&mut self, at: usize, change: impl FnOnce(&mut LineEdit<'h>)) {
        if self.0.last().is_none_or(|edit| edit.at + edit.removed != at) {
            self.0.push(LineEdit { at, removed: 0, added: Vec::new() });
        }
        if let Some(edit) = self.0.last_mut() {
            change(edit);
        }
    }

    /// Converts the edits to ranges of the text. `ends_with_break`: the file ends with a line break afterwards.
    fn spans(&self, file: &Lines<'_>, ends_with_break: bool) -> Vec<Span<'h>> {
        let count = file.lines.len();
        let spans = self.0.iter().map(|edit| {
            let (mut start, last) = (file.start(edit.at), edit.at + edit.removed);
            let mut new = edit.added.join("\n");
            if last < count {
                if !edit.added.is_empty() {
                    new.push('\n');
                }
                return Span { at: start..file.start(last), new: Cow::Owned(new) };
            }
            // The last line may lack a break in the old file, the new one or both.
            if edit.added.is_empty() {
                if !ends_with_break && edit.at > 0 {
                    start = start.saturating_sub(1);
                }
            } else {
                if ends_with_break {
                    new.push('\n');
                }
                if edit.removed == 0 && !file.ends_with_break && count > 0 {
                    new.insert(0, '\n');
                }
            }
            Span { at: start..file.text.len(), new: Cow::Owned(new) }
        });
        spans.collect()
    }
}
