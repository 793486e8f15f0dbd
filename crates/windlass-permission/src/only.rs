//! Names that restrict the tools of a session.

use windlass_types::ToolMatcher;
use windlass_types::names::present_tool;

/// The names that tools must have: every list must have a name. Without lists, all tools are kept.
///
/// A name is that of one tool, `mcp__server` or `mcp__server__*` are all tools of a server, and `mcp__*` are those of
/// all servers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OnlyTools(Vec<Vec<String>>);

impl OnlyTools {
    /// Keeps only the tools that this list names, too.
    pub fn and(&mut self, names: Vec<String>) {
        self.0.push(names);
    }

    /// Returns all names of all lists.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().flatten().map(String::as_str)
    }

    /// Returns `true` if a tool of this name is kept.
    pub fn keeps(&self, tool: &str) -> bool {
        self.0.iter().all(|names| names.iter().any(|name| matches(name, tool)))
    }

    /// Returns `true` if a tool with a name that begins like this could be kept.
    pub fn keeps_some_of(&self, prefix: &str) -> bool {
        let could_be = |name: &String| name.starts_with(prefix) || matches(name, &format!("{prefix}x"));
        self.0.iter().all(|names| names.iter().any(could_be))
    }
}

/// Returns `true` if a name in a list means this tool. The name `*`, which only a list of everything could mean, is no
/// name here.
fn matches(name: &str, tool: &str) -> bool {
    let (name, tool) = (present_tool(name), present_tool(tool));
    name == tool || ToolMatcher::new(name).is_ok_and(|matcher| !matcher.is_all() && matcher.matches(tool))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_mean_tools_and_servers() {
        for (name, tool, means) in [
            ("Read", "Read", true),
            ("Read", "ReadMore", false),
            ("read", "Read", false),
            ("Task", "Agent", true),
            ("KillShell", "TaskStop", true),
            ("Re*", "Read", false),
            ("*", "Read", false),
            ("", "Read", false),
            ("mcp__a", "mcp__a__x", true),
            ("mcp__a", "mcp__ab__x", false),
            ("mcp__a", "mcp__a_x", false),
            ("mcp__a__*", "mcp__a__x", true),
            ("mcp__a__*", "mcp__ab__x", false),
            ("mcp__a__x", "mcp__a__x", true),
            ("mcp__a__x", "mcp__a__xy", false),
            ("mcp__a__x", "mcp__a__x__y", false),
            ("mcp__a_", "mcp__a___x", false),
            ("mcp__a", "mcp__a___x", true),
            ("mcp__a__x*", "mcp__a__xy", true),
            ("mcp__*", "mcp__a__x", true),
            ("mcp__*", "Read", false),
        ] {
            assert_eq!(matches(name, tool), means, "{name} {tool}");
        }
    }

    #[test]
    fn lists_only_narrow() {
        let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let mut only = OnlyTools::default();
        assert!(only.keeps("Read") && only.keeps("Bash"));
        only.and(list(&["Read", "Grep"]));
        assert!(only.keeps("Read") && only.keeps("Grep") && !only.keeps("Bash"));
        only.and(list(&["Read", "Bash"]));
        assert!(only.keeps("Read") && !only.keeps("Grep") && !only.keeps("Bash"));
        only.and(list(&[]));
        assert!(!only.keeps("Read"));
    }
}
