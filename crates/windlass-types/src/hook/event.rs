//! The events that hooks are asked about: a row of a table and a payload for each.

use super::{HookPayload, Subject, wire};
use crate::{AgentIdentity, JsonText, PermissionUpdate, ToolUseId};
use serde::{Deserialize, Serialize};

pub use super::batch::{BatchCall, PostToolBatch};
pub use super::elicitation::{ElicitationEvent, ElicitationResultEvent};
pub use super::observed::*;

/// Hands one row per event to the macro that is named: what happens, the event's name, the method of a hook, the
/// payload, the type of the answer, and the method that takes a closure instead, with `tools` for events about a tool.
///
/// The names are looked up where the macro is used: import [`event`](crate::hook::event) and
/// [`action`](crate::hook::action) there. This is not part of the stable interface.
#[doc(hidden)]
#[macro_export]
macro_rules! hook_events {
    ($build:ident) => {
        $build! {
            /// Before a tool runs. A failure denies the call.
            PreToolUse: pre_tool_use(PreToolUse) -> PreToolUseAction, before_tool(tools);
            /// Before a program of a command or skill runs whose output is a part of the prompt, and before it is judged as a call.
            /// Every answer but allow stops it, and allow lifts no rule. A failure stops it.
            PreSkillShellCommand: pre_skill_shell_command(PreSkillShellCommand) -> PreToolUseAction, before_skill_command(tools);
            /// A call needs an answer: the hook may give it instead of the host, who is asked at the same time. Without a
            /// host only hooks can allow it. A failure denies the call.
            PermissionRequest: permission_request(PermissionRequestEvent) -> PermissionRequestAction, on_permission_request(tools);
            /// After a tool ran.
            PostToolUse: post_tool_use(PostToolUse) -> PostToolUseAction, after_tool(tools);
            /// After a tool failed.
            PostToolUseFailure: post_tool_use_failure(PostToolUseFailure) -> PostToolUseAction, after_failed_tool(tools);
            /// A call was denied: by a rule, the mode, the host, a hook, or because nobody could be asked.
            PermissionDenied: permission_denied(PermissionDenied) -> FeedbackAction, on_permission_denied(tools);
            /// All calls of a message are answered, before the model reads the results.
            PostToolBatch: post_tool_batch(PostToolBatch) -> BatchAction, after_tools();
            /// Before a prompt, or a message to the run in progress, enters the conversation. A failure blocks it.
            UserPromptSubmit: user_prompt_submit(UserPromptSubmit) -> PromptAction, on_prompt();
            /// Before a run ends because the model is done.
            Stop: stop(Stop) -> StopAction, on_stop();
            /// A run ended because the model could not be called, or failed again and again.
            StopFailure: stop_failure(StopFailure) -> NoAction, on_stop_failure();
            /// An agent below the main one begins; what is added is for its model.
            SubagentStart: subagent_start(SubagentStart) -> SessionStartAction, on_subagent_start();
            /// Before an agent below the main one ends because its model is done.
            SubagentStop: subagent_stop(SubagentStop) -> StopAction, on_subagent_stop();
            /// Before a conversation is replaced by a summary.
            PreCompact: pre_compact(PreCompact) -> PreCompactAction, before_compaction();
            /// After a conversation was replaced by a summary.
            PostCompact: post_compact(PostCompact) -> FeedbackAction, after_compaction();
            /// The user is needed, or work that they wait for has ended.
            Notification: notification(Notification) -> FeedbackAction, on_notification();
            /// The model is about to read the instructions of a file.
            InstructionsLoaded: instructions_loaded(InstructionsLoaded) -> NoAction, on_instructions();
            /// A server asks the user something: the hook may answer in their place.
            Elicitation: elicitation(ElicitationEvent) -> ElicitationAction, on_elicitation();
            /// A question of a server is answered, and the server does not know yet: the hook may answer otherwise.
            ElicitationResult: elicitation_result(ElicitationResultEvent) -> ElicitationAction, after_elicitation();
            /// Before changed settings count.
            ConfigChange: config_change(ConfigChange) -> ConfigAction, on_config_change();
            /// The directory changed in which later calls start.
            CwdChanged: cwd_changed(CwdChanged) -> FeedbackAction, on_cwd_change();
            /// A file has changed since the model read it: seen when a prompt begins a run.
            FileChanged: file_changed(FileChanged) -> FeedbackAction, on_file_change();
            /// Calls may use another directory from now on.
            DirectoryAdded: directory_added(DirectoryAdded) -> NoAction, on_added_directory();
            /// The model put an item on its list of what is to be done.
            TaskCreated: task_created(TaskCreated) -> FeedbackAction, on_new_task();
            /// The model marked an item of that list as completed.
            TaskCompleted: task_completed(TaskCompleted) -> FeedbackAction, on_completed_task();
            /// Another model is called from now on.
            PostModelSwitch: post_model_switch(PostModelSwitch) -> FeedbackAction, after_model_switch();
            /// A session was opened.
            SessionStart: session_start(SessionStart) -> SessionStartAction, on_session_start();
            /// A session is closed.
            SessionEnd: session_end(SessionEnd) -> NoAction, on_session_end();
        }
    };
}

/// Defines the payloads of events about one tool use. The fields that name the tool use come first in each of them,
/// then the fields of the event itself. After `where` stand the event's other items of [`HookPayload`].
macro_rules! tool_events {
    ($(
        $(#[$about:meta])*
        $name:ident {
            $(#[$input:meta])*
            tool_input,
            $($fields:tt)*
        }
        where { $($traits:tt)* }
    )+) => {$(
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        #[expect(clippy::exhaustive_structs, reason = "the runtime, and the tests of a hook, build one")]
        pub struct $name {
            /// The tool's name.
            #[serde(default)]
            pub tool_name: String,
            $(#[$input])*
            #[serde(deserialize_with = "wire::not_null")]
            pub tool_input: JsonText,
            /// The id of the tool use.
            #[serde(default = "wire::no_id")]
            pub tool_use_id: ToolUseId,
            $($fields)*
        }

        impl HookPayload for $name {
            const SUBJECT: Subject = Subject::Tool;

            fn tool(&self) -> Option<(&str, &ToolUseId)> {
                Some((&self.tool_name, &self.tool_use_id))
            }

            $($traits)*
        }
    )+};
}

tool_events! {
    /// Before a tool runs.
    PreToolUse {
        /// Input of the call, exactly as the model wrote it.
        tool_input,
    }
    where {
        const SUMMARY: &'static str = "Before a tool runs";
        const IS_GATE: bool = true;
    }

    /// Before a program of a command or skill runs.
    PreSkillShellCommand {
        /// Input of the call: the command from the text of the skill, with its arguments filled in.
        tool_input,
        /// The name of the command or skill.
        #[serde(default)]
        pub command_name: String,
        /// The source of the command or skill, such as `user` or `project`.
        #[serde(default)]
        pub command_source: String,
        /// The caller of the command or skill: `user`, since a skill that the model uses runs no program by itself.
        #[serde(default)]
        pub invoked_by: String,
    }
    where {
        const SUMMARY: &'static str = "Before a program of a command or skill runs";
        const IS_GATE: bool = true;
    }

    /// A call needs an answer: may it run?
    PermissionRequestEvent {
        /// The input that will run.
        tool_input,
        /// Alternatives, the narrowest first: each alone makes the question unnecessary.
        #[serde(default, deserialize_with = "wire::known")]
        pub permission_suggestions: Vec<PermissionUpdate>,
    }
    where {
        const SUMMARY: &'static str = "Before the user is asked about a call";
        const IS_GATE: bool = true;
    }

    /// After a tool ran.
    PostToolUse {
        /// The input that ran.
        tool_input,
        /// The structured output, or the text as a JSON string.
        #[serde(default = "wire::empty_text", deserialize_with = "wire::or_empty_text")]
        pub tool_response: JsonText,
        /// Duration of the call, in milliseconds.
        #[serde(default)]
        pub duration_ms: u64,
    }
    where {
        const SUMMARY: &'static str = "After a tool ran";

        fn shortened(&self) -> Option<Self> {
            let tool_response = JsonText::of("[The output is too long to be shown to a hook.]").ok()?;
            Some(Self { tool_response, ..self.clone() })
        }
    }

    /// After a tool failed.
    PostToolUseFailure {
        /// The input that ran.
        tool_input,
        /// Error text that the model will read.
        #[serde(default, deserialize_with = "wire::text_of_any")]
        pub error: String,
        /// `true` if the user stopped the tool.
        #[serde(default)]
        pub is_interrupt: bool,
        /// Duration of the call, in milliseconds.
        #[serde(default)]
        pub duration_ms: u64,
    }
    where {
        const SUMMARY: &'static str = "After a tool failed";
    }

    /// A call was denied.
    PermissionDenied {
        /// Input of the call, as the model wrote it.
        tool_input,
        /// Reason for the denial, as the model reads it.
        #[serde(default)]
        pub reason: String,
    }
    where {
        const SUMMARY: &'static str = "After a call was denied";
        const IS_OBSERVED: bool = true;
    }
}

/// Before a prompt, or a message to the run in progress, enters the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "the runtime, and the tests of a hook, build one")]
pub struct UserPromptSubmit {
    /// The text of the prompt.
    #[serde(default)]
    pub prompt: String,
}

impl HookPayload for UserPromptSubmit {
    const SUMMARY: &'static str = "Before a prompt enters the conversation";
    const IS_GATE: bool = true;
}

/// Before a run ends because the model is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "the runtime, and the tests of a hook, build one")]
pub struct Stop {
    /// `true` if the run continues because of an earlier Stop hook.
    #[serde(default)]
    pub stop_hook_active: bool,
    /// The model's last text.
    #[serde(default, deserialize_with = "wire::or_default")]
    pub last_assistant_message: String,
}

impl HookPayload for Stop {
    const SUMMARY: &'static str = "Before a run ends because the model is done";

    fn shortened(&self) -> Option<Self> {
        Some(Self { last_assistant_message: String::new(), ..self.clone() })
    }
}

/// An agent below the main one begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "the runtime, and the tests of a hook, build one")]
pub struct SubagentStart {
    /// The agent.
    #[serde(flatten, deserialize_with = "wire::agent")]
    pub agent: AgentIdentity,
}

impl HookPayload for SubagentStart {
    const SUMMARY: &'static str = "When an agent begins that another one started";
    const SUBJECT: Subject = Subject::Word;

    fn subject(&self) -> Option<&str> {
        Some(&self.agent.agent_type)
    }

    fn agent(&self) -> Option<&AgentIdentity> {
        Some(&self.agent)
    }
}

/// Before an agent below the main one ends because its model is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "the runtime, and the tests of a hook, build one")]
pub struct SubagentStop {
    /// The agent.
    #[serde(flatten, deserialize_with = "wire::agent")]
    pub agent: AgentIdentity,
    /// `true` if the agent continues because of an earlier SubagentStop hook.
    #[serde(default)]
    pub stop_hook_active: bool,
    /// The model's last text.
    #[serde(default, deserialize_with = "wire::or_default")]
    pub last_assistant_message: String,
}

impl HookPayload for SubagentStop {
    const SUMMARY: &'static str = "Before such an agent ends because its model is done";
    const SUBJECT: Subject = Subject::Word;

    fn subject(&self) -> Option<&str> {
        Some(&self.agent.agent_type)
    }

    fn agent(&self) -> Option<&AgentIdentity> {
        Some(&self.agent)
    }

    fn shortened(&self) -> Option<Self> {
        Some(Self { last_assistant_message: String::new(), ..self.clone() })
    }
}

/// Before a conversation is replaced by a summary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "the runtime, and the tests of a hook, build one")]
pub struct PreCompact {
    /// `manual` or `auto`.
    #[serde(default)]
    pub trigger: String,
    /// The user's instructions for the summary.
    #[serde(default)]
    pub custom_instructions: Option<String>,
}

impl HookPayload for PreCompact {
    const SUMMARY: &'static str = "Before the conversation is replaced by a summary";
    const SUBJECT: Subject = Subject::Word;

    fn subject(&self) -> Option<&str> {
        Some(&self.trigger)
    }
}

/// A session was opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "the runtime, and the tests of a hook, build one")]
pub struct SessionStart {
    /// `startup` or `resume`.
    #[serde(default)]
    pub source: String,
}

impl HookPayload for SessionStart {
    const SUMMARY: &'static str = "When a session was opened";
    const IS_FOR_HOSTS: bool = false;
}

/// A session is closed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "the runtime, and the tests of a hook, build one")]
pub struct SessionEnd {
    /// Reason for closing the session.
    #[serde(default)]
    pub reason: String,
}

impl HookPayload for SessionEnd {
    const SUMMARY: &'static str = "When a session is closed";
    const IS_FOR_HOSTS: bool = false;
}
