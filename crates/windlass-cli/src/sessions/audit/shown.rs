//! Output of an audit for people.

use crate::terminal::{clean, clean_line};
use std::io::{self, Write};
use windlass::permission::{AnsweredBy, Behavior, DecisionReason, InputChangedBy, MatchedRule, RuleSource};
use windlass::session::{CallAudit, LineAudit, LineRange, LineState, NamedAudit, SessionAudit, VerdictAudit};

/// Maximum length of an input in a list, in characters.
const MAX_INPUT_CHARS: usize = 100;
/// Maximum number of line ranges, and of sentences on damage, of one log.
const MAX_LISTED: usize = 10;

const NOT_RECORDED: &str = "not recorded";

/// Writes an audit, with the full record of each call or its most important parts.
pub(super) fn write(out: &mut impl Write, audit: &SessionAudit, is_full: bool) -> io::Result<()> {
    for log in &audit.logs {
        for call in &log.audit.calls {
            if is_full { write_full(out, log, call)? } else { write_short(out, log, call)? }
        }
    }
    for log in &audit.logs {
        lines(out, log, &log.audit.lines)?;
    }
    Ok(())
}

fn write_short(out: &mut impl Write, log: &NamedAudit, call: &CallAudit) -> io::Result<()> {
    let tool = call.tool.as_deref().unwrap_or("(its message is lost)");
    let agent = log.agent.as_ref().map(|agent| format!("  agent {agent}")).unwrap_or_default();
    let head = format!("{}  {tool}  {}{agent}  {}{}", call.place.at, call.tool_use_id, outcome(call), mark(call.lines));
    writeln!(out, "{}", clean_line(&head))?;
    if let Some(input) = &call.input {
        let text: String = clean_line(input.as_str()).chars().take(MAX_INPUT_CHARS).collect();
        writeln!(out, "  {text}")?;
    }
    writeln!(out, "  {}", clean_line(&decision_reason(call)))?;
    for file in &call.changed {
        writeln!(out, "  changed {}", clean_line(&file.path.to_string_lossy()))?;
    }
    Ok(())
}

fn write_full(out: &mut impl Write, log: &NamedAudit, call: &CallAudit) -> io::Result<()> {
    let mut row = |name: &str, text: &str| {
        let text = clean(text).trim_end().replace('\n', "\n              ");
        writeln!(out, "{name:<12}  {text}")
    };
    row("call", call.tool_use_id.as_str())?;
    row("tool", call.tool.as_deref().unwrap_or("not recorded: the message that holds the call is lost"))?;
    row("agent", log.agent.as_ref().map_or("the main one", |agent| agent.as_str()))?;
    row("made", &format!("{}, line {}{}", call.place.at, call.place.line, mark(call.lines)))?;
    row("input", call.input.as_ref().map_or(NOT_RECORDED, |input| input.as_str()))?;
    row("mode", call.mode.map_or(NOT_RECORDED, |mode| mode.as_str()))?;
    for asked in &call.questions {
        let state = if asked.is_open { "waits for an answer" } else { "no longer open" };
        row("kept", &format!("question {} at {}: {state}", asked.question.id, asked.at))?;
    }
    if call.verdicts.is_empty() {
        row("verdict", &decision_reason(call))?;
    }
    for judged in &call.verdicts {
        verdict(&mut row, judged)?;
    }
    row("began", &call.begun.map_or_else(|| NOT_RECORDED.to_owned(), |at| at.to_string()))?;
    row("ended", &ended(call))?;
    for file in &call.changed {
        let count = |count: Option<u64>| count.map_or_else(|| "?".to_owned(), |count| count.to_string());
        row("changed", &format!("{}  +{} -{}", file.path.display(), count(file.added), count(file.removed)))?;
    }
    Ok(())
}

fn verdict(row: &mut impl FnMut(&str, &str) -> io::Result<()>, judged: &VerdictAudit) -> io::Result<()> {
    let decision = &judged.verdict.decision;
    row("verdict", &format!("{} at {}: {}", behavior(decision.behavior), judged.at, decision.message))?;
    row("decided by", reason(decision.reason))?;
    if let Some(rule) = &decision.rule {
        row("rule", &described(rule))?;
    }
    if let Some(part) = &decision.part {
        row("command", part)?;
    }
    if let Some(sandbox) = &judged.verdict.sandbox {
        row("sandbox", &format!("{}{}", if sandbox.confines { "" } else { "outside of it; it is " }, sandbox.level))?;
    }
    if let Some(path) = &decision.blocked_path {
        row("path", &path.to_string_lossy())?;
    }
    if let Some(hook) = &judged.verdict.hook {
        row("hook", &format!("{} said {}: {}", hook.hook, behavior(hook.behavior), hook.reason))?;
    }
    if let Some(answer) = &judged.verdict.answer {
        let by = match answer.by {
            AnsweredBy::Hook => "a PermissionRequest hook",
            _ => "the host",
        };
        row("asked", &format!("question {}, answered by {by}", answer.question))?;
    }
    for change in &judged.verdict.input_changes {
        let by = match change.by {
            InputChangedBy::Hook => "a hook",
            InputChangedBy::Host => "the host",
            _ => "the tool's schema",
        };
        row("new input", &format!("by {by}: {}", change.input))?;
    }
    Ok(())
}

/// Returns the reason why a call ran or did not, in one line.
fn decision_reason(call: &CallAudit) -> String {
    let Some(judged) = call.verdicts.last() else {
        return match call.questions.iter().any(|asked| asked.is_open) {
            true => "a question about it waits for an answer".to_owned(),
            false => format!("why: {NOT_RECORDED}"),
        };
    };
    let decision = &judged.verdict.decision;
    let by = match (&decision.rule, &judged.verdict.hook) {
        (Some(rule), _) => described(rule),
        (None, Some(hook)) if decision.reason == DecisionReason::Hook => format!("hook {}", hook.hook),
        _ => reason(decision.reason).to_owned(),
    };
    let part = decision.part.as_ref().map(|part| format!(" (about `{part}`)")).unwrap_or_default();
    format!("{by}: {}{part}", decision.message)
}

fn outcome(call: &CallAudit) -> String {
    let verdict = call.verdicts.last().map(|judged| behavior(judged.verdict.decision.behavior));
    [verdict, Some(ended(call).as_str())].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn ended(call: &CallAudit) -> String {
    match &call.result {
        None => match &call.waits_for {
            Some(agent) => format!("waits for the agent {agent}"),
            None if call.begun.is_some() => "began, and has no result".to_owned(),
            None => "has no result".to_owned(),
        },
        Some(result) if result.is_made_up => format!("never ended; answered by the runtime at {}", result.at),
        Some(result) if result.is_error => format!("error at {}", result.at),
        Some(result) => format!("ok at {}", result.at),
    }
}

fn behavior(behavior: Behavior) -> &'static str {
    match behavior {
        Behavior::Allow => "allowed",
        Behavior::Ask => "ask",
        Behavior::Deny => "denied",
    }
}

fn described(rule: &MatchedRule) -> String {
    let source = match rule.source {
        RuleSource::PolicySettings => "managed settings",
        RuleSource::FlagSettings => "--settings or the host's settings",
        RuleSource::LocalSettings => "the local settings of the project",
        RuleSource::ProjectSettings => "the settings of the project",
        RuleSource::UserSettings => "the settings of the user",
        RuleSource::CliArg => "the command line or the host's options",
        RuleSource::Command => "a command or skill",
        RuleSource::Session => "an answer in the session",
        _ => "another source",
    };
    let verb = match rule.behavior {
        Behavior::Allow => "allow",
        Behavior::Ask => "ask",
        Behavior::Deny => "deny",
    };
    let place = rule.origin.as_ref().map(|origin| format!(" ({origin})")).unwrap_or_default();
    format!("rule {verb} {} of {source}{place}", rule.rule)
}

fn reason(reason: DecisionReason) -> &'static str {
    match reason {
        DecisionReason::Hook => "a hook",
        DecisionReason::Rule => "a rule",
        DecisionReason::Catastrophic => "the safety floor (never allowed)",
        DecisionReason::Protected => "the safety floor (protected)",
        DecisionReason::ToolCheck => "the tool's own check",
        DecisionReason::WorkingDirectory => "a path outside the workspace",
        DecisionReason::NotUnderstood => "a command that is not understood",
        DecisionReason::Mode => "the permission mode",
        DecisionReason::Sandbox => "the sandbox",
        DecisionReason::ReadOnly => "known to only read",
        DecisionReason::Classifier => "the classifier of the mode auto",
        DecisionReason::Host => "the host's answer",
        DecisionReason::NobodyToAsk => "no host to ask",
        DecisionReason::Default => "no rule, mode or hook",
        DecisionReason::InvalidInput => "an input that is not valid",
        DecisionReason::UnknownTool => "a tool that is not offered",
        _ => "another part of the policy",
    }
}

fn mark(state: LineState) -> &'static str {
    match state {
        LineState::Checked => "",
        LineState::Unchecked => "  [no checksum: of another program, or not synced]",
        _ => "  [ALTERED: its lines do not match their checksum]",
    }
}

/// Writes the problems of a log's lines, if there are any.
fn lines(out: &mut impl Write, log: &NamedAudit, lines: &LineAudit) -> io::Result<()> {
    let name = log.agent.as_ref().map_or_else(|| "log".to_owned(), |agent| format!("log of agent {agent}"));
    let mut range = |ranges: &[LineRange], text: &str| {
        if ranges.is_empty() {
            return Ok(());
        }
        let listed: Vec<String> =
            ranges.iter().take(MAX_LISTED).map(|range| format!("{}-{}", range.first, range.last)).collect();
        let more = if ranges.len() > MAX_LISTED { " …" } else { "" };
        writeln!(out, "{}", clean_line(&format!("{name}: lines {}{more} {text}", listed.join(", "))))
    };
    range(&lines.altered, "do not match their checksum")?;
    range(&lines.unchecked, "have no checksum: another program wrote them, or they were not synced")?;
    for damage in lines.damage.iter().take(MAX_LISTED) {
        writeln!(out, "{}", clean_line(&format!("{name}: {damage}")))?;
    }
    Ok(())
}
