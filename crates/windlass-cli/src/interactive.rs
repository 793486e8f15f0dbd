//! `windlass` at a terminal: a conversation until the person leaves.

mod appearance;
mod clipboard;
mod commands;
mod earlier;
mod elicitation;
mod history;
mod mentions;
mod services;
mod shell;
mod status_line;

use crate::args::RunArgs;
use crate::failure::of_start;
use crate::first_run;
use crate::opening::Opening;
use crate::provider::Provider;
use crate::settings::current_directory;
use elicitation::TerminalElicitation;
use services::Services;
use std::path::Path;
use std::sync::Arc;
use windlass::Home;
use windlass::conversation::LiveConversation;
use windlass_terminal::app::{TerminalEnd, TerminalError, TerminalOptions, program_link, run};
use windlass_terminal::capabilities::{Capabilities, Presentation};
use windlass_terminal::cell::{Cell, Notice, NoticeLevel};
use windlass_terminal::theme::Theme;

/// Runs conversations until the person leaves, and returns the exit code.
pub(crate) async fn interactive(mut args: RunArgs) -> anyhow::Result<i32> {
    let mut start = Start::First;
    loop {
        let Some(end) = converse(&args, start).await? else { return Ok(1) };
        match end {
            TerminalEnd::Resume(id) => {
                args.resume_session(id);
                start = Start::Other;
            }
            TerminalEnd::Fork(id) => {
                args.resume_session(id);
                args.session.fork_session = true;
                start = Start::Same("This is a copy of the session. /resume lists the one before.".to_owned());
            }
            TerminalEnd::AddDirectory { session, directory } => {
                start = Start::Same(format!("{directory} is part of the workspace now."));
                if session.is_empty() {
                    args.forget_prompt();
                } else {
                    args.resume_session(session);
                }
                args.permissions.add_dir.push(directory.into());
            }
            TerminalEnd::Signal(code) => return Ok(code),
            _ => return Ok(0),
        }
    }
}

/// Beginning of a conversation at the terminal.
#[derive(Debug, PartialEq, Eq)]
enum Start {
    /// The first one of the command.
    First,
    /// One whose session is another one than before.
    Other,
    /// One that goes on with what stands above, with a note.
    Same(String),
}

/// Runs one conversation. `None`: none began, and the terminal shows what is missing.
async fn converse(args: &RunArgs, start: Start) -> anyhow::Result<Option<TerminalEnd>> {
    let mut capabilities = Capabilities::detect(|name| std::env::var(name).ok(), true);
    let cwd = current_directory()?;
    let first = args.given_prompt().map(str::to_owned);
    let (link, messages) = program_link();
    let tell = link.clone();
    let asked = Arc::new(TerminalElicitation(link.clone()));
    let opening = Opening::new(args.clone(), &cwd, asked, move |text| tell.notice(text))?;
    let model = match callable_model(&opening)? {
        Ok(model) => model,
        Err(error) if first_run::is_missing_key(&error) => {
            first_run::show(&error, opening.project(), &cwd).await?;
            return Ok(None);
        }
        Err(error) => return Err(of_start(error)),
    };
    let options = opening.options();
    let settings = opening.project().resolved().terminal.clone();
    if args.plain || settings.screen_reader.as_ref().is_some_and(|setting| setting.value) {
        capabilities.presentation = Presentation::Plain;
    }
    let mut terminal = TerminalOptions::new(capabilities, Theme::default());
    let (status, problems) = appearance::apply(&settings, &mut terminal);
    problems.iter().for_each(|problem| link.notice(problem));
    terminal.has_auto = !options.auto_forbidden;
    terminal.allows_bypass = options.bypass_allowed;
    terminal.project = cwd.to_string_lossy().into_owned();
    terminal.first_message = first;
    terminal.picks_session = args.picks_session();
    terminal.presenter.masks = crate::terminal::masks();
    terminal.first_cells = first_cells(&opening, &cwd, start).await?;
    let opener = opening.clone();
    let conversation = LiveConversation::new(options, windlass::conversation::ids(), move |settings, asker| {
        let (opener, link) = (opener.clone(), link.clone());
        async move {
            let opened = opener.open(&settings, asker).await.map_err(|error| format!("{error:#}"))?;
            opened.session().notices.iter().for_each(|notice| link.notice(notice));
            Ok(opened)
        }
    });
    let services = Arc::new(Services::new(&opening, &cwd, model, status));
    let ended = run(conversation, windlass::conversation::ids(), services, terminal, messages).await;
    opening.close().await;
    crate::sessions::retention::apply_when_due(opening.project()).await;
    ended.map(Some).map_err(|error| match error {
        TerminalError::Open(failure) => anyhow::anyhow!("{failure}"),
        error => error.into(),
    })
}

/// Cells above the conversation: the welcome, and what was said in a session that is resumed. What this command has
/// written already stands above.
async fn first_cells(opening: &Opening, cwd: &Path, start: Start) -> anyhow::Result<Vec<Cell>> {
    let notice = |text: String| Cell::Notice(Notice::new(NoticeLevel::Info, text));
    let mut cells = match start {
        Start::Same(note) => return Ok(vec![notice(note)]),
        Start::Other => Vec::new(),
        Start::First => {
            let place = crate::terminal::clean_line(&cwd.display().to_string());
            let version = env!("CARGO_PKG_VERSION");
            vec![notice(format!("windlass {version} in {place}. ? shows the keys, /help the commands."))]
        }
    };
    if let Some(session) = opening.resumed().await? {
        let transcript = Home::from_env().map_err(of_start)?.transcript(&session).await.map_err(of_start)?;
        cells.extend(earlier::cells(&transcript));
    }
    Ok(cells)
}

/// Name of the model of the conversation. Without one that can be called the person would write a prompt in vain.
fn callable_model(opening: &Opening) -> anyhow::Result<Result<String, windlass::Error>> {
    let provider = Provider::choose(opening.args(), opening.project())?;
    let model = opening.model()?.unwrap_or_else(|| "default".to_owned());
    Ok(provider.model.ready(&model).map(|()| model).map_err(windlass::Error::from))
}
