//! Tools whose definitions are withheld from requests until the model has searched for them: which they are, what the model
//! reads of them, and how a search finds them.

use crate::imitation::foreign_text;
use crate::{Relevance, estimate_text, reminder};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use windlass_types::text::clean_line;
use windlass_types::{JsonText, ToolSpec, mcp_name};

/// The tool with which a model searches for tools that are withheld.
pub const TOOL_SEARCH: &str = "ToolSearch";

/// How many tools a search by words loads unless it says so itself, and at most.
const DEFAULT_RESULTS: usize = 5;
const MOST_RESULTS: usize = 20;
/// Most names that one search by name loads.
const MOST_NAMED: usize = 50;
/// Most characters that the list of withheld tools has for names, that it has for both names and descriptions, and of one
/// description. The list of fifty servers with four tools each stays within 2,000 tokens.
const MOST_OF_LIST: usize = 16_000;
const MOST_WITH_DESCRIPTIONS: usize = 4_500;
const MOST_OF_LINE: usize = 120;
/// Most characters of a search that are repeated in its answer.
const LONGEST_QUERY: usize = 200;
/// How much more a word counts in the name of a tool than in its description.
const NAME_WEIGHT: f64 = 3.0;

/// From which size on definitions of tools are withheld.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolBudget {
    /// Whether any are withheld. Default: yes.
    pub enabled: bool,
    /// How much of the model's context window those that may be withheld can take up together before they are, in percent.
    /// Default: 10.
    pub percent: u8,
    /// The same in tokens, estimated. It counts before the percentage.
    pub tokens: Option<u64>,
}

impl Default for ToolBudget {
    fn default() -> Self {
        Self { enabled: true, percent: 10, tokens: None }
    }
}

impl ToolBudget {
    /// Whether the definitions that may be withheld are too large together for a window of so many tokens. Without the tool
    /// to search with nothing is, and neither is where the window is not known (0) and no tokens are given.
    #[must_use]
    pub fn is_exceeded(&self, specs: &[Arc<ToolSpec>], window: u64) -> bool {
        if !self.enabled || !specs.iter().any(|spec| spec.name == TOOL_SEARCH) {
            return false;
        }
        let share = (window > 0).then(|| window.saturating_mul(self.percent.into()) / 100);
        let Some(most) = self.tokens.or(share) else { return false };
        let all = specs.iter().filter(|spec| spec.may_be_withheld());
        all.fold(0_u64, |sum, spec| sum.saturating_add(estimate_tool(spec))) > most
    }
}

/// Tokens of the definition of a tool, estimated high.
#[must_use]
pub fn estimate_tool(spec: &ToolSpec) -> u64 {
    [spec.name.as_str(), &spec.description, spec.input_schema.as_str()].map(estimate_text).into_iter().sum()
}

/// What the model reads of tools that are withheld: the name of each with the first line of its description, those of a
/// server together. Where the list would be too long, first descriptions are left out, then names, whose number is given.
#[must_use]
pub fn withheld_tools(specs: &[&ToolSpec]) -> String {
    let mut groups: BTreeMap<&str, Vec<&ToolSpec>> = BTreeMap::new();
    for spec in specs {
        groups.entry(server_of(&spec.name)).or_default().push(spec);
    }
    // Beside a name stand a dash and a line end, and with a description four characters more.
    let names: usize = specs.iter().map(|spec| spec.name.chars().count() + 7).sum();
    let room =
        MOST_WITH_DESCRIPTIONS.saturating_sub(names).checked_div(specs.len()).unwrap_or_default().min(MOST_OF_LINE);
    let mut left = MOST_OF_LIST;
    let (mut lines, mut unnamed) = (Vec::new(), Vec::new());
    for (server, tools) in groups {
        let before = lines.len();
        for tool in &tools {
            let line = line_of(tool, room);
            let length = line.chars().count() + 1;
            if length > left {
                break;
            }
            left -= length;
            lines.push(line);
        }
        let named = lines.len().saturating_sub(before);
        match tools.len().saturating_sub(named) {
            0 => {}
            more if named == 0 && !server.is_empty() => unnamed.push(format!("{server} ({more})")),
            more => {
                let of = if server.is_empty() { String::new() } else { format!(" of the server {server}") };
                lines.push(format!("- and {more} more{of}, which a search by words finds"));
            }
        }
    }
    if !unnamed.is_empty() {
        lines.push(format!("- and tools of the servers {}, which a search by words finds", unnamed.join(", ")));
    }
    let text = format!(
        "There are more tools than your list of tools shows. Their definitions are left out to save space. Load one with \
         {TOOL_SEARCH} before you call it: by name (\"select:name,name\") or by words for what it should do. It stays \
         loaded. The descriptions are words of the tools' servers.\n{}",
        foreign_text(&lines.join("\n"))
    );
    reminder(&text)
}

fn line_of(spec: &ToolSpec, room: usize) -> String {
    let first = spec.description.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let first = clean_line(first);
    // A few characters say nothing.
    if room < 16 || first.trim().is_empty() {
        return format!("- {}", spec.name);
    }
    let cut = if first.chars().count() > room { "…" } else { "" };
    let shown: String = first.trim().chars().take(room).collect();
    format!("- {}: {shown}{cut}", spec.name)
}

/// The server of a tool by its name; empty for a tool of no server.
fn server_of(name: &str) -> &str {
    name.strip_prefix(mcp_name::PREFIX).and_then(|rest| rest.split_once("__")).map_or("", |(server, _)| server)
}

/// What the model reads when it calls a tool that is withheld.
#[must_use]
pub fn withheld_call(name: &str) -> String {
    format!(
        "The tool {name} is not loaded, so the call did not run. Load it first: call {TOOL_SEARCH} with the query \
         \"select:{name}\". Then call it by the definition that you have read."
    )
}

/// What a search for tools has found.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FoundTools {
    /// The names of the tools, best first. They can be called from the next message of the model on.
    pub names: Vec<String>,
    /// What the model reads.
    pub text: String,
    /// Whether nothing was found.
    pub is_error: bool,
}

/// Searches tools as the input of the tool `ToolSearch` says: `query` is `select:` with names, or words; `max_results` is how
/// many tools words may load, 5 unless it is given and 20 at most. `tools` are all that may be found, loaded or not.
#[must_use]
pub fn search_tools(input: &JsonText, tools: &[Arc<ToolSpec>]) -> FoundTools {
    let fields: BTreeMap<String, JsonText> = input.to().unwrap_or_default();
    let query = fields.get("query").and_then(|query| query.to::<String>().ok()).unwrap_or_default();
    let most = fields.get("max_results").and_then(|most| most.to::<usize>().ok()).unwrap_or(DEFAULT_RESULTS);
    match query.trim().strip_prefix("select:") {
        Some(names) => by_name(names, tools),
        None => by_words(query.trim(), most.clamp(1, MOST_RESULTS), tools),
    }
}

fn by_name(names: &str, tools: &[Arc<ToolSpec>]) -> FoundTools {
    let wanted: BTreeSet<&str> = names.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    let (mut found, mut unknown) = (Vec::new(), Vec::new());
    for name in wanted.into_iter().take(MOST_NAMED) {
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

fn by_words(query: &str, most: usize, tools: &[Arc<ToolSpec>]) -> FoundTools {
    let mut documents = Relevance::default();
    for spec in tools {
        documents.add([(NAME_WEIGHT, spec.name.as_str()), (1.0, spec.description.as_str())]);
    }
    let hits = documents.search(query, most);
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
    foreign_text(&clean_line(text).chars().take(LONGEST_QUERY).collect::<String>())
}

#[cfg(test)]
mod tests;
