//! `windlass sessions audit`: shows why each call of a session ran or was refused, and checks its logs for changes.

mod shown;

use super::found::Source;
use crate::failure::{Usage, of_start};
use crate::terminal::{Terminal, clean_line, masks};
use anyhow::Context;
use clap::Args;
use serde_json::Value;
use std::io::{Write, stderr, stdout};
use std::path::{Path, PathBuf};
use windlass::Home;
use windlass::project::read_named;
use windlass::session::Masks;
use windlass::session::{HeadCheck, NamedHead, SessionAudit};
use windlass::store::audit_file;
use windlass::text::visible_json;

/// Maximum size of a file of heads, in bytes.
const MAX_HEADS_BYTES: u64 = 4 << 20;

/// Scope and format of an audit.
#[derive(Debug, Clone, Args)]
pub(crate) struct AuditArgs {
    /// The session id, or a file
    #[arg(value_name = "SESSION")]
    session: String,
    /// The full record of this call
    #[arg(long, value_name = "TOOL_USE_ID")]
    call: Option<String>,
    /// Calls that changed this file
    #[arg(long, value_name = "PATH")]
    file: Option<PathBuf>,
    /// One JSON object, as docs/schema/session-audit.schema.json describes it
    #[arg(long)]
    json: bool,
    /// Print the heads of the session's logs, one a line, to keep out of reach of the logs' writers
    #[arg(long, conflicts_with_all = ["call", "file", "json"])]
    head: bool,
    /// Check that the logs still begin as this head, or the heads in this file, say. Exit code 1: they do not
    #[arg(long, value_name = "HEAD", conflicts_with_all = ["call", "file", "json", "head"])]
    check: Vec<String>,
}

/// Audits a session and returns the exit code.
pub(super) async fn audit(args: AuditArgs, terminal: Terminal) -> anyhow::Result<i32> {
    if !args.check.is_empty() {
        return check(&args).await;
    }
    if args.head {
        return heads(&args.session).await;
    }
    let mut audit = match Source::named(&args.session, None).await? {
        Source::File(path) => {
            SessionAudit::new(Path::new(path).to_string_lossy().as_ref().into(), [(None, audit_file(path)?)])
        }
        Source::Session { home, stored, .. } => home.audit(&stored.id).await?,
    };
    let bash_calls =
        audit.calls().filter(|(_, call)| call.begun.is_some() && call.tool.as_deref() == Some("Bash")).count();
    audit.keep_calls(|call| {
        let is_named = args.call.as_ref().is_none_or(|id| call.tool_use_id.as_str() == id);
        is_named && args.file.as_ref().is_none_or(|path| call.changed.iter().any(|file| file.is_at(path)))
    });
    if let Some(id) = args.call.as_ref().filter(|_| audit.calls().next().is_none()) {
        anyhow::bail!("the logs of the session have no such call: {}", clean_line(id));
    }
    let mut out = stdout().lock();
    if args.json {
        let json = masked(serde_json::to_value(&audit)?).to_string();
        writeln!(out, "{}", if terminal.stdout { visible_json(&json) } else { json.into() })?;
        return Ok(0);
    }
    shown::write(&mut out, &audit, args.call.is_some())?;
    if args.file.is_some() && bash_calls > 0 {
        let _ = writeln!(stderr(), "{bash_calls} calls ran programs; which files those changed is not recorded");
    }
    Ok(0)
}

/// Returns a readable summary of an audit.
pub(crate) fn text(audit: &SessionAudit) -> std::io::Result<String> {
    let mut out = Vec::new();
    shown::write(&mut out, audit, false)?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}

/// Returns JSON with secrets masked in its texts.
fn masked(value: Value) -> Value {
    let masks = masks();
    fn mask_value(value: Value, masks: &Masks) -> Value {
        match value {
            Value::String(text) => Value::String(masks.mask(&text).into_owned()),
            Value::Array(items) => items.into_iter().map(|item| mask_value(item, masks)).collect(),
            Value::Object(fields) => fields.into_iter().map(|(name, value)| (name, mask_value(value, masks))).collect(),
            value => value,
        }
    }
    mask_value(value, &masks)
}

/// Prints the heads of a session's logs.
async fn heads(session: &str) -> anyhow::Result<i32> {
    let home = Home::from_env().map_err(of_start)?;
    let stored = super::found::find(&home, session).await?;
    let mut out = stdout().lock();
    for head in home.audit_heads(&stored.id).await? {
        writeln!(out, "{head}")?;
    }
    Ok(0)
}

/// Checks the logs against heads that the user has stored.
async fn check(args: &AuditArgs) -> anyhow::Result<i32> {
    let home = Home::from_env().map_err(of_start)?;
    let mut heads = Vec::new();
    for given in &args.check {
        heads.extend(parse_heads(given)?);
    }
    if let Some(other) = heads.iter().find(|head| !head.session.as_str().eq_ignore_ascii_case(&args.session)) {
        return Err(Usage(format!("a head is of another session: {}", other.session)).into());
    }
    let mut failed = heads.is_empty();
    let mut out = stdout().lock();
    for head in &heads {
        let state = home.check_head(head).await?;
        failed |= state != HeadCheck::Holds;
        let log = head.agent.as_ref().map_or_else(|| "the log".to_owned(), |agent| format!("the log of agent {agent}"));
        let lines = head.head.lines;
        let text = match state {
            HeadCheck::Holds => format!("holds: the first {lines} lines are as they were"),
            HeadCheck::Altered => format!("ALTERED: something in its first {lines} lines has changed"),
            HeadCheck::Shorter => format!("CUT: it had {lines} lines"),
            HeadCheck::Missing => "MISSING".to_owned(),
            _ => "not understood".to_owned(),
        };
        writeln!(out, "{}: {text}", clean_line(&log))?;
    }
    if heads.is_empty() {
        let _ = writeln!(stderr(), "there is no head to check");
    }
    Ok(i32::from(failed))
}

/// Reads heads from text, or from a file with one a line.
fn parse_heads(given: &str) -> anyhow::Result<Vec<NamedHead>> {
    if let Ok(head) = given.parse() {
        return Ok(vec![head]);
    }
    let text = read_named(Path::new(given), MAX_HEADS_BYTES)
        .with_context(|| format!("{given:?} is neither a head of a log nor a file that can be read"))?;
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| line.parse().map_err(|error| anyhow::anyhow!("{given:?}: {error}"))).collect()
}
