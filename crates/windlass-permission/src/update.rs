//! Changes of permissions while a session runs.

use crate::error::UpdateError;
use crate::matcher::{Rule, compile};
use crate::path::is_plain_absolute;
use crate::policy::Policy;
use crate::rule::ParsedRule;
use std::path::PathBuf;
use windlass_types::{Behavior, PermissionUpdate, RuleSource, RuleValue, UpdateDestination};

fn source_of(destination: UpdateDestination) -> Result<RuleSource, UpdateError> {
    Ok(match destination {
        UpdateDestination::UserSettings => RuleSource::UserSettings,
        UpdateDestination::ProjectSettings => RuleSource::ProjectSettings,
        UpdateDestination::LocalSettings => RuleSource::LocalSettings,
        UpdateDestination::Session => RuleSource::Session,
        UpdateDestination::CliArg => RuleSource::CliArg,
        _ => return Err(UpdateError::Unknown),
    })
}

impl Policy {
    /// Applies a change in memory, also one whose destination is a settings file (that file is written by its owner).
    /// The managed policy's rules cannot be changed, and deny rules from elsewhere still win.
    ///
    /// # Errors
    /// A rule (an allow rule as well), the mode or a directory of the update is unusable; then nothing changed.
    pub fn apply(&mut self, update: &PermissionUpdate) -> Result<(), UpdateError> {
        match update {
            PermissionUpdate::AddRules { rules, behavior, destination } => {
                let source = source_of(*destination)?;
                let ready = self.compiled(rules, *behavior, source)?;
                let known = self.rules.of_mut(*behavior);
                for rule in ready {
                    match known.iter_mut().find(|old| old.source == source && old.value == rule.value) {
                        // The rule is given anew, so it is bound to the present definition of its tool.
                        Some(old) => old.definition = rule.definition,
                        None => known.push(rule),
                    }
                }
            }
            PermissionUpdate::ReplaceRules { rules, behavior, destination } => {
                let source = source_of(*destination)?;
                let ready = self.compiled(rules, *behavior, source)?;
                let known = self.rules.of_mut(*behavior);
                known.retain(|old| old.source != source);
                known.extend(ready);
            }
            PermissionUpdate::RemoveRules { rules, behavior, destination } => {
                let source = source_of(*destination)?;
                let gone = rules.iter().map(|rule| ParsedRule::from_value(rule).map(|rule| rule.value()));
                let gone = gone.collect::<Result<Vec<_>, _>>()?;
                self.rules.of_mut(*behavior).retain(|old| old.source != source || !gone.contains(&old.value));
            }
            PermissionUpdate::SetMode { mode, .. } => self.set_mode(*mode)?,
            PermissionUpdate::AddDirectories { directories, .. } => {
                check_directories(directories)?;
                for directory in directories {
                    self.workspace.add(directory);
                }
            }
            PermissionUpdate::RemoveDirectories { directories, .. } => {
                check_directories(directories)?;
                for directory in directories {
                    self.workspace.remove(directory);
                }
            }
            _ => return Err(UpdateError::Unknown),
        }
        Ok(())
    }

    fn compiled(&self, rules: &[RuleValue], behavior: Behavior, source: RuleSource) -> Result<Vec<Rule>, UpdateError> {
        let anchor = self.anchor(source);
        let place = self.place(source, behavior, &anchor);
        let ready = rules.iter().map(|rule| {
            let mut rule = compile(&ParsedRule::from_value(rule)?, &place)?.0;
            self.rules.bind(&mut rule);
            Ok(rule)
        });
        ready.collect()
    }
}

fn check_directories(directories: &[PathBuf]) -> Result<(), UpdateError> {
    match directories.iter().find(|directory| !is_plain_absolute(directory)) {
        Some(directory) => Err(UpdateError::Directory(directory.clone())),
        None => Ok(()),
    }
}
