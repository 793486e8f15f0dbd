//! The key `if` of a hook: a permission rule that a call must match.

use std::fmt;
use std::path::Path;
use windlass_permission::{
    CallFacts, CommandFacts, ParsedRule, PathFact, Policy, PolicyConfig, access_of_unknown, parse_rule,
};
use windlass_types::names::{WRITERS, meant_tool};
use windlass_types::path::absolute;
use windlass_types::{Access, Behavior, CallDigest, HookCall, JsonText, RuleSource};

/// Tools that write the file named in their input.
const WRITING: &[&str] = &["Edit", "MultiEdit", "Write"];
/// Tool whose paths stand inside a patch text.
const PATCH: &str = "apply_patch";

/// Permission rule that a call must match, such as `Bash(git *)`.
///
/// Commands are matched as for deny rules: each part of a line, behind variables and wrappers. A command that cannot be
/// read matches the rule, so that a guard runs too often rather than never.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition(String);

impl Condition {
    /// Reads a rule.
    ///
    /// # Errors
    /// The text is not a usable rule.
    pub fn parse(rule: &str) -> Result<Self, String> {
        policy(rule, Path::new("/"))?;
        let tool = parse_rule(rule).map_err(|error| error.to_string())?.tool().to_owned();
        if let Some(meant) = meant_tool(&tool) {
            return Err(format!("`if` names {tool:?}, which is no tool: did you mean {meant:?}?"));
        }
        Ok(Self(rule.trim().to_owned()))
    }

    /// Returns `true` if a call matches the rule. Events without a call always match.
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

/// Builds a policy that denies calls matching the rule: deny rules are judged first, and look through wrappers.
fn policy(rule: &str, cwd: &Path) -> Result<Policy, String> {
    let mut policy = Policy::new(PolicyConfig::new(cwd));
    let rules = [rule.trim().to_owned()];
    policy.add_rules(RuleSource::CliArg, Behavior::Deny, &rules, cwd).map_err(|error| error.to_string())?;
    Ok(policy)
}

/// Returns the tool and the input of an event about a call.
fn called(call: &HookCall) -> Option<(&str, &JsonText)> {
    match call {
        HookCall::PreToolUse(event) => Some((&event.tool_name, &event.tool_input)),
        HookCall::PermissionRequest(event) => Some((&event.tool_name, &event.tool_input)),
        HookCall::PostToolUse(event) => Some((&event.tool_name, &event.tool_input)),
        HookCall::PostToolUseFailure(event) => Some((&event.tool_name, &event.tool_input)),
        _ => None,
    }
}

/// Returns `true` if the command, or the paths of a patch, cannot be read.
fn is_unreadable(facts: &CallFacts) -> bool {
    match &facts.command {
        Some(command) => command.analysis.understood().is_err() || command.analysis.undecided().is_some(),
        None => facts.tool == PATCH,
    }
}

/// Returns `true` if a rule could match calls of a tool.
fn concerns(rule: &ParsedRule, tool: &str) -> bool {
    rule.tool() == tool || (tool == PATCH && WRITERS.contains(&rule.tool()))
}

/// Returns the path access of a call, from its name and input alone.
fn access(tool: &str, input: &Input) -> Option<Access> {
    let path = input.file_path.as_ref().or(input.path.as_ref());
    match tool {
        _ if WRITING.contains(&tool) => path.map(Access::writes),
        "Read" | "NotebookRead" => path.map(Access::reads),
        "Glob" | "Grep" | "LS" => Some(Access::reads(path.map_or(".", String::as_str))),
        _ => None,
    }
}

/// Input fields that rules can match.
#[derive(serde::Deserialize, Default)]
struct Input {
    #[serde(default)]
    command: Option<String>,
    #[serde(default)]
    file_path: Option<String>,
    #[serde(default)]
    path: Option<String>,
}

/// Returns the facts about a call, from its name and input alone.
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
