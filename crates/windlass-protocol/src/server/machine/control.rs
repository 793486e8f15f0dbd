//! Orders and questions of the host.

use super::Machine;
use super::answers::{Refusal, Reply, field, has_field, not_open, unsupported};
use super::io::{Job, Order, Outcome, SessionOrder, Ticket};
use super::receipts::TakeBack;
use super::tickets::{Asked, Pending};
use super::turns::Work;
use crate::server::commands::Builtin;
use crate::server::frames::Lifecycle;
use serde_json::json;
use windlass_types::{JsonText, PermissionMode, Thinking};

impl Machine {
    /// Carries out an order, and answers it exactly once.
    pub(super) fn request(&mut self, id: &str, subtype: &str, body: &JsonText) {
        match self.carry_out(id, subtype, body) {
            Ok(Reply::Now(value)) => self.reply(id, Ok(value)),
            Ok(Reply::Later) => {}
            Err(refusal) => self.reply(id, Err(refusal)),
        }
        self.after(subtype, body);
    }

    fn carry_out(&mut self, id: &str, subtype: &str, body: &JsonText) -> Result<Reply, Refusal> {
        match subtype {
            "initialize" => self.greet(id, body),
            "interrupt" => self.interrupt(id, body),
            "set_permission_mode" => self.set_permission_mode(id, body),
            "set_model" => self.set_model(body),
            "set_max_thinking_tokens" => self.set_thinking(body),
            "mcp_status" => self.begin_job(id, Asked::McpStatus, Job::McpStatus),
            "mcp_reconnect"
            | "mcp_toggle"
            | "mcp_set_servers"
            | "mcp_call"
            | "mcp_read_resource"
            | "mcp_message"
            | "mcp_authenticate"
            | "mcp_oauth_callback_url"
            | "mcp_clear_auth" => self.order_mcp(id, subtype, body),
            "get_context_usage" => self.begin_job(id, Asked::Context, Job::Context),
            "get_session_cost" => Reply::value(self.session_cost()),
            "get_usage" => Reply::value(self.usage()),
            "get_binary_version" => Reply::value(super::queries::binary_version()),
            "list_models" => Reply::value(json!({ "models": self.models() })),
            "get_hooks_listing" => Reply::value(self.session.scene.hooks.listing()),
            "get_settings" => self.settings(subtype),
            "rename_session" => self.rename(id, subtype, body),
            "apply_flag_settings" => self.apply_flag_settings(body),
            // All frames are written as they come, whether they are watched or not.
            "set_has_subscribers" | "end_session" => Reply::value(json!({})),
            "reload_plugins" => self.reload_plugins(id, body),
            "cancel_async_message" => self.cancel_message(id, body),
            "stop_task" => self.stop_task(body),
            "get_task_output" => self.task_output(id, body),
            "background_tasks" => self.move_to_background(id, body),
            "rewind_files" | "windlass_rewind_conversation" => self.rewind(id, subtype, body),
            other => Err(unsupported(other)),
        }
    }

    /// What follows behind the answer.
    fn after(&mut self, subtype: &str, body: &JsonText) {
        match subtype {
            // As if the input had ended here.
            "end_session" => self.hung_up(),
            // An open session is asked first.
            "set_permission_mode" if !self.session.is_open() || self.session.is_over() => {
                if let Ok(mode) = self.permission_mode(body) {
                    self.say_mode(mode);
                }
            }
            "rewind_files" | "windlass_rewind_conversation" => self.advance(),
            _ => {}
        }
    }

    /// Begins what a request asks for; it is answered with the outcome.
    pub(super) fn begin_job(&mut self, id: &str, asked: Asked, job: Job) -> Result<Reply, Refusal> {
        let ticket = self.tickets.add(Pending::Request(id.to_owned(), asked));
        self.order(Order::Begin(ticket, job));
        Ok(Reply::Later)
    }

    /// A job is done.
    pub(super) fn done(&mut self, ticket: Ticket, outcome: Outcome) {
        match (self.tickets.take(ticket), outcome) {
            (Some(Pending::Turn), Outcome::Context(usage)) => {
                if let Some(Work::Context { turn }) = self.turns.work.take() {
                    let text = self.context(usage.as_deref()).text();
                    self.local_result(Builtin::Context.name().to_owned(), text, turn.uuid);
                }
            }
            (Some(Pending::Title(title)), Outcome::Renamed(done)) => self.titled(&title, done),
            (Some(Pending::Request(id, asked)), outcome) => self.answer_with(ticket, id, asked, outcome),
            // It was answered when all sessions were closed.
            (Some(Pending::Turn | Pending::Title(_)) | None, _) => {}
        }
    }

    /// Gives a new session the title that it was opened with.
    pub(super) fn give_title(&mut self) {
        if let Some(title) = self.session.facts.as_mut().and_then(|facts| facts.title.take()) {
            let ticket = self.tickets.add(Pending::Title(title.clone()));
            self.order(Order::Begin(ticket, Job::Rename(title)));
        }
    }

    fn titled(&mut self, title: &str, done: Result<(), String>) {
        match done {
            Ok(()) => self.say_title(title),
            Err(error) => {
                let warning = format!("The session did not get its title {title:?}: {error}");
                self.frames(|mapper, session, out| mapper.warn(session, &warning, out));
            }
        }
    }

    fn answer_with(&mut self, ticket: Ticket, id: String, asked: Asked, outcome: Outcome) {
        let answer = match (asked, outcome) {
            (Asked::Initialize(greeting), Outcome::Initialized(done)) => return self.greeted(&id, *greeting, &done),
            (Asked::Reload { hold }, Outcome::Reloaded(reloaded)) => return self.reloaded(&id, hold, reloaded),
            (Asked::Rewind(rewind), Outcome::Rewound(outcome)) => return self.rewound(ticket, id, rewind, outcome),
            (Asked::Mode(wanted), Outcome::PermissionMode(mode)) => return self.mode_set(&id, wanted, mode),
            (Asked::Mcp, Outcome::Mcp(done)) => done.map(Some).map_err(Refusal::new),
            (Asked::McpStatus, Outcome::McpStatus(known)) => Ok(Some(self.mcp_status(&known))),
            (Asked::Context, Outcome::Context(usage)) => Ok(Some(self.context(usage.as_deref()).json())),
            (Asked::Moved, Outcome::Moved(moved)) => Ok(Some(json!({ "backgrounded": moved }))),
            (Asked::Tail, Outcome::Tail(output, total)) => Ok(Some(super::tasks::output(&output, total))),
            (Asked::Rename { title }, Outcome::Renamed(done)) => match done {
                Ok(()) => {
                    self.say_title(&title);
                    Ok(Some(json!({})))
                }
                Err(error) => Err(Refusal::new(format!("The session could not be renamed: {error}"))),
            },
            (_, Outcome::Failed(error)) => Err(Refusal::new(error)),
            (asked, outcome) => {
                tracing::error!(?asked, ?outcome, "the outcome is that of another job");
                Err(Refusal::new("carrying out the order failed"))
            }
        };
        self.reply(&id, answer);
    }

    /// Stops the run. What waits behind it stays, unless the host asks for more.
    fn interrupt(&mut self, id: &str, body: &JsonText) -> Result<Reply, Refusal> {
        let cancels = field::<bool>(body, "cancel_queued")? == Some(true);
        let cancelled = if cancels { self.forget(None) } else { Vec::new() };
        self.take_back(id, None, TakeBack::Interrupt { cancels }, cancelled);
        self.stop_run();
        self.give_receipts();
        Ok(Reply::Later)
    }

    /// Takes a message back that waits for its turn.
    fn cancel_message(&mut self, id: &str, body: &JsonText) -> Result<Reply, Refusal> {
        let Some(uuid) = field::<String>(body, "message_uuid")? else {
            return Reply::value(json!({ "cancelled": false }));
        };
        let done = !self.forget(Some(&uuid)).is_empty();
        self.take_back(id, Some(&uuid), TakeBack::One { done }, Vec::new());
        self.give_receipts();
        Ok(Reply::Later)
    }

    /// Forgets messages that wait, all of them or the one with an id. Returns their ids.
    fn forget(&mut self, id: Option<&str>) -> Vec<String> {
        let gone = self.turns.queue.forget(id);
        for id in &gone {
            self.say_lifecycle(Some(id), Lifecycle::Cancelled);
        }
        gone
    }

    fn set_permission_mode(&mut self, id: &str, body: &JsonText) -> Result<Reply, Refusal> {
        let mode = self.permission_mode(body)?;
        (self.wishes.permission_mode, self.wishes.mode_awaited) = (Some(mode), Some(mode));
        self.order_session(SessionOrder::PermissionMode(mode));
        self.set_scene_mode(mode);
        if self.session.is_open() && !self.session.is_over() {
            return self.begin_job(id, Asked::Mode(mode), Job::PermissionMode);
        }
        Reply::value(json!({ "mode": mode.as_str() }))
    }

    /// Answers with the mode that calls are judged in: the session may have refused the one that was wanted.
    fn mode_set(&mut self, id: &str, wanted: PermissionMode, effective: Option<PermissionMode>) {
        let mode = effective.unwrap_or(wanted);
        if mode != wanted && self.wishes.mode_awaited == Some(wanted) {
            (self.wishes.permission_mode, self.wishes.mode_awaited) = (Some(mode), None);
            self.set_scene_mode(mode);
        }
        self.reply(id, Ok(Some(json!({ "mode": mode.as_str() }))));
        // A run reports the mode as one of its events.
        if !self.turns.running {
            self.say_mode(mode);
        }
    }

    fn permission_mode(&self, body: &JsonText) -> Result<PermissionMode, Refusal> {
        let mode = field::<String>(body, "mode")?.unwrap_or_default();
        let mode = mode.parse::<PermissionMode>().map_err(|error| Refusal::coded(error, "invalid_mode"))?;
        if mode == PermissionMode::BypassPermissions && !self.config.bypass_allowed {
            return Err(Refusal::coded(
                "the mode bypassPermissions needs --allow-dangerously-skip-permissions at the start, and settings that do \
                 not disable it",
                "bypass_not_launched",
            ));
        }
        if mode == PermissionMode::Auto && self.config.auto_forbidden {
            return Err(Refusal::coded("settings forbid the mode auto (permissions.disableAutoMode)", "auto_disabled"));
        }
        Ok(mode)
    }

    fn set_model(&mut self, body: &JsonText) -> Result<Reply, Refusal> {
        let name = field::<String>(body, "model")?.filter(|name| name != "default");
        self.use_model(name.clone());
        Reply::value(json!({ "model": name }))
    }

    /// Calls this model from the next request on.
    pub(super) fn use_model(&mut self, name: Option<String>) {
        self.order_session(SessionOrder::Model(name.clone()));
        self.wishes.model = Some(name);
    }

    fn set_thinking(&mut self, body: &JsonText) -> Result<Reply, Refusal> {
        const NAME: &str = "max_thinking_tokens";
        let thinking = field::<u32>(body, NAME)?.map(|tokens| match tokens {
            0 => Thinking::Off,
            tokens => Thinking::Budget(tokens),
        });
        if thinking.is_none() && !has_field(body, NAME)? {
            // Only how it is displayed was to change.
            return Ok(Reply::Now(None));
        }
        if let Some(facts) = &self.session.facts {
            let thinking = thinking.unwrap_or(facts.thinking);
            self.order_session(SessionOrder::Thinking(thinking));
        }
        self.wishes.thinking = Some(thinking);
        Ok(Reply::Now(None))
    }

    /// The settings of the session, as it reported them when it was opened.
    fn settings(&self, subtype: &str) -> Result<Reply, Refusal> {
        let facts = self.session.facts.as_ref().ok_or_else(not_open)?;
        let settings = facts.settings.as_ref().ok_or_else(|| unsupported(subtype))?;
        settings.to().map(|settings| Reply::Now(Some(settings))).map_err(|error| Refusal::new(error.to_string()))
    }

    /// Names the session.
    fn rename(&mut self, id: &str, subtype: &str, body: &JsonText) -> Result<Reply, Refusal> {
        let (title, wanted) = (field::<String>(body, "title")?, field::<String>(body, "session_id")?);
        let title = title.map(|title| title.trim().to_owned()).filter(|title| !title.is_empty());
        let title = title.ok_or_else(|| Refusal::new("`title` is missing or empty"))?;
        let open = &self.session.id;
        if let Some(wanted) = wanted.filter(|wanted| wanted != open) {
            return Err(Refusal::new(format!("The session {wanted} is not the one that is open ({open}).")));
        }
        if !self.session.facts.as_ref().ok_or_else(not_open)?.can_be_renamed {
            return Err(unsupported(subtype));
        }
        self.begin_job(id, Asked::Rename { title: title.clone() }, Job::Rename(title))
    }
}
