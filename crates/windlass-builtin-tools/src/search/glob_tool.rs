//! The Glob tool.

use std::borrow::Cow;
use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use windlass_tool::{Annotations, EntryKind, Tool, ToolCx, ToolError, ToolOutput, WalkInterrupt};
use windlass_types::Access;
use windlass_types::text::visible_path;

use super::glob::{GlobOutcome, GlobPattern, GlobSearch};
use super::place::{Place, TIME_LIMIT, failed, given, scope};
use super::port_search::PortSearch;
use super::report_notes::{ignored_phrase, walk_notes};
use crate::files::open::named_folder;

/// Maximum number of files in one result.
const MAX_FILES: usize = 100;

/// Input of [`Glob`].
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct GlobInput {
    /// The glob pattern to match files against, such as `**/*.rs` or `src/**/*.{ts,tsx}`. `*` stays
    /// within one folder, `**` matches any number of folders.
    pub pattern: String,
    /// The folder to search in. Default: the current directory.
    #[serde(default, deserialize_with = "named_folder")]
    pub path: Option<String>,
    /// Whether files that `.gitignore` or `.ignore` leave out are found as well. Default: false.
    pub include_ignored: Option<bool>,
}

/// Finds files by name, newest first.
#[derive(Debug, Clone)]
pub struct Glob {
    time_limit: Duration,
}

impl Default for Glob {
    fn default() -> Self {
        Self { time_limit: TIME_LIMIT }
    }
}

impl Glob {
    /// The tool, with a time limit of 30 seconds for a search.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the time limit after which a search returns its results so far.
    #[must_use]
    pub fn with_time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = limit;
        self
    }
}

/// Result for hosts.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct GlobMatches {
    duration_ms: u64,
    num_files: usize,
    filenames: Vec<String>,
    truncated: bool,
    total_matches: usize,
    count_is_complete: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    timed_out: bool,
}

impl Tool for Glob {
    const NAME: &'static str = "Glob";
    const DESCRIPTION: &'static str = "Finds files by a pattern of their names, such as `**/*.rs` or \
        `src/**/*.{ts,tsx}`. Returns at most 100 paths, newest first, and says how many there are. Files that \
        are ignored by `.gitignore` are left out, hidden files are not. Use this instead of `find` or `ls`; to \
        search what files contain, use Grep.";
    type Input = GlobInput;
    type Output = ToolOutput;

    fn access(&self, input: &GlobInput) -> Access {
        Access::reads(start_folder(input))
    }

    fn annotations(&self) -> Annotations {
        Annotations::default().with_foreign_output()
    }

    fn title(&self, input: &GlobInput) -> Cow<'static, str> {
        match &input.path {
            Some(path) => format!("Find {} in {path}", input.pattern).into(),
            None => format!("Find {}", input.pattern).into(),
        }
    }

    async fn call(&self, input: GlobInput, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let started = cx.clock().now();
        let pattern = parse(&input)?;
        let place = Place::find(cx, &start_folder(&input)).await?;
        match place.kind {
            EntryKind::Directory => {}
            EntryKind::Missing => return Err(place.missing(cx).await),
            _ => {
                return Err(ToolError::rejected(format!(
                    "{} is not a folder. Give a folder, or use Read for a file.",
                    visible_path(&place.requested)
                )));
            }
        }
        let ignored = input.include_ignored.unwrap_or(false);
        let outcome = match cx.workspace().file_walk() {
            Some(walk) => {
                let mut scope = scope(cx, &place, self.time_limit);
                scope.include_ignored = ignored;
                GlobSearch::run(&pattern, walk, scope, MAX_FILES).await.map_err(failed)?
            }
            None => PortSearch::new(cx, &place, self.time_limit).glob(&pattern, ignored, MAX_FILES).await?,
        };
        if cx.cancel().is_cancelled() {
            return Err(ToolError::cancelled());
        }
        let timed_out = outcome.report.interrupted == Some(WalkInterrupt::TimedOut);
        let found = GlobMatches {
            duration_ms: u64::try_from(cx.clock().now().since(started).as_millis()).unwrap_or(u64::MAX),
            num_files: outcome.paths.len(),
            filenames: outcome.paths.iter().map(|path| place.show(path)).collect(),
            truncated: outcome.total > outcome.paths.len() || timed_out,
            total_matches: outcome.total,
            count_is_complete: !timed_out,
            timed_out,
        };
        let text = result_text(&found, &outcome, &pattern, &place);
        ToolOutput::text(text).with_structured(&found)
    }
}

/// Start folder of the search, which the pattern may name itself.
fn start_folder(input: &GlobInput) -> PathBuf {
    let path = given(input.path.as_deref());
    match GlobPattern::parse(&input.pattern) {
        Ok(pattern) => path.join(pattern.base()),
        Err(_) => path.to_owned(),
    }
}

fn parse(input: &GlobInput) -> Result<GlobPattern, ToolError> {
    GlobPattern::parse(&input.pattern).map_err(|error| ToolError::invalid_input(error.to_string()))
}

fn result_text(found: &GlobMatches, outcome: &GlobOutcome, pattern: &GlobPattern, place: &Place) -> String {
    let mut text = found.filenames.join("\n");
    if found.filenames.is_empty() {
        text.push_str("No files found");
        if pattern.is_flat() {
            let folder = visible_path(&place.requested);
            text.push_str(&format!(" directly in {folder}. `**/{}` looks in its subfolders too.", pattern.rest()));
        }
    }
    if found.timed_out {
        text.push_str("\n\n(The search ran out of time: there may be more. Search in a smaller folder.)");
    } else if found.truncated {
        text.push_str(&format!(
            "\n\n(These are the {} newest of {} files. Use a narrower pattern or path to see others.)",
            found.num_files, found.total_matches
        ));
    }
    if found.filenames.is_empty()
        && let Some(ignored) = ignored_phrase(&outcome.report)
    {
        text.push_str(&format!("\n\n({ignored} left out. Set `include_ignored` to see what is there.)"));
    }
    for note in walk_notes(&outcome.report) {
        text.push_str(&format!("\n\n({note})"));
    }
    text
}

#[cfg(test)]
mod tests;
