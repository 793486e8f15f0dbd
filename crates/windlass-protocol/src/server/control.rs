//! Orders and questions of the host.

use super::core::Core;
use super::outbox::Gone;
use super::setup::Initialize;
use crate::HOST_VERSION;
use serde::Deserialize;
use serde_json::{Value, json};
use windlass_types::{JsonText, PermissionMode, Thinking};

/// Why an order is not carried out.
struct Refusal {
    error: String,
    code: Option<&'static str>,
}

impl Refusal {
    fn new(error: impl Into<String>) -> Self {
        Self { error: error.into(), code: None }
    }

    fn coded(error: impl Into<String>, code: &'static str) -> Self {
        Self { error: error.into(), code: Some(code) }
    }
}

/// What the host hears of an order: a JSON value, or nothing but that it worked.
type Answer = Result<Option<Value>, Refusal>;

fn field<T: for<'de> Deserialize<'de>>(body: &JsonText, name: &str) -> Result<Option<T>, Refusal> {
    let fields: std::collections::BTreeMap<String, JsonText> =
        body.to().map_err(|error| Refusal::new(error.to_string()))?;
    match fields.get(name).filter(|value| value.as_str() != "null") {
        None => Ok(None),
        Some(value) => value.to().map(Some).map_err(|error| Refusal::new(format!("`{name}` cannot be read: {error}"))),
    }
}

impl Core {
    /// Carries out an order and answers it.
    pub(crate) async fn request(&self, id: &str, subtype: &str, body: &JsonText) -> Result<(), Gone> {
        let answer = match subtype {
            "initialize" => self.initialize(body),
            "interrupt" => self.interrupt(body),
            "set_permission_mode" => return self.set_permission_mode(id, body).await,
            "set_model" => self.set_model(body),
            "set_max_thinking_tokens" => self.set_thinking(body),
            "mcp_status" => Ok(Some(json!({ "mcpServers": self.mcp_servers() }))),
            "mcp_reconnect" | "mcp_toggle" => field::<String>(body, "serverName")
                .and_then(|name| Err(Refusal::new(format!("Server not found: {}", name.unwrap_or_default())))),
            "get_context_usage" => Ok(Some(self.context_usage())),
            "cancel_async_message" => field::<String>(body, "message_uuid").map(|id| {
                let cancelled = id.is_some_and(|id| !self.forget_waiting(Some(&id)).is_empty());
                Some(json!({ "cancelled": cancelled }))
            }),
            // There are no background tasks that could be stopped.
            "stop_task" => Ok(Some(json!({}))),
            "rewind_files" => Err(Refusal::new("File checkpointing is not enabled, so no files can be rewound.")),
            other => {
                let error = format!("Unsupported control request subtype: {other}");
                Err(Refusal::coded(error, "unsupported_request"))
            }
        };
        self.reply(id, answer).await
    }

    async fn reply(&self, id: &str, answer: Answer) -> Result<(), Gone> {
        match answer {
            Ok(None) => self.succeed(id, None).await,
            Ok(Some(value)) => match JsonText::of(&value) {
                Ok(json) => self.succeed(id, Some(&json)).await,
                Err(error) => self.fail(id, &error.to_string(), None).await,
            },
            Err(Refusal { error, code }) => self.fail(id, &error, code).await,
        }
    }

    fn initialize(&self, body: &JsonText) -> Answer {
        let initialize = Initialize::parse(body.clone())
            .map_err(|error| Refusal::new(format!("initialize cannot be read: {error}")))?;
        let with_hooks = initialize.hooks.is_some();
        self.hooks.register(initialize.hooks.clone().unwrap_or_default()).map_err(Refusal::new)?;
        let applied = {
            let mut state = self.lock();
            state.initialize = Some(initialize);
            // A session that is open listens to what it was opened with.
            state.session.as_ref().is_none_or(|live| self.hooks.covered_by(&live.interests))
        };
        let models = self
            .options
            .models
            .iter()
            .map(|(name, description)| json!({ "value": name, "displayName": name, "description": description }));
        let mut answer = json!({
            "commands": [],
            "agents": [],
            "output_style": "default",
            "available_output_styles": ["default"],
            "models": models.collect::<Vec<_>>(),
            "account": {},
            "pid": std::process::id(),
            "claude_code_version": HOST_VERSION,
            "current_permission_mode": self.scene.permission_mode().as_str(),
            "hook_on_failure_supported": true,
        });
        if let (true, Some(fields)) = (with_hooks, answer.as_object_mut()) {
            fields.insert("hooks_applied".to_owned(), Value::Bool(applied));
        }
        Ok(Some(answer))
    }

    /// Stops the run. What waits behind it stays, unless the host says otherwise.
    fn interrupt(&self, body: &JsonText) -> Answer {
        let cancelled = match field::<bool>(body, "cancel_queued")? {
            Some(true) => Some(self.forget_waiting(None)),
            _ => None,
        };
        self.stop_run();
        let mut answer = json!({ "still_queued": self.waiting_ids() });
        if let (Some(cancelled), Some(fields)) = (cancelled, answer.as_object_mut()) {
            fields.insert("cancelled".to_owned(), json!(cancelled));
        }
        Ok(Some(answer))
    }

    /// Stops the run that goes on, if one does.
    pub(crate) fn stop_run(&self) {
        if !self.lock().running {
            return;
        }
        // The host hears that nobody waits for its answers before it hears that the run is stopped.
        self.requests.withdraw_all();
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
                "the mode bypassPermissions needs --allow-dangerously-skip-permissions at the start",
                "bypass_not_launched",
            ));
        }
        Ok(mode)
    }

    fn set_model(&self, body: &JsonText) -> Answer {
        let name = field::<String>(body, "model")?.filter(|name| name != "default");
        let mut state = self.lock();
        if let Some(live) = &state.session {
            let _ = live.handle.set_model((live.models)(name.as_deref()));
        }
        state.model = Some(name.clone());
        Ok(Some(json!({ "model": name })))
    }

    fn set_thinking(&self, body: &JsonText) -> Answer {
        let thinking = field::<u32>(body, "max_thinking_tokens")?.map(|tokens| match tokens {
            0 => Thinking::Off,
            tokens => Thinking::Budget(tokens),
        });
        let mut state = self.lock();
        if let Some(live) = &state.session {
            let _ = live.handle.set_thinking(thinking.unwrap_or_default());
        }
        state.thinking = Some(thinking);
        Ok(None)
    }

    /// The servers that were asked for. None is connected, and the host should see that.
    fn mcp_servers(&self) -> Vec<Value> {
        let state = self.lock();
        let in_process = state.initialize.iter().flat_map(|initialize| &initialize.sdk_mcp_servers);
        let names: std::collections::BTreeSet<&String> = self.options.mcp_servers.iter().chain(in_process).collect();
        let error = "MCP servers are not supported by this version";
        names.into_iter().map(|name| json!({ "name": name, "status": "failed", "error": error })).collect()
    }

    /// What the conversation takes up, as the last model call was billed.
    fn context_usage(&self) -> Value {
        let state = self.lock();
        let profile = state.session.as_ref().map(|live| {
            let name = state.model.clone().flatten();
            (live.models)(name.as_deref())
        });
        let (model, window) = profile.map_or((String::new(), 0), |model| (model.id, model.info.context_window));
        let used = state.context_tokens;
        let percentage = if window == 0 { 0.0 } else { (used as f64 / window as f64 * 100.0).round() };
        json!({
            "categories": [
                { "id": "messages", "name": "Conversation", "tokens": used, "color": "", "kind": "used" },
                { "id": "free", "name": "Free", "tokens": window.saturating_sub(used), "color": "", "kind": "free" },
            ],
            "totalTokens": used,
            "maxTokens": window,
            "rawMaxTokens": window,
            "percentage": percentage,
            "gridRows": [],
            "model": model,
            "memoryFiles": [],
            "mcpTools": [],
            "agents": [],
            "isAutoCompactEnabled": false,
            "apiUsage": null,
        })
    }
}
