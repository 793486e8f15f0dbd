//! Parts of inputs that the ports supply: profiles of the models that commands and skills name, and the marks of quotations.

use crate::Ports;
use windlass_core::Input;
use windlass_types::{ContextChange, RunModel, RunScope};

/// Replaces the named models of an input by their profiles, and draws the marks of its quotations. Returns the doubts
/// about the names.
pub(crate) fn completed(mut input: Input, ports: &Ports) -> (Input, Vec<String>) {
    let mut doubts = Vec::new();
    match &mut input {
        Input::Prompt(prompt) | Input::Steer(prompt) | Input::Offer(prompt) => {
            find(&mut prompt.scope, ports, &mut doubts);
            for quotation in prompt.quoted.iter_mut().filter(|quotation| quotation.boundary.is_none()) {
                quotation.boundary = Some(ports.system.ids_of("quotations").bits());
            }
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
