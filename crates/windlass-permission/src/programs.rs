//! Properties of programs by name, for texts that the shell analysis does not fully understand.
//!
//! These lists decide about questions and denials, never about permission: a program that is on none of them is
//! taken to read and write every path among its arguments.

use windlass_shell::{FoundCommand, Word};

/// Returns `true` for programs whose arguments are never files to open.
pub(crate) fn takes_no_files(program: &str) -> bool {
    matches!(
        program,
        "echo" | "printf" | "true" | "false" | ":" | "pwd" | "which" | "type" | "cd" | "export" | "sleep" | "kill"
    )
}

/// Viewers: an operand of theirs is a file that is read, whatever their options are.
pub(crate) fn only_views(program: &str) -> bool {
    matches!(program, "cat" | "tac" | "head" | "tail" | "less" | "more" | "bat" | "nl" | "zcat" | "zgrep")
}

/// Returns `true` for programs that read the files among their arguments and write none.
pub(crate) fn only_reads(program: &str) -> bool {
    only_lists(program)
        || SEARCHES.contains(&program)
        || GREPS.contains(&program)
        || matches!(
            program,
            "cat"
                | "tac"
                | "head"
                | "tail"
                | "less"
                | "more"
                | "bat"
                | "nl"
                | "rg"
                | "wc"
                | "diff"
                | "cmp"
                | "comm"
                | "cut"
                | "tr"
                | "od"
                | "hexdump"
                | "strings"
                | "cksum"
                | "md5sum"
                | "sha1sum"
                | "sha256sum"
                | "sha512sum"
                | "b2sum"
                | "test"
                | "["
                | "[["
                | "jq"
                | "zcat"
                | "base64"
                | "source"
                | "."
        )
}

/// Returns `true` for programs that only test the existence of files.
pub(crate) fn only_tests(program: &str) -> bool {
    takes_no_files(program) || matches!(program, "test" | "[" | "[[")
}

/// Returns `true` for programs that print names and sizes of files, not their content.
pub(crate) fn only_lists(program: &str) -> bool {
    let program = program.rsplit('/').next().unwrap_or(program);
    matches!(
        program,
        "ls" | "du"
            | "tree"
            | "stat"
            | "file"
            | "find"
            | "fd"
            | "fdfind"
            | "basename"
            | "dirname"
            | "realpath"
            | "readlink"
            | "df"
    )
}

/// Returns `true` if a program may print the contents of its operands, not only names, sizes, counts and sums.
pub(crate) fn may_print(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or(program);
    let sums = name == "wc" || name == "cksum" || name.ends_with("sum");
    !(sums || takes_no_files(name) || only_lists(name) || only_removes(name))
}

/// Returns `true` for programs whose operands are files to read or change, so that an unknown operand matters.
pub(crate) fn works_on_files(program: &str) -> bool {
    let program = program.rsplit('/').next().unwrap_or(program);
    matches!(
        program,
        "rm" | "rmdir"
            | "unlink"
            | "shred"
            | "mv"
            | "cp"
            | "ln"
            | "install"
            | "dd"
            | "tee"
            | "touch"
            | "mkdir"
            | "truncate"
            | "chmod"
            | "chown"
            | "chgrp"
            | "sed"
            | "awk"
            | "gawk"
            | "sort"
            | "uniq"
            | "split"
            | "tar"
            | "zip"
            | "unzip"
            | "gzip"
            | "gunzip"
            | "rsync"
            | "scp"
            | "patch"
            | "xxd"
            | "sponge"
            | "rename"
            | "mkfifo"
            | "mknod"
            | "setfacl"
            | "chattr"
            | "cpio"
    )
}

/// Returns `true` if a command may read a program in its own language from its input.
pub(crate) fn may_take_code(command: &FoundCommand) -> bool {
    let name = command.program().unwrap_or_default();
    let has_file =
        || command.words().iter().skip(1).any(|word| word.text().starts_with("-f") || word.text().starts_with("--f"));
    match name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.') {
        "awk" | "gawk" | "mawk" | "nawk" | "sed" | "gsed" => has_file(),
        "bc" | "bun" | "dc" | "duckdb" | "ed" | "ex" | "gnuplot" | "lua" | "m" | "mariadb" | "mysql" | "node"
        | "nvim" | "perl" | "php" | "psql" | "python" | "red" | "ruby" | "sqlite" | "tclsh" | "vi" | "vim" => true,
        _ => false,
    }
}

/// Returns `true` for programs that remove their operands without looking into them.
pub(crate) fn only_removes(program: &str) -> bool {
    matches!(program, "rm" | "rmdir" | "unlink")
}

/// Returns `true` if the command takes whole trees: reads their contents, moves or removes them.
pub(crate) fn takes_trees(program: &str, words: &[Word]) -> bool {
    let has = |letters: [char; 2], long: &str| {
        words.iter().skip(1).map(Word::text).any(|text| {
            text.starts_with(long) || (text.starts_with('-') && !text.starts_with("--") && text.contains(letters))
        })
    };
    match program {
        "rg" | "tar" | "rsync" | "mv" => true,
        _ if SEARCHES.contains(&program) => true,
        // `-d recurse`, `-drecurse`, `--directories=recurse`.
        _ if GREPS.contains(&program)
            && words.iter().any(|word| word.text().starts_with("--deref") || word.text().ends_with("recurse")) =>
        {
            true
        }
        "diff" | "cp" | "zip" | "scp" | "rm" => has(['r', 'R'], "--rec"),
        _ if GREPS.contains(&program) => has(['r', 'R'], "--rec"),
        _ => false,
    }
}

/// Returns `true` for programs that search the current directory where no other is named.
pub(crate) fn searches_here(program: &str) -> bool {
    program == "rg" || SEARCHES.contains(&program) || GREPS.contains(&program)
}

/// Programs that search trees without being asked to.
const SEARCHES: &[&str] = &["ack", "ack-grep", "ag", "pt", "rgrep", "sift", "ug", "ugrep"];

/// Programs that search a tree if an option requests it.
const GREPS: &[&str] = &[
    "bzegrep",
    "bzfgrep",
    "bzgrep",
    "egrep",
    "fgrep",
    "ggrep",
    "grep",
    "lzgrep",
    "pcre2grep",
    "pcregrep",
    "xzegrep",
    "xzgrep",
    "zegrep",
    "zfgrep",
    "zgrep",
    "zipgrep",
    "zstdgrep",
];

/// Sub-commands of git whose operands are not written.
const READING_GIT: &[&str] = &[
    "add",
    "blame",
    "cat-file",
    "check-attr",
    "check-ignore",
    "commit",
    "diff",
    "grep",
    "log",
    "ls-files",
    "ls-tree",
    "rev-parse",
    "shortlog",
    "show",
    "status",
];

/// Long options of git itself that take the next word for their value.
pub(crate) const GIT_OPTIONS_WITH_VALUES: &[&str] =
    &["--attr-source", "--config-env", "--git-dir", "--namespace", "--shallow-file", "--super-prefix", "--work-tree"];

/// Returns the arguments of a command that name files it may write.
pub(crate) fn words_to_protect(command: &FoundCommand) -> Vec<&Word> {
    let words = command.words().get(1..).unwrap_or_default();
    let program = command.program().unwrap_or_default();
    match program {
        "find" => {
            let changes = words
                .iter()
                .any(|w| ["-delete", "-exec", "-f", "-ok"].iter().any(|action| w.text().starts_with(action)));
            if changes { starts_of_find(words) } else { Vec::new() }
        }
        "git" => {
            let subcommand = git_subcommand(words).unwrap_or_default();
            if READING_GIT.contains(&subcommand) { Vec::new() } else { words.iter().collect() }
        }
        program if takes_no_files(program) || only_reads(program) => Vec::new(),
        _ => {
            let mut kept = Vec::new();
            let mut rest = words.iter();
            while let Some(word) = rest.next() {
                match word.text() {
                    "--exclude" | "--exclude-dir" | "--ignore" => {
                        rest.next();
                    }
                    "-x" if program == "zip" => break,
                    text if text.starts_with("--exclude") || text.starts_with("--ignore") => {}
                    _ => kept.push(word),
                }
            }
            kept
        }
    }
}

/// Returns `true` if a command deletes the files that it finds.
pub(crate) fn deletes(program: &str, words: &[Word]) -> bool {
    program == "find" && words.iter().any(|word| word.text() == "-delete")
}

/// Returns `true` if an option of a program that lists names runs another program on them.
pub(crate) fn runs_another(program: &str, text: &str) -> bool {
    match program {
        "find" => text.starts_with("-exec") || text.starts_with("-ok"),
        "fd" | "fdfind" => text.starts_with("--exec") || fd_runs_another(text),
        _ => false,
    }
}

/// Returns `true` if `-x` or `-X` is among the letters of a word. Each other letter in this list is followed by its
/// value.
fn fd_runs_another(text: &str) -> bool {
    let letters = text.strip_prefix('-').unwrap_or_default();
    !letters.starts_with('-')
        && letters
            .split(['c', 'd', 'e', 'j', 'o', 't', 'C', 'E', 'S'])
            .next()
            .is_some_and(|own| own.contains(['x', 'X']))
}

/// Returns the start directories of a command that lists names; empty for the current directory.
pub(crate) fn starts<'a>(program: &str, words: &'a [Word]) -> Vec<&'a Word> {
    let words = words.get(1..).unwrap_or_default();
    match program {
        "find" => starts_of_find(words),
        _ => words
            .iter()
            .take_while(|word| !runs_another(program, word.text()))
            .filter(|w| !w.text().starts_with('-'))
            .collect(),
    }
}

/// Returns the start directories of `find`: its options stand before them, and its expression behind them.
fn starts_of_find(words: &[Word]) -> Vec<&Word> {
    let mut starts = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.text() {
            "--" => {}
            "-D" => {
                words.next();
            }
            // On BSD and macOS a path follows it.
            "-f" => starts.extend(words.next()),
            option if is_option_of_find(option) => {}
            text if text.starts_with(['-', '(', '!']) => break,
            _ => starts.push(word),
        }
    }
    starts
}

/// Returns `true` for options that say how `find` goes through directories, those of BSD and macOS too.
fn is_option_of_find(text: &str) -> bool {
    let letters = text.strip_prefix('-').unwrap_or_default();
    letters.starts_with('O') || (!letters.is_empty() && letters.chars().all(|letter| "EHLPXdsx".contains(letter)))
}

/// Returns `true` if a command is one of git that does not write its operands.
pub(crate) fn is_reading_git(words: &[Word]) -> bool {
    let git = words.first().is_some_and(|program| program.text() == "git");
    git && words.get(1..).and_then(git_subcommand).is_some_and(|name| READING_GIT.contains(&name))
}

fn git_subcommand(words: &[Word]) -> Option<&str> {
    let mut words = words.iter().map(Word::text);
    while let Some(word) = words.next() {
        match word {
            "-C" | "-c" => {
                words.next();
            }
            option if GIT_OPTIONS_WITH_VALUES.contains(&option) => {
                words.next();
            }
            word if word.starts_with('-') => {}
            word => return Some(word),
        }
    }
    None
}

/// Returns `true` if a command changes the configuration of git, which can name programs to run.
pub(crate) fn changes_git_config(command: &FoundCommand) -> bool {
    let words = command.words().get(1..).unwrap_or_default();
    if command.program() != Some("git") || git_subcommand(words) != Some("config") {
        return false;
    }
    let after: Vec<&str> = words.iter().map(Word::text).skip_while(|word| *word != "config").skip(1).collect();
    let option = |word: &str, names: &[&str]| {
        // Abbreviations match too.
        let long = word.strip_prefix("--").map(|long| long.split_once('=').map_or(long, |(name, _)| name));
        long.is_some_and(|long| !long.is_empty() && names.iter().any(|name| name.starts_with(long)))
    };
    let reads = |word: &&str| {
        matches!(*word, "get" | "list" | "-l")
            || word.starts_with("--get")
            || word.starts_with("--list")
            || *word == "--show-origin"
    };
    let changes = ["add", "edit", "remove-section", "rename-section", "replace-all", "unset", "unset-all"];
    let verbs = ["edit", "remove-section", "rename-section", "set", "unset"];
    let operands = after.iter().filter(|word| !word.starts_with('-')).count();
    let writes = after.iter().any(|word| option(word, &changes) || *word == "-e")
        || after.iter().find(|word| !word.starts_with('-')).is_some_and(|verb| verbs.contains(verb));
    writes || !(after.iter().any(reads) || operands == 1)
}

/// `true` for `crontab` but where it only lists: what it takes runs later, by the time.
pub(crate) fn changes_crontab(command: &FoundCommand) -> bool {
    command.program() == Some("crontab") && !command.words().iter().any(|word| word.text() == "-l")
}

/// Programs that build images of containers.
const IMAGE_BUILDERS: &[&str] =
    &["buildah", "docker", "docker-compose", "finch", "nerdctl", "podman", "podman-compose"];

/// Contexts of an image that a command builds.
pub(crate) enum BuildContexts<'a> {
    /// The directory where it runs, or what a file there says.
    Here,
    /// Directories among its words.
    Named(Vec<&'a Word>),
}

/// The directories that a command sends to the builder of an image, whole; `None` if it builds none.
pub(crate) fn build_contexts(command: &FoundCommand) -> Option<BuildContexts<'_>> {
    let program = command.program().filter(|program| IMAGE_BUILDERS.contains(program))?;
    let args = command.words().get(1..).unwrap_or_default();
    let composes = program.ends_with("compose") || args.iter().any(|word| word.text() == "compose");
    let builds = |word: &Word| match composes {
        true => matches!(word.text(), "build" | "create" | "run" | "up" | "watch"),
        false => matches!(word.text(), "b" | "bake" | "bud" | "build"),
    };
    let first = args.iter().find(|word| !word.text().starts_with('-'))?;
    if !composes && matches!(first.text(), "container" | "exec" | "run" | "create") {
        return None;
    }
    let at = args.iter().position(builds)?;
    let behind = args.get(at.saturating_add(1)..).unwrap_or_default();
    let mut named = behind.iter().filter(|word| !word.text().starts_with('-')).peekable();
    if composes || named.peek().is_none() {
        return Some(BuildContexts::Here);
    }
    Some(BuildContexts::Named(named.filter(|word| !word.text().contains("://")).collect()))
}
