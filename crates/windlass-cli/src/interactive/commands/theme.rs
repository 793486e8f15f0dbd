//! `/theme`: other colours, from now on and in later conversations.

use crate::config;
use crate::config::command::Scope;
use crate::interactive::appearance::{named, own_themes};
use windlass_terminal::app::{CommandChoice, CommandReply};
use windlass_terminal::theme::Theme;

pub(super) fn view(argument: &str) -> anyhow::Result<CommandReply> {
    if argument.is_empty() {
        let own = own_themes().into_iter().map(|name| (name, "your own"));
        let built_in = Theme::NAMES.into_iter().map(|name| (name.to_owned(), "built in"));
        let choices = built_in.chain(own).map(|(name, detail)| CommandChoice {
            detail: detail.to_owned(),
            line: format!("/theme {name}"),
            title: name,
        });
        return Ok(CommandReply::Choices { title: "Which colours?".to_owned(), choices: choices.collect() });
    }
    let theme = named(argument).map_err(anyhow::Error::msg)?;
    let changed = config::set("theme", Some(argument), Scope::User)?;
    Ok(CommandReply::Theme(Box::new(theme), format!("{} Text above keeps its colours.", changed.join("\n"))))
}
