//! Questions about calls: to the host and its hooks, and to the classifier.

use super::{Executor, answer};
use crate::model::classification::classify;
use crate::questions::question::{self, QuestionHooks, QuestionHost};
use crate::questions::remote_answers::RemoteAnswers;
use std::path::PathBuf;
use windlass_core::{EffectId, Input, Machine};
use windlass_permission::{CallFacts, Classified, ClassifierQuestion};
use windlass_types::{PendingQuestion, PermissionRequest};

impl Executor {
    /// Asks hooks and host about a call.
    pub(super) fn ask(
        &mut self,
        machine: &Machine,
        id: EffectId,
        request: PermissionRequest,
        cwd: PathBuf,
        (kept, deferred): (Option<PendingQuestion>, bool),
    ) {
        let open = self.questions.remove(&request.id);
        let remote = kept.map(|question| RemoteAnswers::new(self.agents.kept(), question));
        let host = QuestionHost { answers: self.ports.host.clone(), open, remote, deferred };
        let hooks = QuestionHooks {
            hooks: self.ports.hooks.clone(),
            cx: self.hook_context(machine, cwd),
            reports: self.hook_reports(),
        };
        let (results, ancestors) = (self.results.clone(), self.agents.ancestors());
        // A question without a host waits in any case, and its run ends.
        let parent_call = self.agents.parent_call().filter(|_| host.remote.is_some() && self.ports.host.are_possible());
        self.tasks.start(id, async move {
            if let Some(call) = parent_call {
                call.keep_open().await;
            }
            let asked_hooks = |outcome| answer(&results, Input::AskedHooks(id, Box::new(outcome)));
            let input = match question::ask(host, hooks, request, asked_hooks).await {
                Ok(answered) => {
                    ancestors.take(&answered);
                    Input::Answered(id, answered)
                }
                Err(unanswered) => Input::Unanswered(id, unanswered),
            };
            answer(&results, input);
        });
    }

    /// Asks the classifier, unless its verdict is known.
    pub(super) fn classify(&mut self, machine: &Machine, id: EffectId, facts: &CallFacts, why: &str) {
        let Some(classifier) = self.ports.classifier.clone() else {
            let failed = Classified::Failed("there is no classifier".to_owned());
            return self.answer(Input::Classified(id, failed));
        };
        let question = ClassifierQuestion::new(facts, machine.policy().directories(), why, &self.shared.history)
            .delegated(machine.agent().is_some());
        let request = match classifier.prepare(question, self.ports.system.ids.bits()) {
            Ok(request) => request,
            Err(known) => return self.answer(Input::Classified(id, known)),
        };
        let cost = machine.limits().cost_beside(&request.model, request.input_tokens(), request.max_output_tokens());
        let claim = self.account.claim(id, cost);
        let results = self.results.clone();
        self.tasks.start(id, async move {
            let verdict = classify(&request, claim, &results).await;
            answer(&results, Input::Classified(id, verdict));
        });
    }
}
