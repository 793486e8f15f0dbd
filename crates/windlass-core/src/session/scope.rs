//! Settings of one run, which override those of the session.

use super::Session;
use crate::ModelProfile;
use std::collections::BTreeSet;
use windlass_permission::RuleError;
use windlass_types::{Effort, RunModel, RunScope};

/// Deviations of a run from the session's settings, by a command or a skill.
#[derive(Debug, Default)]
pub(crate) struct Scoped {
    /// Model of the run.
    pub(crate) model: Option<ModelProfile>,
    /// Effort of the model for an answer.
    pub(crate) effort: Option<Effort>,
    /// Deny rules of the run.
    pub(crate) denied: Vec<String>,
    /// Names of the commands and skills whose hooks listen.
    pub(crate) skills: BTreeSet<String>,
}

impl Session {
    /// Applies the scope of a command or a skill to the run. Later values take precedence.
    ///
    /// # Errors
    /// A deny rule is invalid; then no part of the scope applies.
    pub(crate) fn begin_scope(&mut self, scope: RunScope) -> Result<(), RuleError> {
        let RunScope { allow, deny, model, effort, skills, .. } = scope;
        if !(allow.is_empty() && deny.is_empty()) {
            for warning in self.rights.begin_scope(&allow, &deny)? {
                self.notice(warning.to_string());
            }
        }
        self.run.scope.denied.extend(deny);
        self.run.scope.skills.extend(skills);
        match model {
            Some(RunModel::Known { id, info }) => {
                self.models.falling_back = false;
                let mut model = ModelProfile::new(id, *info);
                self.state.learned().apply_to(&mut model);
                self.run.scope.model = Some(model);
            }
            Some(RunModel::Named(name)) => self.notice(format!("the model {name:?} is not known here")),
            _ => {}
        }
        self.run.scope.effort = effort.or(self.run.scope.effort);
        Ok(())
    }

    /// Returns the names of the commands and skills whose hooks listen now: those of the run, and those of the parent
    /// runs.
    pub(crate) fn skills(&self) -> BTreeSet<String> {
        let above = self.config.agent.iter().flat_map(|agent| agent.skills.clone());
        above.chain(self.run.scope.skills.iter().cloned()).collect()
    }

    /// Ends the scope of the run.
    pub(crate) fn end_scope(&mut self) {
        self.rights.end_scope();
        if std::mem::take(&mut self.run.scope).model.is_some() {
            // The fallback took over for that model.
            self.models.falling_back = false;
        }
    }
}
