//! Commands that are the same as on the command line: `/doctor`, `/init`, `/login`, `/logout`.

use super::context::CommandContext;
use tokio::process::Command;
use windlass_terminal::app::CommandReply;

pub(super) async fn view(context: &CommandContext, name: &str, argument: &str) -> anyhow::Result<CommandReply> {
    let words = std::iter::once(name).chain(argument.split_whitespace()).map(str::to_owned);
    let words: Vec<String> = words.collect();
    // Subcommands that ask questions get the terminal.
    if name != "doctor" {
        return Ok(CommandReply::Attended(words));
    }
    let output = Command::new(std::env::current_exe()?)
        .args(&words)
        .current_dir(&context.cwd)
        .stdin(std::process::Stdio::null())
        .kill_on_drop(true)
        .output()
        .await?;
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    Ok(CommandReply::Text(crate::terminal::clean(text.trim_end())))
}
