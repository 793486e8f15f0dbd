//! Which calls a hook is about, or which agents.

use regex::Regex;

/// The tool that starts agents, and its former name.
const NAME: &str = "Agent";
const OLD_NAME: &str = "Task";

/// Which tools a hook is about.
#[derive(Debug, Clone)]
pub(crate) enum Matcher {
    /// All of them.
    All,
    /// Those of these names.
    Names(Vec<String>),
    /// Those whose name has a match, anywhere; and whether these are names of tools.
    Pattern(Regex, bool),
}

impl Matcher {
    /// Reads a matcher: the empty text and `*` are all tools, letters with `|` or `,`
    /// between them are names, all else is a regular expression. The tool that starts agents
    /// had another name once, which matchers of tools may use.
    ///
    /// # Errors
    /// The regular expression is not one.
    pub(crate) fn parse(text: Option<&str>, of_tools: bool) -> Result<Self, String> {
        let text = text.unwrap_or_default().trim();
        if text.is_empty() || text == "*" {
            return Ok(Self::All);
        }
        if text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ' ' | ',' | '|')) {
            let names = text.split(['|', ',']).map(str::trim).filter(|name| !name.is_empty());
            let names = names.map(|name| if of_tools && name == OLD_NAME { NAME } else { name });
            return Ok(Self::Names(names.map(str::to_owned).collect()));
        }
        Regex::new(text)
            .map(|pattern| Self::Pattern(pattern, of_tools))
            .map_err(|error| format!("the hook matcher {text:?} is not a regular expression that can be used: {error}"))
    }

    /// Whether it is about a tool, or about an event without one.
    pub(crate) fn matches(&self, tool: Option<&str>) -> bool {
        match (self, tool) {
            (Self::All, _) | (_, None) => true,
            (Self::Names(names), Some(tool)) => names.iter().any(|name| name == tool),
            (Self::Pattern(pattern, of_tools), Some(tool)) => {
                pattern.is_match(tool) || (*of_tools && tool == NAME && pattern.is_match(OLD_NAME))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lists_and_patterns() {
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
        ] {
            assert_eq!(Matcher::parse(matcher, true).unwrap().matches(Some(tool)), expected, "{matcher:?} {tool}");
        }
        assert!(Matcher::parse(Some("Bash"), true).unwrap().matches(None));
        assert!(Matcher::parse(Some("("), true).is_err());
        // Agents may have any name.
        assert!(Matcher::parse(Some("Task"), false).unwrap().matches(Some("Task")));
        assert!(!Matcher::parse(Some("^Task$"), false).unwrap().matches(Some("Agent")));
    }
}
