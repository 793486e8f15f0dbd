//! Details of a verdict: the analysis of the command, the place of the rule, and a way to allow the call.

use crate::permissions::flags_for;
use serde::Serialize;
use serde_json::{Value, json};
use windlass::JsonText;
use windlass::permission::read_command;
use windlass::permission::{AuditedSandbox, RuleOrigin};
use windlass::permission::{Behavior, Decision, DecisionReason};

/// Details of a verdict.
#[derive(Serialize)]
pub(super) struct Detail {
    /// Analysis of the command; absent for other tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    parse: Option<Value>,
    /// The file and the line of the rule that decided; absent for rules of the question itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    rule_origin: Option<RuleOrigin>,
    /// Sandbox of the settings, and whether the command would run in it; null without one, or for other tools. The
    /// level that this machine has is proved when a session opens.
    sandbox: Option<AuditedSandbox>,
    /// Flags or rules that would let the call run.
    #[serde(skip_serializing_if = "Option::is_none")]
    allowed_by: Option<String>,
}

impl Detail {
    pub(super) fn new(decision: &Decision, tool: &str, input: &JsonText, sandbox: Option<AuditedSandbox>) -> Self {
        Self {
            parse: (tool == "Bash").then(|| parse(input)).flatten(),
            rule_origin: decision.rule.as_ref().and_then(|rule| rule.origin.clone()),
            sandbox,
            allowed_by: allowed_by(decision),
        }
    }
}

impl Detail {
    /// Flags or rules that would let the call run.
    pub(super) fn way(&self) -> Option<&str> {
        self.allowed_by.as_deref()
    }
}

fn parse(input: &JsonText) -> Option<Value> {
    let input: Value = input.to().ok()?;
    let read = read_command(input.get("command")?.as_str()?);
    let commands: Vec<Value> = read
        .commands
        .iter()
        .map(|part| json!({"command": part.source, "effect": part.effect, "rule": part.rule}))
        .collect();
    Some(match read.not_understood {
        None => json!({"commands": commands}),
        Some(why) => json!({"not_understood": why, "undecided": read.undecided, "found": read.found}),
    })
}

fn allowed_by(decision: &Decision) -> Option<String> {
    let by_rule = || flags_for(&decision.suggestions);
    match (decision.behavior, decision.reason) {
        (Behavior::Allow, _) => None,
        (_, DecisionReason::Catastrophic) => Some("nothing: the safety floor denies it in every mode".to_owned()),
        (_, DecisionReason::Protected) => Some("only an answer to this very call".to_owned()),
        (Behavior::Deny, DecisionReason::Rule) => Some("only taking the deny rule away".to_owned()),
        (Behavior::Ask, DecisionReason::Rule) => {
            Some("an answer to this very call, or taking the ask rule away".to_owned())
        }
        (Behavior::Deny, DecisionReason::Mode) => Some("another permission mode".to_owned()),
        _ => by_rule().or_else(|| Some("an answer to this very call, or a rule for exactly this text".to_owned())),
    }
}
