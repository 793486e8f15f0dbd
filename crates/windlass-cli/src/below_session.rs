//! Commands that write trust and settings, started below a session: by its model, by a copy of the program, by a script.
//!
//! The permission gate asks about them by their text. A copy under another name and a script have another text, so the command looks at the
//! processes above it: each program of a session runs below a keeper, to which its orphans come too, whatever variables it drops.

use std::fs;
use windlass::permission::own_writing_command;
use windlass::tool::built_in::LocalProcess;

/// Maximum number of ancestor processes that are examined.
const MAX_ANCESTORS: usize = 1_000_000;
/// Beginning of the name of the file that keepers run from.
const KEEPER: &str = "/memfd:windlass-keeper";
/// Beginning of the first word of a keeper.
const KEEPER_WORD: &[u8] = b"keeper-";
/// Commands that write without giving a session more rights.
const HARMLESS: &[&str] = &["windlass memory", "windlass proxy"];
/// Subcommands of `sessions` that delete data or answer questions.
const OF_SESSIONS: &[&str] = &["answer", "delete", "gc"];

/// Returns the reason why a command line is refused here, if there is one.
pub(crate) fn refusal(words: &[String]) -> Option<String> {
    let command = own_writing_command(words)?;
    let is_free = HARMLESS.contains(&command.as_str())
        || (command == "windlass sessions" && !words.iter().any(|word| OF_SESSIONS.contains(&word.as_str())));
    if is_free || !is_below_a_session() {
        return None;
    }
    Some(format!(
        "`{command}` changes what sessions may do, and a session of windlass started this program: run it in a terminal of your own"
    ))
}

/// `true` if a session started this program: a keeper is among its ancestors, or it has the mark of a call where
/// there are no keepers.
fn is_below_a_session() -> bool {
    let mut above = std::iter::successors(parent(std::process::id()), |process| parent(*process)).take(MAX_ANCESTORS);
    std::env::var_os(LocalProcess::MARK).is_some() || above.any(is_keeper)
}

fn parent(process: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name is in parentheses, and may contain parentheses itself.
    let (_, fields) = status.rsplit_once(')')?;
    fields.split_whitespace().nth(1)?.parse().ok().filter(|parent| *parent > 0)
}

fn is_keeper(process: u32) -> bool {
    match fs::read_link(format!("/proc/{process}/exe")) {
        Ok(file) => file.to_str().is_some_and(|file| file.starts_with(KEEPER)),
        // Keepers are not to be looked into but by root, and their words are there for all.
        Err(_) => fs::read(format!("/proc/{process}/cmdline")).is_ok_and(|words| words.starts_with(KEEPER_WORD)),
    }
}
