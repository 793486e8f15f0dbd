//! Changes of permissions that are offered with a question: alternatives, the narrowest first.

mod breadth;

use crate::call::Call;
use crate::command::Part;
use crate::facts::{PathFact, Standing};
use crate::glob::escape;
use crate::matcher::Test;
use crate::network::{Host, host};
use crate::path::PathStyle;
use crate::policy::Policy;
use crate::raise::Gap;
use crate::touch::Touch;
use std::path::{Path, PathBuf};
use windlass_shell::{Effect, suggest_rule};
use windlass_types::{Behavior, PermissionMode, PermissionUpdate, RuleValue, UpdateDestination};

/// With more gaps than this in one call there is no suggestion.
const MAX_GAPS: usize = 4;

/// Changes each of which alone lets the call run, the narrowest first; empty if there is none that surely does.
///
/// Whatever an earlier one allows, the last one allows too: applying all of them gives no more than the widest.
pub(crate) fn suggestions(policy: &Policy, call: &Call<'_>, gap: &Gap) -> Vec<PermissionUpdate> {
    let mut alternatives: Vec<PermissionUpdate> = Vec::new();
    for breadth in [Breadth::Exact, Breadth::Folder] {
        let update = by_rules(policy, call, gap, breadth);
        alternatives.extend(update.filter(|update| !alternatives.contains(update)));
    }
    alternatives.extend(by_mode(policy, call));
    alternatives
}

/// The breadth of the rules of one alternative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Breadth {
    /// The files of the call.
    Exact,
    /// Their directories, where these may be offered.
    Folder,
}

/// Rules that fill one gap.
struct SuggestedRules {
    rules: Vec<RuleValue>,
    destination: UpdateDestination,
}

impl SuggestedRules {
    fn update(&self) -> PermissionUpdate {
        let (rules, destination) = (self.rules.clone(), self.destination);
        PermissionUpdate::AddRules { rules, behavior: Behavior::Allow, destination }
    }
}

/// Returns the mode acceptEdits, if it alone lets the call run.
fn by_mode(policy: &Policy, call: &Call<'_>) -> Option<PermissionUpdate> {
    if policy.mode() != PermissionMode::Default {
        return None;
    }
    let (mode, destination) = (PermissionMode::AcceptEdits, UpdateDestination::Session);
    let mut tried = policy.clone();
    tried.set_mode(mode).ok()?;
    tried.grants().cover(call).is_ok().then_some(PermissionUpdate::SetMode { mode, destination })
}

/// Returns one change with a rule for each gap of the call. Kept as short as the rule that is kept the shortest.
fn by_rules(policy: &Policy, call: &Call<'_>, gap: &Gap, breadth: Breadth) -> Option<PermissionUpdate> {
    let mut tried = policy.clone();
    let mut all = SuggestedRules { rules: Vec::new(), destination: UpdateDestination::LocalSettings };
    let mut gap = gap.clone();
    for _ in 0..MAX_GAPS {
        let (step, with) = steps(&tried, call, &gap, breadth).into_iter().find_map(|step| {
            let mut with = tried.clone();
            with.apply(&step.update()).ok()?;
            let fills = with.grants().cover(call).err().as_ref() != Some(&gap);
            fills.then_some((step, with))
        })?;
        all.rules.extend(step.rules.into_iter().filter(|rule| !all.rules.contains(rule)).collect::<Vec<_>>());
        if step.destination == UpdateDestination::Session {
            all.destination = UpdateDestination::Session;
        }
        tried = with;
        match tried.grants().cover(call) {
            Ok(_) => return Some(all.update()),
            Err(next) => gap = next,
        }
    }
    None
}

/// Ways to fill a gap, the preferred one first.
fn steps(policy: &Policy, call: &Call<'_>, gap: &Gap, breadth: Breadth) -> Vec<SuggestedRules> {
    match gap {
        Gap::NotUnderstood(_) | Gap::Unclear(_) => Vec::new(),
        Gap::ReadOutside(path) => path_rules(policy, call, "Read", path, breadth),
        Gap::ReadSecret(path) => path_rules(policy, call, "Read", path, Breadth::Exact),
        Gap::WriteOutside(path) => {
            changes(policy, call).into_iter().chain(path_rules(policy, call, "Edit", path, breadth)).collect()
        }
        Gap::Edit => changes(policy, call).into_iter().chain(written_files(policy, call)).collect(),
        Gap::Redefined | Gap::NoRule => tool_rule(policy, call).into_iter().collect(),
    }
}

/// Returns rules of a session for a path: the file itself, or the directory and all below it.
fn path_rules(policy: &Policy, call: &Call<'_>, scope: &str, path: &Path, breadth: Breadth) -> Vec<SuggestedRules> {
    let text = |path: &Path| Some(format!("/{}", escape(&PathStyle::OWN.rule_text(path)?)));
    let step = |content: String| SuggestedRules {
        rules: vec![RuleValue::new(scope, content)],
        destination: UpdateDestination::Session,
    };
    let tree = |directory: &Path| {
        let named = breadth::may_be_offered(directory, &policy.workspace).then(|| text(directory)).flatten();
        named.map(|text| step(format!("{text}/**")))
    };
    if !is_file(call, path) {
        // A rule for a directory without `/**` covers all below it too, and the directory itself.
        let itself = || text(path).map(step);
        return tree(path).into_iter().flat_map(|tree| [Some(tree), itself()]).flatten().collect();
    }
    let folder = path.parent().filter(|_| breadth == Breadth::Folder).and_then(tree);
    folder.or_else(|| text(path).map(step)).into_iter().collect()
}

/// Returns `true` if a rule with this path names one file. Such a rule for a directory would cover all below it.
fn is_file(call: &Call<'_>, path: &Path) -> bool {
    let facts = call.facts.command.iter().flat_map(|command| {
        let patterns = command.patterns.iter().flat_map(|pattern| &pattern.matches);
        command.paths.iter().chain(patterns)
    });
    let mut facts = call.facts.paths.iter().chain(facts).filter(|fact| fact.requested == path || fact.resolved == path);
    let is_leaf = |fact: &PathFact| matches!(fact.end, Standing::Leaf | Standing::Missing);
    facts.next().is_some_and(is_leaf) && facts.all(is_leaf)
}

/// Returns a rule for each file of the workspace that the call writes and for which no rule of a command is enough.
fn written_files(policy: &Policy, call: &Call<'_>) -> Option<SuggestedRules> {
    let of_parts = call.parts.iter().flatten().flat_map(|(_, touches)| touches).filter(|touch| touch.usage.redirect);
    let of_call = call.touches.iter().filter(|_| call.facts.command.is_none());
    let files = of_parts.chain(of_call).filter(|touch| touch.usage.write).map(Touch::requested_path);
    let mut files: Vec<PathBuf> = files.map(Path::to_path_buf).collect();
    files.dedup();
    let rules: Vec<RuleValue> = files
        .iter()
        .flat_map(|file| path_rules(policy, call, "Edit", file, Breadth::Exact).into_iter().next())
        .flat_map(|step| step.rules)
        .collect();
    let enough = !rules.is_empty() && rules.len() == files.len() && rules.len() <= MAX_GAPS;
    enough.then_some(SuggestedRules { rules, destination: UpdateDestination::Session })
}

/// Returns a rule for each command of the line that changes files and is not covered yet.
fn changes(policy: &Policy, call: &Call<'_>) -> Option<SuggestedRules> {
    rules_for(policy, call, |part| part.class.effect == Effect::FileChange)
}

/// Returns one rule for each of these commands that no rule covers yet; `None` if one of them has none.
fn rules_for(policy: &Policy, call: &Call<'_>, is_meant: impl Fn(&Part<'_>) -> bool) -> Option<SuggestedRules> {
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
    let destination = UpdateDestination::LocalSettings;
    (!rules.is_empty() && rules.len() <= MAX_GAPS).then_some(SuggestedRules { rules, destination })
}

fn tool_rule(policy: &Policy, call: &Call<'_>) -> Option<SuggestedRules> {
    let rule = match (&call.facts.command, call.tool) {
        (Some(_), _) => {
            let needs_rule = |part: &Part<'_>| matches!(part.class.effect, Effect::Unknown | Effect::Network);
            return rules_for(policy, call, needs_rule);
        }
        (None, "WebFetch") => match call.text("url").map(host) {
            Some(Host::Known(host)) => RuleValue::new("WebFetch", format!("domain:{host}")),
            _ => return None,
        },
        (None, "Skill") => RuleValue::new("Skill", windlass_types::names::skill(call.text("skill")?)),
        (None, "Bash" | "PowerShell") => return None,
        (None, tool) => RuleValue::tool(tool),
    };
    Some(SuggestedRules { rules: vec![rule], destination: UpdateDestination::LocalSettings })
}
