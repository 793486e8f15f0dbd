//! `initialize`: what the host brings along.

use super::answers::{CAPABILITIES, Refusal, Reply, field};
use super::io::{Initialization, Initialized, Job, Order, SessionOrder};
use super::tickets::{Asked, Greeting, Pending};
use super::{Machine, queries};
use crate::HOST_VERSION;
use crate::server::hooks::table::HookTable;
use crate::server::plugins::sources;
use crate::server::setup::Initialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use windlass_types::JsonText;

impl Machine {
    /// Reads all of an `initialize` before any of it counts, and passes it to plugins and MCP servers.
    pub(super) fn greet(&mut self, id: &str, body: &JsonText) -> Result<Reply, Refusal> {
        if self.tickets.greets() {
            return Err(Refusal::new("an `initialize` is being carried out already"));
        }
        let initialize = Initialize::parse(body.clone())
            .map_err(|error| Refusal::new(format!("initialize cannot be read: {error}")))?;
        let settings = field::<BTreeMap<String, JsonText>>(body, "sdkMcpServerConfigs")?.unwrap_or_default();
        let servers = field::<JsonText>(body, "mcpServers")?;
        let plugins = sources(body, "plugins").map_err(Refusal::new)?.filter(|plugins| !plugins.is_empty());
        let forwards_text = field::<bool>(body, "forwardSubagentText")? == Some(true);
        let hooks = HookTable::read(initialize.hooks.clone().unwrap_or_default()).map_err(Refusal::new)?;
        let in_process = self.in_process_with(&initialize.sdk_mcp_servers, settings);
        let greeting = Box::new(Greeting { initialize, hooks, forwards_text });
        let ticket = self.tickets.add(Pending::Request(id.to_owned(), Asked::Initialize(greeting)));
        self.order(Order::Begin(ticket, Job::Initialize(Initialization { plugins, servers, in_process })));
        Ok(Reply::Later)
    }

    /// Plugins and servers have taken it: now it counts.
    pub(super) fn greeted(&mut self, id: &str, greeting: Greeting, done: &Initialized) {
        let Greeting { initialize, hooks, forwards_text } = greeting;
        let (again, with_hooks) = (self.wishes.initialize.is_some(), initialize.hooks.is_some());
        self.session.scene.hooks = hooks;
        self.show_scene();
        self.wishes.initialize = Some(initialize);
        let applied = !self.session.is_over();
        self.order_session(SessionOrder::RenewHooks);
        if forwards_text {
            self.mapper.forwards_text();
        }
        self.take_offer(done.offer.as_ref());
        if let Some(offer) = done.offer.as_ref().filter(|_| done.plugins.is_some()) {
            self.turns.commands.relist(offer.commands.clone());
            self.list_commands();
        }
        let mut answer = json!({
            "commands": self.turns.commands.list(),
            "agents": self.agents(),
            "output_style": "default",
            "available_output_styles": ["default"],
            "models": self.models(),
            "account": queries::account(&self.config.api_key_source),
            "pid": std::process::id(),
            "claude_code_version": HOST_VERSION,
            "current_permission_mode": self.session.scene.permission_mode.as_str(),
            "hook_on_failure_supported": true,
            "capabilities": CAPABILITIES,
        });
        if let Some(fields) = answer.as_object_mut() {
            let more = [
                ("hooks_applied", with_hooks.then_some(applied)),
                ("mcp_servers_applied", done.servers),
                ("plugins_applied", done.plugins),
            ];
            for (name, value) in more {
                fields.extend(value.map(|value| (name.to_owned(), Value::Bool(value))));
            }
        }
        self.reply(id, Ok(Some(answer)));
        if again {
            // A host that initializes again gets a report of what runs in the background.
            self.frames(|mapper, session, out| mapper.tasks_now(session, out));
        }
        // What came meanwhile has waited.
        self.advance();
        self.offer_waiting();
    }
}
