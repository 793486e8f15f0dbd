//! Events whose hooks run beside the work. No state of the loop waits for an answer: the model reads hook feedback with
//! its next turn.

use super::{HookPayload, Subject, wire};
use serde::{Deserialize, Serialize};

/// Defines payloads of events, one field of which may be the subject of matchers. After `where` stand the summary, that
/// field if there is one, and the event's other items of [`HookPayload`].
macro_rules! events {
    ($(
        $(#[$about:meta])*
        $name:ident { $($fields:tt)* }
        where $summary:literal $(by $subject:ident)? { $($traits:tt)* }
    )+) => {$(
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        #[expect(clippy::exhaustive_structs, reason = "the runtime, and the tests of a hook, build one")]
        pub struct $name { $($fields)* }

        impl HookPayload for $name {
            const SUMMARY: &'static str = $summary;
            const IS_OBSERVED: bool = true;
            $(
                const SUBJECT: Subject = Subject::Word;

                fn subject(&self) -> Option<&str> {
                    Some(&self.$subject)
                }
            )?
            $($traits)*
        }
    )+};
}

events! {
    /// A run ended by a failure.
    StopFailure {
        /// Failure in one word, such as `rate_limit` or `server_error`.
        #[serde(default)]
        pub error: String,
        /// Failure in a sentence for the user.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub error_details: Option<String>,
        /// The model's last text.
        #[serde(default, deserialize_with = "wire::or_default")]
        pub last_assistant_message: String,
    }
    where "After a run ended by a failure" by error {
        fn shortened(&self) -> Option<Self> {
            Some(Self { last_assistant_message: String::new(), ..self.clone() })
        }
    }

    /// A conversation was replaced by a summary.
    PostCompact {
        /// `manual` or `auto`.
        #[serde(default)]
        pub trigger: String,
        /// Summary that the model reads instead of the conversation before.
        #[serde(default)]
        pub compact_summary: String,
    }
    where "After the conversation was replaced by a summary" by trigger {
        fn shortened(&self) -> Option<Self> {
            Some(Self { compact_summary: String::new(), ..self.clone() })
        }
    }

    /// The user is needed, or work that they wait for has ended.
    Notification {
        /// Text of the notification, in a sentence.
        #[serde(default)]
        pub message: String,
        /// Heading of the notification.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub title: Option<String>,
        /// `permission_prompt`: a call needs an answer. `agent_completed`: an agent in the background has ended.
        #[serde(default)]
        pub notification_type: String,
    }
    where "When the user is needed, or background work has ended" by notification_type {}

    /// The model is about to read the instructions of a file.
    InstructionsLoaded {
        /// The file, or the name that the host gave the text.
        #[serde(default)]
        pub file_path: String,
        /// Owner of the instructions: `User`, `Project`, `Local` or `Managed`.
        #[serde(default)]
        pub memory_type: String,
        /// `session_start`, or `nested_traversal` when a call has used a file that they are for.
        #[serde(default)]
        pub load_reason: String,
    }
    where "When the model is about to read the instructions of a file" by load_reason {}

    /// Settings have changed while a session is open.
    ConfigChange {
        /// Changed settings: `user_settings`, `project_settings`, `local_settings`, `policy_settings` or `skills`.
        #[serde(default)]
        pub source: String,
        /// The file, if the source is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub file_path: Option<String>,
    }
    where "Before changed settings count" by source {}

    /// The directory changed in which later calls start.
    CwdChanged {
        /// The directory before.
        #[serde(default)]
        pub old_cwd: String,
        /// The directory now.
        #[serde(default)]
        pub new_cwd: String,
    }
    where "After the current directory changed" {}

    /// A file has changed since the model read it.
    FileChanged {
        /// The file.
        #[serde(default)]
        pub file_path: String,
        /// `change`, or `unlink` if it is gone.
        #[serde(default)]
        pub event: String,
    }
    where "When a file has changed since the model read it" {
        const SUBJECT: Subject = Subject::Word;

        fn subject(&self) -> Option<&str> {
            self.file_path.rsplit(['/', '\\']).next()
        }
    }

    /// Calls may use another directory from now on.
    DirectoryAdded {
        /// The directory.
        #[serde(default)]
        pub directory: String,
        /// Cause of the addition: `permission_update`.
        #[serde(default)]
        pub source: String,
    }
    where "After a directory was added to those that calls may use" by source {}

    /// The model put an item on its todo list.
    TaskCreated {
        /// The item's name; the place in the list, from one, of an item that has none.
        #[serde(default)]
        pub task_id: String,
        /// The task to do.
        #[serde(default)]
        pub task_subject: String,
        /// The task in detail, if the model gave a description.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub task_description: Option<String>,
    }
    where "After the model put an item on its list" {}

    /// The model marked an item of its todo list as completed.
    TaskCompleted {
        /// The item's name; the place in the list, from one, of an item that has none.
        #[serde(default)]
        pub task_id: String,
        /// The completed task.
        #[serde(default)]
        pub task_subject: String,
        /// The task in detail, if the model gave a description.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub task_description: Option<String>,
    }
    where "After the model marked an item of its list as completed" {}

    /// Another model is called from now on.
    PostModelSwitch {
        /// The model before, by its id.
        #[serde(default)]
        pub from_model: String,
        /// The model now, by its id.
        #[serde(default)]
        pub to_model: String,
        /// `user`, or `fallback` when the model before did not answer.
        #[serde(default)]
        pub source: String,
    }
    where "After another model took over" by to_model {}
}
