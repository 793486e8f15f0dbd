//! `initialize`: the host's options, hooks and servers.

use super::answers::{CAPABILITIES, RequestRefusal, RequestReply, field};
use super::io::{Initialization, Initialized, ServerEffect, ServerJob};
use super::jobs::{HostJob, PendingInitialize};
use super::{ServerMachine, queries};
use crate::HOST_VERSION;
use crate::server::hooks::table::HookTable;
use crate::server::plugins::sources;
use crate::server::setup::Initialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use windlass_conversation::Input as Turn;
use windlass_types::JsonText;

/// Options of `initialize` that have no counterpart here, and the reason for each.
const UNSUPPORTED: [(&str, &str); 6] = [
    ("agentProgressSummaries", "no model is called for summaries of what agents do; `task_progress` names their calls"),
    ("appendSubagentSystemPrompt", "an agent has the prompt of its definition alone"),
    ("planModeInstructions", "plan mode has no workflow of its own; use appendSystemPrompt"),
    ("promptSuggestions", "no model is called for suggestions"),
    (
        "systemPromptSnapshot",
        "a resumed session has the system prompt that it is resumed with; leave it out, or set it to false",
    ),
    ("toolAliases", "a call is one of the tool that the model names; describe the other tool in appendSystemPrompt"),
];

impl ServerMachine {
    /// Parses all of an `initialize` before any of it takes effect, and passes it to plugins and MCP servers.
    pub(super) fn greet(&mut self, id: &str, body: &JsonText) -> Result<RequestReply, RequestRefusal> {
        if self.jobs.greets() {
            return Err(RequestRefusal::new("an `initialize` is being carried out already"));
        }
        let initialize = Initialize::parse(body.clone())
            .map_err(|error| RequestRefusal::new(format!("initialize cannot be read: {error}")))?;
        refuse_unsupported(body)?;
        let settings = field::<BTreeMap<String, JsonText>>(body, "sdkMcpServerConfigs")?.unwrap_or_default();
        let servers = field::<JsonText>(body, "mcpServers")?;
        let plugins = sources(body, "plugins").map_err(RequestRefusal::new)?.filter(|plugins| !plugins.is_empty());
        let forwards_text = field::<bool>(body, "forwardSubagentText")? == Some(true);
        let hooks = HookTable::read(initialize.hooks.clone().unwrap_or_default()).map_err(RequestRefusal::new)?;
        let in_process = self.in_process_with(&initialize.sdk_mcp_servers, settings);
        let pending = Box::new(PendingInitialize { initialize, hooks, forwards_text });
        self.pass_to_conversation(Turn::Held);
        let job = ServerJob::Initialize(Initialization { plugins, servers, in_process });
        self.begin_job(id, HostJob::Initialize(pending), job)
    }

    /// Applies an `initialize` after plugins and servers have accepted it.
    pub(super) fn greeted(&mut self, id: &str, pending: PendingInitialize, done: &Initialized) {
        let PendingInitialize { initialize, hooks, forwards_text } = pending;
        let (is_repeated, has_hooks) = (self.initialize.is_some(), initialize.hooks.is_some());
        self.scene.hooks = hooks;
        self.show_scene();
        self.initialize = Some(initialize);
        let hooks_applied = !self.conversation.has_ended_session();
        if self.conversation.has_session() {
            self.emit_effect(ServerEffect::RenewHooks);
        }
        if forwards_text {
            self.mapper.forwards_text();
        }
        self.take_offer(done.offer.as_ref());
        if let Some(offer) = done.offer.as_ref().filter(|_| done.plugins.is_some()) {
            self.pass_to_conversation(Turn::Commands(offer.commands.clone()));
            self.list_commands();
        }
        let mut answer = json!({
            "commands": self.conversation.commands(),
            "agents": self.agents(),
            "output_style": self.mapper.output_style(),
            "available_output_styles": self.config.output_styles,
            "models": self.models(),
            "account": queries::account(&self.config.api_key_source),
            "pid": std::process::id(),
            "claude_code_version": HOST_VERSION,
            "current_permission_mode": self.scene.permission_mode.as_str(),
            "hook_on_failure_supported": true,
            "capabilities": CAPABILITIES,
        });
        let manifests = self.initialize.as_ref().and_then(manifests);
        if let Some(fields) = answer.as_object_mut() {
            fields.extend(manifests.map(|manifests| ("sdk_mcp_manifests_parked".to_owned(), manifests)));
            let applied_parts = [
                ("hooks_applied", has_hooks.then_some(hooks_applied)),
                ("mcp_servers_applied", done.servers),
                ("plugins_applied", done.plugins),
            ];
            for (name, value) in applied_parts {
                fields.extend(value.map(|value| (name.to_owned(), Value::Bool(value))));
            }
        }
        self.reply(id, Ok(Some(answer)));
        if is_repeated {
            // A host that initializes again gets a report of the background work.
            self.frames(|mapper, session, out| mapper.tasks_now(session, out));
        }
        self.pass_to_conversation(Turn::Released);
    }
}

/// Refuses options that would have no effect, each by its name.
fn refuse_unsupported(body: &JsonText) -> Result<(), RequestRefusal> {
    for (name, reason) in UNSUPPORTED {
        if field::<Value>(body, name)?.is_some_and(|value| requests_something(&value)) {
            return Err(RequestRefusal::coded(
                format!("the option {name} is not supported: {reason}"),
                "unsupported_option",
            ));
        }
    }
    Ok(())
}

/// `true` if the value of an option requests something.
fn requests_something(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        Value::Bool(true) | Value::Number(_) => true,
    }
}

/// Treatment of the tool lists in `initialize`: they are ignored, because in-process servers are queried for their
/// tools.
fn manifests(initialize: &Initialize) -> Option<Value> {
    let sent = field::<BTreeMap<String, JsonText>>(&initialize.body, "sdkMcpServerManifests").ok()??;
    let known_names = sent.keys().filter(|name| initialize.sdk_mcp_servers.contains(name));
    let treatments: Map<String, Value> = known_names.map(|name| (name.clone(), json!("not_honoured"))).collect();
    (!treatments.is_empty()).then_some(Value::Object(treatments))
}
