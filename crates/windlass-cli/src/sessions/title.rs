//! `windlass sessions title`.

use super::found::find;
use super::listing::all;
use crate::failure::{Usage, of_start};
use crate::provider;
use crate::terminal::clean;
use clap::Args;
use std::io::{Write, stderr, stdout};
use std::path::PathBuf;
use std::sync::Arc;
use windlass::{Home, SessionId};

#[derive(Debug, Args)]
pub(crate) struct TitleArgs {
    /// The session ids
    #[arg(value_name = "SESSION", required_unless_present = "missing", conflicts_with = "missing")]
    sessions: Vec<String>,
    /// All sessions of this directory that have no title, the last changed first
    #[arg(long)]
    missing: bool,
    /// With --missing: another directory
    #[arg(long, value_name = "DIR", requires = "missing")]
    cwd: Option<PathBuf>,
    /// With --missing: maximum number of sessions
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// The model that writes the titles: an alias or a full name
    #[arg(long, default_value = "haiku")]
    model: String,
}

/// Gives sessions titles and returns the exit code: 1 when one got none.
pub(super) async fn title(args: TitleArgs) -> anyhow::Result<i32> {
    let home = Home::from_env().map_err(of_start)?;
    let lookup: provider::Lookup = Arc::new(provider::own_variable);
    let model = provider::of_environment(&lookup)?;
    let sessions = match args.missing {
        true => missing(&home, args.cwd, args.limit).await?,
        false => args.sessions,
    };
    let mut failed = false;
    for given in sessions {
        let id = find(&home, &given).await?.id;
        match home.title_session(&id, Arc::clone(&model), &args.model).await {
            Ok(Some(title)) => writeln!(stdout(), "{id}  {}", clean(&title))?,
            Ok(None) => writeln!(stderr(), "{id}: nothing was said in this session")?,
            Err(error) => {
                failed = true;
                writeln!(stderr(), "{id}: {}", clean(&error.to_string()))?;
            }
        }
    }
    Ok(i32::from(failed))
}

/// The sessions of a directory without a title.
async fn missing(home: &Home, cwd: Option<PathBuf>, limit: u32) -> anyhow::Result<Vec<String>> {
    let cwd = cwd.unwrap_or_else(|| PathBuf::from("."));
    let cwd = cwd
        .canonicalize()
        .map_err(|error| Usage(format!("the directory {} cannot be used: {error}", cwd.display())))?;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut untitled: Vec<SessionId> = Vec::new();
    all(
        home.list().in_directory(cwd),
        None,
        |_| true,
        |session| {
            if session.summary.custom_title.is_none() && untitled.len() < limit {
                untitled.push(session.id);
            }
            Ok(())
        },
    )
    .await?;
    Ok(untitled.iter().map(ToString::to_string).collect())
}
