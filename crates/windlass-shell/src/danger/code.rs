//! Code of interpreters that removes a whole tree, as far as it stands there to be read.

use super::Suspicion;
use super::target::{Bases, OperandTarget, TargetDirectories};
use crate::scan::has_code;
use crate::word::base_name;
use crate::{Analysis, FoundCommand, RedirectKind, Word, analyse, texts};

/// Maximum number of strings of one text that are read as commands of the shell.
const MAX_STRINGS: usize = 64;
/// Maximum length of such a string, in bytes.
const MAX_STRING: usize = 4096;

/// Names, in lower case, of what removes in the languages of interpreters.
const REMOVALS: &[&str] = &[
    "chmod_r",
    "chown_r",
    "deltree",
    "emptydir",
    "emptydirsync",
    "erase",
    "move",
    "rd",
    "remove",
    "remove-item",
    "remove_dir",
    "remove_dir_all",
    "remove_entry",
    "remove_entry_secure",
    "remove_tree",
    "removeall",
    "removedirs",
    "removesync",
    "removetree",
    "rename",
    "ri",
    "rimraf",
    "rm",
    "rm_f",
    "rm_r",
    "rm_rf",
    "rmdir",
    "rmdirsync",
    "rmr",
    "rmrf",
    "rmsync",
    "rmtree",
    "rmtree_r",
    "unlink",
    "unlinksync",
    "delete",
    "del",
];

/// Expressions, in lower case, whose value is the home or the root.
const PLACES: &[&str] = &[
    "path.home(",
    "dir.home",
    "homedir(",
    "env[home",
    "environ[home",
    "env.home",
    "env{home",
    "getenv(home",
    "environ.get(home",
    "env:home",
    "user_home",
    "(os.sep",
    "(path.sep",
    "$home",
    "%userprofile",
];

/// Texts in front of a `/` in quotes that separates names.
const BEFORE_SEPARATOR: &[&str] = &[
    "split(",
    "join(",
    "strip(",
    "replace(",
    "startswith(",
    "endswith(",
    "partition(",
    "index(",
    "find(",
    "count(",
    "with?(",
    "sep=",
    "+",
    "tr(",
    "sub(",
    ".",
    " in",
];

/// Code that names a whole tree and something that removes, or a catastrophic command.
pub(super) fn code(analysis: &Analysis, places: &TargetDirectories<'_>) -> Option<Suspicion> {
    analysis.found().iter().find_map(|command| {
        let program = command.program()?;
        let args = command.words().get(1..).unwrap_or_default();
        let inline = command.redirects().iter().filter(|redirect| redirect.kind == RedirectKind::Inline);
        let own = if has_code(program, args) && !texts::names_files(program) { args } else { &[] };
        let inputs = inline.map(|redirect| &redirect.target).filter(|_| takes_code(program));
        let piped = printed(analysis, command, program);
        let target = own.iter().chain(inputs).chain(piped).find_map(|word| removed(word.text(), program, places))?;
        Some(Suspicion::Code { program: program.to_owned(), target })
    })
}

/// Words that other commands of the same pipeline print for an interpreter.
fn printed<'a>(analysis: &'a Analysis, command: &'a FoundCommand, program: &str) -> impl Iterator<Item = &'a Word> {
    let is_taker = takes_code(program);
    let beside = move |other: &&FoundCommand| {
        is_taker
            && matches!(other.program(), Some("cat" | "echo" | "printf"))
            && analysis.pipelines().are_joined(other.pipeline(), command.pipeline())
    };
    let printers = analysis.found().iter().filter(beside);
    printers.flat_map(|other| {
        let inline = other.redirects().iter().filter(|redirect| redirect.kind == RedirectKind::Inline);
        other.words().iter().skip(1).chain(inline.map(|redirect| &redirect.target))
    })
}

/// `true` for interpreters that run their input as code.
fn takes_code(program: &str) -> bool {
    has_code(program, &["-c", "-e", "-r", "eval"].map(Word::literal)) && !texts::names_files(program)
}

/// The tree that code removes.
fn removed(code: &str, program: &str, places: &TargetDirectories<'_>) -> Option<String> {
    let judge = CodeJudge { places, bases: Bases::new(vec![places.start().to_path_buf()]) };
    let strings = strings(code);
    let is_bad = |text: &str| {
        let short = text.len() <= MAX_STRING && text.contains(' ');
        short && super::catastrophic(&analyse(text), places.start(), places.home().as_ref(), &|_| None).is_some()
    };
    if let Some(text) = strings.iter().map(|string| string.text).find(|text| is_bad(text)) {
        return Some(text.to_owned());
    }
    let joined: Vec<&str> = strings.iter().map(|string| string.text).collect();
    let joined = joined.join(" ");
    if is_bad(&joined) {
        return Some(joined);
    }
    if !removes(code) {
        return None;
    }
    let named = strings.iter().filter(|string| !string.is_separator(code));
    let by_string = named.flat_map(|string| string.text.split_whitespace()).find(|word| judge.is_vital(word));
    let is_shell_like = matches!(base_name(program), "pwsh" | "powershell");
    let bare = is_shell_like.then(|| code.split_whitespace().find(|word| judge.is_vital(word))).flatten();
    by_string.or(bare).map(str::to_owned).or_else(|| place(code))
}

/// The places against which strings of code are judged.
struct CodeJudge<'a> {
    places: &'a TargetDirectories<'a>,
    bases: Bases,
}

impl CodeJudge<'_> {
    fn is_vital(&self, text: &str) -> bool {
        let text = text.trim_end_matches([';', ',']);
        let home = ["~", "$HOME", "${HOME}", "$env:HOME"];
        let behind = home
            .iter()
            .find_map(|name| text.strip_prefix(name).filter(|rest| rest.is_empty() || rest.starts_with('/')));
        let path = behind.map_or_else(|| text.to_owned(), |rest| format!("{}{rest}", self.places.home()));
        let leads_out = path.starts_with('/') || path == ".." || path.starts_with("../");
        let is_tree = |target: &OperandTarget| target.is_vital() && !target.is_cwd();
        leads_out && self.places.targets(&Word::literal(&path), &self.bases, false).iter().any(is_tree)
    }
}

/// `true` if a name of what removes stands in code.
fn removes(code: &str) -> bool {
    let code = code.to_lowercase();
    let mut names = code.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-')));
    names.any(|name| REMOVALS.contains(&name.trim_matches('-')))
}

/// An expression for the home or the root, to which nothing is added.
fn place(code: &str) -> Option<String> {
    let plain: String = code.to_lowercase().replace(['"', '\'', '`', ' '], "");
    let joins = plain.contains("join(");
    let is_whole = |at: usize, name: &str| {
        let behind = plain.get(at.saturating_add(name.len())..).unwrap_or_default();
        let behind = behind.trim_start_matches([')', ']', '}', '(']);
        !(behind.starts_with(['/', '+', '.', '\\', '&']) || (joins && behind.starts_with(',')))
    };
    let found = PLACES.iter().find(|name| plain.match_indices(**name).any(|(at, name)| is_whole(at, name)))?;
    Some((*found).trim_matches('(').to_owned())
}

/// A string of code, and its place in it.
struct CodeString<'t> {
    text: &'t str,
    start: usize,
}

impl CodeString<'_> {
    /// `true` for a `/` that separates names: `"/".join(parts)`.
    fn is_separator(&self, code: &str) -> bool {
        if self.text != "/" {
            return false;
        }
        let before = code.get(..self.start.saturating_sub(1)).unwrap_or_default().trim_end_matches(' ');
        let after = code.get(self.start.saturating_add(2)..).unwrap_or_default();
        BEFORE_SEPARATOR.iter().any(|mark| before.ends_with(mark))
            || after.trim_start().starts_with([',', '+']) && before.ends_with("replace(")
            || after.starts_with(".join")
            || after.trim_start().starts_with("in ")
    }
}

/// The strings of code, in quotes and in the forms with brackets of Perl and Ruby.
fn strings(code: &str) -> Vec<CodeString<'_>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some((text, start, end)) = next_string(code, from).filter(|_| found.len() < MAX_STRINGS) {
        found.push(CodeString { text, start });
        from = end;
    }
    found
}

/// The first string from a place on, its start, and the place behind it.
fn next_string(code: &str, from: usize) -> Option<(&str, usize, usize)> {
    let rest = code.get(from..)?;
    let (at, open) = rest.char_indices().find(|(at, c)| match c {
        '"' | '\'' | '`' => true,
        '(' | '{' | '[' | '<' | '|' | '!' => {
            let before = code.get(..from.saturating_add(*at)).unwrap_or_default();
            let name = before.rsplit(|c: char| !(c.is_alphanumeric() || c == '%')).next().unwrap_or_default();
            matches!(name, "q" | "qq" | "qw" | "qx" | "%q" | "%Q" | "%w" | "%W" | "%x" | "%")
        }
        _ => false,
    })?;
    let close = match open {
        '(' => ')',
        '{' => '}',
        '[' => ']',
        '<' => '>',
        same => same,
    };
    let start = from.saturating_add(at).saturating_add(open.len_utf8());
    let body = code.get(start..)?;
    let mut escaped = false;
    let length = body
        .char_indices()
        .find(|(_, c)| {
            let ends = *c == close && !escaped;
            escaped = *c == '\\' && !escaped;
            ends
        })
        .map_or(body.len(), |(at, _)| at);
    Some((body.get(..length)?, start, start.saturating_add(length).saturating_add(close.len_utf8())))
}
