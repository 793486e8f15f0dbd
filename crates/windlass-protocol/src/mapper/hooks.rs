//! Frames about hooks.

use super::{Envelope, FrameMapper};
use crate::frame::InformationalBody;
use serde::Serialize;
use windlass_types::{EntryId, HookEventName, HookOutcome, ToolUseId};

/// The name under which hooks of the host run: the host knows of these runs itself.
pub(crate) const OF_THE_HOST: &str = "host";

/// Marks the failure of a hook, for hosts that treat it apart.
const FAILED: &str = "hook_callback_failed";

/// A hook that runs in this process, which writes no output of its own.
#[derive(Serialize)]
struct Started<'a> {
    hook_id: &'a str,
    hook_name: &'a str,
    hook_event: &'static str,
}

#[derive(Serialize)]
struct Answered<'a> {
    #[serde(flatten)]
    hook: Started<'a>,
    output: &'a str,
    stdout: &'static str,
    stderr: &'a str,
    outcome: &'static str,
}

impl FrameMapper {
    /// Appends what hooks did: what ran, with hook events on, and their messages.
    pub(super) fn hook_ran(
        &mut self,
        at: Envelope<'_>,
        event: HookEventName,
        tool: Option<&ToolUseId>,
        outcome: &HookOutcome,
        out: &mut Vec<u8>,
    ) {
        if self.options.include_hook_events {
            for hook in outcome.ran.iter().filter(|hook| *hook != OF_THE_HOST) {
                self.hook(at, event, hook, outcome, out);
            }
        }
        for message in &outcome.system_messages {
            self.inform(at, message, tool, out);
        }
        for (hook, failure) in &outcome.failures {
            let content = format!("The hook {hook} failed: {failure}");
            let tool_use_id = tool.map(ToolUseId::as_str);
            let body = InformationalBody { tool_use_id, tag: Some(FAILED), ..InformationalBody::warning(&content) };
            self.system(at, "informational", body, out);
        }
    }

    /// It is reported when all hooks of the occasion have answered, so both frames come then.
    fn hook(&mut self, at: Envelope<'_>, event: HookEventName, hook: &str, outcome: &HookOutcome, out: &mut Vec<u8>) {
        let failure = outcome.failures.iter().find(|(failed, _)| failed == hook).map(|(_, failure)| failure.as_str());
        let id = EntryId::from_bits((self.ids)());
        let started = || Started { hook_id: id.as_str(), hook_name: hook, hook_event: event.as_str() };
        self.system(at, "hook_started", started(), out);
        let body = Answered {
            hook: started(),
            output: "",
            stdout: "",
            stderr: failure.unwrap_or_default(),
            outcome: if failure.is_some() { "error" } else { "success" },
        };
        self.system(at, "hook_response", body, out);
    }
}

#[cfg(test)]
mod tests {
    use crate::{FrameMapper, FrameOptions};
    use windlass_types::{Event, EventKind, HookEventName, HookOutcome, RunId, SessionId};

    /// The frames of hooks that ran, without their ids.
    fn frames(expected: bool, ran: &[&str], failures: &[(&str, &str)]) -> Vec<String> {
        let mut outcome = HookOutcome::default();
        outcome.ran = ran.iter().map(|hook| (*hook).to_owned()).collect();
        outcome.failures = failures.iter().map(|(hook, why)| ((*hook).to_owned(), (*why).to_owned())).collect();
        let kind = EventKind::HookRan { event: HookEventName::Stop, tool_use_id: None, outcome };
        let mut out = Vec::new();
        let event = Event::new(0, SessionId::from("s"), RunId::from("r"), 1, kind);
        FrameMapper::new(FrameOptions::default().with_hook_events(expected), || 7).map(&event, &mut out);
        let id = "00000000-0000-4000-8000-000000000007";
        let end = format!(r#","uuid":"{id}","session_id":"s"}}"#);
        let lines = String::from_utf8(out).unwrap();
        lines
            .lines()
            .map(|line| {
                let line = line.strip_prefix(r#"{"type":"system","subtype":""#).unwrap().strip_suffix(&end).unwrap();
                line.replace(id, "ID")
            })
            .collect()
    }

    #[test]
    fn hooks_of_others_are_reported_if_the_host_wants_it() {
        let hook = |name: &str| format!(r#""hook_id":"ID","hook_name":"{name}","hook_event":"Stop""#);
        let audit = format!(r#"hook_started",{}"#, hook("audit"));
        let ended =
            format!(r#"hook_response",{},"output":"","stdout":"","stderr":"","outcome":"success""#, hook("audit"));
        assert_eq!(frames(true, &["host", "audit"], &[]), [audit, ended]);
        assert!(frames(false, &["host", "audit"], &[]).is_empty());
        assert!(frames(true, &["host"], &[]).is_empty());
    }

    #[test]
    fn failures_are_always_reported() {
        let hook = r#""hook_id":"ID","hook_name":"audit","hook_event":"Stop""#;
        let expected = concat!(
            r#"informational","content":"The hook audit failed: gone","level":"warning","#,
            r#""tag":"hook_callback_failed""#
        );
        assert_eq!(
            frames(true, &["audit"], &[("audit", "gone")]),
            [
                format!(r#"hook_started",{hook}"#),
                format!(r#"hook_response",{hook},"output":"","stdout":"","stderr":"gone","outcome":"error""#),
                expected.to_owned()
            ]
        );
        assert_eq!(frames(false, &["host"], &[("audit", "gone")]), [expected]);
    }
}
