//! How large a crate, a file and a function may become, and how many packages a crate may bring along.
//!
//! The figures are limits, not aims: each is a little above what is there. Who makes something smaller lowers its
//! limit; who needs more room says why in the change that raises one.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Crates that many others are built on: lines of code of all files, and of the longest file. Tests, comments and
/// empty lines do not count.
const HUBS: &[(&str, usize, usize)] = &[
    // The events of hooks, their payloads and answers stand there once; hook, protocol and testkit had them each. Usage
    // of the Messages API is read here, and paths are normalised here; four other crates did both. Which tools an item of
    // a list means is read here for hook, permission and core, and what an image is for context, mcp and tool. Events,
    // results and answers are read back from JSON here, exactly, and have schemas. How tools of MCP servers are named is
    // said here, for rules and for the servers alike. Messages of any vendor: where they come from, what is sent back,
    // and what a request may ask for. Money is read from decimals here, exactly, for providers and settings alike.
    // Questions that wait for an answer are entries of the log, and results name them.
    // Questions that outlive their process are data, and so is what a command brings to its run.
    // Verdicts of the log say which hook judged and whose answer counted, and have schemas.
    // The payloads of the events that hosts and settings know besides, what edits change, and kinds of calls.
    // Questions of MCP servers are events for hooks, with an answer of their own.
    // Verdicts say where their rule stands, which command decided, and what the sandbox had to do with it.
    // Whether others have written a result is known with its outcome.
    // Verdicts on calls that no message holds have the call.
    // What searches of a vendor find is an event of a model's stream, and requests ask for them.
    // How much of images and documents models take.
    // A call may wait for its agent: what the log says of it, and what a tool does. Paths are joined in one place.
    // Long texts are written as JSON here, eight bytes at a time, and entries say how much memory they take.
    ("windlass-types", 5_950, 310),
    // Private files are written here, which six other crates did. A closure can say all that a type says of a tool. Files
    // can be removed and renamed.
    // Which files the model has seen is known here, for the tools that edit and for reminders.
    // A tool can say beforehand what a call would change.
    // Calls that could continue in the background are known here, for tools and hosts.
    // Trees of files are looked over by names and stamps, for checkpoints, and two such looks are compared here.
    // What a hook has made of a file that was just written is known like what was read.
    // What a sandbox has stopped is data of an outcome, and tools say that their results are words of others.
    // Programs that run elsewhere say where they ended, and a lost connection is an error of its own kind.
    // Calls that calls make go through a port.
    // Looks over trees may rely on what the system has reported, and leave something for the next one.
    // Tools say their names without making their schemas.
    // The file that a content was read from comes with it, so that a copy can share its blocks.
    // Tools have a model write messages through a port.
    // Programs may have a terminal, and tools know what the model of their session takes.
    // A thread that confines itself may start a program.
    // A tool hands on that an agent waits, and continues it.
    // The parts of a call's context are in groups.
    ("windlass-tool", 2_300, 180),
    // A router holds several providers. The shape of tables of models is said here, and what users say of any model.
    // What searches found has a form in cassettes.
    ("windlass-model", 3_360, 300),
    // A prompt may ask for more thought, and tools for edits are listed by the family of the model. What takes up the
    // context window is reported.
    // A run that waits for answers ends with open calls, and another one judges them anew.
    // Tools beyond a budget are withheld, old results trimmed, reminders and attachments recorded; prompts are put together
    // from calls, a command's rules hold for its run, and questions stay open.
    // What settings files say of permissions is taken over while a session is open.
    // A classifier is asked about calls that rules leave undecided, and what it costs is booked.
    // Hooks are asked about all calls of a message, and can have a call decided later.
    // Which skills a run uses is known here, for the hooks in their heads and for agents below the run.
    // Reminders of the list of tasks know both kinds of tools for it.
    // Images of old results go before a request is too large.
    // Words of others are framed when a result is recorded.
    // Calls that running calls make pass the gate here and go back to their makers.
    // Definitions of servers that are started on demand are withheld beyond a budget of their own.
    // Verdicts on messages that servers ask for are recorded.
    // An idle session rewinds its conversation, and reports the ends of work anew that are not in what is left.
    // Agents below the main one read where a question can wait.
    // Calls stay open for their agents, and continue them.
    ("windlass-core", 6_530, 390),
    // A session is asked for one result here, and each opening of a session has an id.
    // Hooks are asked within a limit of time.
    // Answers of other processes are looked for.
    // Mentions and changed files are looked up here, and agents run that no call asked for.
    // Hooks are asked beside the work about what the driver sees, edits are looked at before they are made, and hosts are
    // asked what they have brought.
    // Questions to classifiers and hooks beside the run, previews of edits and diagnostics of hosts are awaited here.
    // Hosts move calls to the background, and calls find what the log has of their session.
    // The workspace is surveyed around calls that may change any file, and around work they leave in the background.
    // Results of one message share a budget, and what hooks make of written files is looked up.
    // Variables of programs are changed one by one, so that hooks, hosts and settings do not undo each other.
    // Messages of a model that MCP servers ask for pass the gate here and are paid for.
    // Looks behind calls go on beside the model's answer, which waits for them, and the baseline is made ahead.
    // Whose repository version control would find is looked up here, as links are followed.
    // What calls make is brought to the machine and back.
    // What passed the gate beside the calls is recorded with who answered.
    // Messages that tools want of a model are written and paid here: 100 lines. The conversation of an open session is rewound by the writer of
    // its log, in turn with what is appended, and hosts wait for both: 210 lines.
    // Messages of a model may have tools of a server, whose calls are put together here: 40 lines.
    // Agents continue where they waited for answers, and the calls above are kept open before they ask.
    // Links that copies write through are looked for where their files come to lie, and what lies below patterns is listed: 35 lines.
    // Ports, and what a driver reports through, are in groups; calls say which of their paths lead to directories.
    ("windlass-runtime", 6_850, 490),
    // A quarter of it makes options of settings files, which was in the command alone. Sessions are looked at from the
    // outside here, and names are checked when one opens. All providers are set up by name here, clouds whose models
    // speak two APIs are one provider, and the profile of a model's family is put into a session. Skills are a tool.
    // Sessions are found by what was said in them, resumed by title, and given titles by a model. Questions of stored
    // sessions are listed and answered.
    // Skills, memory and the index of a project become parts of a session here, and mentions of agents and resources.
    // Settings are read again while a session is open, their styles go into the prompt, and a program prints the key.
    // The options of the sandbox, and what settings say of it, become the sandbox of a session here.
    // Edits are shown beforehand, diagnostics taken, and calls decided about by their kind: an option each.
    // Configured hooks get models, requests and servers of the session, and programs in the sandbox their way to hosts.
    // Language servers of settings and of programs become the tool and the diagnostics of a session.
    // What lazy MCP servers offer is kept in the user's directory, and what has changed of it is said.
    // How much checkpoints keep is an option and a setting, and old ones are dropped.
    // Programs of MCP servers are put into a sandbox, which neither the crate of the servers nor that of the sandbox can do: they do not
    // know each other. Hosts of programs and of pages become one. Model, effort, variables and servers follow settings.
    // MCP servers reach the models of a session, and changes of their resources reach its model.
    // Sessions whose files are elsewhere find their directories there, and lack what belongs to this machine: two options in the builder.
    // A project there is read, and what of its settings and of those here counts is decided: 75 lines for it, and conditions in ten places.
    // A model of the session ranks its notes, a function of the program writes summaries, and the index waits for the first
    // request. All options of a builder stand in one file.
    // Tools that need a search of the model's vendor are offered with such models alone, and a notice names those that lack one.
    // Calls without a model have the tool for commands as settings want it.
    // MCP servers follow files and lists while a session is open: 200 lines. Files that the program for the key names are found.
    // The index leaves out windlass's own folders, and calls whose instructions were looked up together are woken together.
    // The home that `~` in commands stands for is that of the environment of programs: 10 lines.
    // Options that belong together are in groups.
    ("windlass", 9_070, 312),
];

/// Fields of one struct.
const MOST_FIELDS: usize = 12;

/// Structs that have more: what others have decided has as many parts.
const LARGER_STRUCTS: &[&str] = &[
    // A line of a log, read field by field, each leniently.
    "Fields",
    // Everything that an operating system takes to start a program.
    "ProcessCommand",
    // A request, a result and the facts about a model, as users make and read them.
    "ModelRequest",
    "RunResult",
    "ModelInfo",
    // What a model writes to search, and a hook reads on its standard input: one flat object each.
    "GrepInput",
    "Payload",
];

/// Lines of code in the body of one function.
const LONGEST_FUNCTION: usize = 60;

/// Crates in which a function is longer, and the longest of it.
const LONGER_FUNCTIONS: &[(&str, usize)] = &[("windlass-mcp", 64)];

/// Arguments of `cargo tree`, and how many packages are compiled into such a program, the named one included.
/// Those of whole ways of use are in `packages.rs`.
const PACKAGES: &[(&[&str], usize)] = &[
    // What hosts answer to hooks is read as what programs answer.
    (&["-p", "windlass-protocol"], 64),
    (&["-p", "windlass-types"], 12),
    (&["-p", "windlass-model"], 17),
    (&["-p", "windlass-core"], 28),
    // Three of them are rustix and what it needs: names of private files are made durable with it.
    (&["-p", "windlass-runtime"], 57),
];

pub(crate) fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

/// The source files of a crate that are not tests.
pub(crate) fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.file_stem().is_some_and(|name| name == "tests") {
            continue;
        }
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

/// A source text without comments, without what stands in quotes, and without the module of tests at its end.
pub(crate) fn code(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (length, is_kept) = token(rest);
        let (taken, behind) = rest.split_at(length.max(first.len_utf8()));
        if is_kept {
            code.push_str(taken);
        } else {
            code.extend(taken.matches('\n'));
        }
        rest = behind;
    }
    code.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default().to_owned()
}

/// How long the token at the beginning is, and whether it is code.
fn token(text: &str) -> (usize, bool) {
    let upto = |end: &str, from: usize| text[from..].find(end).map_or(text.len(), |at| from + at + end.len());
    if text.starts_with("//") {
        return (text.find('\n').unwrap_or(text.len()), false);
    }
    if text.starts_with("/*") {
        return (upto("*/", 2), false);
    }
    let raw = text.strip_prefix('r').map(|rest| rest.len() - rest.trim_start_matches('#').len());
    if let Some(hashes) = raw.filter(|hashes| text[1 + hashes..].starts_with('"')) {
        return (upto(&format!("\"{}", "#".repeat(hashes)), hashes + 2), false);
    }
    if let Some(inside) = text.strip_prefix('"') {
        return (1 + quoted(inside, '"').unwrap_or(inside.len()), false);
    }
    if let Some(inside) = text.strip_prefix('\'') {
        // A character: an escape, or one that is closed at once. Anything else is a lifetime.
        let is_escape = inside.starts_with('\\');
        let closed = inside.chars().nth(1) == Some('\'');
        return match quoted(inside, '\'') {
            Some(length) if is_escape || closed => (1 + length, false),
            _ => (1, true),
        };
    }
    // A whole word at a time, so that the `r` at its end does not begin a text.
    (text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len()), true)
}

/// Where what stands in these quotes ends, behind the closing one.
fn quoted(inside: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in inside.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

fn lines(code: &str) -> usize {
    code.lines().filter(|line| !line.trim().is_empty()).count()
}

/// The functions of a text that have a body, and how many lines it has.
fn functions(code: &str) -> Vec<(String, usize)> {
    items(code, "fn ").map(|(name, body)| (name.to_owned(), lines(body))).collect()
}

/// The names and bodies of what a keyword introduces.
fn items<'a>(code: &'a str, keyword: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
    code.match_indices(keyword).filter_map(move |(at, _)| {
        if code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            return None;
        }
        let rest = &code[at + keyword.len()..];
        let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().filter(|name| !name.is_empty())?;
        Some((name, body(rest)?))
    })
}

/// The structs with named fields, and how many each has. A field begins a line.
fn structs(code: &str) -> Vec<(String, usize)> {
    let is_field = |line: &&str| {
        let line = line.trim_start();
        let line = line
            .strip_prefix("pub")
            .map_or(line, |line| line.trim_start_matches("(crate)").trim_start_matches("(super)"));
        let name = line.trim_start().split(':').next().unwrap_or_default();
        line.contains(": ")
            && !name.is_empty()
            && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '#')
    };
    items(code, "struct ").map(|(name, body)| (name.to_owned(), body.lines().filter(is_field).count())).collect()
}

/// What stands between the braces that follow a signature. A semicolon outside of brackets ends one without a body.
fn body(rest: &str) -> Option<&str> {
    let (mut depth, mut start) = (0_i32, None);
    for (at, c) in rest.char_indices() {
        match c {
            ';' if depth == 0 => return None,
            '{' if depth == 0 => start = Some(at + 1),
            '}' if depth == 1 && start.is_some() => return rest.get(start?..at),
            _ => {}
        }
        depth += i32::from("([{".contains(c)) - i32::from(")]}".contains(c));
    }
    None
}

#[test]
fn hub_crates_stay_small() {
    for &(name, most, most_in_a_file) in HUBS {
        let files = sources(&crates().join(name).join("src"));
        let counted: Vec<(usize, &PathBuf)> =
            files.iter().map(|file| (lines(&code(&fs::read_to_string(file).unwrap())), file)).collect();
        let all: usize = counted.iter().map(|(lines, _)| lines).sum();
        assert!(all <= most, "{name} has {all} lines of code, more than {most}");
        let (longest, file) = counted.iter().max().unwrap();
        assert!(
            *longest <= most_in_a_file,
            "{} has {longest} lines of code, more than {most_in_a_file}",
            file.display()
        );
        println!("{name}: {all} lines of code, {longest} in {}", file.display());
    }
}

#[test]
fn functions_stay_short() {
    for entry in fs::read_dir(crates()).unwrap() {
        let folder = entry.unwrap().path();
        let name = folder.file_name().unwrap().to_str().unwrap();
        let most = LONGER_FUNCTIONS.iter().find(|(one, _)| *one == name).map_or(LONGEST_FUNCTION, |(_, most)| *most);
        for file in sources(&folder.join("src")) {
            for (function, lines) in functions(&code(&fs::read_to_string(&file).unwrap())) {
                assert!(lines <= most, "{function} in {} has {lines} lines, more than {most}", file.display());
            }
        }
    }
}

#[test]
fn structs_stay_small() {
    let mut larger = Vec::new();
    for entry in fs::read_dir(crates()).unwrap() {
        for file in sources(&entry.unwrap().path().join("src")) {
            for (name, fields) in structs(&code(&fs::read_to_string(&file).unwrap())) {
                let is_known = LARGER_STRUCTS.contains(&&*name);
                assert!(is_known || fields <= MOST_FIELDS, "{name} in {} has {fields} fields", file.display());
                larger.extend((fields > MOST_FIELDS).then_some(name));
            }
        }
    }
    larger.sort();
    let mut known = LARGER_STRUCTS.to_vec();
    known.sort_unstable();
    assert_eq!(larger, known, "what has become small is no exception any more");
}

#[test]
fn crates_bring_few_packages_along() {
    for &(asked, most) in PACKAGES {
        let output = Command::new(env!("CARGO"))
            .args(["tree", "--locked", "-e", "normal", "--prefix", "none", "--format", "{p}"])
            .args(asked)
            .current_dir(crates())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        let named = |line: &str| line.split(' ').take(2).map(str::to_owned).collect::<Vec<_>>();
        let packages: BTreeSet<Vec<String>> = text.lines().filter(|line| !line.is_empty()).map(named).collect();
        assert!(packages.len() > 5, "{asked:?}: {text}");
        assert!(packages.len() <= most, "{asked:?} bring {} packages along, more than {most}", packages.len());
        println!("{asked:?}: {} packages", packages.len());
    }
}

#[test]
fn what_is_no_code_does_not_count() {
    let text = r##"
//! Doc.
fn short(a: &'static str) -> [u8; 2] { // {
    let quote = '"'; let escaped = '\''; let text = "}\" fn none() {";
    /* { */

    let raw = r#"fn other() { " "#;
}
trait Port { fn declared(&self); }
#[cfg(test)]
mod tests {
    fn test() {}
}
"##;
    let code = code(text);
    assert_eq!(lines(&code), 5, "{code}");
    assert_eq!(functions(&code), [("short".to_owned(), 2)], "{code}");
}

#[test]
fn fields_begin_lines() {
    let code = "pub struct Two<'a> {\n    pub(crate) first: Option<&'a str>,\n    r#type: u8,\n}\nstruct None;\nstruct Tuple(u8);\n";
    assert_eq!(structs(code), [("Two".to_owned(), 2)]);
}
