//! The LS tool.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use globset::{Glob as Pattern, GlobSet, GlobSetBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use windlass_tool::{Annotations, EntryKind, Tool, ToolCx, ToolError, ToolOutput};
use windlass_types::Access;
use windlass_types::text::visible_path;

use super::place::{Place, given};
use crate::files::open::named_path;

/// Maximum number of names in a result.
const MAX_SHOWN: usize = 1_000;
/// Maximum number of names that are read.
const MAX_LISTED: usize = 10_000;
/// Maximum number of patterns of one call.
const MAX_PATTERNS: usize = 100;

/// Input of [`Ls`].
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct LsInput {
    /// The folder to list.
    #[serde(deserialize_with = "named_path")]
    pub path: String,
    /// Patterns of names to leave out, such as `*.log`.
    pub ignore: Option<Vec<String>>,
}

/// Lists the entries of one folder. Not among the default tools of a coding agent, because Glob finds files.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct Ls;

/// Result for hosts.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct LsResult {
    path: String,
    entries: Vec<String>,
    total: usize,
    truncated: bool,
}

impl Tool for Ls {
    const NAME: &'static str = "LS";
    const DESCRIPTION: &'static str = "Lists what is in one folder, hidden and ignored files too; folders end with `/`, links \
        with `@`. To find files by name in a tree use Glob.";
    type Input = LsInput;
    type Output = ToolOutput;

    fn access(&self, input: &LsInput) -> Access {
        Access::reads(folder(input))
    }

    fn annotations(&self) -> Annotations {
        Annotations::default().with_foreign_output()
    }

    fn title(&self, input: &LsInput) -> Cow<'static, str> {
        format!("List {}", input.path).into()
    }

    async fn call(&self, input: LsInput, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let ignored = patterns(input.ignore.as_deref().unwrap_or_default())?;
        let place = Place::find(cx, &folder(&input)).await?;
        match place.kind {
            EntryKind::Directory => {}
            EntryKind::Missing => return Err(place.missing(cx).await),
            _ => {
                let text = format!("{} is not a folder. Use Read for a file.", visible_path(&place.requested));
                return Err(ToolError::rejected(text));
            }
        }
        let failed =
            |error: windlass_tool::WorkspaceError| ToolError::rejected(error.message.clone()).with_source(error);
        let mut names = cx.workspace().list(cx.permit(), &place.requested, MAX_LISTED).await.map_err(failed)?;
        let is_cut = names.len() >= MAX_LISTED;
        names.retain(|name| !ignored.is_match(name));
        names.sort_unstable();
        // The workspace reports the kind of each entry (file, directory, link), where known.
        let known = cx.workspace().entries(&place.resolved, MAX_LISTED).await.unwrap_or_default();
        let kinds: BTreeMap<OsString, EntryKind> = known.into_iter().map(|entry| (entry.name, entry.kind)).collect();
        let total = names.len();
        let shown = names.iter().take(MAX_SHOWN).map(|name| {
            let suffix = match kinds.get(&OsString::from(name)) {
                Some(EntryKind::Directory) => "/",
                Some(EntryKind::Link) => "@",
                _ => "",
            };
            format!("{}{suffix}", visible_path(name))
        });
        let entries: Vec<String> = shown.collect();
        let truncated = is_cut || total > entries.len();
        let path = place.requested.to_string_lossy().into_owned();
        let listed = LsResult { path, entries, total, truncated };
        ToolOutput::text(text(&listed, is_cut)).with_structured(&listed)
    }
}

fn folder(input: &LsInput) -> PathBuf {
    given(Some(&input.path)).to_owned()
}

fn patterns(texts: &[String]) -> Result<GlobSet, ToolError> {
    if texts.len() > MAX_PATTERNS {
        return Err(ToolError::invalid_input(format!("`ignore` has at most {MAX_PATTERNS} patterns")));
    }
    let mut set = GlobSetBuilder::new();
    for text in texts {
        set.add(Pattern::new(text).map_err(|error| ToolError::invalid_input(format!("ignore: {error}")))?);
    }
    set.build().map_err(|error| ToolError::invalid_input(format!("ignore: {error}")))
}

fn text(listed: &LsResult, is_cut: bool) -> String {
    if listed.entries.is_empty() {
        return format!("{} is empty, or all that is in it is left out.", listed.path);
    }
    let mut text = listed.entries.join("\n");
    if listed.truncated {
        let total = if is_cut { format!("more than {MAX_LISTED}") } else { listed.total.to_string() };
        text.push_str(&format!(
            "\n\n(These are {} of {total} entries. Use Glob with a pattern.)",
            listed.entries.len()
        ));
    }
    text
}

#[cfg(test)]
mod tests;
