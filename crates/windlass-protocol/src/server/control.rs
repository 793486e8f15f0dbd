//! Orders and questions of the host.

use super::core::Core;
use super::extras::Extras;
use super::frames::Lifecycle;
use super::joining::Order;
use super::mcp::Orders;
use super::outbox::Gone;
use super::plugins::sources;
use super::setup::Initialize;
use crate::HOST_VERSION;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use windlass_types::{JsonText, PermissionMode, Thinking};

/// Why an order is not carried out.
pub(crate) struct Refusal {
    error: String,
    code: Option<&'static str>,
}

impl Refusal {
    pub(crate) fn new(error: impl Into<String>) -> Self {
        Self { error: error.into(), code: None }
    }

    pub(crate) fn coded(error: impl Into<String>, code: &'static str) -> Self {
        Self { error: error.into(), code: Some(code) }
    }
}

/// What the host hears of an order: a JSON value, or nothing but that it worked.
pub(crate) type Answer = Result<Option<Value>, Refusal>;

pub(crate) fn field<T: for<'de> Deserialize<'de>>(body: &JsonText, name: &str) -> Result<Option<T>, Refusal> {
    let fields: BTreeMap<String, JsonText> = body.to().map_err(|error| Refusal::new(error.to_string()))?;
    match fields.get(name).filter(|value| value.as_str() != "null") {
        None => Ok(None),
        Some(value) => value.to().map(Some).map_err(|error| Refusal::new(format!("`{name}` cannot be read: {error}"))),
    }
}

/// Whether a field was given, be it null.
fn has_field(body: &JsonText, name: &str) -> Result<bool, Refusal> {
    let fields: BTreeMap<String, JsonText> = body.to().map_err(|error| Refusal::new(error.to_string()))?;
    Ok(fields.contains_key(name))
}

/// What this side does of what later versions of the protocol added.
pub(crate) const CAPABILITIES: [&str; 2] = ["interrupt_receipt_v1", "interrupt_cancel_queued_v1"];

/// The refusal of what cannot be ordered.
pub(crate) fn unsupported(subtype: &str) -> Refusal {
    Refusal::coded(format!("Unsupported control request subtype: {subtype}"), "unsupported_request")
}

impl Core {
    /// Carries out an order and answers it.
    pub(crate) async fn request(&self, id: &str, subtype: &str, body: &JsonText) -> Result<(), Gone> {
        let answer = match subtype {
            "initialize" => return self.greet(id, body).await,
            "interrupt" => return self.interrupt(id, body).await,
            "set_permission_mode" => return self.set_permission_mode(id, body).await,
            "set_model" => self.set_model(body),
            "set_max_thinking_tokens" => self.set_thinking(body),
            "mcp_status" => Ok(Some(self.mcp_status())),
            // They may wait for the host's own answers, so nothing waits for them.
            subtype if Orders::concerns(subtype) => match self.mcp.begin(id, subtype, body) {
                Ok(()) => return Ok(()),
                Err(refusal) => Err(refusal),
            },
            "get_context_usage" => Ok(Some(self.context().json())),
            "get_session_cost" => Ok(Some(self.session_cost())),
            "get_usage" => Ok(Some(self.usage())),
            "get_binary_version" => Ok(Some(self.binary_version())),
            "list_models" => Ok(Some(json!({ "models": self.models() }))),
            "get_hooks_listing" => Ok(Some(self.hooks.listing())),
            "get_settings" => self.described(subtype, |extras| extras.settings.clone()),
            "rename_session" => self.rename(subtype, body).await,
            "apply_flag_settings" => self.apply_flag_settings(body),
            // Everything is written as it comes, whoever watches.
            "set_has_subscribers" => Ok(Some(json!({}))),
            "end_session" => {
                self.succeed(id, Some(&JsonText::empty_object())).await?;
                self.done.notify_one();
                return Ok(());
            }
            "reload_plugins" => self.reload_plugins(body),
            "cancel_async_message" => return self.cancel_message(id, body).await,
            "stop_task" => self.stop_task(body),
            "get_task_output" => self.task_output(body).await,
            // A call that has begun stays where it is.
            "background_tasks" => Ok(Some(json!({ "backgrounded": false }))),
            "rewind_files" => match self.rewind(id, body) {
                Ok(()) => return Ok(()),
                Err(refusal) => Err(refusal),
            },
            other => Err(unsupported(other)),
        };
        self.reply(id, answer).await
    }

    pub(crate) async fn reply(&self, id: &str, answer: Answer) -> Result<(), Gone> {
        match answer {
            Ok(None) => self.succeed(id, None).await,
            Ok(Some(value)) => match JsonText::of(&value) {
                Ok(json) => self.succeed(id, Some(&json)).await,
                Err(error) => self.fail(id, &error.to_string(), None).await,
            },
            Err(Refusal { error, code }) => self.fail(id, &error, code).await,
        }
    }

    pub(crate) fn initialize(&self, body: &JsonText) -> Answer {
        let initialize = Initialize::parse(body.clone())
            .map_err(|error| Refusal::new(format!("initialize cannot be read: {error}")))?;
        let with_hooks = initialize.hooks.is_some();
        // All of it can be read before any of it counts.
        let settings = field::<BTreeMap<String, JsonText>>(body, "sdkMcpServerConfigs")?.unwrap_or_default();
        let servers = field::<JsonText>(body, "mcpServers")?;
        let plugins = sources(body, "plugins")?;
        let forwards_text = field::<bool>(body, "forwardSubagentText")? == Some(true);
        self.hooks.register(initialize.hooks.clone().unwrap_or_default()).map_err(Refusal::new)?;
        let plugins = plugins.filter(|plugins| !plugins.is_empty()).map(|plugins| self.launch_plugins(&plugins));
        // Servers of the host count for more than those that files define, which begin with the announcement.
        let servers = servers.map(|servers| self.mcp.configure(&servers));
        self.mcp.announce(&initialize.sdk_mcp_servers, settings);
        let applied = {
            let mut state = self.lock();
            state.initialize = Some(initialize);
            state.session.as_ref().is_none_or(|live| live.handle.renew_hooks().is_ok())
        };
        if forwards_text {
            self.frames(|mapper, _| mapper.forwards_text());
        }
        let mut answer = json!({
            "commands": self.commands().list(),
            "agents": self.agents(),
            "output_style": "default",
            "available_output_styles": ["default"],
            "models": self.models(),
            "account": self.account(),
            "pid": std::process::id(),
            "claude_code_version": HOST_VERSION,
            "current_permission_mode": self.scene.permission_mode().as_str(),
            "hook_on_failure_supported": true,
            "capabilities": CAPABILITIES,
        });
        if let (true, Some(fields)) = (with_hooks, answer.as_object_mut()) {
            fields.insert("hooks_applied".to_owned(), Value::Bool(applied));
        }
        if let (Some(taken), Some(fields)) = (servers, answer.as_object_mut()) {
            fields.insert("mcp_servers_applied".to_owned(), Value::Bool(taken));
        }
        if let (Some(applied), Some(fields)) = (plugins, answer.as_object_mut()) {
            fields.insert("plugins_applied".to_owned(), Value::Bool(applied));
        }
        Ok(Some(answer))
    }

    /// Stops the run. What waits behind it stays, unless the host says otherwise.
    async fn interrupt(&self, id: &str, body: &JsonText) -> Result<(), Gone> {
        let cancels = match field::<bool>(body, "cancel_queued") {
            Ok(cancels) => cancels == Some(true),
            Err(refusal) => return self.reply(id, Err(refusal)).await,
        };
        let cancelled = if cancels { self.forget(None).await? } else { Vec::new() };
        let answers = self.take_back(id, None, Order::Interrupt { cancels }, cancelled);
        self.stop_run();
        self.give_receipts(answers).await
    }

    /// Takes a message back that waits for its turn.
    async fn cancel_message(&self, id: &str, body: &JsonText) -> Result<(), Gone> {
        let uuid = match field::<String>(body, "message_uuid") {
            Ok(Some(uuid)) => uuid,
            Ok(None) => return self.reply(id, Ok(Some(json!({ "cancelled": false })))).await,
            Err(refusal) => return self.reply(id, Err(refusal)).await,
        };
        let done = !self.forget(Some(&uuid)).await?.is_empty();
        let answers = self.take_back(id, Some(&uuid), Order::Cancel { done }, Vec::new());
        self.give_receipts(answers).await
    }

    /// Forgets messages that wait, all of them or the one with an id. Returns their ids.
    async fn forget(&self, id: Option<&str>) -> Result<Vec<String>, Gone> {
        let gone = self.lock().queue.forget(id);
        for id in &gone {
            self.say_lifecycle(Some(id), Lifecycle::Cancelled).await?;
        }
        self.settled.notify_one();
        Ok(gone)
    }

    /// Stops the run that goes on, if one does.
    pub(crate) fn stop_run(&self) {
        {
            let mut state = self.lock();
            // What is no run yet is stopped as soon as it is one.
            state.stopped |= state.busy;
            if !state.running && !state.woken {
                return;
            }
            state.stopping = true;
        }
        // The host hears that nobody waits for its answers before it hears that the run is stopped.
        self.requests.withdraw(|asker| self.told.stops_with_the_run(asker));
        if let Some(handle) = self.handle() {
            // It fails only when the session is closed, and then nothing runs.
            let _ = handle.interrupt();
        }
    }

    async fn set_permission_mode(&self, id: &str, body: &JsonText) -> Result<(), Gone> {
        let mode = match self.permission_mode(body) {
            Ok(mode) => mode,
            Err(refusal) => return self.reply(id, Err(refusal)).await,
        };
        let tell = {
            let mut state = self.lock();
            state.permission_mode = Some(mode);
            state.mode_awaited = Some(mode);
            if let Some(live) = &state.session {
                let _ = live.handle.set_permission_mode(mode);
            }
            // A run tells it as one of its events.
            !state.running
        };
        self.scene.set_permission_mode(mode);
        self.reply(id, Ok(Some(json!({ "mode": mode.as_str() })))).await?;
        if tell { self.say_mode(mode).await } else { Ok(()) }
    }

    fn permission_mode(&self, body: &JsonText) -> Result<PermissionMode, Refusal> {
        let mode = field::<String>(body, "mode")?.unwrap_or_default();
        let mode = mode.parse::<PermissionMode>().map_err(|error| Refusal::coded(error, "invalid_mode"))?;
        if mode == PermissionMode::BypassPermissions && !self.options.bypass_allowed {
            return Err(Refusal::coded(
                "the mode bypassPermissions needs --allow-dangerously-skip-permissions at the start, and settings that do \
                 not disable it",
                "bypass_not_launched",
            ));
        }
        Ok(mode)
    }

    fn set_model(&self, body: &JsonText) -> Answer {
        let name = field::<String>(body, "model")?.filter(|name| name != "default");
        self.use_model(name.clone());
        Ok(Some(json!({ "model": name })))
    }

    /// Calls this model from the next request on.
    pub(crate) fn use_model(&self, name: Option<String>) {
        let mut state = self.lock();
        if let Some(live) = &state.session {
            let _ = live.handle.set_model((live.models)(name.as_deref()));
        }
        state.model = Some(name);
    }

    fn set_thinking(&self, body: &JsonText) -> Answer {
        const NAME: &str = "max_thinking_tokens";
        let thinking = field::<u32>(body, NAME)?.map(|tokens| match tokens {
            0 => Thinking::Off,
            tokens => Thinking::Budget(tokens),
        });
        if thinking.is_none() && !has_field(body, NAME)? {
            // Only how it is displayed was to change.
            return Ok(None);
        }
        let mut state = self.lock();
        if let Some(live) = &state.session {
            let _ = live.handle.set_thinking(thinking.unwrap_or(live.extras.thinking));
        }
        state.thinking = Some(thinking);
        Ok(None)
    }

    /// The in-process MCP servers that `initialize` named.
    pub(crate) fn in_process_servers(&self) -> Vec<String> {
        let state = self.lock();
        state.initialize.as_ref().map(|initialize| initialize.sdk_mcp_servers.clone()).unwrap_or_default()
    }

    pub(crate) fn mcp_status(&self) -> Value {
        self.mcp.status(&self.in_process_servers())
    }

    /// What the session said of itself when it was opened.
    fn described(&self, subtype: &str, what: impl FnOnce(&Extras) -> Option<JsonText>) -> Answer {
        let state = self.lock();
        let Some(live) = &state.session else {
            return Err(Refusal::new("The session is not open yet: it is opened by the first message."));
        };
        let said = what(&live.extras).ok_or_else(|| unsupported(subtype))?;
        said.to().map(Some).map_err(|error| Refusal::new(error.to_string()))
    }

    /// Names the session.
    async fn rename(&self, subtype: &str, body: &JsonText) -> Answer {
        let (title, wanted) = (field::<String>(body, "title")?, field::<String>(body, "session_id")?);
        let title = title.map(|title| title.trim().to_owned()).filter(|title| !title.is_empty());
        let title = title.ok_or_else(|| Refusal::new("`title` is missing or empty"))?;
        let (session_id, rename) = {
            let state = self.lock();
            let rename = state.session.as_ref().map(|live| live.extras.rename.clone());
            (state.session_id.clone(), rename)
        };
        if let Some(wanted) = wanted.filter(|wanted| *wanted != session_id) {
            return Err(Refusal::new(format!("The session {wanted} is not the one that is open ({session_id}).")));
        }
        let rename =
            rename.ok_or_else(|| Refusal::new("The session is not open yet: it is opened by the first message."))?;
        let rename = rename.ok_or_else(|| unsupported(subtype))?;
        let renamed = rename(title.clone()).await;
        renamed.map_err(|error| Refusal::new(format!("The session could not be renamed: {error}")))?;
        // It fails only when nobody reads, and then nobody reads the answer either.
        let _ = self.say_title(&title).await;
        Ok(Some(json!({})))
    }

    /// Takes variables that replace those of the environment.
    pub(crate) fn renew_environment(&self, variables: BTreeMap<String, String>) {
        let mut state = self.lock();
        if let Some(take) = state.session.as_ref().and_then(|live| live.extras.environment.as_ref()) {
            take(&variables);
        }
        state.environment.extend(variables);
    }
}
