//! What an answer could change so that a question does not come again.

use crate::call::Call;
use crate::command::Part;
use crate::glob::escape;
use crate::matcher::Test;
use crate::network::{Host, host};
use crate::path::PathStyle;
use crate::policy::Policy;
use crate::raise::Gap;
use std::path::Path;
use windlass_shell::{Effect, suggest_rule};
use windlass_types::{Behavior, PermissionMode, PermissionUpdate, RuleValue, UpdateDestination};

/// With more gaps than this in one call there is no suggestion.
const MAX_GAPS: usize = 4;

/// Changes that together let the call run; empty if there are none that surely do.
pub(crate) fn suggestions(policy: &Policy, call: &Call<'_>, gap: &Gap) -> Vec<PermissionUpdate> {
    let mut all: Vec<PermissionUpdate> = Vec::new();
    let mut tried = policy.clone();
    let mut gap = gap.clone();
    for _ in 0..MAX_GAPS {
        let fresh: Vec<_> = fill(&tried, call, &gap).into_iter().filter(|update| !all.contains(update)).collect();
        if fresh.is_empty() {
            break;
        }
        for update in &fresh {
            if tried.apply(update).is_err() {
                return Vec::new();
            }
        }
        all.extend(fresh);
        match tried.grants().cover(call) {
            Ok(_) => return all,
            Err(next) => gap = next,
        }
    }
    Vec::new()
}

fn fill(policy: &Policy, call: &Call<'_>, gap: &Gap) -> Vec<PermissionUpdate> {
    match gap {
        Gap::NotUnderstood(_) | Gap::Unclear(_) => Vec::new(),
        Gap::ReadOutside(path) => {
            let tree = call.tool != "Read";
            read_rule(path, tree && call.facts.command.is_none()).into_iter().collect()
        }
        Gap::WriteOutside(path) => {
            let directory = path.parent().filter(|parent| parent.parent().is_some());
            let Some(directory) = directory else { return Vec::new() };
            let directories = vec![directory.to_path_buf()];
            let add = PermissionUpdate::AddDirectories { directories, destination: UpdateDestination::Session };
            changes(policy, call).into_iter().chain([add]).chain(accept_edits(policy)).collect()
        }
        Gap::Edit => changes(policy, call).into_iter().chain(accept_edits(policy)).collect(),
        Gap::Redefined | Gap::NoRule => tool_rule(policy, call).into_iter().collect(),
    }
}

fn allow(rule: RuleValue, destination: UpdateDestination) -> PermissionUpdate {
    PermissionUpdate::AddRules { rules: vec![rule], behavior: Behavior::Allow, destination }
}

fn accept_edits(policy: &Policy) -> Option<PermissionUpdate> {
    let (mode, destination) = (PermissionMode::AcceptEdits, UpdateDestination::Session);
    (policy.mode() == PermissionMode::Default).then_some(PermissionUpdate::SetMode { mode, destination })
}

/// A rule for the directory of a file, or for the directory itself.
fn read_rule(path: &Path, is_tree: bool) -> Option<PermissionUpdate> {
    let directory = if is_tree { Some(path) } else { path.parent() };
    // Never the whole file system.
    let rule = match directory.filter(|directory| directory.parent().is_some()) {
        Some(directory) => format!("/{}/**", escape(&PathStyle::OWN.rule_text(directory)?)),
        None if is_tree || path.parent().is_none() => return None,
        None => format!("/{}", escape(&PathStyle::OWN.rule_text(path)?)),
    };
    Some(allow(RuleValue::new("Read", rule), UpdateDestination::Session))
}

/// A rule for each command of the line that changes files and is not covered yet.
fn changes(policy: &Policy, call: &Call<'_>) -> Option<PermissionUpdate> {
    rules_for(policy, call, |part| part.class.effect == Effect::FileChange)
}

/// One rule for each of these commands that no rule covers yet; `None` if one of them has none.
fn rules_for(policy: &Policy, call: &Call<'_>, is_meant: impl Fn(&Part<'_>) -> bool) -> Option<PermissionUpdate> {
    let covered = |part: &Part<'_>| {
        policy.grants().allow.iter().any(|rule| match &rule.test {
            Test::Command(pattern) => rule.tool.matches("Bash") && pattern.matches_allow(part.command),
            _ => false,
        })
    };
    let mut rules: Vec<RuleValue> = Vec::new();
    for (part, _) in call.parts.as_ref()?.iter().filter(|(part, _)| is_meant(part) && !covered(part)) {
        let rule = RuleValue::new("Bash", suggest_rule(part.command)?);
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    let (behavior, destination) = (Behavior::Allow, UpdateDestination::LocalSettings);
    (!rules.is_empty() && rules.len() <= MAX_GAPS).then_some(PermissionUpdate::AddRules {
        rules,
        behavior,
        destination,
    })
}

fn tool_rule(policy: &Policy, call: &Call<'_>) -> Option<PermissionUpdate> {
    let rule = match (&call.facts.command, call.tool) {
        (Some(_), _) => {
            let needs_rule = |part: &Part<'_>| matches!(part.class.effect, Effect::Unknown | Effect::Network);
            return rules_for(policy, call, needs_rule);
        }
        (None, "WebFetch") => match call.text("url").map(host) {
            Some(Host::Known(host)) => RuleValue::new("WebFetch", format!("domain:{host}")),
            _ => return None,
        },
        (None, "Skill") => RuleValue::new("Skill", crate::matcher::skill_name(call.text("skill")?)),
        (None, "Bash" | "PowerShell") => return None,
        (None, tool) => RuleValue::tool(tool),
    };
    Some(allow(rule, UpdateDestination::LocalSettings))
}
