//! Permission settings of files, when they change during a session.

use crate::error::RuleError;
use crate::matcher::{Rule, compile};
use crate::policy::Policy;
use crate::rule::parse_rule;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use windlass_types::{Behavior, RuleOrigin, RuleSource};

/// Rules of one source and behaviour, as they are written.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SourceRules {
    /// Their source.
    pub source: RuleSource,
    /// Behavior of the rules: allow, ask or deny.
    pub behavior: Behavior,
    /// The rules.
    pub rules: Vec<String>,
    /// Base directory of patterns with a leading `/`.
    pub anchor: PathBuf,
    /// Places of the rules in files. Default: empty (unknown).
    pub origins: RuleOrigins,
}

/// Places of rules in files, by the texts of the rules.
pub type RuleOrigins = BTreeMap<String, RuleOrigin>;

impl SourceRules {
    /// Creates rules of one source and behaviour.
    pub fn new(source: RuleSource, behavior: Behavior, rules: Vec<String>, anchor: impl Into<PathBuf>) -> Self {
        Self { source, behavior, rules, anchor: anchor.into(), origins: RuleOrigins::new() }
    }
}

/// Permission settings of the settings files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SettingsRules {
    /// All rules.
    pub rules: Vec<SourceRules>,
    /// Directories of the workspace that they add; absolute.
    pub directories: Vec<PathBuf>,
    /// `true` if only allow rules of managed settings apply.
    pub managed_allow_only: bool,
    /// `true` if the mode bypassPermissions is forbidden.
    pub bypass_forbidden: bool,
    /// `true` if the mode auto cannot be entered.
    pub auto_forbidden: bool,
}

impl Policy {
    /// Replaces the permission settings of the files by the new ones. Rules of others stay, and so do answers for the
    /// session. A mode that is forbidden now becomes the default mode; one that is permitted again is not entered.
    /// Allow rules of the program that managed settings have ruled out do not come back.
    ///
    /// # Errors
    /// A deny or ask rule cannot be used; then nothing has changed.
    pub fn renew_settings(&mut self, before: &SettingsRules, now: &SettingsRules) -> Result<(), RuleError> {
        let mut ready = self.compiled_sets(&now.rules)?;
        let gone = self.compiled_sets(&before.rules)?;
        for rule in &mut ready {
            // A rule that was there already stays bound to the definition of its tool that it was given for.
            let known = self.rules.of_mut(rule.behavior).iter().find(|known| is_same(known, rule));
            match known.map(|known| known.definition.clone()) {
                Some(definition) => rule.definition = definition,
                None => self.rules.bind(rule),
            }
        }
        for behavior in [Behavior::Deny, Behavior::Ask, Behavior::Allow] {
            self.rules.of_mut(behavior).retain(|known| {
                let is_gone = |gone: &Rule| gone.behavior == behavior && is_same(known, gone);
                known.for_run || !(gone.iter().any(is_gone) || ready.iter().any(is_gone))
            });
        }
        if now.managed_allow_only && !before.managed_allow_only {
            let stays = |rule: &Rule| matches!(rule.source, RuleSource::PolicySettings | RuleSource::Session);
            self.rules.allow.retain(|rule| rule.for_run || stays(rule));
        }
        for rule in ready {
            self.rules.of_mut(rule.behavior).push(rule);
        }
        for directory in before.directories.iter().filter(|directory| !now.directories.contains(directory)) {
            self.workspace.remove(directory);
        }
        now.directories.iter().for_each(|directory| self.workspace.add(directory));
        if now.auto_forbidden {
            self.mode.forbid_auto();
        }
        if now.bypass_forbidden {
            self.mode.forbid_bypass();
        }
        Ok(())
    }

    /// Sets the places of rules of one source and behaviour, for verdicts that they decide.
    pub fn locate_rules(&mut self, source: RuleSource, behavior: Behavior, origins: &RuleOrigins) {
        for rule in self.rules.of_mut(behavior) {
            if rule.source == source && rule.origin.is_none() {
                rule.origin = origins.get(&rule.text).cloned().map(Arc::new);
            }
        }
    }

    /// Returns the rules of all sets. Allow rules that cannot be used are left out.
    fn compiled_sets(&self, sets: &[SourceRules]) -> Result<Vec<Rule>, RuleError> {
        let mut ready = Vec::new();
        for set in sets {
            let place = self.place(set.source, set.behavior, &set.anchor);
            for text in &set.rules {
                match parse_rule(text).and_then(|rule| compile(&rule, &place)) {
                    Ok((rule, _)) => ready.push(rule.standing_in(&set.origins)),
                    Err(_) if set.behavior == Behavior::Allow => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(ready)
    }
}

impl Rule {
    fn standing_in(mut self, origins: &RuleOrigins) -> Self {
        self.origin = origins.get(&self.text).cloned().map(Arc::new);
        self
    }
}

fn is_same(one: &Rule, other: &Rule) -> bool {
    one.source == other.source && one.value == other.value
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::PolicyConfig;
    use std::path::Path;
    use windlass_types::PermissionMode;

    fn said(behavior: Behavior, rules: &[&str]) -> SettingsRules {
        let rules = rules.iter().map(|rule| (*rule).to_owned()).collect();
        let mut said = SettingsRules::default();
        said.rules.push(SourceRules::new(RuleSource::UserSettings, behavior, rules, "/home/u"));
        said
    }

    fn texts(policy: &mut Policy, behavior: Behavior) -> Vec<String> {
        policy.rules.of_mut(behavior).iter().map(|rule| rule.text.clone()).collect()
    }

    #[test]
    fn rules_of_files_change_and_those_of_others_stay() {
        let mut policy = Policy::new(PolicyConfig::new("/w"));
        let before = said(Behavior::Deny, &["Read(a)", "Read(b)"]);
        for set in &before.rules {
            policy.add_rules(set.source, set.behavior, &set.rules, &set.anchor).unwrap();
        }
        policy.add_rules(RuleSource::CliArg, Behavior::Deny, &["Read(a)"], Path::new("/w")).unwrap();
        let now = said(Behavior::Deny, &["Read(b)", "Read(c)"]);
        policy.renew_settings(&before, &now).unwrap();
        assert_eq!(texts(&mut policy, Behavior::Deny), ["Read(a)", "Read(b)", "Read(c)"]);
        assert!(policy.renew_settings(&now, &said(Behavior::Deny, &["Read("])).is_err());
        assert_eq!(texts(&mut policy, Behavior::Deny), ["Read(a)", "Read(b)", "Read(c)"], "nothing has changed");
        policy.renew_settings(&now, &SettingsRules::default()).unwrap();
        assert_eq!(texts(&mut policy, Behavior::Deny), ["Read(a)"]);
    }

    #[test]
    fn the_mode_auto_is_left_when_settings_forbid_it_and_the_other_limits_stay() {
        let mut policy = Policy::new(PolicyConfig::new("/w").with_bypass_allowed(true).with_mode(PermissionMode::Auto));
        assert_eq!(policy.mode(), PermissionMode::Auto);
        let now = SettingsRules { auto_forbidden: true, ..SettingsRules::default() };
        policy.renew_settings(&SettingsRules::default(), &now).unwrap();
        assert_eq!(policy.mode(), PermissionMode::Default);
        assert!(policy.set_mode(PermissionMode::Auto).is_err());
        policy.set_mode(PermissionMode::BypassPermissions).unwrap();
    }

    #[test]
    fn managed_settings_can_end_what_others_allow_and_the_mode_that_asks_no_question() {
        let mut policy =
            Policy::new(PolicyConfig::new("/w").with_bypass_allowed(true).with_mode(PermissionMode::BypassPermissions));
        policy.add_rules(RuleSource::CliArg, Behavior::Allow, &["Bash"], Path::new("/w")).unwrap();
        let now = SettingsRules {
            managed_allow_only: true,
            bypass_forbidden: true,
            directories: vec!["/d".into()],
            ..SettingsRules::default()
        };
        policy.renew_settings(&SettingsRules::default(), &now).unwrap();
        assert!(texts(&mut policy, Behavior::Allow).is_empty());
        assert_eq!(policy.mode(), PermissionMode::Default);
        assert!(policy.set_mode(PermissionMode::BypassPermissions).is_err());
        assert_eq!(policy.directories(), [Path::new("/w"), Path::new("/d")]);
        policy.renew_settings(&now, &SettingsRules::default()).unwrap();
        assert_eq!(policy.directories(), [Path::new("/w")]);
        assert!(policy.set_mode(PermissionMode::BypassPermissions).is_err(), "what was forbidden stays so");
    }

    #[test]
    fn a_verdict_names_where_its_rule_stands_and_the_command_that_it_is_about() {
        use crate::facts::{CallFacts, CommandFacts};
        let facts = |line: &str| {
            let input = windlass_types::JsonText::of(&serde_json::json!({ "command": line })).unwrap();
            let digest = windlass_types::CallDigest::new("d");
            CallFacts::new("Bash", input, windlass_types::Access::Unknown, digest, "/w")
                .with_command(CommandFacts::new(windlass_shell::analyse(line), Vec::new()))
        };
        let mut policy = Policy::new(PolicyConfig::new("/w"));
        let origins = RuleOrigins::from([("Bash(rm *)".to_owned(), RuleOrigin::new("/w/s.json", Some(7)))]);
        policy.add_rules(RuleSource::UserSettings, Behavior::Deny, &["Bash(rm *)"], Path::new("/w")).unwrap();
        policy.locate_rules(RuleSource::UserSettings, Behavior::Deny, &origins);
        let verdict = policy.decide(&facts("ls && rm -f x"), None, None);
        assert_eq!(verdict.part.as_deref(), Some("rm -f x"));
        assert_eq!(verdict.rule.unwrap().origin.unwrap().to_string(), "/w/s.json:7");
        assert_eq!(policy.decide(&facts("rm -f x"), None, None).part, None, "it is the whole line");
        assert_eq!(policy.decide(&facts("echo hi && npm test"), None, None).part.as_deref(), Some("npm test"));
        // Read again, it stands elsewhere.
        let mut now = said(Behavior::Deny, &["Bash(rm *)"]);
        now.rules[0].origins = [("Bash(rm *)".to_owned(), RuleOrigin::new("/w/s.json", Some(9)))].into();
        policy.renew_settings(&said(Behavior::Deny, &["Bash(rm *)"]), &now).unwrap();
        let verdict = policy.decide(&facts("rm x"), None, None);
        assert_eq!(verdict.rule.unwrap().origin.unwrap().line, Some(9));
        assert_eq!(policy.sandbox_of(&facts("ls")), None);
        let commands = crate::SandboxedCommands::new().with_excluded(["docker *"]).with_level("bubblewrap");
        policy.confine(commands);
        let confines = |line: &str| policy.sandbox_of(&facts(line)).map(|sandbox| sandbox.confines);
        assert_eq!((confines("ls"), confines("docker ps")), (Some(true), Some(false)));
    }
}
