//! Tools of a simulated world: preparation of their calls, and their answers.

use serde_json::Value;
use std::path::{Path, PathBuf};
use windlass_core::{Prepared, RunCall, Unprepared};
use windlass_permission::{CallFacts, PathFact, Policy, PolicyConfig};
use windlass_types::{
    Access, Behavior, CallDigest, ContextChange, DecisionReason, PermissionMode, RuleSource, RunScope, ToolOutcome,
    ToolUse,
};

/// Returns a policy in which `Net`, `Cd` and `Hooked` are allowed and `Banned` is denied; `Read` and `Agent` are free
/// and `Write` asks.
pub(crate) fn policy(mode: PermissionMode) -> Policy {
    let mut policy = Policy::new(PolicyConfig::new("/w").with_mode(mode));
    let mut add = |behavior, rules: &[&str]| {
        assert!(policy.add_rules(RuleSource::Session, behavior, rules, Path::new("/w")).unwrap().is_empty());
    };
    add(Behavior::Allow, &["Net", "Cd"]);
    add(Behavior::Deny, &["Banned"]);
    policy
}

/// Prepares a call as a driver would. `/w/alias` is another name of `/w/a`.
pub(crate) fn prepare(call: &ToolUse, cwd: &Path) -> Result<Box<Prepared>, Unprepared> {
    let input: Value = serde_json::from_str(call.input.as_str()).unwrap();
    let path = input["path"].as_str().map(|path| cwd.join(path));
    let access = match (call.name.as_str(), &path) {
        ("Read" | "Hooked", Some(path)) => Access::reads(path),
        ("Write" | "Banned", Some(path)) => Access::writes(path),
        ("Net", _) => Access::Network,
        (name, _) if name.starts_with("mcp__") => Access::Unknown,
        ("Agent", _) => Access::Agents,
        ("Program", _) => Access::Calls,
        ("ExitPlanMode" | "ToolSearch", _) => Access::NOTHING,
        ("Cd", Some(_)) => Access::Exec,
        ("Read" | "Hooked" | "Write" | "Banned" | "Cd", None) => {
            return Err(Unprepared::new(DecisionReason::InvalidInput, "the input has no path"));
        }
        _ => return Err(Unprepared::new(DecisionReason::UnknownTool, format!("There is no tool {}.", call.name))),
    };
    let digest = CallDigest::new(format!("{} {} in {}", call.name, call.input.as_str(), cwd.display()));
    let write = matches!(access, Access::Writes(_));
    let paths = access.paths().iter().map(|path| PathFact::new(path, follow(path), write)).collect();
    let facts = CallFacts::new(&call.name, call.input.clone(), access, digest, cwd).with_paths(paths);
    Ok(Box::new(Prepared::new(facts, format!("{} {}", call.name, path.unwrap_or_default().display()))))
}

fn follow(path: &Path) -> PathBuf {
    if path.ends_with("alias") { path.with_file_name("a") } else { path.to_path_buf() }
}

/// Returns the answer of a call, which depends on the call alone.
pub(crate) fn run(call: &RunCall) -> ToolOutcome {
    let mut outcome = ToolOutcome::ok(format!("done: {}", call.facts.digest.as_str()));
    let input: Value = serde_json::from_str(call.call.input.as_str()).unwrap();
    if call.call.name == "Cd" {
        outcome.changes.push(ContextChange::Cwd(call.facts.cwd.join(input["path"].as_str().unwrap())));
    }
    if let Some(rule) = input["grants"].as_str() {
        let mut scope = RunScope::default();
        scope.allow.push(rule.to_owned());
        outcome.changes.push(ContextChange::Scope(Box::new(scope)));
    }
    if let Some(size) = input["size"].as_u64() {
        outcome.content = "x".repeat(usize::try_from(size).unwrap()).into();
    }
    if input["fail"] == true {
        outcome.is_error = true;
    }
    outcome
}
