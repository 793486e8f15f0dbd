//! Calls to which the list of an agent's tools limits them: `Bash(npm test *)` in place of `Bash`.

use crate::call::Call;
use crate::command::Part;
use crate::error::RuleError;
use crate::matcher::{Rule, Test, compile};
use crate::policy::Policy;
use crate::raise;
use crate::rule::parse_rule;
use std::path::Path;
use windlass_shell::Effect;
use windlass_types::{Behavior, Decision, DecisionReason, RuleSource};

impl Policy {
    /// Limits tools to the calls that these rules cover, from now on: every other call of a tool that one of them names
    /// is denied. Nothing is allowed by that. A tool that a rule names without a specifier stays as it is.
    ///
    /// # Errors
    /// A rule cannot be used; then nothing has changed.
    pub fn limit_tools(&mut self, rules: &[String], anchor: &Path) -> Result<(), RuleError> {
        let place = self.place(RuleSource::Command, Behavior::Allow, anchor);
        let compiled = |text: &String| parse_rule(text).and_then(|rule| compile(&rule, &place)).map(|(rule, _)| rule);
        let limit: Vec<Rule> = rules.iter().map(compiled).collect::<Result<_, _>>()?;
        if !limit.is_empty() {
            self.rules.limits.push(limit);
        }
        Ok(())
    }

    /// Returns the denial of a call that a limit does not cover.
    pub(crate) fn beyond_limits(&self, call: &Call<'_>) -> Option<Decision> {
        self.rules.limits.iter().find_map(|limit| {
            let own: Vec<&Rule> = limit.iter().filter(|rule| rule.tool.matches(call.tool)).collect();
            let is_free = own.is_empty() || own.iter().any(|rule| matches!(rule.test, Test::Whole));
            if is_free || self.is_within(&own, call) {
                return None;
            }
            let rules: Vec<String> = own.iter().map(|rule| format!("`{}`", rule.text)).collect();
            let message = format!("This agent has {} for {} alone.", call.tool, rules.join(", "));
            Some(Decision::new(Behavior::Deny, DecisionReason::Rule, message))
        })
    }

    fn is_within(&self, own: &[&Rule], call: &Call<'_>) -> bool {
        if let Some(command) = &call.facts.command {
            let names =
                |rule: &&Rule| matches!(&rule.test, Test::Command(pattern) if pattern.matches_whole(&command.text));
            return own.iter().any(names)
                || call.parts.as_ref().is_some_and(|parts| is_covered(own, parts.iter().map(|(part, _)| part)));
        }
        let by_path = own.iter().any(|rule| matches!(rule.test, Test::Path(_)));
        if !by_path {
            return own.iter().any(|rule| raise::allows(rule, call));
        }
        let workspace = self.workspace.ready();
        let covers = |subject: &crate::path::Subject, tree: bool| {
            own.iter().any(|rule| matches!(&rule.test, Test::Path(path) if path.covers(subject, tree, workspace)))
        };
        !call.touches.is_empty()
            && call
                .touches
                .iter()
                .all(|touch| touch.unclear.is_none() && touch.both(|subject| covers(subject, touch.usage.tree)))
    }
}

/// Returns `true` if rules cover the commands of a line, beside those that change the directory or read nothing but a
/// pipe.
fn is_covered<'p>(own: &[&Rule], parts: impl Iterator<Item = &'p Part<'p>>) -> bool {
    let mut any = false;
    for part in parts {
        let is_named =
            |rule: &&Rule| matches!(&rule.test, Test::Command(pattern) if pattern.matches_allow(part.command));
        let class = &part.class;
        let is_filter = class.effect == Effect::ReadOnly && class.reads.is_empty() && class.writes.is_empty();
        match own.iter().any(is_named) {
            true => any = true,
            false if is_filter || part.changes_directory() => {}
            false => return false,
        }
    }
    any
}
