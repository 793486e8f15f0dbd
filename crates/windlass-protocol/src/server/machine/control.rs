//! Control requests of the host.

use super::ServerMachine;
use super::answers::{RequestRefusal, RequestReply, field, has_field, not_open, unsupported};
use super::io::{JobNumber, ServerEffect, ServerJob, ServerJobOutcome};
use super::jobs::HostJob;
use serde_json::{Value, json};
use windlass_conversation::{Input as Turn, Request};
use windlass_types::{JsonText, PermissionMode, Thinking};

impl ServerMachine {
    /// Carries out a request, and answers it exactly once.
    pub(super) fn request(&mut self, id: &str, subtype: &str, body: &JsonText) {
        match self.carry_out(id, subtype, body) {
            Ok(RequestReply::Now(value)) => self.reply(id, Ok(value)),
            Ok(RequestReply::Later) => {}
            Err(refusal) => self.reply(id, Err(refusal)),
        }
        if subtype == "end_session" {
            // Handled as if the input had ended here.
            self.end_input();
        }
    }

    fn carry_out(&mut self, id: &str, subtype: &str, body: &JsonText) -> Result<RequestReply, RequestRefusal> {
        match subtype {
            "initialize" => self.greet(id, body),
            "interrupt" => self.interrupt(id, body),
            "set_permission_mode" => self.set_permission_mode(id, body),
            "set_model" => self.set_model(id, body),
            "set_max_thinking_tokens" => self.set_thinking(id, body),
            "mcp_status" => self.begin_job(id, HostJob::McpStatus, ServerJob::McpStatus),
            "mcp_reconnect"
            | "mcp_toggle"
            | "mcp_set_servers"
            | "mcp_call"
            | "mcp_read_resource"
            | "mcp_message"
            | "mcp_authenticate"
            | "mcp_oauth_callback_url"
            | "mcp_clear_auth" => self.order_mcp(id, subtype, body),
            "get_context_usage" => self.ask_conversation(id, subtype, None, Request::Context),
            "get_session_cost" => RequestReply::value(self.session_cost()),
            "get_usage" => RequestReply::value(self.usage()),
            "get_binary_version" => RequestReply::value(super::queries::binary_version()),
            "list_models" => RequestReply::value(json!({ "models": self.models() })),
            "get_hooks_listing" => RequestReply::value(self.scene.hooks.listing()),
            "get_settings" => self.settings(subtype),
            "rename_session" => self.rename(id, subtype, body),
            "apply_flag_settings" => self.apply_flag_settings(id, body),
            // Frames are written with or without subscribers.
            "set_has_subscribers" | "end_session" => RequestReply::value(json!({})),
            "reload_plugins" => self.reload_plugins(id, body),
            "cancel_async_message" => self.cancel_message(id, body),
            "stop_task" => self.stop_task(id, body),
            "get_task_output" => self.task_output(id, body),
            "background_tasks" => self.move_to_background(id, body),
            "rewind_files" | "windlass_rewind_conversation" => self.rewind(id, subtype, body),
            other => Err(unsupported(other)),
        }
    }

    /// Passes the request to the conversation, which answers. `value` is that of an answer without content.
    pub(super) fn ask_conversation(
        &mut self,
        id: &str,
        subtype: &str,
        value: Option<Value>,
        request: Request,
    ) -> Result<RequestReply, RequestRefusal> {
        self.requests.insert(id.to_owned(), (subtype.to_owned(), value));
        self.pass_to_conversation(Turn::Request(id.to_owned(), request));
        Ok(RequestReply::Later)
    }

    /// Begins the job of a request, which is answered with the outcome.
    pub(super) fn begin_job(
        &mut self,
        id: &str,
        requested: HostJob,
        job: ServerJob,
    ) -> Result<RequestReply, RequestRefusal> {
        let ticket = self.jobs.add(id, requested);
        self.emit_effect(ServerEffect::Begin(ticket, job));
        Ok(RequestReply::Later)
    }

    /// Handles the outcome of a job.
    pub(super) fn done(&mut self, ticket: JobNumber, outcome: ServerJobOutcome) {
        // An unknown job was answered when all sessions were closed.
        let Some((id, requested)) = self.jobs.take(ticket) else { return };
        let holds_conversation = matches!(requested, HostJob::Initialize(_) | HostJob::Reload { .. });
        let answer = match (requested, outcome) {
            (HostJob::Initialize(greeting), ServerJobOutcome::Initialized(done)) => {
                return self.greeted(&id, *greeting, &done);
            }
            (HostJob::Reload { hold }, ServerJobOutcome::Reloaded(reloaded)) => {
                return self.reloaded(&id, hold, reloaded);
            }
            (HostJob::Mcp, ServerJobOutcome::Mcp(done)) => done.map(Some).map_err(RequestRefusal::new),
            (HostJob::McpStatus, ServerJobOutcome::McpStatus(known)) => Ok(Some(self.mcp_status(&known))),
            (_, ServerJobOutcome::Failed(error)) => Err(RequestRefusal::new(error)),
            (requested, outcome) => {
                tracing::error!(?requested, ?outcome, "the outcome is that of another job");
                Err(RequestRefusal::new("carrying out the order failed"))
            }
        };
        self.reply(&id, answer);
        if holds_conversation {
            self.pass_to_conversation(Turn::Released);
        }
    }

    fn interrupt(&mut self, id: &str, body: &JsonText) -> Result<RequestReply, RequestRefusal> {
        let cancels_queued = field::<bool>(body, "cancel_queued")? == Some(true);
        self.ask_conversation(id, "interrupt", None, Request::Interrupt { cancels_queued })
    }

    fn cancel_message(&mut self, id: &str, body: &JsonText) -> Result<RequestReply, RequestRefusal> {
        match field::<String>(body, "message_uuid")? {
            Some(uuid) => self.ask_conversation(id, "cancel_async_message", None, Request::TakeBack(uuid)),
            None => RequestReply::value(json!({ "cancelled": false })),
        }
    }

    fn set_permission_mode(&mut self, id: &str, body: &JsonText) -> Result<RequestReply, RequestRefusal> {
        let mode = field::<String>(body, "mode")?.unwrap_or_default();
        let mode = mode.parse::<PermissionMode>().map_err(|error| RequestRefusal::coded(error, "invalid_mode"))?;
        self.ask_conversation(id, "set_permission_mode", None, Request::PermissionMode(mode))
    }

    fn set_model(&mut self, id: &str, body: &JsonText) -> Result<RequestReply, RequestRefusal> {
        let name = field::<String>(body, "model")?.filter(|name| name != "default");
        let answer = json!({ "model": name });
        self.ask_conversation(id, "set_model", Some(answer), Request::Model(name))
    }

    fn set_thinking(&mut self, id: &str, body: &JsonText) -> Result<RequestReply, RequestRefusal> {
        const NAME: &str = "max_thinking_tokens";
        let thinking = field::<u32>(body, NAME)?.map(|tokens| match tokens {
            0 => Thinking::Off,
            tokens => Thinking::Budget(tokens),
        });
        if thinking.is_none() && !has_field(body, NAME)? {
            // Only the display of thinking was to change.
            return Ok(RequestReply::Now(None));
        }
        self.ask_conversation(id, "set_max_thinking_tokens", None, Request::Thinking(thinking))
    }

    /// Settings of the session, as reported when it was opened.
    fn settings(&self, subtype: &str) -> Result<RequestReply, RequestRefusal> {
        if !self.conversation.has_session() {
            return Err(not_open());
        }
        let settings = self.settings.as_ref().ok_or_else(|| unsupported(subtype))?;
        settings
            .to()
            .map(|settings| RequestReply::Now(Some(settings)))
            .map_err(|error| RequestRefusal::new(error.to_string()))
    }

    /// Sets the title of the session.
    fn rename(&mut self, id: &str, subtype: &str, body: &JsonText) -> Result<RequestReply, RequestRefusal> {
        let (title, requested_id) = (field::<String>(body, "title")?, field::<String>(body, "session_id")?);
        let title = title.map(|title| title.trim().to_owned()).filter(|title| !title.is_empty());
        let title = title.ok_or_else(|| RequestRefusal::new("`title` is missing or empty"))?;
        let current_id = &self.session_id;
        if let Some(requested_id) = requested_id.filter(|requested_id| requested_id != current_id) {
            return Err(RequestRefusal::new(format!(
                "The session {requested_id} is not the one that is open ({current_id})."
            )));
        }
        self.ask_conversation(id, subtype, Some(json!({})), Request::Rename(title))
    }
}
