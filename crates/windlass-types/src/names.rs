//! Normal forms of the names that rules, hooks and calls are compared by: tools, skills, models.
//!
//! Whoever compares such a name compares its normal form, so that two readers never disagree about it.

use crate::near::{is_misspelt, is_same_but_for_case};

/// Former names of tools, each with the present one.
pub const FORMER_TOOLS: &[(&str, &str)] = &[
    ("Brief", "SendUserMessage"),
    ("KillBash", "TaskStop"),
    ("KillShell", "TaskStop"),
    ("ListMcpResources", "ListMcpResourcesTool"),
    ("ListPeers", "ListAgents"),
    ("ProposeGoal", "SetGoal"),
    ("ReadMcpResource", "ReadMcpResourceTool"),
    ("ReadMcpResourceDir", "ReadMcpResourceDirTool"),
    ("Task", "Agent"),
];

/// Names of tools that rules and lists may hold whatever the session offers: windlass's own, and those of other programs
/// that share settings with it.
pub const WELL_KNOWN_TOOLS: &[&str] = &[
    "Agent",
    "AskUserQuestion",
    "Bash",
    "BashOutput",
    "Brief",
    "Cd",
    "Edit",
    "EnterPlanMode",
    "ExitPlanMode",
    "Glob",
    "Grep",
    "KillBash",
    "KillShell",
    "LS",
    "LSP",
    "ListAgents",
    "ListMcpResources",
    "ListMcpResourcesTool",
    "ListPeers",
    "Memory",
    "MultiEdit",
    "NotebookEdit",
    "NotebookRead",
    "PowerShell",
    "Program",
    "ProjectSearch",
    "ProposeGoal",
    "Read",
    "ReadMcpResource",
    "ReadMcpResourceDir",
    "ReadMcpResourceDirTool",
    "ReadMcpResourceTool",
    "SendUserMessage",
    "SetGoal",
    "Skill",
    "StructuredOutput",
    "Task",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TaskStop",
    "TaskUpdate",
    "TodoWrite",
    "ToolSearch",
    "WebFetch",
    "WebSearch",
    "Write",
    "apply_patch",
];

/// Tools that change files.
pub const WRITERS: &[&str] = &["Edit", "MultiEdit", "NotebookEdit", "Write", "apply_patch"];

/// Tools whose guards apply to all [`WRITERS`]: each of these can write what the others write.
pub const GENERAL_WRITERS: &[&str] = &["Edit", "Write"];

/// Present name of a tool.
///
/// ```
/// use windlass_types::names::present_tool;
///
/// assert_eq!((present_tool("Task"), present_tool("Read")), ("Agent", "Read"));
/// ```
pub fn present_tool(name: &str) -> &str {
    FORMER_TOOLS.iter().find(|(former, _)| *former == name).map_or(name, |(_, present)| present)
}

/// Former names of a tool.
pub fn former_tools(name: &str) -> impl Iterator<Item = &str> {
    FORMER_TOOLS.iter().filter(move |(_, present)| *present == name).map(|(former, _)| *former)
}

/// Returns the names whose guards apply to a tool: its present one, and for one of the [`WRITERS`] the general ones. A
/// guard is a deny or ask rule on the whole tool, or the matcher of a hook.
///
/// ```
/// use windlass_types::names::guards_of_tool;
///
/// assert!(guards_of_tool("MultiEdit").any(|name| name == "Write"));
/// assert!(!guards_of_tool("Edit").any(|name| name == "NotebookEdit"));
/// ```
pub fn guards_of_tool(name: &str) -> impl Iterator<Item = &str> {
    let general = if WRITERS.contains(&name) { GENERAL_WRITERS } else { &[] };
    let present_name = present_tool(name);
    std::iter::once(present_name).chain(general.iter().copied().filter(move |general| *general != present_name))
}

/// Returns the well-known tool that a name probably means: in another case, or one slip away. `None` for a well-known
/// tool, one of a server, and a pattern.
///
/// ```
/// use windlass_types::names::meant_tool;
///
/// assert_eq!((meant_tool("bash"), meant_tool("Bsh"), meant_tool("Bash")), (Some("Bash"), Some("Bash"), None));
/// ```
pub fn meant_tool(name: &str) -> Option<&'static str> {
    if WELL_KNOWN_TOOLS.contains(&name) || name.starts_with(crate::mcp_name::PREFIX) || name.contains('*') {
        return None;
    }
    let known = || WELL_KNOWN_TOOLS.iter().copied();
    // In names of two or three letters, a slip makes any other name.
    let is_slip = |known: &&str| known.len() > 3 && is_misspelt(name, known);
    known().find(|known| is_same_but_for_case(known, name)).or_else(|| known().find(is_slip))
}

/// Name of a skill or command, without blanks around it and slashes before it.
///
/// ```
/// use windlass_types::names::skill;
///
/// assert_eq!((skill("deploy"), skill(" //deploy ")), ("deploy", "deploy"));
/// ```
pub fn skill(name: &str) -> &str {
    name.trim_start_matches(|c: char| c == '/' || c.is_whitespace()).trim_end()
}

/// Name of a model: in lower case, without blanks around it and a size of the context window behind it.
///
/// ```
/// use windlass_types::names::model;
///
/// assert_eq!((model(" Opus[1m] "), model("claude-opus-5-5")), ("opus".to_owned(), "claude-opus-5-5".to_owned()));
/// ```
pub fn model(name: &str) -> String {
    let name = name.trim();
    let plain = name.strip_suffix(']').and_then(|name| name.rsplit_once('[')).map_or(name, |(name, _)| name);
    plain.trim_end().to_lowercase()
}

/// Result of comparing the model of a rule with that of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "two names mean one model, may do so, or do not")]
pub enum SameModel {
    /// Both name the same model, or the rule names its family or the model without a date.
    Yes,
    /// The call names a family that the model of the rule belongs to.
    Possible,
    /// They name two models.
    No,
}

/// Compares the model of a rule with that of a call, by their parts: `opus` means `us.anthropic.claude-opus-5-5`, and
/// `claude-opus-5-5` means it with a date behind it.
///
/// ```
/// use windlass_types::names::{SameModel, same_model};
///
/// assert_eq!(same_model("opus", " Claude-Opus-5-5"), SameModel::Yes);
/// assert_eq!(same_model("claude-opus-5-5", "opus"), SameModel::Possible);
/// assert_eq!(same_model("gpt-5", "gpt-5-mini"), SameModel::No);
/// ```
pub fn same_model(rule: &str, called: &str) -> SameModel {
    let (rule, called) = (model(rule), model(called));
    let parts = |name: &str| -> Vec<String> {
        name.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty()).map(str::to_owned).collect()
    };
    let (of_rule, of_call) = (parts(&rule), parts(&called));
    if rule == called || is_model_of(&of_call, &of_rule) {
        SameModel::Yes
    } else if is_model_of(&of_rule, &of_call) {
        SameModel::Possible
    } else {
        SameModel::No
    }
}

/// Returns `true` if the parts contain these in a row, with vendors before them and, unless they are a family's name,
/// no more than a version of the service or a date behind them.
fn is_model_of(parts: &[String], wanted: &[String]) -> bool {
    let is_family = matches!(wanted, [family] if family.chars().all(char::is_alphabetic));
    let is_mark = |part: &String| {
        let is_number = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
        (is_number(part) && part.len() >= 6) || part == "latest" || part.strip_prefix('v').is_some_and(is_number)
    };
    let ends = |rest: &[String]| is_family || rest.first().is_none_or(is_mark);
    !wanted.is_empty()
        && parts.windows(wanted.len()).enumerate().any(|(at, window)| {
            window == wanted && ends(parts.get(at.saturating_add(wanted.len())..).unwrap_or_default())
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_tools_are_all_well_known_and_present_ones_stay() {
        for (former, present) in FORMER_TOOLS {
            assert!(WELL_KNOWN_TOOLS.contains(former) && WELL_KNOWN_TOOLS.contains(present), "{former}");
            assert_eq!((present_tool(former), present_tool(present)), (*present, *present));
        }
        for name in WRITERS.iter().chain(GENERAL_WRITERS) {
            assert!(WELL_KNOWN_TOOLS.contains(name), "{name}");
        }
        for name in WELL_KNOWN_TOOLS {
            assert_eq!(meant_tool(name), None, "{name}");
            let lower = name.to_lowercase();
            let is_known = WELL_KNOWN_TOOLS.contains(&lower.as_str());
            assert!(is_known || meant_tool(&lower).is_some(), "{name}");
        }
        for name in ["mcp__bash", "*", "Ba*", "deploy", "weather", "id", ""] {
            assert_eq!(meant_tool(name), None, "{name}");
        }
    }

    #[test]
    fn models_are_compared_by_their_parts() {
        use SameModel::{No, Possible, Yes};
        for (rule, called, expected) in [
            ("opus", "opus", Yes),
            ("opus", " Opus ", Yes),
            ("opus", "opus[1m]", Yes),
            ("OPUS", "claude-opus-5-5", Yes),
            ("opus", "us.anthropic.claude-opus-4-5-20251101-v1:0", Yes),
            ("claude-opus-4-5", "claude-opus-4-5-20251101", Yes),
            ("claude-opus-4-5", "anthropic/claude-opus-4.5", Yes),
            ("claude-opus-4-5-20251101", "opus", Possible),
            ("claude-opus-4-5-20251101", "claude-opus-4-5", Possible),
            ("claude-sonnet-4", "claude-sonnet-4-5", No),
            ("opus", "sonnet", No),
            ("opus", "octopus", No),
            ("gpt-5", "gpt-5-mini", No),
            ("opus", "", No),
            ("", "opus", No),
        ] {
            assert_eq!(same_model(rule, called), expected, "{rule} {called}");
        }
    }
}
