//! The Grep tool.

use std::borrow::Cow;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use windlass_tool::{Annotations, EntryKind, Tool, ToolCx, ToolError, ToolOutput};
use windlass_types::Access;
use windlass_types::text::visible_path;

use super::grep::{GrepMode, GrepQuery, search};
use super::place::{Place, TIME_LIMIT, failed, given, scope};
use super::port_search::PortSearch;
use super::report::{Page, render};
use crate::files::open::named_folder;

/// Default number of lines or entries of one result.
const DEFAULT_LIMIT: u32 = 250;

/// Input of [`Grep`].
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct GrepInput {
    /// The regular expression to search for, in the syntax of ripgrep: literal braces and parentheses
    /// need a backslash, as in `interface\{\}`.
    pub pattern: String,
    /// The file or folder to search in. Default: the current directory.
    #[serde(default, deserialize_with = "named_folder")]
    pub path: Option<String>,
    /// Only files whose path matches this glob, such as `*.js` or `src/**/*.{ts,tsx}`; several are
    /// separated by spaces or commas, `!` in front leaves files out.
    pub glob: Option<String>,
    /// `files_with_matches` lists files, newest first; `content` shows matching lines; `count` shows
    /// the number of matching lines of each file. Default: `files_with_matches`.
    pub output_mode: Option<OutputMode>,
    /// Lines to show before each match, in `content` mode.
    #[serde(rename = "-B")]
    pub before: Option<u32>,
    /// Lines to show after each match, in `content` mode.
    #[serde(rename = "-A")]
    pub after: Option<u32>,
    /// Lines to show before and after each match, in `content` mode.
    #[serde(rename = "-C")]
    pub around: Option<u32>,
    /// The same as `-C`.
    pub context: Option<u32>,
    /// Whether lines are shown with their numbers, in `content` mode. Default: true.
    #[serde(rename = "-n")]
    pub line_numbers: Option<bool>,
    /// Whether upper and lower case are the same. Default: false.
    #[serde(rename = "-i")]
    pub ignore_case: Option<bool>,
    /// Whether only the matched parts of lines are shown, in `content` mode. Default: false.
    #[serde(rename = "-o")]
    pub only_matching: Option<bool>,
    /// Only files of this type, such as `rust`, `py`, `js` or `go`.
    #[serde(rename = "type")]
    pub file_type: Option<String>,
    /// How many lines (`content`) or files to return; 0 for as many as fit. Default: 250.
    pub head_limit: Option<u32>,
    /// How many lines or files to leave out first, to page through a long result. Default: 0.
    pub offset: Option<u32>,
    /// Whether a match may span lines and `.` matches line ends. Default: false.
    pub multiline: Option<bool>,
}

/// What a search returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OutputMode {
    /// The matching lines with their context.
    Content,
    /// The files that match.
    #[default]
    FilesWithMatches,
    /// The files that match with their number of matching lines.
    Count,
}

/// Searches the content of files.
#[derive(Debug, Clone)]
pub struct Grep {
    time_limit: Duration,
}

impl Default for Grep {
    fn default() -> Self {
        Self { time_limit: TIME_LIMIT }
    }
}

impl Grep {
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

impl Tool for Grep {
    const NAME: &'static str = "Grep";
    const DESCRIPTION: &'static str = "Searches the content of files with a regular expression, fast. Filter files \
        with `glob` or `type`. `output_mode` `files_with_matches` (default) lists files, newest first; `content` \
        shows lines, with context by `-A`, `-B` or `-C`; `count` counts. Set `multiline` for patterns that span \
        lines. Long results come in pages: go on with `offset`. Files that are ignored by `.gitignore` and binary \
        files are left out. Use this instead of `grep` or `rg`.";
    type Input = GrepInput;
    type Output = ToolOutput;

    fn access(&self, input: &GrepInput) -> Access {
        Access::reads(given(input.path.as_deref()))
    }

    fn annotations(&self) -> Annotations {
        Annotations::default().with_foreign_output()
    }

    fn title(&self, input: &GrepInput) -> Cow<'static, str> {
        match &input.path {
            Some(path) => format!("Search for {} in {path}", input.pattern).into(),
            None => format!("Search for {}", input.pattern).into(),
        }
    }

    async fn call(&self, input: GrepInput, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let place = Place::find(cx, given(input.path.as_deref())).await?;
        match place.kind {
            EntryKind::File | EntryKind::Directory => {}
            EntryKind::Missing => return Err(place.missing(cx).await),
            _ => {
                return Err(ToolError::rejected(format!(
                    "{} is a device, pipe or socket. It was not opened.",
                    visible_path(&place.requested)
                )));
            }
        }
        let page = Page {
            mode: input.output_mode.unwrap_or_default(),
            line_numbers: input.line_numbers.unwrap_or(true),
            limit: limit(&input),
            offset: input.offset.map_or(0, size),
            is_named: input.path.as_deref().is_some_and(|path| !matches!(path, "" | "." | "./")),
        };
        let query = query(input);
        let outcome = match cx.workspace().file_walk() {
            Some(walk) => search(query, walk, scope(cx, &place, self.time_limit)).await.map_err(failed)?,
            None => PortSearch::new(cx, &place, self.time_limit).grep(query).await?,
        };
        if cx.cancel().is_cancelled() {
            return Err(ToolError::cancelled());
        }
        let outcome = outcome.map_err(|error| ToolError::invalid_input(error.to_string()))?;
        let (text, found) = render(&outcome, &page, |path| place.show(path));
        ToolOutput::text(text).with_structured(&found)
    }
}

fn limit(input: &GrepInput) -> Option<usize> {
    match input.head_limit.unwrap_or(DEFAULT_LIMIT) {
        0 => None,
        lines => Some(size(lines)),
    }
}

fn size(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn query(input: GrepInput) -> GrepQuery {
    let around = input.around.or(input.context).unwrap_or(0);
    GrepQuery {
        mode: match input.output_mode.unwrap_or_default() {
            OutputMode::Content => GrepMode::Content,
            OutputMode::FilesWithMatches => GrepMode::Files,
            OutputMode::Count => GrepMode::Counts,
        },
        ignore_case: input.ignore_case.unwrap_or(false),
        multiline: input.multiline.unwrap_or(false),
        only_matching: input.only_matching.unwrap_or(false),
        before: size(input.before.unwrap_or(around)),
        after: size(input.after.unwrap_or(around)),
        types: input.file_type.iter().filter(|name| !name.is_empty()).cloned().collect(),
        globs: globs(input.glob.as_deref().unwrap_or_default()),
        limit: limit(&input),
        offset: input.offset.map_or(0, size),
        pattern: input.pattern,
    }
}

/// Splits at spaces and commas that are not inside of braces.
fn globs(text: &str) -> Vec<String> {
    let mut depth = 0_usize;
    text.split(|c| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && (c == ',' || char::is_whitespace(c))
    })
    .filter(|glob| !glob.is_empty())
    .map(str::to_owned)
    .collect()
}

#[cfg(test)]
mod tests;
