//! `windlass sessions list` and `windlass sessions search`.

use super::found::age;
use crate::failure::{Usage, of_start};
use crate::jsonl;
use crate::terminal::{Terminal, clean, clean_line};
use clap::Args;
use serde::Serialize;
use std::collections::HashSet;
use std::io::{Write, stderr, stdout};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use windlass::Home;
use windlass::event::Usage as Tokens;
use windlass::session::{
    ListedSession, LogTextKind, PageCursor, PageSource, ProjectKey, SessionDigest, SessionMatch, SessionPage,
    SessionSearch, SessionSummary, Timestamp,
};

/// Number of sessions that are read at a time if no limit is given.
const PAGE: usize = 500;

/// Maximum length of a summary in a line for people, in characters.
const MAX_SUMMARY_CHARS: usize = 60;

/// Filters of a list of sessions.
#[derive(Debug, Args)]
pub(crate) struct NarrowArgs {
    /// Only sessions with this tag
    #[arg(long, value_name = "TAG")]
    tag: Option<String>,
    /// Only sessions whose title begins so
    #[arg(long, value_name = "TITLE")]
    title: Option<String>,
    /// Only sessions that changed since: a time such as 30m, 12h, 7d or 2w ago, or a date such as 2026-01-31
    #[arg(long, value_name = "TIME", value_parser = since)]
    since: Option<Timestamp>,
    /// Begin behind this session of the list
    #[arg(long, value_name = "SESSION")]
    after: Option<PageCursor>,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Another directory
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// The sessions of all directories
    #[arg(long, conflicts_with = "cwd")]
    all: bool,
    /// Only sessions whose last run has not ended: `windlass -p --resume SESSION` continues it
    #[arg(long)]
    open: bool,
    /// Maximum number of sessions [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
    #[command(flatten)]
    narrow: NarrowArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// The words: each has to be in the session, or begin a word there
    #[arg(value_name = "TEXT", required = true)]
    text: Vec<String>,
    /// Only sessions of this directory [default: all directories]
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Maximum number of sessions
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// One JSON object a line, also on a terminal
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    narrow: NarrowArgs,
}

impl NarrowArgs {
    fn narrow(self, mut search: SessionSearch) -> SessionSearch {
        if let Some(tag) = self.tag {
            search = search.tagged(tag);
        }
        if let Some(title) = self.title {
            search = search.titled(title);
        }
        if let Some(since) = self.since {
            search = search.since(since);
        }
        if let Some(after) = self.after {
            search = search.after(after);
        }
        search
    }
}

/// Prints the sessions of a directory and returns the exit code.
pub(super) async fn list(args: ListArgs, terminal: Terminal) -> anyhow::Result<i32> {
    let home = Home::from_env().map_err(of_start)?;
    let mut search = args.narrow.narrow(home.list());
    let mut scope = "any directory".to_owned();
    if !args.all {
        let cwd = resolved(args.cwd.as_deref().unwrap_or(Path::new(".")))?;
        scope = clean(&cwd.to_string_lossy());
        search = search.in_directory(cwd);
    }
    if args.open {
        search = search.with_digests();
    }
    let is_shown =
        |session: &ListedSession| !args.open || session.digest.as_ref().is_some_and(SessionDigest::has_open_run);
    let shown = all(search, args.limit, is_shown, |session| {
        let mut out = stdout().lock();
        if !terminal.stdout {
            return jsonl::write(&mut out, &session.summary);
        }
        Ok(writeln!(out, "{}", line(&session.summary))?)
    });
    if shown.await? == 0 && terminal.stdout {
        let _ = writeln!(stderr(), "no sessions in {scope}");
    }
    Ok(0)
}

/// Prints the sessions that contain words, and returns the exit code.
pub(super) async fn search(args: SearchArgs, terminal: Terminal) -> anyhow::Result<i32> {
    let home = Home::from_env().map_err(of_start)?;
    let text = args.text.join(" ");
    if !text.chars().any(char::is_alphanumeric) {
        return Err(Usage(format!("{text:?} has no word to look for")).into());
    }
    let mut search = args.narrow.narrow(home.search(&text));
    if let Some(project) = args.project {
        search = search.in_directory(project);
    }
    let is_for_people = terminal.stdout && !args.json;
    let shown = all(
        search,
        Some(args.limit),
        |_| true,
        |session| {
            let mut out = stdout().lock();
            if !is_for_people {
                return jsonl::write(&mut out, &SessionLine::new(&session));
            }
            writeln!(out, "{}", line(&session.summary))?;
            for found in &session.matches {
                writeln!(out, "    {}", excerpt(found, terminal.colours))?;
            }
            Ok(())
        },
    );
    if shown.await? == 0 && is_for_people {
        let _ = writeln!(stderr(), "no session has all of these words");
    }
    Ok(0)
}

/// A directory with all links followed.
pub(super) fn resolved(directory: &Path) -> anyhow::Result<PathBuf> {
    let resolved = directory.canonicalize();
    resolved.map_err(|error| anyhow::anyhow!("the directory {} cannot be used: {error}", directory.display()))
}

/// Shows the sessions of a search for which `is_shown` is `true`, up to a limit, page by page. Returns their number.
pub(super) async fn all(
    search: SessionSearch,
    limit: Option<u32>,
    is_shown: impl Fn(&ListedSession) -> bool,
    mut show: impl FnMut(ListedSession) -> anyhow::Result<()>,
) -> anyhow::Result<usize> {
    let limit = limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    let mut warned = HashSet::new();
    let (mut shown, mut next, mut search) = (0, None, search);
    while shown < limit {
        let page = search.clone().limit((limit - shown).min(PAGE)).page().await?;
        warn(&page, &mut warned);
        let mut matching: Vec<ListedSession> = page.sessions.into_iter().filter(&is_shown).collect();
        matching.truncate(limit - shown);
        shown += matching.len();
        matching.into_iter().try_for_each(&mut show)?;
        next = page.next;
        let Some(next) = &next else { break };
        search = search.after(next.clone());
    }
    if let Some(next) = next {
        let _ = writeln!(stderr(), "there is more: --after {next}");
    }
    Ok(shown)
}

/// Reports once the reasons why sessions are not shown, or showing them is slow.
fn warn(page: &SessionPage, warned: &mut HashSet<String>) {
    let skipped = page.skipped.iter().map(ToString::to_string);
    let index = match &page.source {
        PageSource::LogsInsteadOfIndex { problem, .. } => {
            Some(format!("the index of sessions cannot be used, so the logs are read: {problem}"))
        }
        _ => None,
    };
    for warning in skipped.chain(index) {
        if !warned.contains(&warning) {
            let _ = writeln!(stderr(), "warning: {}", clean(&warning));
            warned.insert(warning);
        }
    }
}

/// Formats a session in a line for people.
fn line(session: &SessionSummary) -> String {
    let summary = clean_line(&session.summary);
    let short: String = summary.chars().take(MAX_SUMMARY_CHARS).collect();
    let more = if short.len() < summary.len() { "…" } else { "" };
    format!("{}  {:>9}  {short}{more}", session.session_id, age(session.last_modified))
}

/// Formats a match in a line for people, with the searched words in bold.
fn excerpt(found: &SessionMatch, colours: bool) -> String {
    let mut line = match found.kind {
        LogTextKind::Title => "# ",
        LogTextKind::Prompt => "> ",
        _ => "< ",
    }
    .to_owned();
    let part = |range: Range<usize>| clean_line(found.snippet.get(range).unwrap_or_default());
    let (on, off) = if colours { ("\x1b[1m", "\x1b[0m") } else { ("", "") };
    let mut end = 0;
    for mark in &found.marks {
        line.push_str(&part(end..mark.start));
        line.push_str(&format!("{on}{}{off}", part(mark.clone())));
        end = mark.end;
    }
    line.push_str(&part(end..found.snippet.len()));
    line
}

/// A session as a line of JSON.
#[derive(Serialize)]
struct SessionLine<'a> {
    #[serde(flatten)]
    summary: &'a SessionSummary,
    project: &'a str,
    log: String,
    only_read: bool,
    #[serde(flatten)]
    figures: Option<Figures<'a>>,
    matches: Vec<Matched<'a>>,
}

/// Figures of a session.
#[derive(Serialize)]
struct Figures<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    prompts: u64,
    answers: u64,
    tool_uses: u64,
    usage: Tokens,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_usd: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_active: Option<Timestamp>,
}

#[derive(Serialize)]
struct Matched<'a> {
    kind: LogTextKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<Timestamp>,
    snippet: &'a str,
    /// Ranges of the words in the snippet, in bytes.
    marks: Vec<[usize; 2]>,
}

impl<'a> SessionLine<'a> {
    fn new(session: &'a ListedSession) -> Self {
        let matched = |found: &'a SessionMatch| Matched {
            kind: found.kind,
            at: found.at,
            snippet: &found.snippet,
            marks: found.marks.iter().map(|mark| [mark.start, mark.end]).collect(),
        };
        Self {
            summary: &session.summary,
            project: ProjectKey::as_str(&session.project),
            log: session.log.display().to_string(),
            only_read: session.only_read,
            figures: session.digest.as_ref().map(Figures::new),
            matches: session.matches.iter().map(matched).collect(),
        }
    }
}

impl<'a> Figures<'a> {
    fn new(digest: &'a SessionDigest) -> Self {
        Self {
            model: digest.model.as_deref(),
            prompts: digest.prompts,
            answers: digest.answers,
            tool_uses: digest.tool_uses,
            usage: digest.usage(),
            cost_usd: digest.cost.map(|cost| cost.usd()),
            last_active: digest.last_active,
        }
    }
}

/// Parses a time, or an age.
pub(super) fn since(text: &str) -> Result<Timestamp, String> {
    let is_date = text.len() == 10 && text.as_bytes().get(4) == Some(&b'-');
    let written = if is_date { format!("{text}T00:00:00Z") } else { text.to_owned() };
    if let Some(time) = Timestamp::parse(&written) {
        return Ok(time);
    }
    let seconds = |unit: char| match unit {
        'm' => Some(60),
        'h' => Some(3600),
        'd' => Some(86_400),
        'w' => Some(604_800),
        _ => None,
    };
    let parsed = text.char_indices().next_back().and_then(|(at, unit)| {
        let count: u64 = text.get(..at)?.parse().ok()?;
        count.checked_mul(seconds(unit)?)?.checked_mul(1000)
    });
    let ago = parsed.ok_or("give a time such as 30m, 12h, 7d or 2w ago, or a date such as 2026-01-31")?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    Ok(Timestamp::from_millis(u64::try_from(now).unwrap_or(u64::MAX).saturating_sub(ago)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_ago_and_dates() {
        let now = since("0m").unwrap();
        let ago = |text: &str| now.since(since(text).unwrap()).as_secs().div_ceil(60);
        assert_eq!([ago("30m"), ago("12h"), ago("7d"), ago("2w")], [30, 720, 10_080, 20_160]);
        assert_eq!(since("2026-01-31"), Ok(Timestamp::parse("2026-01-31T00:00:00Z").unwrap()));
        assert_eq!(since("2026-01-31T12:00:00Z"), Ok(Timestamp::parse("2026-01-31T12:00:00Z").unwrap()));
        for text in ["", "m", "7", "7y", "-1d", "é", "7é", "99999999999999999999d", "18446744073709551615w", "soon"] {
            assert!(since(text).is_err(), "{text}");
        }
    }
}
