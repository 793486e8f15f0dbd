//! Commands that are the same as on the command line: `/doctor`, `/init`, `/login`, `/logout`.

use crate::doctor;
use crate::terminal::{Terminal, clean};
use windlass_terminal::app::CommandReply;

pub(super) async fn view(name: &str, argument: &str) -> CommandReply {
    if name == "doctor" {
        let report = doctor::report(Terminal::of_process()).await;
        return CommandReply::Text(clean(report.trim_end()));
    }
    // The others ask questions, so they get the terminal.
    let words = std::iter::once(name).chain(argument.split_whitespace()).map(str::to_owned);
    CommandReply::Attended(words.collect())
}
