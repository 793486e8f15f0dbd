//! Model requests outside the conversation: the parts of the session that they need.

use super::Driver;
use crate::approval::{self, Approval, ApprovalAnswer};
use crate::side::{Gate, GateParts, Side, SideAnswer, SideCall, SideCallError};
use std::sync::Arc;
use tokio::sync::oneshot;
use windlass_context::estimate_request;
use windlass_core::ModelProfile;
use windlass_hook::Hooks;
use windlass_permission::CallFacts;
use windlass_types::{Access, JsonText, ModelRequest, SectionScope, SystemSection, ToolUse, ToolUseId};

impl Driver {
    /// Begins a requested message.
    pub(super) fn begin_side(&mut self, call: SideCall, waiting: oneshot::Sender<Result<SideAnswer, SideCallError>>) {
        match self.side(call) {
            Ok(side) => self.work.side.start(side.answer(), waiting),
            // The requester may have dropped its receiver.
            Err(error) => drop(waiting.send(Err(error))),
        }
    }

    /// Asks the host about something that no call does. Hooks are not asked, because the question may be about one.
    pub(super) fn begin_approval(&mut self, approval: Approval, waiting: oneshot::Sender<ApprovalAnswer>) {
        let id = ToolUseId::new(format!("approval_{:032x}", self.ports.system.ids.bits()));
        let gate = self.gate(id, (&approval.tool, &approval.input), &approval.title);
        let gate = Gate { of: GateParts { hooks: Hooks::default(), ..gate.of }, ..gate };
        self.work.side.start(approval::ask(gate, approval), waiting);
    }

    /// Returns the permission gate for something that is judged like a tool call.
    fn gate(&mut self, id: ToolUseId, (tool, input): (&str, &JsonText), title: &str) -> Gate {
        let cwd = self.machine.state().cwd().to_path_buf();
        let call = ToolUse::new(id.clone(), tool.to_owned(), input.clone());
        let digest = crate::prepare::digest(&call, &cwd, &[], None);
        let facts = CallFacts::new(tool.to_owned(), input.clone(), Access::Unknown, digest, cwd.clone());
        Gate { id, facts, title: title.to_owned(), of: self.gate_parts(cwd) }
    }

    fn side(&mut self, call: SideCall) -> Result<Side, SideCallError> {
        if self.machine.is_idle() {
            return Err(SideCallError::NoRun);
        }
        self.work.side.count(&call.tool, call.most_in_run)?;
        let id = ToolUseId::new(format!("side_{:032x}", self.ports.system.ids.bits()));
        let gate = self.gate(id, (&call.tool, &call.input), &call.title);
        let model = self.side_model(&call);
        let limit = call.max_output_tokens.min(model.info.max_output_tokens).max(1);
        let messages = call.messages.into_iter().map(Into::into).collect();
        let mut request = ModelRequest::new(model.id.to_string(), messages, limit);
        request.system = call.system.map(|text| SystemSection::new(text, SectionScope::Session)).into_iter().collect();
        request.tools = call.tools.into_iter().map(Arc::new).collect();
        request.tool_choice = call.tool_choice;
        let cost = self.machine.limits().cost_beside(&model, estimate_request(&request), limit);
        let results = self.answers.sender.clone();
        let account = self.account.places().budget().open(results.clone());
        let provider = Arc::clone(&self.ports.provider);
        Ok(Side { gate, provider, model, request: Arc::new(request), account, cost, results })
    }

    fn gate_parts(&mut self, cwd: std::path::PathBuf) -> GateParts {
        GateParts {
            policy: self.shared.policy(&self.machine),
            hooks: self.ports.hooks.clone(),
            cx: self.hook_context(cwd),
            asked: self.asked(),
            answers: self.ports.host.clone(),
            questions: self.below.questions().clone(),
            results: self.answers.sender.clone(),
        }
    }

    /// Returns the first model that matches a hint, or that of the session.
    fn side_model(&self, call: &SideCall) -> ModelProfile {
        let mut models = vec![self.machine.model().clone()];
        models.extend(call.models.iter().map(|name| self.ports.model(name)));
        let means = |hint: &str, model: &ModelProfile| {
            let id = model.id.as_str().to_lowercase();
            !hint.is_empty()
                && (id.contains(&hint.to_lowercase()) || self.ports.provider.resolve_model(hint) == model.id)
        };
        let wanted = call.hints.iter().find_map(|hint| models.iter().position(|model| means(hint, model)));
        models.swap_remove(wanted.unwrap_or(0))
    }
}
