//! Asking at the terminal.

use crate::terminal::visible;
use std::collections::BTreeMap;
use std::io::{BufRead, Write, stderr, stdin};
use std::sync::Arc;
use tokio::sync::{Mutex, MutexGuard, Semaphore};
use windlass::crates::permission::rule_text;
use windlass::crates::types::UpdateDestination;
use windlass::{Behavior, CanUseTool, JsonText, PermissionAnswer, PermissionRequest, PermissionUpdate};

/// Asks the person at the terminal, one question at a time. Clones share the
/// terminal.
#[derive(Debug, Clone)]
pub(crate) struct AskAtTerminal {
    /// Whoever writes to the terminal holds it: a question stays the last thing
    /// on the screen until it is answered.
    screen: Arc<Mutex<()>>,
    /// Questions that may be put: what led to them has been shown.
    due: Arc<Semaphore>,
}

impl AskAtTerminal {
    pub(crate) fn new() -> Self {
        Self { screen: Arc::default(), due: Arc::new(Semaphore::new(0)) }
    }

    /// Waits until no question is on the screen.
    pub(crate) async fn screen(&self) -> MutexGuard<'_, ()> {
        self.screen.lock().await
    }

    /// Says that everything before the next question has been shown.
    pub(crate) fn shown(&self) {
        self.due.add_permits(1);
    }
}

#[async_trait::async_trait]
impl CanUseTool for AskAtTerminal {
    async fn can_use_tool(&self, request: PermissionRequest) -> PermissionAnswer {
        let unasked = || PermissionAnswer::deny("The question could not be put to the user, so the call was denied.");
        match self.due.acquire().await {
            Ok(due) => due.forget(),
            Err(_) => return unasked(),
        }
        let _screen = self.screen.lock().await;
        let mut open = OpenQuestion(true);
        // Standard error is not locked: who interrupts the run wants to read what becomes of it, while the
        // thread still waits for a line.
        let asked = tokio::task::spawn_blocking(move || ask(&request, &mut stdin().lock(), &mut stderr())).await;
        open.0 = false;
        match asked {
            Ok(Ok(answer)) => answer,
            _ => unasked(),
        }
    }
}

/// A question whose line is still open on the screen.
struct OpenQuestion(bool);

impl Drop for OpenQuestion {
    fn drop(&mut self) {
        if self.0 {
            let _ = writeln!(stderr());
        }
    }
}

/// Puts a question and reads the answer. The end of input is a no.
fn ask(
    request: &PermissionRequest,
    input: &mut impl BufRead,
    output: &mut impl Write,
) -> std::io::Result<PermissionAnswer> {
    let always = for_this_session(&request.decision.suggestions);
    writeln!(output, "\n{}", question(request))?;
    loop {
        let choices = if always.is_empty() { "[y]es [n]o" } else { "[y]es [n]o [a]lways in this session" };
        write!(output, "Allow it? {choices}: ")?;
        output.flush()?;
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            return Ok(PermissionAnswer::deny("The user did not allow the call."));
        }
        match line.trim().to_lowercase().as_str() {
            "y" | "yes" => return Ok(PermissionAnswer::allow()),
            "n" | "no" => return Ok(PermissionAnswer::deny("The user did not allow the call.")),
            "a" | "always" if !always.is_empty() => {
                return Ok(PermissionAnswer::Allow { updated_input: None, updates: always });
            }
            _ => {}
        }
    }
}

/// The question: the exact call, why it is asked about, and what "always" means.
pub(crate) fn question(request: &PermissionRequest) -> String {
    let agent = request.identity.as_ref().map(|agent| format!(", for the agent {}", visible(&agent.agent_type)));
    let mut text = format!("{} wants to run{}:\n", visible(&request.tool), agent.unwrap_or_default());
    for line in fields(&request.input) {
        text.push_str(&format!("  {line}\n"));
    }
    text.push_str(&format!("Why it asks: {}", visible(&request.decision.message)));
    for update in for_this_session(&request.decision.suggestions) {
        if let Some(what) = describe(&update) {
            text.push_str(&format!("\nAlways: {}", visible(&what)));
        }
    }
    text
}

/// The whole input, one field after the other, with nothing hidden in it.
fn fields(input: &JsonText) -> Vec<String> {
    let Ok(fields) = input.to::<BTreeMap<String, JsonText>>() else { return vec![visible(input.as_str())] };
    let mut lines = Vec::new();
    for (name, value) in fields {
        let shown = value.to::<String>().map_or_else(|_| visible(value.as_str()), |text| visible(&text));
        match shown.split_once('\n') {
            None => lines.push(format!("{}: {shown}", visible(&name))),
            Some(_) => {
                lines.push(format!("{}:", visible(&name)));
                lines.extend(shown.split('\n').map(|line| format!("  | {line}")));
            }
        }
    }
    lines
}

/// What is suggested, kept no longer than this session.
fn for_this_session(suggestions: &[PermissionUpdate]) -> Vec<PermissionUpdate> {
    let destination = UpdateDestination::Session;
    let first = suggestions.iter().find_map(|suggestion| match suggestion {
        PermissionUpdate::AddRules { rules, behavior: Behavior::Allow, .. } => {
            Some(PermissionUpdate::AddRules { rules: rules.clone(), behavior: Behavior::Allow, destination })
        }
        PermissionUpdate::SetMode { mode, .. } => Some(PermissionUpdate::SetMode { mode: *mode, destination }),
        PermissionUpdate::AddDirectories { directories, .. } => {
            Some(PermissionUpdate::AddDirectories { directories: directories.clone(), destination })
        }
        _ => None,
    });
    first.into_iter().collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use windlass::crates::types::{AgentIdentity, CallDigest, RuleValue, ToolUse};
    use windlass::{Decision, DecisionReason};

    fn request(command: &str) -> PermissionRequest {
        let input = JsonText::of(&serde_json::json!({ "command": command, "timeout": 5 })).unwrap();
        let update = PermissionUpdate::AddRules {
            rules: vec![RuleValue::new("Bash", "npm test *")],
            behavior: Behavior::Allow,
            destination: UpdateDestination::LocalSettings,
        };
        let decision =
            Decision::new(Behavior::Ask, DecisionReason::Default, "No rule allows it.").with_suggestions(vec![update]);
        let call = ToolUse::new("toolu_1", "Bash", input);
        PermissionRequest::new(call, "Bash".into(), decision, CallDigest::new("0"))
    }

    fn answer(typed: &str) -> (PermissionAnswer, String) {
        let mut shown = Vec::new();
        let answer = ask(&request("npm test\u{1b}[2K\nrm x"), &mut typed.as_bytes(), &mut shown).unwrap();
        (answer, String::from_utf8(shown).unwrap())
    }

    #[test]
    fn the_exact_call_is_shown() {
        let (_, shown) = answer("n\n");
        assert_eq!(
            shown,
            "\nBash wants to run:\n  command:\n    | npm test\\u{1b}[2K\n    | rm x\n  timeout: 5\n\
             Why it asks: No rule allows it.\nAlways: allow Bash(npm test *)\n\
             Allow it? [y]es [n]o [a]lways in this session: "
        );
    }

    #[test]
    fn the_agent_that_asks_is_named() {
        let mut request = request("ls");
        request.identity = Some(AgentIdentity::new("a1".into(), "Explore\u{1b}[2K"));
        let asked = question(&request);
        assert!(asked.starts_with("Bash wants to run, for the agent Explore\\u{1b}[2K:\n"), "{asked}");
    }

    #[test]
    fn only_a_yes_is_a_yes() {
        assert_eq!(answer("y\n").0, PermissionAnswer::allow());
        assert_eq!(answer("what?\n\nYES\n").0, PermissionAnswer::allow());
        for no in ["n\n", "", "maybe\n"] {
            assert!(matches!(answer(no).0, PermissionAnswer::Deny { interrupt: false, .. }), "{no:?}");
        }
        let PermissionAnswer::Allow { updates, .. } = answer("a\n").0 else { panic!("always is a yes") };
        assert!(matches!(&updates[..], [PermissionUpdate::AddRules { destination: UpdateDestination::Session, .. }]));
    }
}
