//! Matchers, which select the events of a hook.

use regex_automata::meta::Regex;
use windlass_hook::Interest;
use windlass_types::names::{WELL_KNOWN_TOOLS, former_tools, guards_of_tool, meant_tool, present_tool};
use windlass_types::{HookEventName, ToolMatcher};

/// Events for which fewer characters make a list of names.
const FEWER: &[&str] = &["FileChanged", "StopFailure"];

/// Selects the events of a hook, by the name of the tool, the type of the agent or another word.
///
/// The empty text and `*` match every event. Letters, digits, `_`, `-`, blanks, `,` and `|` make a list of exact names.
/// All else is a regular expression that may match anywhere in the name. Former names of tools mean the present ones,
/// and `Edit` and `Write` mean every tool that writes files.
///
/// ```
/// use windlass_hook_runner::HookMatcher;
/// use windlass_types::HookEventName::PreToolUse;
///
/// let edits = HookMatcher::parse(Some("Edit|Write"), PreToolUse)?;
/// assert!(edits.matches(Some("Write")) && edits.matches(Some("NotebookEdit")) && !edits.matches(Some("Read")));
/// let server = HookMatcher::parse(Some("mcp__files__.*"), PreToolUse)?;
/// assert!(server.matches(Some("mcp__files__read")));
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone)]
pub struct HookMatcher {
    text: String,
    test: Test,
}

#[derive(Debug, Clone)]
enum Test {
    All,
    /// Names; `true` if they are tool names in their normal form.
    Names(Vec<String>, bool),
    /// Pattern; `true` if it applies to tool names.
    Pattern(Regex, bool),
}

impl PartialEq for HookMatcher {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for HookMatcher {}

impl HookMatcher {
    /// Returns a matcher of every event.
    #[must_use]
    pub fn all() -> Self {
        Self { text: String::new(), test: Test::All }
    }

    /// Reads the matcher of a hook for an event.
    ///
    /// # Errors
    /// The text is neither a list of names nor a usable regular expression. Look-around and back references of
    /// JavaScript cannot.
    pub fn parse(text: Option<&str>, event: HookEventName) -> Result<Self, String> {
        let text = text.unwrap_or_default().trim();
        let of_tools = event.is_about_tools();
        let test = if text.is_empty() || text == "*" {
            Test::All
        } else if text.chars().all(|c| is_of_names(c, event)) {
            let names = text.split(['|', ',']).map(str::trim).filter(|name| !name.is_empty());
            let names = names.map(|name| if of_tools { present_tool(name) } else { name });
            Test::Names(names.map(str::to_owned).collect(), of_tools)
        } else {
            let pattern = Regex::new(text).map_err(|error| {
                format!("the hook matcher {text:?} is not a regular expression that can be used: {error}")
            })?;
            Test::Pattern(pattern, of_tools)
        };
        Ok(Self { text: text.to_owned(), test })
    }

    /// Returns the matcher as it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns `true` if an event with this word matches; an event without a word always matches.
    #[must_use]
    pub fn matches(&self, subject: Option<&str>) -> bool {
        match (&self.test, subject) {
            (Test::All, _) | (_, None) => true,
            (Test::Names(names, false), Some(subject)) => names.iter().any(|name| name == subject),
            (Test::Names(names, true), Some(subject)) => {
                names.iter().any(|name| name == subject || guards_of_tool(subject).any(|guard| guard == name))
            }
            (Test::Pattern(pattern, of_tools), Some(subject)) => {
                let also = || guards_of_tool(subject).chain(former_tools(subject));
                pattern.is_match(subject) || (*of_tools && also().any(|name| pattern.is_match(name)))
            }
        }
    }

    /// Returns a warning for a name that no tool has and that is close to a tool's name: the matcher never matches it.
    #[must_use]
    pub fn doubt(&self) -> Option<String> {
        let (name, meant) = match &self.test {
            Test::Names(names, true) => names.iter().find_map(|name| Some((name, meant_tool(name)?)))?,
            Test::Pattern(_, true) => (&self.text, self.tool_in_other_case()?),
            _ => return None,
        };
        Some(format!("the hook matcher names {name:?}, which is no tool: did you mean {meant:?}?"))
    }

    /// Returns a known tool that the pattern would match without regard to case, for a pattern that matches no tool.
    fn tool_in_other_case(&self) -> Option<&'static str> {
        if WELL_KNOWN_TOOLS.iter().any(|tool| self.matches(Some(tool))) {
            return None;
        }
        let in_any_case = Regex::new(&format!("(?i:{})", self.text)).ok()?;
        WELL_KNOWN_TOOLS.iter().copied().find(|tool| in_any_case.is_match(tool))
    }

    /// Returns the hook interest of this matcher. For a pattern the interest is wider than the matcher.
    #[must_use]
    pub fn interest(&self, event: HookEventName) -> Interest {
        match &self.test {
            Test::Names(names, true) => Interest::matching(event, names.iter().map(ToolMatcher::exact)),
            _ => Interest::all(event),
        }
    }
}

fn is_of_names(c: char, event: HookEventName) -> bool {
    let few = c.is_ascii_alphanumeric() || matches!(c, '_' | '|');
    few || (matches!(c, '-' | ' ' | ',') && !FEWER.contains(&event.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lists_and_patterns() {
        let of_tools = HookEventName::PreToolUse;
        for (matcher, tool, expected) in [
            (None, "Bash", true),
            (Some(""), "Bash", true),
            (Some("*"), "Bash", true),
            (Some("Bash"), "Bash", true),
            (Some("Bash"), "BashOutput", false),
            (Some("Edit | Write,MultiEdit"), "Write", true),
            (Some("Edit|Write"), "Wri", false),
            (Some("mcp__memory"), "mcp__memory__get", false),
            (Some("mcp__memory__.*"), "mcp__memory__get", true),
            (Some(".ash"), "MyBash", true),
            (Some("^Notebook"), "Read", false),
            (Some("Task"), "Agent", true),
            (Some("^(Task|Bash)$"), "Agent", true),
            (Some("^(Task|Bash)$"), "TaskStop", false),
            (Some("KillShell"), "TaskStop", true),
            (Some("Edit|Write"), "MultiEdit", true),
            (Some("Edit|Write"), "NotebookEdit", true),
            (Some("Edit"), "apply_patch", true),
            (Some("Write"), "Edit", true),
            (Some("^(Edit|Write)$"), "NotebookEdit", true),
            (Some("NotebookEdit"), "Edit", false),
            (Some("Edit"), "Read", false),
        ] {
            let parsed = HookMatcher::parse(matcher, of_tools).unwrap();
            assert_eq!(parsed.matches(Some(tool)), expected, "{matcher:?} {tool}");
            let listens = parsed.interest(of_tools).covers(of_tools, Some(tool));
            assert!(listens || !expected, "{matcher:?} {tool}");
        }
        assert!(HookMatcher::parse(Some("Bash"), of_tools).unwrap().matches(None));
        assert!(HookMatcher::parse(Some("("), of_tools).is_err());
        assert!(HookMatcher::parse(Some("(?=x)"), of_tools).is_err());
        // Agents may have any name.
        let of_agents = HookEventName::SubagentStop;
        assert!(HookMatcher::parse(Some("Task"), of_agents).unwrap().matches(Some("Task")));
        assert!(!HookMatcher::parse(Some("^Task$"), of_agents).unwrap().matches(Some("Agent")));
    }

    #[test]
    fn a_name_that_is_nearly_one_of_a_tool_is_doubtful() {
        use HookEventName::{PreToolUse, SubagentStop};
        for (matcher, event, meant) in [
            ("bash", PreToolUse, Some("Bash")),
            ("Edit|Wrte", PreToolUse, Some("Write")),
            ("notebook_edit", PreToolUse, Some("NotebookEdit")),
            ("Edit|deploy|mcp__bash", PreToolUse, None),
            ("bash", SubagentStop, None),
            ("^bash$", PreToolUse, Some("Bash")),
            ("^(edit|write)$", PreToolUse, Some("Edit")),
            ("^(Edit|bash)$", PreToolUse, None),
            ("(?i)^bash$", PreToolUse, None),
            ("^deploy.*", PreToolUse, None),
            ("mcp__bash__.*", PreToolUse, None),
            ("^bash$", SubagentStop, None),
        ] {
            let doubt = HookMatcher::parse(Some(matcher), event).unwrap().doubt();
            assert_eq!(doubt.is_some(), meant.is_some(), "{matcher}: {doubt:?}");
            assert!(
                meant.is_none_or(|meant| doubt.unwrap().ends_with(&format!("did you mean {meant:?}?"))),
                "{matcher}"
            );
        }
    }

    #[test]
    fn a_matcher_that_names_no_tool_means_no_call() {
        let parsed = HookMatcher::parse(Some(" , | "), HookEventName::PreToolUse).unwrap();
        assert!(!parsed.matches(Some("Bash")));
    }
}
