//! Layout of a question about a call, in the rows of a terminal. Pure.

use super::rows::{bounded, usable, wrapped};
use crate::terminal::{visible, visible_line};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;
use windlass::permission::UpdateDestination;
use windlass::permission::rule_text;
use windlass::{
    JsonText, PermissionRequest,
    permission::{Behavior, PermissionUpdate},
};

/// Maximum number of rows of the parts beside the call itself: its head, each remark of the model, the reason, the
/// meaning of "always".
const HEAD_ROWS: usize = 3;
const REMARK_ROWS: usize = 3;
const REASON_ROWS: usize = 5;
const ALWAYS_ROWS: usize = 5;
/// Maximum number of remarks.
const MAX_REMARKS: usize = 6;

/// A question about a call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Question {
    /// The rows, none wider than the terminal: first the parts beside the call, last the call itself.
    pub(crate) rows: Vec<String>,
    /// Alternatives for "always", the narrowest first; empty if it is not offered.
    pub(crate) always: Vec<PermissionUpdate>,
}

impl Question {
    /// The question on a terminal with `columns`. Invisible characters are written out, and the rows are counted as a
    /// terminal shows them. The call itself comes last, in full.
    pub(crate) fn of(request: &PermissionRequest, columns: usize) -> Self {
        let width = usable(columns);
        let agent =
            request.identity.as_ref().map(|agent| format!(", for the agent {}", visible_line(&agent.agent_type)));
        let head = format!("{} wants to run{}:", visible_line(&request.tool), agent.unwrap_or_default());
        let mut rows = bounded("", "  ", &head, width, HEAD_ROWS);
        let (remarks, call) = parts(&request.tool, &request.input);
        for (name, value) in remarks.iter().take(MAX_REMARKS) {
            let first = format!("  {}: ", short_name(name));
            rows.extend(bounded(&first, "    ", &visible_line(value), width, REMARK_ROWS));
        }
        if let more @ 1.. = remarks.len().saturating_sub(MAX_REMARKS) {
            rows.push(format!("  … {more} more fields"));
        }
        if let Some(impact) = &request.impact {
            let effect = format!("{} Risk: {}", visible_line(&impact.summary), impact.risk.as_str());
            rows.extend(bounded("", "  ", &effect, width, HEAD_ROWS));
        }
        let reason = visible_line(&request.decision.message);
        rows.extend(bounded("Why it asks: ", "  ", &reason, width, REASON_ROWS));
        let (always, shown) = alternatives(&request.decision.suggestions, width);
        rows.extend(shown);
        for (name, value) in &call {
            rows.extend(field(name, value, width));
        }
        Self { rows, always }
    }
}

/// Returns `true` if a field of a call only describes it.
fn is_remark(tool: &str, name: &str) -> bool {
    tool == "Bash" && name != "command"
}

/// Returns the name of the field that is the subject of a call, which comes last.
fn subject(tool: &str) -> &'static str {
    match tool {
        "Bash" => "command",
        "Write" => "content",
        "Edit" => "new_string",
        "MultiEdit" => "edits",
        "NotebookEdit" => "new_source",
        "apply_patch" => "input",
        "WebFetch" => "url",
        _ => "",
    }
}

type Field = (String, String);

/// Splits the input into two parts, each in the given order: remarks, and the call itself, its subject last.
fn parts(tool: &str, input: &JsonText) -> (Vec<Field>, Vec<Field>) {
    let Ok(QuestionFields(fields)) = input.to::<QuestionFields>() else {
        return (Vec::new(), vec![("input".to_owned(), input.as_str().to_owned())]);
    };
    let text = |(name, value): (String, JsonText)| (name, value.to::<String>().unwrap_or_else(|_| value.to_string()));
    let (remarks, mut call): (Vec<Field>, Vec<Field>) =
        fields.into_iter().map(text).partition(|(name, _)| is_remark(tool, name));
    call.sort_by_key(|(name, _)| name == subject(tool));
    (remarks, call)
}

/// The fields of an object in order.
struct QuestionFields(Vec<(String, JsonText)>);

impl<'de> Deserialize<'de> for QuestionFields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
            type Value = QuestionFields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<QuestionFields, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(QuestionFields(fields))
            }
        }

        deserializer.deserialize_map(InOrder)
    }
}

/// The name of a field beside its value.
fn short_name(name: &str) -> String {
    const MAX_CHARS: usize = 40;
    let short: String = name.chars().take(MAX_CHARS).collect();
    let more = if short.len() < name.len() { "…" } else { "" };
    visible_line(&short) + more
}

/// Formats a field in full. `|` begins a line of its text, `+` continues a line that is too wide.
fn field(name: &str, value: &str, width: usize) -> Vec<String> {
    let (name, value) = (visible_line(name), visible(value));
    let mut rows = wrapped("  ", "  ", &format!("{name}:"), width);
    for line in value.split('\n') {
        rows.extend(wrapped("    | ", "    + ", line, width));
    }
    rows
}

/// Returns the alternatives for "always", and their rows: only those that can be shown in full.
fn alternatives(suggestions: &[PermissionUpdate], width: usize) -> (Vec<PermissionUpdate>, Vec<String>) {
    let (mut always, mut rows) = (Vec::new(), Vec::new());
    for update in suggestions.iter().filter_map(for_this_session) {
        let Some(text) = describe(&update) else { continue };
        let first = match always.len() {
            0 => "Always: ".to_owned(),
            before => format!("Or a{}: ", before.saturating_add(1)),
        };
        let shown = wrapped(&first, "  ", &visible_line(&text), width);
        // The user must not agree to hidden text.
        if rows.len().saturating_add(shown.len()) > ALWAYS_ROWS {
            break;
        }
        rows.extend(shown);
        always.push(update);
    }
    (always, rows)
}

/// Returns the update for this session only.
fn for_this_session(suggestion: &PermissionUpdate) -> Option<PermissionUpdate> {
    let destination = UpdateDestination::Session;
    match suggestion {
        PermissionUpdate::AddRules { rules, behavior: Behavior::Allow, .. } => {
            Some(PermissionUpdate::AddRules { rules: rules.clone(), behavior: Behavior::Allow, destination })
        }
        PermissionUpdate::SetMode { mode, .. } => Some(PermissionUpdate::SetMode { mode: *mode, destination }),
        PermissionUpdate::AddDirectories { directories, .. } => {
            Some(PermissionUpdate::AddDirectories { directories: directories.clone(), destination })
        }
        _ => None,
    }
}

fn describe(update: &PermissionUpdate) -> Option<String> {
    match update {
        PermissionUpdate::AddRules { rules, .. } => {
            Some(format!("allow {}", rules.iter().map(rule_text).collect::<Vec<_>>().join(", ")))
        }
        PermissionUpdate::SetMode { mode, .. } => Some(format!("switch to the mode {mode}")),
        PermissionUpdate::AddDirectories { directories, .. } => {
            let shown: Vec<String> = directories.iter().map(|directory| directory.display().to_string()).collect();
            Some(format!("add {} to the workspace", shown.join(", ")))
        }
        _ => None,
    }
}
