//! Result of a content search for the model and hosts.

use std::path::Path;

use serde::Serialize;
use windlass_tool::WalkInterrupt;

use super::grep::{GrepFound, GrepOutcome, Line, LineKind};
use super::grep_tool::OutputMode;
use super::report_notes::{ignored_phrase, walk_notes};

/// Maximum text of one result, in bytes; the rest is on the next page.
const MAX_TEXT: usize = 64 * 1024;

/// Requested part of the result.
#[derive(Debug, Clone)]
pub(super) struct Page {
    pub(super) mode: OutputMode,
    pub(super) line_numbers: bool,
    pub(super) limit: Option<usize>,
    pub(super) offset: usize,
    /// `true` if the call names the searched place.
    pub(super) is_named: bool,
}

/// Result for hosts.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Found {
    mode: OutputMode,
    num_files: usize,
    filenames: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    num_lines: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    num_matches: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_files: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_lines: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    applied_limit: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    applied_offset: Option<usize>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    timed_out: bool,
}

/// Text for the model and data for hosts. `show` displays a path.
pub(super) fn render(outcome: &GrepOutcome, page: &Page, show: impl Fn(&Path) -> String) -> (String, Found) {
    let mut body = FittedLines::default();
    let mut found = Found {
        mode: page.mode,
        total_files: outcome.total_files,
        total_lines: outcome.total_lines,
        applied_offset: (page.offset > 0).then_some(page.offset),
        timed_out: outcome.report.interrupted == Some(WalkInterrupt::TimedOut),
        ..Found::default()
    };
    match &outcome.found {
        GrepFound::Files(paths) => {
            for path in paths {
                let name = show(path);
                if !body.push(&name) {
                    break;
                }
                found.filenames.push(name);
            }
        }
        GrepFound::Counts(counts) => {
            let mut matches = 0;
            for (path, count) in counts {
                let name = show(path);
                if !body.push(&format!("{name}:{count}")) {
                    break;
                }
                matches += count;
                found.filenames.push(name);
            }
            found.num_matches = Some(matches);
        }
        GrepFound::Content(files) => {
            for (path, lines) in files {
                let name = show(path);
                let fit =
                    lines.iter().take_while(|line| body.push(&format_line(&name, line, page.line_numbers))).count();
                if fit > 0 {
                    found.filenames.push(name);
                }
                if fit < lines.len() {
                    break;
                }
            }
            found.num_lines = Some(body.entries);
        }
    }
    found.num_files = found.filenames.len();
    let more = outcome.more || body.full;
    found.applied_limit = if more { page.limit } else { None };
    let text = frame(&body, &found, outcome, page, more);
    if page.mode != OutputMode::FilesWithMatches {
        found.content = Some(body.text);
    }
    (text, found)
}

/// Lines of a result that fit.
#[derive(Debug, Default)]
struct FittedLines {
    text: String,
    entries: usize,
    full: bool,
}

impl FittedLines {
    fn push(&mut self, line: &str) -> bool {
        if self.entries > 0 && self.text.len() + line.len() >= MAX_TEXT {
            self.full = true;
            return false;
        }
        if self.entries > 0 {
            self.text.push('\n');
        }
        self.text.push_str(line);
        self.entries += 1;
        true
    }
}

/// `path:12:text` for a match and `path-12-text` for context.
fn format_line(name: &str, line: &Line, numbers: bool) -> String {
    let mark = match line.kind {
        LineKind::Break => return "--".to_owned(),
        LineKind::Match => ':',
        LineKind::Context => '-',
    };
    if numbers {
        format!("{name}{mark}{}{mark}{}", line.number, line.text)
    } else {
        format!("{name}{mark}{}", line.text)
    }
}

fn frame(body: &FittedLines, found: &Found, outcome: &GrepOutcome, page: &Page, more: bool) -> String {
    let mut text = String::new();
    if body.entries == 0 {
        text.push_str(match page.mode {
            OutputMode::FilesWithMatches => "No files found",
            _ => "No matches found",
        });
        if page.offset > 0 && !found.timed_out {
            text.push_str(&format!(" from offset {}", page.offset));
        }
    } else if page.mode == OutputMode::FilesWithMatches {
        let total = found.total_files.unwrap_or(body.entries);
        text.push_str(&format!("Found {total} {}\n", if total == 1 { "file" } else { "files" }));
    }
    text.push_str(&body.text);
    if let (Some(lines), Some(files), OutputMode::Count) = (found.total_lines, found.total_files, page.mode) {
        text.push_str(&format!("\n\nFound {lines} matching lines in {files} files."));
    }
    let mut notes = Vec::new();
    if found.timed_out {
        notes.push("The search ran out of time: the result is not complete. Search in a smaller folder.".to_owned());
    } else if more && body.entries > 0 {
        let unit = if page.mode == OutputMode::Content { "lines" } else { "files" };
        let (first, last) = (page.offset + 1, page.offset + body.entries);
        notes.push(format!("These are {unit} {first} to {last}; there are more. Go on with offset {last}."));
    } else if more {
        notes.push("There is more than can be paged through. Use a narrower pattern, path or glob.".to_owned());
    }
    if outcome.too_large > 0 {
        notes.push(format!("{} files were left out because they are too large.", outcome.too_large));
    }
    if (body.entries == 0 || page.is_named)
        && let Some(ignored) = ignored_phrase(&outcome.report)
    {
        notes.push(format!("{ignored} not searched. Give one as `path` to search it."));
    }
    notes.extend(walk_notes(&outcome.report));
    for note in notes {
        text.push_str(&format!("\n\n({note})"));
    }
    text
}
