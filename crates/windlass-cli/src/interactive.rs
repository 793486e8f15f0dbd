//! `windlass` at a terminal: a conversation until the person leaves.

mod earlier;
mod history;
mod mentions;
mod services;
mod shell;

use crate::args::RunArgs;
use crate::failure::of_start;
use crate::opening::Opening;
use crate::provider::Provider;
use crate::settings::current_directory;
use services::Services;
use std::sync::Arc;
use tokio::sync::mpsc;
use windlass::Home;
use windlass::conversation::LiveConversation;
use windlass_terminal::app::{TerminalEnd, TerminalError, TerminalOptions, run};
use windlass_terminal::capabilities::{Background, Capabilities, Presentation};
use windlass_terminal::cell::{Cell, Notice, NoticeLevel};
use windlass_terminal::theme::Theme;

/// Runs conversations until the person leaves, and returns the exit code.
pub(crate) async fn interactive(mut args: RunArgs) -> anyhow::Result<i32> {
    loop {
        match converse(&args).await? {
            TerminalEnd::Resume(id) => args.resume_session(id),
            TerminalEnd::Signal(code) => return Ok(code),
            _ => return Ok(0),
        }
    }
}

/// Runs one conversation.
async fn converse(args: &RunArgs) -> anyhow::Result<TerminalEnd> {
    let capabilities = Capabilities::detect(|name| std::env::var(name).ok(), true);
    if capabilities.presentation == Presentation::Plain {
        anyhow::bail!(crate::failure::Usage(
            "this terminal has no control sequences (TERM is empty or dumb): add -p to run a prompt".to_owned()
        ));
    }
    let cwd = current_directory()?;
    let first = args.given_prompt().map(str::to_owned);
    let (told, notices) = mpsc::unbounded_channel();
    let tell = told.clone();
    let opening = Opening::new(args.clone(), &cwd, move |text| {
        // The terminal is gone when nobody hears it, and then nobody reads.
        let _ = tell.send(text.to_owned());
    })?;
    let model = callable_model(&opening)?;
    let options = opening.options();
    let mut terminal = TerminalOptions::new(capabilities, theme());
    terminal.has_auto = !options.auto_forbidden;
    terminal.allows_bypass = options.bypass_allowed;
    terminal.project = cwd.to_string_lossy().into_owned();
    terminal.first_message = first;
    terminal.presenter.masks = crate::terminal::masks();
    let place = crate::terminal::clean_line(&cwd.display().to_string());
    let welcome = format!("windlass {} in {place}. ? shows the keys, /help the commands.", env!("CARGO_PKG_VERSION"));
    terminal.first_cells.push(Cell::Notice(Notice::new(NoticeLevel::Info, welcome)));
    if let Some(session) = opening.resumed().await? {
        let transcript = Home::from_env().map_err(of_start)?.transcript(&session).await.map_err(of_start)?;
        terminal.first_cells.extend(earlier::cells(&transcript));
    }
    let opener = opening.clone();
    let conversation = LiveConversation::new(options, windlass::conversation::ids(), move |settings, asker| {
        let (opener, told) = (opener.clone(), told.clone());
        async move {
            let opened = opener.open(&settings, asker).await.map_err(|error| format!("{error:#}"))?;
            for notice in &opened.session().notices {
                let _ = told.send(notice.clone());
            }
            Ok(opened)
        }
    });
    let services = Arc::new(Services::new(&opening, &cwd, model));
    let ended = run(conversation, windlass::conversation::ids(), services, terminal, notices).await;
    opening.close().await;
    ended.map_err(|error| match error {
        TerminalError::Open(failure) => anyhow::anyhow!("{failure}"),
        error => error.into(),
    })
}

/// Name of the model of the conversation. Without one that can be called the person would write a prompt in vain.
fn callable_model(opening: &Opening) -> anyhow::Result<String> {
    let provider = Provider::choose(opening.args(), opening.project())?;
    let model = opening.model()?.unwrap_or_else(|| "default".to_owned());
    provider.model.ready(&model).map_err(|error| of_start(error.into()))?;
    Ok(model)
}

/// The styles for the background that the terminal tells, in its environment.
fn theme() -> Theme {
    let background = std::env::var("COLORFGBG").ok().and_then(|value| value.rsplit(';').next()?.parse::<u8>().ok());
    match background {
        Some(7 | 15) => Theme::for_background(Some(Background::Light)),
        Some(_) => Theme::for_background(Some(Background::Dark)),
        None => Theme::for_background(None),
    }
}
