//! Models of commands and skills: the machine gets their full profiles.

use crate::Ports;
use windlass_core::Input;
use windlass_types::{ContextChange, RunModel, RunScope};

/// Replaces the named models of an input by their profiles. Returns the doubts about the names.
pub(crate) fn with_models(mut input: Input, ports: &Ports) -> (Input, Vec<String>) {
    let mut doubts = Vec::new();
    match &mut input {
        Input::Prompt(prompt) | Input::Steer(prompt) | Input::Offer(prompt) => {
            find(&mut prompt.scope, ports, &mut doubts);
        }
        Input::Ran(_, outcome) => {
            for change in &mut outcome.changes {
                if let ContextChange::Scope(scope) = change {
                    find(scope, ports, &mut doubts);
                }
            }
        }
        _ => {}
    }
    (input, doubts)
}

fn find(scope: &mut RunScope, ports: &Ports, doubts: &mut Vec<String>) {
    let Some(RunModel::Named(name)) = &scope.model else { return };
    doubts.extend(ports.doubt(name));
    let profile = ports.model(name);
    scope.model = Some(RunModel::Known { id: profile.id, info: Box::new(profile.info) });
}
