//! Tools whose definitions are withheld from requests until the model has searched for them: their selection, the text
//! for the model, and the search.

use crate::imitation::foreign_text;
use crate::{Relevance, estimate_text, reminder};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use windlass_types::text::clean_line;
use windlass_types::{JsonText, ToolLoading, ToolSpec, mcp_name};

/// Name of the tool with which a model searches for withheld tools.
pub const TOOL_SEARCH: &str = "ToolSearch";

/// Default and maximum number of tools that a search by words loads.
const DEFAULT_RESULTS: usize = 5;
const MAX_RESULTS: usize = 20;
/// Maximum number of names that one search by name loads.
const MAX_NAMED_TOOLS: usize = 50;
/// Maximum characters of the list of withheld tools; of the list while it names each tool in a line of its own; and of
/// one description. The list of fifty servers stays within 2,000 tokens, however many tools they have.
const MAX_LIST_CHARS: usize = 5_000;
const MAX_DESCRIBED_CHARS: usize = 4_500;
const MAX_LINE_CHARS: usize = 120;
/// Maximum number of characters of a search that are repeated in its answer.
const MAX_QUERY_CHARS: usize = 200;
/// Weight of a word in the name of a tool, relative to its description.
const NAME_WEIGHT: f64 = 3.0;

/// Size limits beyond which definitions of tools are withheld.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolBudget {
    /// `true` if definitions may be withheld. Default: `true`.
    pub enabled: bool,
    /// Share of the model's context window, in percent, that these definitions may use together before they are
    /// withheld. Default: 10.
    pub percent: u8,
    /// Limit in estimated tokens. Takes precedence over the percentage.
    pub tokens: Option<u64>,
    /// Limit in estimated tokens for the definitions of servers that are started at their first call
    /// ([`ToolLoading::OnDemand`]), independent of the window. Default: 1,500.
    pub on_demand_tokens: u64,
}

impl Default for ToolBudget {
    fn default() -> Self {
        Self { enabled: true, percent: 10, tokens: None, on_demand_tokens: 1_500 }
    }
}

/// Selection of the definitions that are withheld.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Withholding {
    /// None of them.
    #[default]
    Nothing,
    /// Definitions of servers that are started at their first call.
    OnDemand,
    /// All of them.
    All,
}

impl Withholding {
    /// `true` if the definition of a tool is withheld.
    #[must_use]
    pub fn includes(self, spec: &ToolSpec) -> bool {
        match self {
            Self::Nothing => false,
            Self::OnDemand => spec.loading == ToolLoading::OnDemand,
            Self::All => spec.may_be_withheld(),
        }
    }
}

impl ToolBudget {
    /// Selects the definitions that are too large together for a window of this many tokens. Without the search tool
    /// nothing is withheld. If the window is unknown (0) and no tokens are set, all definitions together are never too
    /// large.
    #[must_use]
    pub fn withholding(&self, specs: &[Arc<ToolSpec>], window: u64) -> Withholding {
        if !self.enabled || !specs.iter().any(|spec| spec.name == TOOL_SEARCH) {
            return Withholding::Nothing;
        }
        let size = |which: Withholding| {
            let included = specs.iter().filter(|spec| which.includes(spec));
            included.fold(0_u64, |sum, spec| sum.saturating_add(estimate_tool(spec)))
        };
        let share = (window > 0).then(|| window.saturating_mul(self.percent.into()) / 100);
        if self.tokens.or(share).is_some_and(|most| size(Withholding::All) > most) {
            return Withholding::All;
        }
        if size(Withholding::OnDemand) > self.on_demand_tokens { Withholding::OnDemand } else { Withholding::Nothing }
    }
}

/// Returns the tokens of a tool's definition, estimated high.
#[must_use]
pub fn estimate_tool(spec: &ToolSpec) -> u64 {
    [spec.name.as_str(), &spec.description, spec.input_schema.as_str()].map(estimate_text).into_iter().sum()
}

/// Returns the text for the model about withheld tools: the name of each with the first line of its description. If
/// that is too long, first descriptions are left out, then the names of a server share one line, with as many of each
/// server as fit.
#[must_use]
pub fn withheld_tools(specs: &[&ToolSpec]) -> String {
    let mut groups: BTreeMap<&str, Vec<&ToolSpec>> = BTreeMap::new();
    for spec in specs {
        groups.entry(server_of(&spec.name)).or_default().push(spec);
    }
    // A name takes a dash and a line end, and with a description four characters more.
    let names: usize = specs.iter().map(|spec| spec.name.chars().count() + 7).sum();
    let room =
        MAX_DESCRIBED_CHARS.saturating_sub(names).checked_div(specs.len()).unwrap_or_default().min(MAX_LINE_CHARS);
    let is_long = names.saturating_sub(specs.len() * 4) > MAX_DESCRIBED_CHARS;
    let (lines, note) = if is_long {
        (by_server(&groups), " Names of a server stand together: mcp__a__{b, c} means mcp__a__b and mcp__a__c.")
    } else {
        (groups.values().flatten().map(|spec| line_of(spec, room)).collect(), "")
    };
    let text = format!(
        "There are more tools than your list of tools shows. Their definitions are left out to save space. Load one with \
         {TOOL_SEARCH} before you call it: by name (\"select:name,name\") or by words for what it should do. It stays \
         loaded. The descriptions are words of the tools' servers.{note}\n{}",
        foreign_text(&lines.join("\n"))
    );
    reminder(&text)
}

/// Returns a line for each server. Servers that need less than their share leave the rest to the others.
fn by_server(groups: &BTreeMap<&str, Vec<&ToolSpec>>) -> Vec<String> {
    let full_line = |server: &str, tools: &[&ToolSpec]| line_of_server(server, tools, usize::MAX).unwrap_or_default();
    let mut sized: Vec<(usize, &str, &Vec<&ToolSpec>)> =
        groups.iter().map(|(server, tools)| (full_line(server, tools).chars().count(), *server, tools)).collect();
    sized.sort_unstable_by_key(|(length, server, _)| (*length, *server));
    let (mut remaining, mut lines, mut unlisted) = (MAX_LIST_CHARS, BTreeMap::new(), 0_usize);
    for (at, (_, server, tools)) in sized.iter().enumerate() {
        let share = remaining.checked_div(sized.len() - at).unwrap_or_default();
        match line_of_server(server, tools, share) {
            Some(line) => {
                remaining = remaining.saturating_sub(line.chars().count() + 1);
                lines.insert(*server, line);
            }
            None => unlisted += tools.len(),
        }
    }
    let more = (unlisted > 0).then(|| format!("- and {unlisted} more, which a search by words finds"));
    lines.into_values().chain(more).collect()
}

/// Returns the tools of a server in a line of at most `room` characters, its end included. `None` if not even their
/// number fits.
fn line_of_server(server: &str, tools: &[&ToolSpec], room: usize) -> Option<String> {
    let prefix = if server.is_empty() { String::new() } else { format!("{}{server}__", mcp_name::PREFIX) };
    let tool_name = |spec: &&ToolSpec| spec.name.strip_prefix(&prefix).unwrap_or(&spec.name).to_owned();
    let names: Vec<String> = tools.iter().map(tool_name).collect();
    let (open, close) = if server.is_empty() { ("", "") } else { ("{", "}") };
    let line = |shown: &[String], more: usize| {
        let more = (more > 0).then(|| format!("and {more} more"));
        let words: Vec<&str> = shown.iter().chain(&more).map(String::as_str).collect();
        format!("- {prefix}{open}{}{close}", words.join(", "))
    };
    let fits = |line: &String| line.chars().count() < room;
    let all = Some(line(&names, 0)).filter(fits);
    all.or_else(|| {
        let mut length = line(&[], names.len()).chars().count();
        let shown = names.iter().take_while(|name| {
            length += name.chars().count() + 2;
            length < room
        });
        let shown = shown.count();
        names.get(..shown).map(|shown| line(shown, names.len() - shown.len())).filter(fits)
    })
}

fn line_of(spec: &ToolSpec, max_chars: usize) -> String {
    let first = spec.description.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let first = clean_line(first);
    // A few characters are not informative.
    if max_chars < 16 || first.trim().is_empty() {
        return format!("- {}", spec.name);
    }
    let cut = if first.chars().count() > max_chars { "…" } else { "" };
    let shown: String = first.trim().chars().take(max_chars).collect();
    format!("- {}: {shown}{cut}", spec.name)
}

/// Returns the server of a tool from its name; empty for a tool of no server.
fn server_of(name: &str) -> &str {
    name.strip_prefix(mcp_name::PREFIX).and_then(|rest| rest.split_once("__")).map_or("", |(server, _)| server)
}

/// Returns the text for the model when it calls a withheld tool.
#[must_use]
pub fn withheld_call(name: &str) -> String {
    format!(
        "The tool {name} is not loaded, so the call did not run. Load it first: call {TOOL_SEARCH} with the query \
         \"select:{name}\". Then call it by the definition that you have read."
    )
}

/// Result of a search for tools.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FoundTools {
    /// Names of the tools, best first. They can be called from the next message of the model on.
    pub names: Vec<String>,
    /// Text for the model.
    pub text: String,
    /// `true` if nothing was found.
    pub is_error: bool,
}

/// Searches tools by the input of the tool `ToolSearch`: `query` is `select:` with names, or words; `max_results` is
/// the maximum number of tools that words may load. Default: 5, at most 20. `tools` are all that may be found, loaded
/// or not.
#[must_use]
pub fn search_tools(input: &JsonText, tools: &[Arc<ToolSpec>]) -> FoundTools {
    let fields: BTreeMap<String, JsonText> = input.to().unwrap_or_default();
    let query = fields.get("query").and_then(|query| query.to::<String>().ok()).unwrap_or_default();
    let max_results = fields.get("max_results").and_then(|value| value.to::<usize>().ok()).unwrap_or(DEFAULT_RESULTS);
    match query.trim().strip_prefix("select:") {
        Some(names) => by_name(names, tools),
        None => by_words(query.trim(), max_results.clamp(1, MAX_RESULTS), tools),
    }
}

fn by_name(names: &str, tools: &[Arc<ToolSpec>]) -> FoundTools {
    let wanted_names: BTreeSet<&str> = names.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    let (mut found, mut unknown) = (Vec::new(), Vec::new());
    for name in wanted_names.into_iter().take(MAX_NAMED_TOOLS) {
        match tools.iter().find(|spec| spec.name == name) {
            Some(spec) => found.push(spec.name.clone()),
            None => unknown.push(shown(name)),
        }
    }
    let mut text = loaded(&found);
    if !unknown.is_empty() || found.is_empty() {
        let names = if unknown.is_empty() { "no name was given".to_owned() } else { unknown.join(", ") };
        text = format!("{text}\nNot found by name: {names}. Search by words instead.").trim().to_owned();
    }
    FoundTools { is_error: found.is_empty(), names: found, text }
}

fn by_words(query: &str, max_results: usize, tools: &[Arc<ToolSpec>]) -> FoundTools {
    let mut documents = Relevance::default();
    for spec in tools {
        documents.add([(NAME_WEIGHT, spec.name.as_str()), (1.0, spec.description.as_str())]);
    }
    let hits = documents.search(query, max_results);
    let names: Vec<String> = hits.iter().filter_map(|hit| tools.get(hit.document)).map(|s| s.name.clone()).collect();
    let text = match names.is_empty() {
        true => format!("No tool fits \"{}\". Try other words, or do the task without such a tool.", shown(query)),
        false => loaded(&names),
    };
    FoundTools { is_error: names.is_empty(), names, text }
}

fn loaded(names: &[String]) -> String {
    match names {
        [] => String::new(),
        names => format!("Loaded, and can be called from your next message on:\n- {}", names.join("\n- ")),
    }
}

fn shown(text: &str) -> String {
    foreign_text(&clean_line(text).chars().take(MAX_QUERY_CHARS).collect::<String>())
}

#[cfg(test)]
mod tests;
