//! `/permissions`: rules with their sources, reasons of decisions, a test, and new rules.

use super::context::{CommandContext, lines};
use crate::explain;
use crate::permissions::behavior_word;
use crate::terminal::clean_line;
use anyhow::Context;
use windlass::Home;
use windlass::permission::UpdateDestination;
use windlass::permission::parse_rule;
use windlass::permission::{Behavior, PermissionUpdate};
use windlass::project::KeepUpdates as _;
use windlass_terminal::app::{CommandCall, CommandReply};

/// Form of the arguments.
const USAGE: &str = "Write /permissions, /permissions why, /permissions test TOOL INPUT, or /permissions allow, ask or deny \
                     RULE. INPUT is a command for Bash, a path for tools of files, or a JSON object.";

pub(super) async fn view(context: &CommandContext, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let (verb, rest) = call.argument.split_once(char::is_whitespace).unwrap_or((&call.argument, ""));
    let rest = rest.trim();
    match (verb, rest) {
        ("", _) => Ok(rules(context)),
        ("why", _) => why(&call.status.session_id).await,
        ("test", rest) if !rest.is_empty() => test(context, rest).await,
        ("allow", rule) if !rule.is_empty() => add(context, Behavior::Allow, rule),
        ("ask", rule) if !rule.is_empty() => add(context, Behavior::Ask, rule),
        ("deny", rule) if !rule.is_empty() => add(context, Behavior::Deny, rule),
        _ => Ok(CommandReply::Text(USAGE.to_owned())),
    }
}

/// Rules of files and flags with their sources, the strongest layer first.
fn rules(context: &CommandContext) -> CommandReply {
    let args = &context.args.permissions;
    let mut rows = Vec::new();
    for (behavior, given) in [("deny", &args.disallowed_tools), ("allow", &args.allowed_tools)] {
        let rules = crate::permissions::rules(given);
        rows.extend(rules.iter().map(|rule| clean_line(&format!("{behavior:<6} {rule}  (command line)"))));
    }
    // Rules of answers are in the files by now.
    let project = context.project.reread().unwrap_or_else(|_| context.project.clone());
    for set in &project.resolved().permissions.rules {
        let behavior = behavior_word(set.behavior);
        rows.extend(set.rules.iter().map(|rule| {
            let line =
                set.origins.get(rule).and_then(|origin| origin.line).map(|line| format!(":{line}")).unwrap_or_default();
            clean_line(&format!("{behavior:<6} {rule}  ({}{line})", set.origin))
        }));
    }
    if let Some(mode) = &project.resolved().permissions.default_mode {
        rows.push(clean_line(&format!("mode   {}  ({})", mode.value, mode.origin)));
    }
    let none = "No rule is set. /permissions allow RULE adds one, such as /permissions allow Bash(cargo test *).";
    lines(&rows, none)
}

/// Reasons of the decisions in this session.
async fn why(session: &str) -> anyhow::Result<CommandReply> {
    if session.is_empty() {
        return Ok(CommandReply::Text("No call was decided yet.".to_owned()));
    }
    let home = Home::from_env()?;
    let stored = crate::sessions::found::find(&home, session).await?;
    let text = crate::sessions::audit::text(&home.audit(&stored.id).await?)?;
    Ok(CommandReply::Page { title: "Why calls ran or did not".to_owned(), text })
}

/// Verdict on a call that does not run.
async fn test(context: &CommandContext, call: &str) -> anyhow::Result<CommandReply> {
    let (tool, input) = call.split_once(char::is_whitespace).unwrap_or((call, "{}"));
    Ok(CommandReply::Text(explain::verdict(tool, input.trim(), &context.cwd).await.map_err(anyhow::Error::msg)?))
}

/// Adds a rule to the user's own settings for this project.
fn add(context: &CommandContext, behavior: Behavior, rule: &str) -> anyhow::Result<CommandReply> {
    let rules = vec![parse_rule(rule)?.value()];
    let update = PermissionUpdate::AddRules { rules, behavior, destination: UpdateDestination::LocalSettings };
    let file = context.project.updates().keep(&update)?;
    let file = file.context("settings for this project are not read in this session")?;
    Ok(CommandReply::Text(clean_line(&format!(
        "{} {rule} is in {} from now on.",
        behavior_word(behavior),
        file.display()
    ))))
}
