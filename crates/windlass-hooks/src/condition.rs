//! The key `if` of a hook: a permission rule that a call must meet.

use std::fmt;
use std::path::Path;
use windlass_permission::{
    CallFacts, CommandFacts, ParsedRule, PathFact, Policy, PolicyConfig, access_of_unknown, parse_rule,
};
use windlass_types::names::{WRITERS, meant_tool};
use windlass_types::path::absolute;
use windlass_types::{Access, Behavior, CallDigest, HookCall, JsonText, RuleSource};

/// Tools that write the file that they name.
const WRITING: &[&str] = &["Edit", "MultiEdit", "Write"];
/// The tool whose paths stand in a text.
const PATCH: &str = "apply_patch";

/// A permission rule that a call must meet, such as `Bash(git *)`.
///
/// Commands are read as for deny rules: each part of a line counts, behind variables and wrappers. What cannot be read
/// meets the rule, so that a guard is asked too often rather than never.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition(String);

impl Condition {
    /// Reads a rule.
    ///
    /// # Errors
    /// It is not a rule that can be used.
    pub fn parse(rule: &str) -> Result<Self, String> {
        policy(rule, Path::new("/"))?;
        let tool = parse_rule(rule).map_err(|error| error.to_string())?.tool().to_owned();
        if let Some(meant) = meant_tool(&tool) {
            return Err(format!("`if` names {tool:?}, which is no tool: did you mean {meant:?}?"));
        }
        Ok(Self(rule.trim().to_owned()))
    }

    /// Whether a call meets it. What is not about a call meets each.
    #[must_use]
    pub fn meets(&self, call: &HookCall, cwd: &Path) -> bool {
        let Some((tool, input)) = called(call) else { return true };
        let (Ok(policy), Ok(rule)) = (policy(&self.0, cwd), parse_rule(&self.0)) else { return true };
        let facts = facts(tool, input, cwd);
        let decision = policy.decide(&facts, None, None);
        let is_met = decision.behavior == Behavior::Deny && decision.rule.is_some();
        is_met || (is_unreadable(&facts) && concerns(&rule, tool))
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A policy that denies what meets the rule: deny rules are judged first, and look through wrappers.
fn policy(rule: &str, cwd: &Path) -> Result<Policy, String> {
    let mut policy = Policy::new(PolicyConfig::new(cwd));
    let rules = [rule.trim().to_owned()];
    policy.add_rules(RuleSource::CliArg, Behavior::Deny, &rules, cwd).map_err(|error| error.to_string())?;
    Ok(policy)
}

/// The tool and the input of an occasion that is about a call.
fn called(call: &HookCall) -> Option<(&str, &JsonText)> {
    match call {
        HookCall::PreToolUse(event) => Some((&event.tool_name, &event.tool_input)),
        HookCall::PermissionRequest(event) => Some((&event.tool_name, &event.tool_input)),
        HookCall::PostToolUse(event) => Some((&event.tool_name, &event.tool_input)),
        HookCall::PostToolUseFailure(event) => Some((&event.tool_name, &event.tool_input)),
        _ => None,
    }
}

/// Whether it is not known what a call does: its command cannot be read, or the paths of its patch.
fn is_unreadable(facts: &CallFacts) -> bool {
    match &facts.command {
        Some(command) => command.analysis.understood().is_err() || command.analysis.undecided().is_some(),
        None => facts.tool == PATCH,
    }
}

/// Whether a rule could be about calls of a tool.
fn concerns(rule: &ParsedRule, tool: &str) -> bool {
    rule.tool() == tool || (tool == PATCH && WRITERS.contains(&rule.tool()))
}

/// What a call touches, by its name and input alone.
fn access(tool: &str, input: &Input) -> Option<Access> {
    let path = input.file_path.as_ref().or(input.path.as_ref());
    match tool {
        _ if WRITING.contains(&tool) => path.map(Access::writes),
        "Read" | "NotebookRead" => path.map(Access::reads),
        "Glob" | "Grep" | "LS" => Some(Access::reads(path.map_or(".", String::as_str))),
        _ => None,
    }
}

/// The fields of inputs that rules are about.
#[derive(serde::Deserialize, Default)]
struct Input {
    #[serde(default)]
    command: Option<String>,
    #[serde(default)]
    file_path: Option<String>,
    #[serde(default)]
    path: Option<String>,
}

/// What a call is by its name and input alone.
fn facts(tool: &str, json: &JsonText, cwd: &Path) -> CallFacts {
    let input = json.to::<Input>().unwrap_or_default();
    let access = access(tool, &input).unwrap_or_else(|| access_of_unknown(tool, json));
    let write = matches!(access, Access::Writes(_));
    let paths = access.paths().iter().map(|path| absolute(cwd, path));
    let paths = paths.map(|path| PathFact::new(path.clone(), path, write)).collect();
    let facts = CallFacts::new(tool, json.clone(), access, CallDigest::new(""), cwd).with_paths(paths);
    match input.command.filter(|_| tool == "Bash") {
        Some(command) => facts.with_command(CommandFacts::new(windlass_shell::analyse(&command), Vec::new())),
        None => facts,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_hook::{PreToolUse, Stop};

    #[test]
    fn calls_meet_rules_as_they_would_be_denied() {
        for (rule, tool, input, expected) in [
            ("Bash(git *)", "Bash", r#"{"command":"git push"}"#, true),
            ("Bash(git *)", "Bash", r#"{"command":"A=1 git push"}"#, true),
            ("Bash(git *)", "Bash", r#"{"command":"ls && git push"}"#, true),
            ("Bash(git *)", "Bash", r#"{"command":"ls"}"#, false),
            ("Bash(git *)", "Bash", r#"{"command":"echo git"}"#, false),
            ("Bash(git *)", "Read", r#"{"file_path":"/w/git"}"#, false),
            ("Edit(/src/**)", "Write", r#"{"file_path":"/w/src/a.rs","content":""}"#, true),
            ("Edit(/src/**)", "Write", r#"{"file_path":"/w/docs/a.md","content":""}"#, false),
            ("Read", "Read", r#"{"file_path":"/w/a"}"#, true),
            ("mcp__files__write", "mcp__files__write", "{}", true),
            ("mcp__files__write", "mcp__files__read", "{}", false),
            ("Bash", "Bash", "{}", true),
        ] {
            let call = HookCall::from(PreToolUse {
                tool_name: tool.into(),
                tool_input: JsonText::parse(input).unwrap(),
                tool_use_id: "t".into(),
            });
            assert_eq!(
                Condition::parse(rule).unwrap().meets(&call, Path::new("/w")),
                expected,
                "{rule} {tool} {input}"
            );
        }
        let stop = HookCall::from(Stop { stop_hook_active: false, last_assistant_message: String::new() });
        assert!(Condition::parse("Bash(git *)").unwrap().meets(&stop, Path::new("/w")));
        for rule in ["", "Bash(", "Bash()", "Ba sh"] {
            assert!(Condition::parse(rule).is_err(), "{rule}");
        }
    }

    #[test]
    fn what_cannot_be_read_meets_the_rule() {
        let call = |command: &str| {
            HookCall::from(PreToolUse {
                tool_name: "Bash".into(),
                tool_input: JsonText::of(&serde_json::json!({ "command": command })).unwrap(),
                tool_use_id: "t".into(),
            })
        };
        let condition = Condition::parse("Bash(git *)").unwrap();
        for command in ["eval \"$X\"", "$(echo git) push", "echo 'unclosed"] {
            assert!(condition.meets(&call(command), Path::new("/w")), "{command}");
        }
    }
}
