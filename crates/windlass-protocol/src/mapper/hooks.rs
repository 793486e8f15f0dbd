//! Frames about hooks.

use super::{FrameEnvelope, FrameMapper};
use crate::frame::InformationalBody;
use serde::Serialize;
use windlass_types::{EntryId, HookEventName, HookOutcome, ToolUseId};

/// Name of the host's own hooks. The host knows when they run.
pub(crate) const OF_THE_HOST: &str = "host";

/// Marker of a hook's failure, for hosts that treat it separately.
const FAILURE_TAG: &str = "hook_callback_failed";

/// Maximum number of hooks that are remembered while they run.
const MAX_HOOKS: usize = 1_000;

/// A running hook, with the fields of its frames.
#[derive(Debug)]
pub(super) struct RunningHook {
    parent: Option<String>,
    event: HookEventName,
    tool: Option<ToolUseId>,
    hook: String,
    id: EntryId,
}

#[derive(Serialize)]
struct HookStarted<'a> {
    hook_id: &'a str,
    hook_name: &'a str,
    hook_event: &'static str,
}

/// Response of a hook. A hook that runs in this process writes no output.
#[derive(Serialize)]
struct HookResponseBody<'a> {
    #[serde(flatten)]
    hook: HookStarted<'a>,
    output: &'a str,
    stdout: &'a str,
    stderr: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    outcome: &'static str,
}

impl RunningHook {
    fn started(&self) -> HookStarted<'_> {
        HookStarted { hook_id: self.id.as_str(), hook_name: &self.hook, hook_event: self.event.as_str() }
    }

    /// `true` if the run waits for the hook. If such a run ends first, the hook has no answer.
    fn is_awaited(&self) -> bool {
        !self.event.is_observed()
    }
}

impl FrameMapper {
    /// `true` if runs of hooks are reported. Those at the beginning of a session always are.
    fn reports(&self, event: HookEventName) -> bool {
        self.options.include_hook_events || event == HookEventName::SessionStart
    }

    /// Appends the start of hooks.
    pub(super) fn hooks_started(
        &mut self,
        envelope: FrameEnvelope<'_>,
        event: HookEventName,
        tool: Option<&ToolUseId>,
        hooks: &[String],
        out: &mut Vec<u8>,
    ) {
        if !self.reports(event) {
            return;
        }
        for hook in hooks.iter().filter(|hook| *hook != OF_THE_HOST) {
            let running = self.hook_started(envelope, event, tool, hook, out);
            if self.running_hooks.len() < MAX_HOOKS {
                self.running_hooks.push(running);
            }
        }
    }

    fn hook_started(
        &mut self,
        envelope: FrameEnvelope<'_>,
        event: HookEventName,
        tool: Option<&ToolUseId>,
        hook: &str,
        out: &mut Vec<u8>,
    ) -> RunningHook {
        let id = EntryId::from_bits((self.ids)());
        let (parent, hook) = (envelope.parent.map(str::to_owned), hook.to_owned());
        let running = RunningHook { parent, event, tool: tool.cloned(), hook, id };
        self.system(envelope, "hook_started", running.started(), out);
        running
    }

    /// Appends the outcome of hooks: the hooks that ran, if hook events are on, and their messages.
    pub(super) fn hook_ran(
        &mut self,
        envelope: FrameEnvelope<'_>,
        event: HookEventName,
        tool: Option<&ToolUseId>,
        outcome: &HookOutcome,
        out: &mut Vec<u8>,
    ) {
        if self.reports(event) {
            for hook in outcome.ran.iter().filter(|hook| *hook != OF_THE_HOST) {
                let is_same = |running: &RunningHook| {
                    running.parent.as_deref() == envelope.parent
                        && (running.event, running.tool.as_ref(), &running.hook) == (event, tool, hook)
                };
                let running = match self.running_hooks.iter().position(is_same) {
                    Some(index) => self.running_hooks.remove(index),
                    // No event has reported the start, so both frames are written now.
                    None => self.hook_started(envelope, event, tool, hook, out),
                };
                self.hook_answered(envelope, &running, outcome, out);
            }
        }
        for message in &outcome.system_messages {
            self.inform(envelope, message, tool, out);
        }
        for (hook, failure) in &outcome.failures {
            let content = format!("The hook {hook} failed: {failure}");
            let tool_use_id = tool.map(ToolUseId::as_str);
            let body =
                InformationalBody { tool_use_id, tag: Some(FAILURE_TAG), ..InformationalBody::warning(&content) };
            self.system(envelope, "informational", body, out);
        }
    }

    /// Appends the answer of a hook, once all hooks of the event have answered.
    fn hook_answered(
        &mut self,
        envelope: FrameEnvelope<'_>,
        running: &RunningHook,
        outcome: &HookOutcome,
        out: &mut Vec<u8>,
    ) {
        let failure =
            outcome.failures.iter().find(|(failed, _)| *failed == running.hook).map(|(_, failure)| failure.as_str());
        let hook_output = outcome.outputs.iter().find(|hook_output| hook_output.hook == running.hook);
        let stdout = hook_output.map_or("", |hook_output| hook_output.stdout.as_str());
        let stderr = hook_output.map(|hook_output| hook_output.stderr.as_str()).filter(|stderr| !stderr.is_empty());
        let body = HookResponseBody {
            hook: running.started(),
            output: stdout,
            stdout,
            stderr: stderr.or(failure).unwrap_or_default(),
            exit_code: hook_output.and_then(|hook_output| hook_output.exit_code),
            outcome: if failure.is_some() { "error" } else { "success" },
        };
        self.system(envelope, "hook_response", body, out);
    }

    /// Appends that hooks were stopped without an answer, because the run has ended.
    pub(super) fn hooks_given_up(&mut self, envelope: FrameEnvelope<'_>, out: &mut Vec<u8>) {
        let (cancelled, running) =
            std::mem::take(&mut self.running_hooks).into_iter().partition::<Vec<_>, _>(RunningHook::is_awaited);
        self.running_hooks = running;
        for running in cancelled {
            let (output, stdout, stderr, exit_code) = ("", "", "", None);
            let hook = running.started();
            let body = HookResponseBody { hook, output, stdout, stderr, exit_code, outcome: "cancelled" };
            self.system(envelope, "hook_response", body, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{FrameMapper, FrameOptions};
    use windlass_types::hook::HookOutput;
    use windlass_types::{Event, EventKind, HookEventName, HookOutcome, Outcome, RunId, RunResult, SessionId};

    /// Frames of hooks that ran, without their ids.
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
    fn a_hook_is_reported_when_it_begins_and_with_what_its_program_wrote() {
        let mut mapper = FrameMapper::new(FrameOptions::default().with_hook_events(true), || 7);
        let mut frames = |kind| {
            let mut out = Vec::new();
            mapper.map(&Event::new(0, SessionId::from("s"), RunId::from("r"), 1, kind), &mut out);
            String::from_utf8(out).unwrap()
        };
        let (event, tool) = (HookEventName::PreToolUse, Some("t1".into()));
        let started = |hooks: &[&str]| EventKind::HooksStarted {
            event,
            tool_use_id: tool.clone(),
            hooks: hooks.iter().map(|hook| (*hook).to_owned()).collect(),
        };
        let begun = frames(started(&["host", "lint", "audit"]));
        assert_eq!((begun.lines().count(), begun.matches("hook_started").count()), (2, 2), "{begun}");
        let mut outcome = HookOutcome::default();
        outcome.ran = vec!["host".to_owned(), "lint".to_owned(), "audit".to_owned()];
        let mut output = HookOutput::new("lint");
        (output.stdout, output.stderr, output.exit_code) = ("fine".to_owned(), "careful".to_owned(), Some(1));
        outcome.outputs = vec![output];
        let ran = frames(EventKind::HookRan { event, tool_use_id: tool.clone(), outcome });
        assert!(!ran.contains("hook_started"), "{ran}");
        let lint = r#""hook_event":"PreToolUse","output":"fine","stdout":"fine","stderr":"careful","exit_code":1,"#;
        assert!(ran.lines().next().unwrap().contains(lint), "{ran}");
        assert_eq!(ran.matches("hook_response").count(), 2);

        // Hooks stopped by the end of a run have no answer; hooks that run beside it may still have one.
        frames(started(&["lint"]));
        frames(EventKind::HooksStarted {
            event: HookEventName::Notification,
            tool_use_id: None,
            hooks: vec!["bell".to_owned()],
        });
        let ended = frames(EventKind::RunFinished(RunResult::new(Outcome::Success, SessionId::from("s"))));
        assert!(ended.contains(r#""outcome":"cancelled""#) && !ended.contains("bell"), "{ended}");
    }

    #[test]
    fn hooks_at_the_beginning_of_a_session_are_always_reported() {
        let mut outcome = HookOutcome::default();
        outcome.ran = vec!["setup".to_owned()];
        let kind = EventKind::HookRan { event: HookEventName::SessionStart, tool_use_id: None, outcome };
        let mut out = Vec::new();
        let event = Event::new(0, SessionId::from("s"), RunId::from("r"), 0, kind);
        FrameMapper::new(FrameOptions::default(), || 7).map(&event, &mut out);
        assert_eq!(String::from_utf8(out).unwrap().matches("hook_").count(), 8);
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
