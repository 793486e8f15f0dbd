//! Model requests and approvals outside the conversation: the parts of the session that they need.

use super::Executor;
use crate::calls::preparation::digest;
use crate::commands::approval::{Approval, ApprovalAnswer, ApprovalError};
use crate::commands::side_call::{SideCall, SideCallError, SideCallResult};
use crate::model::side_requests::SideRequest;
use crate::questions::gate::{Gate, GateParts};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::oneshot;
use windlass_context::estimate_request;
use windlass_core::{Machine, ModelProfile};
use windlass_hook::Hooks;
use windlass_permission::CallFacts;
use windlass_types::{Access, JsonText, ModelRequest, SectionScope, SystemSection, ToolUse, ToolUseId};

impl Executor {
    /// Begins a requested message.
    pub(in crate::driver) fn begin_side_request(
        &mut self,
        machine: &Machine,
        call: SideCall,
        waiting: oneshot::Sender<SideCallResult>,
    ) {
        match self.side_request(machine, call) {
            Ok(side) => self.side_requests.start(side.answer(), waiting),
            // The requester may have dropped its receiver.
            Err(error) => drop(waiting.send(Err(error))),
        }
    }

    /// Asks the host about something that no call does. Hooks are not asked, because the question may be about one.
    pub(in crate::driver) fn begin_approval(
        &mut self,
        machine: &Machine,
        approval: Approval,
        waiting: oneshot::Sender<ApprovalAnswer>,
    ) {
        let id = ToolUseId::new(format!("approval_{:032x}", self.ports.system.ids.bits()));
        let gate = self.gate(machine, id, (&approval.tool, &approval.input), &approval.title);
        let gate = Gate { of: GateParts { hooks: Hooks::default(), ..gate.of }, ..gate };
        let ask = async move { gate.approve(approval.reason, approval.edits).await.map_err(ApprovalError::Denied) };
        self.side_requests.start(ask, waiting);
    }

    /// Returns the permission gate for something that is judged like a tool call.
    fn gate(&mut self, machine: &Machine, id: ToolUseId, (tool, input): (&str, &JsonText), title: &str) -> Gate {
        let cwd = machine.state().cwd().to_path_buf();
        let call = ToolUse::new(id.clone(), tool.to_owned(), input.clone());
        let digest = digest(&call, &cwd, &[], None);
        let facts = CallFacts::new(tool.to_owned(), input.clone(), Access::Unknown, digest, cwd.clone());
        Gate { id, facts, title: title.to_owned(), of: self.gate_parts(machine, cwd) }
    }

    fn side_request(&mut self, machine: &Machine, call: SideCall) -> Result<SideRequest, SideCallError> {
        if machine.is_idle() {
            return Err(SideCallError::NoRun);
        }
        self.side_requests.count(&call.tool, call.most_in_run)?;
        let id = ToolUseId::new(format!("side_{:032x}", self.ports.system.ids.bits()));
        let gate = self.gate(machine, id, (&call.tool, &call.input), &call.title);
        let model = self.side_model(machine, &call);
        let limit = call.max_output_tokens.min(model.info.max_output_tokens).max(1);
        let messages = call.messages.into_iter().map(Into::into).collect();
        let mut request = ModelRequest::new(model.id.to_string(), messages, limit);
        request.system = call.system.map(|text| SystemSection::new(text, SectionScope::Session)).into_iter().collect();
        request.tools = call.tools.into_iter().map(Arc::new).collect();
        request.tool_choice = call.tool_choice;
        let cost = machine.limits().cost_beside(&model, estimate_request(&request), limit);
        let results = self.results.clone();
        let account = self.account.places().budget().open(results.clone());
        let provider = Arc::clone(&self.ports.provider);
        Ok(SideRequest { gate, provider, model, request: Arc::new(request), account, cost, results })
    }

    fn gate_parts(&mut self, machine: &Machine, cwd: PathBuf) -> GateParts {
        GateParts {
            policy: self.shared.policy(machine),
            hooks: self.ports.hooks.clone(),
            cx: self.hook_context(machine, cwd),
            reports: self.hook_reports(),
            answers: self.ports.host.clone(),
            questions: self.agents.questions().clone(),
            results: self.results.clone(),
        }
    }

    /// Returns the first model that matches a hint, or that of the session.
    fn side_model(&self, machine: &Machine, call: &SideCall) -> ModelProfile {
        let mut models = vec![machine.model().clone()];
        models.extend(call.models.iter().map(|name| self.ports.model(name)));
        let names_model = |hint: &str, model: &ModelProfile| {
            let id = model.id.as_str().to_lowercase();
            !hint.is_empty()
                && (id.contains(&hint.to_lowercase()) || self.ports.provider.resolve_model(hint) == model.id)
        };
        let index = call.hints.iter().find_map(|hint| models.iter().position(|model| names_model(hint, model)));
        models.swap_remove(index.unwrap_or(0))
    }
}
