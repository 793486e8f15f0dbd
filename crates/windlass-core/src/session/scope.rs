//! What counts for one run beside what counts for the session.

use super::Session;
use crate::ModelProfile;
use std::collections::BTreeSet;
use windlass_permission::RuleError;
use windlass_types::{Effort, RunModel, RunScope};

/// What a command or a skill has a run do otherwise than the session.
#[derive(Debug, Default)]
pub(crate) struct Scoped {
    /// The model that it calls.
    pub(crate) model: Option<ModelProfile>,
    /// How much the model spends on an answer.
    pub(crate) effort: Option<Effort>,
    /// Rules by which it denies calls.
    pub(crate) denied: Vec<String>,
    /// The commands and skills whose hooks listen.
    pub(crate) skills: BTreeSet<String>,
}

impl Session {
    /// A command or a skill brings this to the run. What came later counts.
    ///
    /// # Errors
    /// A rule that forbids something cannot be used; then the scope does not count at all.
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
                self.run.scope.model = Some(ModelProfile::new(id, *info));
            }
            Some(RunModel::Named(name)) => self.notice(format!("the model {name:?} is not known here")),
            _ => {}
        }
        self.run.scope.effort = effort.or(self.run.scope.effort);
        Ok(())
    }

    /// The commands and skills whose hooks listen now: those of the run, and those of the runs above it.
    pub(crate) fn skills(&self) -> BTreeSet<String> {
        let above = self.config.agent.iter().flat_map(|agent| agent.skills.clone());
        above.chain(self.run.scope.skills.iter().cloned()).collect()
    }

    /// The run ends, and what counted for it.
    pub(crate) fn end_scope(&mut self) {
        self.rights.end_scope();
        if std::mem::take(&mut self.run.scope).model.is_some() {
            // The fallback took over for that model.
            self.models.falling_back = false;
        }
    }
}
