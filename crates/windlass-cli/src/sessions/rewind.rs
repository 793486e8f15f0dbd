//! `windlass sessions rewind`: restores files and conversation from before a prompt.

use super::listing::resolved;
use crate::failure::{Usage, of_start};
use crate::jsonl;
use crate::terminal::{Terminal, clean, clean_line};
use anyhow::anyhow;
use clap::{Args, ValueEnum};
use serde::Serialize;
use std::collections::HashMap;
use std::io::{Write, stderr, stdout};
use std::path::{Path, PathBuf};
use windlass::store::EntryKind;
use windlass::store::{Conflicts, FileCheckpoints, JsonlStore, RewindScope, SessionRewind, SessionRewound};
use windlass::tool::{Clock, Ids, SystemClock, SystemIds};
use windlass::{
    Home, SessionId,
    session::{EntryId, FileChange, RewoundFile},
    store::{Checkpoint, CheckpointKind, Checkpoints, SessionStore},
};
use windlass::{
    session::ProjectKey,
    store::{LogHeader, Owner, RewoundMark, SessionKey},
};

/// Selection of the point and of the files to rewind.
#[derive(Debug, Args)]
pub(crate) struct RewindArgs {
    /// The session id
    #[arg(value_name = "SESSION")]
    session: String,
    /// The id of the prompt, or of an earlier rewind to undo
    #[arg(value_name = "PROMPT")]
    to: Option<String>,
    /// Part to rewind. Requests to the network, running programs and files elsewhere are never rewound
    #[arg(long, value_enum, default_value_t)]
    what: What,
    /// Print the changes, without making them
    #[arg(long)]
    dry_run: bool,
    /// Files that were changed outside the session since. Default: `overwrite`, and `refuse` with `--what both`
    #[arg(long, value_enum, value_name = "HOW", conflicts_with = "leave_conflicts")]
    conflicts: Option<OnConflict>,
    /// The same as `--conflicts leave`
    #[arg(long)]
    leave_conflicts: bool,
    /// Also rewind files in this directory, beside the session's own
    #[arg(long, value_name = "DIR")]
    add_dir: Vec<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum What {
    #[default]
    Files,
    Conversation,
    Both,
}

impl What {
    fn scope(self) -> RewindScope {
        match self {
            Self::Files => RewindScope::Files,
            Self::Conversation => RewindScope::Conversation,
            Self::Both => RewindScope::Both,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OnConflict {
    /// Nothing is rewound
    Refuse,
    /// Leave them as they are
    Leave,
    /// Rewind them too, and keep their current content
    Overwrite,
}

impl RewindArgs {
    fn conflicts(&self) -> Conflicts {
        match (self.conflicts, self.leave_conflicts, self.what) {
            (Some(OnConflict::Refuse), ..) | (None, false, What::Both) => Conflicts::Refuse,
            (Some(OnConflict::Leave), ..) | (None, true, _) => Conflicts::Leave,
            (Some(OnConflict::Overwrite), ..) | (None, false, _) => Conflicts::Overwrite,
        }
    }
}

/// Carries out the command and returns the exit code: 1 when a file was left as it is.
pub(crate) async fn rewind(args: RewindArgs, terminal: Terminal) -> anyhow::Result<i32> {
    let home = Home::from_env().map_err(of_start)?;
    let store = JsonlStore::with_imports(home.root(), home.also_read().to_vec());
    let id = SessionId::from(args.session.to_ascii_lowercase());
    let found = store.find(&id).await?;
    let found = found.ok_or_else(|| anyhow!("No conversation found with session ID: {}", args.session))?;
    let key = found.key;
    let checkpoints = home.file_checkpoints(&key.project, &key.session);
    let (what, conflicts) = (args.what, args.conflicts());
    let Some(to) = args.to else { return list(&store, &key, &checkpoints, terminal).await };
    if key.project.is_elsewhere() && what != What::Conversation {
        let problem = "the session worked in a container or on another machine, and this command reaches files of this one: use \
                       --what conversation";
        return Err(Usage(problem.to_owned()).into());
    }
    // The session stays locked while its files change.
    let owner = Owner::new(std::process::id(), "windlass sessions rewind");
    let lease = store.open(&key, &owner, LogHeader::default()).await?;
    let mut directories = Vec::new();
    for directory in args.add_dir {
        directories.push(resolved(&directory)?);
    }
    match directory_of(&store, &key).await {
        Ok(directory) => directories.insert(0, directory),
        Err(_) if what == What::Conversation => {}
        // A directory that the user names takes precedence over that of the log.
        Err(error) if directories.is_empty() => return Err(error),
        Err(error) => writeln!(stderr(), "warning: {}", clean(&format!("{error:#}")))?,
    }
    let request = SessionRewind::new(EntryId::from(to)).scope(what.scope()).conflicts(conflicts).within(directories);
    let rewound = if args.dry_run {
        store.rewind_changes(&key, &checkpoints, &request).await?
    } else {
        let mark = RewoundMark::new(EntryId::from_bits(SystemIds::default().bits()), SystemClock::default().now());
        store.rewind(&key, &lease, &checkpoints, (&request, mark)).await?
    };
    show(&rewound, &key, what, terminal)?;
    Ok(i32::from(rewound.files.iter().any(|files| files.left().next().is_some())))
}

/// Returns the working directory of the session.
async fn directory_of(store: &JsonlStore, key: &SessionKey) -> anyhow::Result<PathBuf> {
    let sessions = store.list(&key.project).await?;
    let cwd = sessions.into_iter().find(|one| one.session_id == key.session).and_then(|one| one.cwd);
    let cwd = cwd.ok_or_else(|| Usage("the session does not name the directory that it works in".to_owned()))?;
    let directory = resolved(Path::new(&cwd))?;
    // Any program can write a log: it may name only the directory of the project it is stored for.
    let is_of_project = |path: &Path| key.project.matches(ProjectKey::of(path).as_str());
    if !is_of_project(Path::new(&cwd)) && !is_of_project(&directory) {
        let problem = format!(
            "the session says that it works in {cwd:?}, which is not the directory that it is stored for: name the \
             right one with --add-dir"
        );
        return Err(Usage(problem).into());
    }
    Ok(directory)
}

#[derive(Serialize)]
struct RewindPointLine<'a> {
    id: &'a EntryId,
    kind: &'static str,
    at: String,
    files: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt: Option<&'a str>,
    /// Changes of programs that are not tracked, and cannot be undone.
    #[serde(rename = "leftOut", skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<NotKept<'a>>,
}

#[derive(Serialize)]
struct NotKept<'a> {
    file: String,
    reason: &'a str,
}

async fn list(
    store: &JsonlStore,
    key: &SessionKey,
    checkpoints: &FileCheckpoints,
    terminal: Terminal,
) -> anyhow::Result<i32> {
    let loaded = store.load(key).await?;
    let prompts: HashMap<&EntryId, &str> = loaded
        .entries
        .iter()
        .filter_map(|entry| match &entry.kind {
            EntryKind::User(user) => Some((&entry.id, user.content.iter().find_map(|block| block.as_text())?)),
            _ => None,
        })
        .collect();
    let mut out = stdout().lock();
    for Checkpoint { id, kind, at, files, left_out, .. } in &checkpoints.list().await? {
        let kind = if *kind == CheckpointKind::Rewind { "rewind" } else { "prompt" };
        let prompt = prompts.get(id).copied();
        let left_out = left_out.iter().map(|one| NotKept { file: one.path.display().to_string(), reason: &one.reason });
        let left_out = left_out.collect();
        let listed = RewindPointLine { id, kind, at: at.to_string(), files: *files, prompt, left_out };
        if terminal.stdout {
            let text: String = clean_line(prompt.unwrap_or(kind)).chars().take(60).collect();
            writeln!(out, "{id}  {}  {files:>3} files  {text}", listed.at)?;
            for NotKept { file, reason } in &listed.left_out {
                writeln!(out, "    not kept  {}: {}", clean(file), clean(reason))?;
            }
        } else {
            jsonl::write(&mut out, &listed)?;
        }
    }
    Ok(0)
}

#[derive(Serialize)]
struct Shown<'a> {
    file: String,
    change: Option<&'static str>,
    insertions: u64,
    deletions: u64,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    conflict: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    left: Option<&'a str>,
}

#[derive(Serialize)]
struct Undo<'a> {
    undo: &'a EntryId,
}

/// Current end of the conversation.
#[derive(Serialize)]
struct Ends<'a> {
    conversation: EndsBehind<'a>,
}

#[derive(Serialize)]
struct EndsBehind<'a> {
    kept: Option<&'a EntryId>,
    dropped: usize,
}

fn show(done: &SessionRewound, key: &SessionKey, what: What, terminal: Terminal) -> anyhow::Result<()> {
    let mut out = stdout().lock();
    for file in done.files.iter().flat_map(|files| &files.files) {
        let RewoundFile { path, change, insertions, deletions, conflict, problem, .. } = file;
        let file = path.display().to_string();
        let change = match change {
            Some(FileChange::Modified) => Some("modified"),
            Some(FileChange::Created) => Some("created"),
            Some(FileChange::Deleted) => Some("deleted"),
            _ => None,
        };
        let left = problem.as_ref().map(|problem| problem.reason.as_str());
        let (insertions, deletions, conflict) = (*insertions, *deletions, *conflict);
        if !terminal.stdout {
            jsonl::write(&mut out, &Shown { file, change, insertions, deletions, conflict, left })?;
            continue;
        }
        let file = clean(&file);
        match left {
            Some(reason) => writeln!(out, "left as it is  {file}: {}", clean(reason))?,
            None => {
                let others = if conflict { "  (it had been changed outside the session)" } else { "" };
                writeln!(out, "{:<13}  {file}  +{insertions} -{deletions}{others}", change.unwrap_or_default())?;
            }
        }
    }
    if let Some(point) = &done.conversation {
        let (kept, dropped) = (point.kept.as_ref(), point.dropped);
        match terminal.stdout {
            true if point.is_undo => writeln!(out, "The conversation is where it was before that rewind.")?,
            true => writeln!(out, "{dropped} messages leave the conversation.")?,
            false => jsonl::write(&mut out, &Ends { conversation: EndsBehind { kept, dropped } })?,
        }
    }
    let name = what.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
    match &done.undo {
        Some(undo) if terminal.stdout => {
            writeln!(out, "To take it back: windlass sessions rewind {} {undo} --what {name}", key.session)?;
        }
        Some(undo) => jsonl::write(&mut out, &Undo { undo })?,
        None if done.files.as_ref().is_some_and(|files| files.files.is_empty()) && terminal.stdout => {
            writeln!(out, "The files are as they were.")?;
        }
        None => {}
    }
    Ok(())
}
