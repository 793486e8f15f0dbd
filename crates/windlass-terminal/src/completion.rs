//! Completion of commands and mentions: a menu below the prompt.

mod menu;
mod score;

pub(crate) use menu::MOST_CANDIDATES;
pub use menu::{CompletionMenu, MenuRow};
pub use score::score;

use std::ops::Range;
use windlass_conversation::SlashCommand;
use windlass_types::text::{visible_line, visible_path};

/// Most bytes of a word that is completed.
const LONGEST_QUERY: usize = 400;

/// Kind of a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum CandidateKind {
    /// A slash command.
    Command,
    /// A file of the project.
    File,
    /// A directory of the project.
    Directory,
    /// A resource of an MCP server.
    Resource,
    /// An agent.
    Agent,
}

/// A text that completes a word.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompletionCandidate {
    /// Kind of the candidate.
    pub kind: CandidateKind,
    /// Name as it is shown and compared.
    pub name: String,
    /// Text that replaces the word.
    pub text: String,
    /// One line that says what it is; may be empty.
    pub detail: String,
    /// Other names that find it.
    pub aliases: Vec<String>,
    /// Arguments that follow it; empty if there are none.
    pub arguments: String,
}

impl CompletionCandidate {
    fn new(kind: CandidateKind, name: &str, text: String, detail: &str) -> Self {
        let (aliases, arguments) = (Vec::new(), String::new());
        Self { kind, name: visible_line(name), text, detail: visible_line(detail), aliases, arguments }
    }

    /// A slash command.
    #[must_use]
    pub fn command(command: &SlashCommand) -> Self {
        let name = format!("/{}", command.name);
        Self {
            aliases: command.aliases.iter().map(|alias| format!("/{alias}")).collect(),
            arguments: visible_line(&command.argument_hint),
            ..Self::new(CandidateKind::Command, &name, name.clone(), &command.description)
        }
    }

    /// A file, by its path from the directory of the project.
    #[must_use]
    pub fn file(path: &str) -> Self {
        let path = visible_path(path);
        Self::new(CandidateKind::File, &path, mention(&path), "")
    }

    /// A directory, by its path from the directory of the project.
    #[must_use]
    pub fn directory(path: &str) -> Self {
        let path = format!("{}/", visible_path(path.trim_end_matches('/')));
        Self::new(CandidateKind::Directory, &path, mention(&path), "")
    }

    /// A resource of an MCP server.
    #[must_use]
    pub fn resource(server: &str, uri: &str, title: &str) -> Self {
        let name = format!("{server}:{uri}");
        Self::new(CandidateKind::Resource, &name, mention(&name), title)
    }

    /// An agent.
    #[must_use]
    pub fn agent(name: &str, description: &str) -> Self {
        let name = format!("agent-{name}");
        Self::new(CandidateKind::Agent, &name, mention(&name), description)
    }

    /// Points of the best name of the candidate; `None` if none matches.
    #[must_use]
    pub fn score(&self, query: &str) -> Option<i64> {
        // An alias counts less than a name that matches as well.
        let aliases =
            self.aliases.iter().filter_map(|alias| score(query, alias)).map(|points| points.saturating_sub(1));
        score(query, &self.name).into_iter().chain(aliases).max()
    }
}

/// A name as the prompt mentions it. A blank would end it, so such a name stands in quotes.
pub(crate) fn mention(name: &str) -> String {
    let needs_quotes = name.contains(char::is_whitespace) || name.ends_with([',', '.', ';', ':', '!', '?', ')']);
    match (needs_quotes, name.contains('"')) {
        (false, _) => format!("@{name}"),
        (true, false) => format!("@\"{name}\""),
        (true, true) => format!("@{}", name.replace(' ', "\\ ")),
    }
}

/// A word that can be completed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Completable {
    /// The name of a command, with its slash.
    Command { range: Range<usize>, query: String },
    /// A mention, without its at sign.
    Mention { range: Range<usize>, query: String },
}

impl Completable {
    pub(crate) fn range(&self) -> Range<usize> {
        match self {
            Self::Command { range, .. } | Self::Mention { range, .. } => range.clone(),
        }
    }
}

/// The word at the caret that can be completed.
pub(crate) fn completable(text: &str, caret: usize) -> Option<Completable> {
    let before = text.get(..caret)?;
    // A command that runs in the shell has no mentions.
    if before.starts_with('!') {
        return None;
    }
    let end = text.get(caret..)?.find(char::is_whitespace).map_or(text.len(), |at| caret.saturating_add(at));
    if before.starts_with('/') && !before.contains(char::is_whitespace) && before.len() <= LONGEST_QUERY {
        let is_path = before.get(1..).is_some_and(|name| name.contains('/'));
        return (!is_path).then(|| Completable::Command { range: 0..end, query: before.to_owned() });
    }
    let quoted = before
        .rfind("@\"")
        .filter(|at| !before.get(at.saturating_add(2)..).is_some_and(|rest| rest.contains(['"', '\n'])));
    let start = match quoted {
        Some(at) => at,
        None => before
            .char_indices()
            .rev()
            .find(|(_, c)| c.is_whitespace())
            .map_or(0, |(at, c)| at.saturating_add(c.len_utf8())),
    };
    let begins_word = before.get(..start).is_none_or(|rest| rest.is_empty() || rest.ends_with(char::is_whitespace));
    let query = before.get(start..)?.strip_prefix('@').filter(|query| begins_word && query.len() <= LONGEST_QUERY)?;
    let query = query.strip_prefix('"').unwrap_or(query).to_owned();
    Some(Completable::Mention { range: start..end, query })
}

/// The best candidates for a word, the best first.
#[must_use]
pub fn ranked(query: &str, candidates: Vec<CompletionCandidate>, most: usize) -> Vec<CompletionCandidate> {
    let scored = candidates.into_iter().filter_map(|candidate| Some((candidate.score(query)?, candidate)));
    let mut scored: Vec<(i64, CompletionCandidate)> = scored.collect();
    // Stable: equal ones stay in the order in which they came.
    scored.sort_by_key(|(points, _)| std::cmp::Reverse(*points));
    scored.into_iter().take(most).map(|(_, candidate)| candidate).collect()
}

#[cfg(test)]
mod tests;
