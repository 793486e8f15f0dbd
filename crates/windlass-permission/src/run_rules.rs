//! Rules of one run: those of the command or skill that it uses.

use crate::error::{RuleError, RuleWarning};
use crate::matcher::compile;
use crate::policy::Policy;
use crate::rule::parse_rule;
use windlass_types::{Behavior, RuleSource};

impl Policy {
    /// Adds rules that apply until [`end_run`](Self::end_run), of the source
    /// [`Command`](windlass_types::RuleSource::Command). Patterns that begin with a single `/` start at the start
    /// directory. Like any other, an allow rule lifts no deny, no ask of another rule, no safety floor and no plan
    /// mode. Warnings about rules that have no effect, or less than their writer may think, are returned.
    ///
    /// # Errors
    /// A deny rule cannot be used; then none of these rules is added.
    pub fn add_run_rules(&mut self, allow: &[String], deny: &[String]) -> Result<Vec<RuleWarning>, RuleError> {
        let mut warnings = Vec::new();
        let mut ready = Vec::new();
        let start = self.workspace.start().to_path_buf();
        let all =
            deny.iter().map(|rule| (Behavior::Deny, rule)).chain(allow.iter().map(|rule| (Behavior::Allow, rule)));
        for (behavior, text) in all {
            let place = self.place(RuleSource::Command, behavior, &start);
            match parse_rule(text).and_then(|rule| compile(&rule, &place)) {
                Ok((mut rule, warning)) => {
                    rule.for_run = true;
                    ready.push(rule);
                    warnings.extend(warning);
                }
                Err(error) if behavior == Behavior::Allow => warnings.push(RuleWarning::ignored(error)),
                Err(error) => return Err(error),
            }
        }
        for mut rule in ready {
            self.rules.bind(&mut rule);
            self.rules.of_mut(rule.behavior).push(rule);
        }
        Ok(warnings)
    }

    /// Keeps the rules of the parent's run, for an agent below it: they end with the parent's run, not with a run of
    /// the agent.
    pub fn keep_run_rules(&mut self) {
        for behavior in [Behavior::Deny, Behavior::Allow] {
            self.rules.of_mut(behavior).iter_mut().for_each(|rule| rule.for_run = false);
        }
    }

    /// Takes over the run's rules from the policy that this one replaces.
    pub fn continue_run(&mut self, before: &Self) {
        for (rules, own) in [(&mut self.rules.deny, &before.rules.deny), (&mut self.rules.allow, &before.rules.allow)] {
            rules.extend(own.iter().filter(|rule| rule.for_run).cloned());
        }
    }

    /// Removes the rules of a run. Returns `true` if there were any.
    pub fn end_run(&mut self) -> bool {
        let mut any = false;
        for behavior in [Behavior::Deny, Behavior::Allow] {
            let rules = self.rules.of_mut(behavior);
            let before = rules.len();
            rules.retain(|rule| !rule.for_run);
            any |= rules.len() != before;
        }
        any
    }
}

#[cfg(test)]
mod tests {
    use crate::{CallFacts, Policy, PolicyConfig};
    use std::path::Path;
    use windlass_types::{Access, Behavior, CallDigest, JsonText, PermissionMode, RuleSource};

    fn verdict(policy: &Policy, tool: &str) -> Behavior {
        let digest = CallDigest::new(tool);
        let facts = CallFacts::new(tool, JsonText::empty_object(), Access::Unknown, digest, Path::new("/w"));
        policy.decide(&facts, None, None).behavior
    }

    fn texts(rules: &[&str]) -> Vec<String> {
        rules.iter().map(|rule| (*rule).to_owned()).collect()
    }

    #[test]
    fn rules_of_a_run_go_with_it_and_lift_nothing() {
        let mut policy = Policy::new(PolicyConfig::new(Path::new("/w")));
        policy.add_rules(RuleSource::UserSettings, Deny, &["Forbidden"], Path::new("/")).unwrap();
        policy.add_rules(RuleSource::UserSettings, Ask, &["Asked"], Path::new("/")).unwrap();
        policy.add_rules(RuleSource::Command, Deny, &["OfAgent"], Path::new("/")).unwrap();
        let all = |policy: &Policy| ["Forbidden", "Asked", "OfAgent", "Free", "Gone"].map(|tool| verdict(policy, tool));
        let before = all(&policy);
        let allow = texts(&["Forbidden", "Asked", "OfAgent", "Free", "Gone", "Odd("]);
        let warnings = policy.add_run_rules(&allow, &texts(&["Gone"])).unwrap();
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        use Behavior::{Allow, Ask, Deny};
        assert_eq!(before, [Deny, Ask, Deny, Ask, Ask]);
        assert_eq!(all(&policy), [Deny, Ask, Deny, Allow, Deny]);
        policy.set_mode(PermissionMode::Plan).unwrap();
        assert_eq!(verdict(&policy, "Free"), Deny, "plan mode stays");
        policy.set_mode(PermissionMode::Default).unwrap();
        assert!(policy.end_run());
        assert_eq!(all(&policy), before);
        assert!(!policy.end_run());
    }

    #[test]
    fn an_agent_keeps_what_the_run_above_it_may_and_no_longer() {
        let mut above = Policy::new(PolicyConfig::new(Path::new("/w")));
        above.add_run_rules(&texts(&["Free"]), &texts(&["Gone"])).unwrap();
        let mut below = above.clone();
        below.keep_run_rules();
        below.add_run_rules(&texts(&["Own"]), &[]).unwrap();
        let all = |policy: &Policy| ["Free", "Gone", "Own"].map(|tool| verdict(policy, tool));
        assert_eq!(all(&below), [Behavior::Allow, Behavior::Deny, Behavior::Allow]);
        let mut ended = below.clone();
        ended.end_run();
        assert_eq!(all(&ended), [Behavior::Allow, Behavior::Deny, Behavior::Ask], "what is denied above stays so");
        above.end_run();
        let mut renewed = above.clone();
        renewed.keep_run_rules();
        renewed.continue_run(&below);
        assert_eq!(all(&renewed), [Behavior::Ask, Behavior::Ask, Behavior::Allow]);
    }

    #[test]
    fn none_counts_if_one_that_forbids_cannot_be_used() {
        let mut policy = Policy::new(PolicyConfig::new(Path::new("/w")));
        assert!(policy.add_run_rules(&texts(&["Free"]), &texts(&["Odd("])).is_err());
        assert_eq!(verdict(&policy, "Free"), Behavior::Ask);
    }
}
