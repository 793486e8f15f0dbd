//! `/diff`: changes since the last commit, with new files.

use super::context::CommandContext;
use crate::interactive::shell::run;
use windlass_terminal::app::CommandReply;

/// Prints the diff of tracked files and of new ones, which are compared with nothing. No configured program takes part.
const COMMAND: &str = "git --no-pager -c core.fsmonitor= diff --no-ext-diff --no-textconv --no-color HEAD && \
                       git -c core.fsmonitor= ls-files --others --exclude-standard -z | \
                       xargs -0 -n 1 git --no-pager diff --no-ext-diff --no-textconv --no-color --no-index -- /dev/null; true";

pub(super) async fn view(context: &CommandContext) -> anyhow::Result<CommandReply> {
    let output = run(COMMAND, &context.cwd).await;
    let text = output.text.trim_end();
    Ok(match text {
        "" => CommandReply::Text("Nothing has changed since the last commit.".to_owned()),
        text if text.starts_with("diff ") => {
            CommandReply::Diff { title: "Changes since the last commit".to_owned(), diff: output.text }
        }
        problem => CommandReply::Text(format!("git tells no difference here: {problem}")),
    })
}
