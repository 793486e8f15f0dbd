//! The input of a hook in another process: the event and its session fields.

use serde::Serialize;
use std::path::Path;
use windlass_hook::HookContext;
use windlass_types::{AgentIdentity, AgentPath, HookCall, JsonError, JsonText};

/// The object on standard input of a program, and the body of a request.
#[derive(Serialize)]
struct Input<'a> {
    session_id: &'a str,
    transcript_path: String,
    cwd: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_mode: Option<&'a str>,
    /// Agent of the event, if the payload does not name it.
    #[serde(flatten)]
    agent: Option<&'a AgentIdentity>,
    /// Tool uses that lead to that agent, outermost first.
    #[serde(rename = "windlass_agent_path", skip_serializing_if = "AgentPath::is_main")]
    path: &'a AgentPath,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_transcript_path: Option<String>,
    #[serde(flatten)]
    call: &'a HookCall,
}

/// Returns an event as hooks in other processes read it: a JSON object with `session_id`, `transcript_path` (empty if
/// the session is not kept), `cwd`, `permission_mode`, `hook_event_name`, the fields of the event, and `agent_id` and
/// `agent_type` below the main agent.
///
/// # Errors
/// A payload cannot be written as JSON.
pub fn hook_input(cx: &HookContext, call: &HookCall, transcript: Option<&Path>) -> Result<JsonText, JsonError> {
    let path = |path: &Path| path.to_string_lossy().into_owned();
    let of_agent = |agent: &AgentIdentity| {
        let Some(transcript) = transcript else { return String::new() };
        path(&transcript.with_extension("").join("subagents").join(format!("agent-{}.jsonl", agent.id)))
    };
    JsonText::of(&Input {
        session_id: cx.session_id.as_str(),
        transcript_path: transcript.map(path).unwrap_or_default(),
        cwd: &cx.cwd.to_string_lossy(),
        permission_mode: cx.permission_mode.map(|mode| mode.as_str()),
        agent: cx.agent.as_ref().filter(|_| call.agent().is_none()),
        path: &cx.path,
        agent_transcript_path: match call {
            HookCall::SubagentStop(stop) => Some(of_agent(&stop.agent)),
            _ => None,
        },
        call,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use windlass_hook::{PreToolUse, SubagentStop};
    use windlass_types::PermissionMode;

    #[test]
    fn a_hook_reads_the_event_and_where_it_takes_place() {
        let call = HookCall::from(PreToolUse {
            tool_name: "Bash".into(),
            tool_input: JsonText::parse(r#"{"command":"ls"}"#).unwrap(),
            tool_use_id: "t".into(),
        });
        let agent = AgentIdentity::new("a1".into(), "helper".to_owned());
        let cx = HookContext::new("s".into(), "/w".into()).with_permission_mode(PermissionMode::Plan);
        let read = |cx: &HookContext, call: &HookCall, transcript: Option<&Path>| -> Value {
            hook_input(cx, call, transcript).unwrap().to().unwrap()
        };
        assert_eq!(
            read(&cx, &call, Some(Path::new("/h/s.jsonl"))),
            json!({
                "session_id": "s", "transcript_path": "/h/s.jsonl", "cwd": "/w", "permission_mode": "plan",
                "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": { "command": "ls" }, "tool_use_id": "t",
            })
        );
        let below = read(&cx.clone().with_agent(Some(agent.clone())), &call, None);
        assert_eq!(
            (&below["agent_id"], &below["agent_type"], &below["transcript_path"]),
            (&json!("a1"), &json!("helper"), &json!(""))
        );
        let stop = SubagentStop { agent, stop_hook_active: false, last_assistant_message: "done".into() }.into();
        let stop = read(&cx, &stop, Some(Path::new("/h/s.jsonl")));
        assert_eq!(stop["agent_transcript_path"], "/h/s/subagents/agent-a1.jsonl");
    }
}
