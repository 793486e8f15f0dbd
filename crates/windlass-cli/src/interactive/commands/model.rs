//! `/model`: another model for this session, and its effort.

use super::context::CommandContext;
use crate::models;
use anyhow::Context;
use windlass::Effort;
use windlass::conversation::{Request, SettingsChange};
use windlass_terminal::app::{CommandChoice, CommandReply};

/// Efforts, the lowest first.
const EFFORTS: [Effort; 5] = [Effort::Low, Effort::Medium, Effort::High, Effort::XHigh, Effort::Max];

pub(super) fn view(context: &CommandContext, argument: &str, current: Option<&str>) -> anyhow::Result<CommandReply> {
    let project = &context.project;
    let mut words = argument.split_whitespace();
    let Some(name) = words.next() else {
        let choices = models::callable(project).into_iter().map(|known| CommandChoice {
            detail: if current == Some(known.id.as_str()) { "in use".to_owned() } else { models::figures(&known) },
            line: format!("/model {}", known.id),
            title: known.id,
        });
        let choices: Vec<CommandChoice> = choices.collect();
        if choices.is_empty() {
            let text = "No listed model can be called here. Name one: /model <provider/name>.";
            return Ok(CommandReply::Text(text.to_owned()));
        }
        return Ok(CommandReply::Choices { title: "Which model from the next request on?".to_owned(), choices });
    };
    let mut change = SettingsChange::default();
    let mut said = Vec::new();
    // An effort alone keeps the model.
    match effort(name) {
        Some(effort) => change.effort = Some(Some(effort)),
        None => {
            models::check(project, name)?;
            change.model = Some(Some(name.to_owned()));
            said.push(format!("The model is {name} from the next request on."));
        }
    }
    if let Some(word) = words.next() {
        let efforts = EFFORTS.map(Effort::as_str).join(", ");
        let effort = effort(word).with_context(|| format!("there is no effort {word:?}: there are {efforts}"))?;
        change.effort = Some(Some(effort));
    }
    if let Some(Some(effort)) = change.effort {
        said.push(format!("The effort is {}.", effort.as_str()));
    }
    Ok(CommandReply::Request { request: Box::new(Request::Settings(change)), done: said.join(" ") })
}

fn effort(word: &str) -> Option<Effort> {
    EFFORTS.into_iter().find(|effort| effort.as_str() == word)
}
