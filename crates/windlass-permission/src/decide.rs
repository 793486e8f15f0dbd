//! The decision: the minimum of the checks that lower, then the reasons to allow, then a permission request.

use crate::call::Call;
use crate::facts::{CallFacts, OwnCheck};
use crate::lower::{applies, rule_decision};
use crate::matcher::Rule;
use crate::policy::Policy;
use crate::raise::{self, Cover, Gap};
use crate::{names, suggest};
use windlass_shell::SimpleCommand;
use windlass_types::text::visible_line;
use windlass_types::{Access, Behavior, CallDigest, Decision, DecisionReason, HookVerdict, PermissionMode};

/// Maximum length of the name of a command in a reason, in characters.
const LONGEST_NAME: usize = 60;

/// The first of the lowest verdicts so far.
#[derive(Debug, Default)]
struct Lowest(Option<Decision>);

impl Lowest {
    fn consider(&mut self, decision: Option<Decision>) {
        if let Some(decision) = decision
            && self.0.as_ref().is_none_or(|lowest| decision.behavior < lowest.behavior)
        {
            self.0 = Some(decision);
        }
    }

    fn is_deny(&self) -> bool {
        self.0.as_ref().is_some_and(|lowest| lowest.behavior == Behavior::Deny)
    }
}

impl Policy {
    /// Returns the verdict on a call.
    ///
    /// `hook` is the joint answer of the PreToolUse hooks. `approved` is the digest of a call that the host or a hook
    /// has allowed when asked: if it is this call's, *ask* becomes *allow*, also on the safety floor. A deny stays.
    pub fn decide(&self, facts: &CallFacts, hook: Option<&HookVerdict>, approved: Option<&CallDigest>) -> Decision {
        let call = self.prepare(facts);
        let mut lowest = Lowest::default();
        lowest.consider(hook.and_then(hook_lowers));
        for rule in &self.rules.deny {
            if lowest.is_deny() {
                break;
            }
            lowest.consider(self.rule(rule, &call));
        }
        lowest.consider(self.rules.groups.lowers(&call, Behavior::Deny));
        lowest.consider(self.beyond_limits(&call));
        let floor = if lowest.is_deny() { None } else { self.floor().judge(&call) };
        let protected = floor.as_ref().is_some_and(|decision| decision.protected);
        lowest.consider(floor);
        for rule in &self.rules.ask {
            if lowest.0.is_some() {
                break;
            }
            lowest.consider(self.rule(rule, &call));
        }
        lowest.consider(self.rules.groups.lowers(&call, Behavior::Ask));
        lowest.consider(own_check(&call));
        lowest.consider(self.sandbox.as_ref().and_then(|sandbox| sandbox.lowers(&call)));
        if !lowest.is_deny() {
            lowest.consider(self.mode_lowers(&call));
        }
        let decision = lowest.0.unwrap_or_else(|| self.undecided(&call, hook));
        self.settle(decision, protected, facts, approved)
    }

    fn rule(&self, rule: &Rule, call: &Call<'_>) -> Option<Decision> {
        rule_decision(rule, call, applies(rule, call, (self.workspace.ready(), &self.models)))
    }

    /// Applies plan mode, which denies every call that may have an effect.
    fn mode_lowers(&self, call: &Call<'_>) -> Option<Decision> {
        let harmless = || {
            raise::only_reads(call)
                || names::only_fetches(call.tool)
                || call.asks_the_user()
                || only_delegates(call)
                || stays_in_session(call)
        };
        if self.mode.current != PermissionMode::Plan || harmless() {
            return None;
        }
        let then = if self.mode.plan_can_end {
            "finish the plan, then call ExitPlanMode so that the user can approve it"
        } else {
            "nobody can lift that here, so say what should be done instead"
        };
        let message = format!("Plan mode only reads, and {} may change something: {then}.", call.tool);
        Some(Decision::new(Behavior::Deny, DecisionReason::Mode, message))
    }

    /// Returns the verdict on a call that no rule, floor, check or hook has lowered.
    fn undecided(&self, call: &Call<'_>, hook: Option<&HookVerdict>) -> Decision {
        if self.mode.current == PermissionMode::BypassPermissions {
            return Decision::new(Behavior::Allow, DecisionReason::Mode, "The mode bypassPermissions allows it.");
        }
        if only_delegates(call) {
            return Decision::new(
                Behavior::Allow,
                DecisionReason::Default,
                "Each call of an agent is judged by itself.",
            );
        }
        let gap = match self.grants().cover(call) {
            Ok(Cover::Free) => {
                return Decision::new(Behavior::Allow, DecisionReason::ReadOnly, "It only reads what may be read.");
            }
            Ok(Cover::Mode) => {
                let message = format!("The mode {} allows it.", self.mode.current);
                return Decision::new(Behavior::Allow, DecisionReason::Mode, message);
            }
            Ok(Cover::Rule(rule)) => {
                let message = format!("The rule `{}` allows it.", rule.text);
                return Decision::new(Behavior::Allow, DecisionReason::Rule, message).with_rule(rule.matched());
            }
            Err(gap) => gap,
        };
        // A sandbox hides the places of the home, not those of a project.
        let sandbox = self.sandbox.as_ref().filter(|_| !matches!(gap, Gap::ReadSecret(_)));
        if let Some(decision) = sandbox.and_then(|sandbox| sandbox.allows(call)) {
            return decision;
        }
        if let Some(allowed) = self.rules.groups.allows(call, &gap) {
            return allowed;
        }
        if let Some(hook) = hook.filter(|hook| hook.behavior == Behavior::Allow) {
            return Decision::new(Behavior::Allow, DecisionReason::Hook, hook_message(hook, "allows"));
        }
        let uncovered = self.grants().uncovered(call);
        let name = uncovered.and_then(command_name);
        let decision = Decision::new(Behavior::Ask, gap_reason(&gap), gap_message(&gap, call, name.as_deref()));
        let decision = decision.with_suggestions(suggest::suggestions(self, call, &gap));
        let is_line = call.parts.as_ref().is_some_and(|parts| parts.len() > 1);
        let part = uncovered.filter(|_| is_line).map(|command| command.source().to_owned());
        let decision = decision.with_part(part);
        match gap {
            Gap::ReadOutside(path) | Gap::ReadSecret(path) | Gap::WriteOutside(path) => {
                decision.with_blocked_path(path)
            }
            _ => decision,
        }
    }

    /// Settles a permission request whose answer is already known: this call was approved before, or requests are
    /// denied.
    fn settle(
        &self,
        mut decision: Decision,
        protected: bool,
        facts: &CallFacts,
        approved: Option<&CallDigest>,
    ) -> Decision {
        if decision.behavior != Behavior::Ask {
            return decision;
        }
        decision.protected = protected;
        if self.mode.current == PermissionMode::DontAsk || self.mode.never_asks {
            let message = format!("The mode dontAsk denies what would ask: {}", decision.message);
            (decision.behavior, decision.reason, decision.message) = (Behavior::Deny, DecisionReason::Mode, message);
            return decision.with_suggestions(Vec::new());
        }
        if approved == Some(&facts.digest) {
            let mut allowed = Decision::new(Behavior::Allow, DecisionReason::Host, "This very call was approved.");
            allowed.protected = protected;
            return allowed;
        }
        decision
    }
}

/// Returns `true` if the call only starts agents, which may do no more than the calling agent, or only makes calls,
/// each of which is judged.
fn only_delegates(call: &Call<'_>) -> bool {
    matches!(call.facts.access, Access::Agents | Access::Calls) && call.facts.command.is_none()
}

/// Returns `true` if the call only concerns data that the session itself keeps.
fn stays_in_session(call: &Call<'_>) -> bool {
    call.facts.access == Access::Session && call.facts.command.is_none() && !names::is_edit_tool(call.tool)
}

fn hook_lowers(hook: &HookVerdict) -> Option<Decision> {
    let does = match hook.behavior {
        Behavior::Allow => return None,
        Behavior::Ask => "asks about",
        Behavior::Deny => "denies",
    };
    Some(Decision::new(hook.behavior, DecisionReason::Hook, hook_message(hook, does)))
}

fn hook_message(hook: &HookVerdict, does: &str) -> String {
    let reason = if hook.reason.is_empty() { String::new() } else { format!(": {}", hook.reason) };
    format!("The hook `{}` {does} it{reason}", hook.hook)
}

fn own_check(call: &Call<'_>) -> Option<Decision> {
    let decision = |behavior, reason: &str| Some(Decision::new(behavior, DecisionReason::ToolCheck, reason));
    match &call.facts.check {
        OwnCheck::Deny(reason) => decision(Behavior::Deny, reason),
        OwnCheck::Ask(reason) => decision(Behavior::Ask, reason),
        OwnCheck::Undecided if call.asks_the_user() => decision(Behavior::Ask, "Only the user can answer this."),
        OwnCheck::Undecided => None,
    }
}

/// Returns a short name of a command: its program, and its first argument if that is a plain word.
fn command_name(command: &SimpleCommand) -> Option<String> {
    let program = visible_line(command.program()?);
    let is_plain = |word: &&str| word.len() <= 20 && word.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    let first = command.words().get(1).and_then(|word| word.as_literal()).filter(is_plain);
    let name = first.filter(|word| !word.starts_with('-')).map_or(program.clone(), |word| format!("{program} {word}"));
    (name.chars().count() <= LONGEST_NAME && !name.contains('`')).then_some(name)
}

fn gap_reason(gap: &Gap) -> DecisionReason {
    match gap {
        Gap::NotUnderstood(_) | Gap::Unclear(_) => DecisionReason::NotUnderstood,
        Gap::ReadOutside(_) | Gap::WriteOutside(_) => DecisionReason::WorkingDirectory,
        Gap::ReadSecret(_) | Gap::Edit | Gap::Redefined | Gap::NoRule => DecisionReason::Default,
    }
}

/// Returns the reason in words. `name`: the command that no rule allows, if the call runs one.
fn gap_message(gap: &Gap, call: &Call<'_>, name: Option<&str>) -> String {
    match gap {
        Gap::NotUnderstood(why) => format!("Nothing allows it: {why}."),
        Gap::Unclear(why) => format!("Nothing allows it: {why}."),
        Gap::ReadOutside(path) => format!("It reads {}, which is outside the workspace.", path.display()),
        Gap::ReadSecret(path) => {
            format!("It reads {}, where secrets are kept, and no rule names that place.", path.display())
        }
        Gap::WriteOutside(path) => format!("It writes {}, which is outside the workspace.", path.display()),
        Gap::Edit => "It changes files, which nothing allows.".to_owned(),
        Gap::Redefined => format!(
            "Its server has changed what {} is since a rule allowed it: description or schema are others now.",
            call.tool
        ),
        Gap::NoRule => match name {
            Some(name) => format!("No rule allows `{name}`."),
            None => format!("No rule allows this call of {}.", call.tool),
        },
    }
}
