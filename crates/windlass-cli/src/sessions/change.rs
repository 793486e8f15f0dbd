//! Changes of stored sessions: titles, tags, copies and deletion.

use super::store;
use crate::failure::{Usage, of_start};
use std::path::PathBuf;
use windlass::crates::runtime::{SystemClock, SystemIds};
use windlass::crates::session::{
    Annotation, BadAnnotation, ForkRequest, LogHeader, Owner, ProjectKey, ResumePoint, SessionKey, fork_session,
};
use windlass::crates::store::{JsonlStore, git_branch};
use windlass::crates::tool::{Clock, Ids};
use windlass::crates::types::EntryId;
use windlass::{Home, SessionId, SessionStore};

/// The options of a copy.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ForkArgs {
    /// The session id
    #[arg(value_name = "SESSION")]
    session: String,
    /// Copy no further than this message: the id of its line
    #[arg(long, value_name = "UUID")]
    at: Option<String>,
    /// The title of the copy [default: that of the session, or its first prompt, with "(fork)"]
    #[arg(long)]
    title: Option<String>,
    /// The id of the copy, a UUID
    #[arg(long, value_name = "UUID")]
    session_id: Option<String>,
}

/// A stored session and where it is.
struct Stored {
    home: Home,
    store: JsonlStore,
    key: SessionKey,
}

impl Stored {
    fn find(given: &str) -> anyhow::Result<Self> {
        let id = id(given)?;
        let home = Home::from_env().map_err(of_start)?;
        let store = store(&home);
        let key = store.find(&id)?;
        let key = key.ok_or_else(|| anyhow::anyhow!("No conversation found with session ID: {given}"))?;
        Ok(Self { home, store, key })
    }
}

fn id(given: &str) -> Result<SessionId, Usage> {
    let id = SessionId::from(given.to_ascii_lowercase());
    if id.is_uuid() { Ok(id) } else { Err(Usage(format!("{given:?} is no session id: a session id is a UUID"))) }
}

fn owner() -> Owner {
    Owner::new(std::process::id(), "windlass sessions")
}

fn usable(annotation: Result<Annotation, BadAnnotation>) -> Result<Annotation, Usage> {
    annotation.map_err(|error| Usage(error.to_string()))
}

pub(super) async fn rename(session: &str, title: &str) -> anyhow::Result<i32> {
    annotate(session, &usable(Annotation::title(title))?).await
}

/// Sets the tag, or takes it away.
pub(super) async fn tag(session: &str, tag: Option<&str>) -> anyhow::Result<i32> {
    let annotation = match tag {
        Some(tag) => usable(Annotation::tag(tag))?,
        None => Annotation::no_tag(),
    };
    annotate(session, &annotation).await
}

async fn annotate(session: &str, annotation: &Annotation) -> anyhow::Result<i32> {
    let Stored { store, key, .. } = Stored::find(session)?;
    store.annotate(&key, &owner(), annotation).await?;
    Ok(0)
}

/// Deletes sessions; one that cannot be deleted does not keep the others.
pub(super) async fn delete(sessions: &[String]) -> anyhow::Result<i32> {
    let mut failed = Vec::new();
    for session in sessions {
        if let Err(error) = delete_one(session).await {
            failed.push(format!("{error:#}"));
        }
    }
    if failed.is_empty() { Ok(0) } else { Err(anyhow::anyhow!("{}", failed.join("; "))) }
}

async fn delete_one(session: &str) -> anyhow::Result<()> {
    let Stored { home, store, key } = Stored::find(session)?;
    let path = store.log_path(&key);
    if !path.is_file() {
        let places: Vec<String> = home.also_read().iter().map(|place| place.display().to_string()).collect();
        anyhow::bail!(
            "the session {session} is not in {} but in {}, which is only read: set WINDLASS_HOME to delete it there",
            home.root().display(),
            places.join(" or ")
        );
    }
    Ok(store.delete(&key).await?)
}

/// Copies a session and prints the id of the copy.
pub(super) async fn fork(args: ForkArgs) -> anyhow::Result<SessionId> {
    let Stored { store, key, .. } = Stored::find(&args.session)?;
    let ids = SystemIds::default();
    let target = args.session_id.as_deref().map(id).transpose()?;
    let target = SessionKey::new(key.project.clone(), target.unwrap_or_else(|| SessionId::from_bits(ids.bits())));
    let summary = store.list(&key.project).await?.into_iter().find(|one| one.session_id == key.session);
    let title = match (&args.title, &summary) {
        (Some(title), _) => usable(Annotation::title(title))?,
        (None, Some(summary)) => usable(Annotation::title(&summary.fork_title()))?,
        (None, None) => usable(Annotation::title("Forked session (fork)"))?,
    };
    let cwd = summary.and_then(|summary| summary.cwd);
    let cwd = cwd.unwrap_or_else(|| directory_of(&key.project));
    let header = LogHeader::new(&*cwd, env!("CARGO_PKG_VERSION"), "cli").with_git_branch(git_branch(cwd.as_ref()));
    let request = ForkRequest::new(owner(), header, SystemClock::default().now())
        .at(args.at.as_deref().map(ResumePoint::new))
        .titled(Some(title));
    fork_session(&store, &key, &target, request, || EntryId::from_bits(ids.bits())).await?;
    Ok(target.session)
}

/// The current directory, if it is that of the project: its key cannot be read backwards.
fn directory_of(project: &ProjectKey) -> String {
    let here = std::env::current_dir().and_then(|here| here.canonicalize()).unwrap_or_else(|_| PathBuf::from("/"));
    if ProjectKey::of(&here) == *project { here.to_string_lossy().into_owned() } else { String::new() }
}
