//! Effects on the system of commands that run without a question, seen from outside: each is run under `strace`.
//!
//! The commands are the everyday list and, for every option that the arity tests of `windlass-shell` know, a call of
//! its program with it. The policy decides which of them need no question. None of these may open a file for writing,
//! change a file in another way, connect, or start a program that it does not name.
//!
//! `cargo test -p windlass-permission --test it traced::` runs a part of them; with `-- --ignored` it runs all, which
//! takes some minutes. Without `strace` it reports that it was skipped. Programs that need room for their input
//! (`sort`, `tac`) put it into files of their own in the directory for temporary files.

use crate::common::{Rules, World};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use windlass_shell::analyse;
use windlass_testkit::strace;
use windlass_types::Behavior::Allow;

const FREE: &str = include_str!("everyday_commands/free.txt");

/// Which options there are, and how they take their values: see `windlass-shell`.
const OPTIONS: &str = include_str!("../../../windlass-shell/tests/arity/observed.txt");

/// Programs that are scripts, or links to others, and the programs that they start.
const STARTS: &[(&str, &[&str])] = &[
    ("bunzip2", &["bzip2"]),
    ("bzcat", &["bzip2"]),
    ("egrep", &["grep"]),
    ("fgrep", &["grep"]),
    ("gunzip", &["gzip"]),
    // Programs that are started if no program is named.
    ("xargs", &["echo"]),
    ("zcat", &["gzip"]),
];

/// Devices that must exist before a command may open them for writing.
const DEVICES: &[&str] = &["/dev/null", "/dev/tty"];

/// Returns commands of the everyday list, each with the called program and the form of its options' values.
fn commands() -> Vec<String> {
    let mut all: Vec<String> =
        FREE.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")).map(str::to_owned).collect();
    for line in OPTIONS.lines() {
        let [program, option, kind] = line.split('\t').collect::<Vec<_>>()[..] else { continue };
        let history = ["log", "show", "diff-tree", "diff-index", "rev-list", "reflog", "whatchanged", "shortlog"];
        let subcommand = program.strip_prefix("git ");
        let operand = match subcommand {
            Some("stash list" | "diff-files" | "count-objects" | "version") => "",
            Some("stash show") => "stash@{0}",
            Some("range-diff") => "HEAD...HEAD",
            Some(name) if history.contains(&name) => "HEAD",
            Some("describe" | "name-rev" | "rev-parse" | "ls-tree" | "cat-file" | "merge-base" | "branch" | "tag") => {
                "HEAD"
            }
            _ => "a",
        };
        let filter = if matches!(program, "sed" | "awk" | "mawk" | "gawk") { "1p " } else { "" };
        let filter = if program == "jq" { ". " } else { filter };
        let mut call = |option: &str| all.push(format!("{program} {option} {filter}{operand}").trim().to_owned());
        let long = option.starts_with("--");
        match kind {
            "ends" | "permutes" | "ordered" => {}
            "next" | "next-only" | "next-two" => {
                for value in ["1", "a", "x=1"] {
                    call(&if kind == "next-two" { format!("{option} n {value}") } else { format!("{option} {value}") });
                    call(&format!("{option}{}{value}", if long { "=" } else { "" }));
                }
            }
            "attached" => {
                call(option);
                for value in ["1", "a"] {
                    call(&format!("{option}{}{value}", if long { "=" } else { "" }));
                }
            }
            _ => call(option),
        }
    }
    all.sort();
    all.dedup();
    all
}

/// A working directory like the one that the everyday commands speak of.
struct Place(PathBuf);

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Place {
    fn new(name: &str) -> Self {
        let root = std::env::temp_dir().join(format!("traced-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        let work = root.join("w");
        for directory in ["src/foo", "docs", "tests", "crates/foo/src", "node_modules", ".github/workflows"] {
            fs::create_dir_all(work.join(directory)).unwrap();
        }
        let place = Self(root);
        for name in ["src/main.rs", "src/lib.rs", "src/foo/a.rs", "docs/a.md", "tests/a.py", "README.md", "x", "log"] {
            fs::write(work.join(name), "one two three\n1 2 3\nfoo:bar,baz\n").unwrap();
        }
        for name in ["a", "b", "y", "f", "a.txt", "b.txt", "data.csv", "log.txt", ".gitignore", "c", "deps"] {
            fs::write(work.join(name), "one two\nfoo bar\n").unwrap();
        }
        for name in ["x.json", "package.json", "data.json", "d.json", "a.json", "b.json"] {
            fs::write(work.join(name), "{\"a\": 1, \"name\": \"x\", \"items\": []}\n").unwrap();
        }
        for name in ["Cargo.toml", "Cargo.lock", "Makefile"] {
            fs::write(work.join(name), "[package]\nname = \"x\"\nversion = \"1.0\"\n").unwrap();
        }
        for text in [
            "git init -q -b main",
            "git add .",
            "git -c user.name=a -c user.email=a@b commit -qm one",
            "git tag v1.0",
            "git branch feature",
            "git notes list",
            "cp x a",
            "git -c user.name=a -c user.email=a@b commit -qam two",
            "cp b f",
            "git -c user.name=a -c user.email=a@b stash -q",
            "tar -cf x.tar a b",
            "tar -czf x.tar.gz a b",
            "gzip -k x",
            "xz -k x",
            "bzip2 -k x",
            "zstd -q x",
            "zip -q x.zip a b",
            "ln -s a link",
            "cp x c",
        ] {
            let words: Vec<&str> = text.split(' ').collect();
            let _ = Command::new(words[0])
                .args(&words[1..])
                .current_dir(&work)
                .stdin(Stdio::null())
                .stderr(Stdio::null())
                .stdout(Stdio::null())
                .env("GIT_CONFIG_GLOBAL", "/dev/null")
                .status();
        }
        place
    }

    fn work(&self) -> PathBuf {
        self.0.join("w")
    }

    /// Returns the forbidden system calls of a command; the environment is that of commands in a session.
    fn trace(&self, text: &str) -> Vec<String> {
        let log = self.0.join("log");
        let _ = fs::remove_file(&log);
        let mut command = Command::new("timeout");
        command.args(["10", "strace", "-f", "-qq", "-s", "300", "-o"]).arg(&log);
        command.args(["-e", "trace=%file,%network,%process,ftruncate,fchmod,fchown,fallocate,clock_settime"]);
        command.args(["bash", "--noprofile", "--norc", "-c", "--", text, "bash"]);
        command.current_dir(self.work()).env_clear().env("HOME", &self.0);
        for name in ["PATH", "LD_LIBRARY_PATH"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        for (name, value) in [("GIT_OPTIONAL_LOCKS", "0"), ("GIT_PAGER", "cat"), ("PAGER", "cat"), ("TERM", "dumb")] {
            command.env(name, value);
        }
        let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
        let seen = fs::read_to_string(&log).unwrap_or_default();
        assert!(!seen.is_empty(), "`{text}` was not traced: {status}");
        let analysis = analyse(text);
        let mut named: Vec<&str> = analysis.found().iter().filter_map(|found| found.program()).collect();
        named.push("bash");
        for (program, started) in STARTS {
            if named.contains(program) {
                named.extend(*started);
            }
        }
        seen.lines().filter(|line| is_wrong(line, &named)).map(|line| format!("{text}: {line}")).collect()
    }
}

/// Returns `true` if a reading command must not make this system call.
fn is_wrong(line: &str, named: &[&str]) -> bool {
    let Some((_, call)) = line.split_once(' ') else { return false };
    let Some((name, arguments)) = call.trim_start().split_once('(') else { return false };
    let path = arguments.split('"').nth(1).unwrap_or_default();
    match name {
        "open" | "openat" | "openat2" | "creat" => {
            let writes =
                name == "creat" || ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC"].iter().any(|f| arguments.contains(f));
            writes && !DEVICES.contains(&path)
        }
        "execve" | "execveat" => {
            let program = Path::new(path).file_name().unwrap_or_default().to_string_lossy();
            // Git runs itself; its configuration names the other programs that it could run, and the driver reads it.
            let git = named.contains(&"git") && (program == "git" || program.starts_with("git-"));
            !(git || named.contains(&&*program))
        }
        // Names of users are asked of a service of the C library, if there is one.
        "connect" | "bind" | "sendto" | "sendmsg" => {
            let local = arguments.contains("AF_UNIX") && arguments.contains("/nscd/socket");
            arguments.contains("sa_family=") && !local && !arguments.contains("AF_NETLINK")
        }
        "access" | "faccessat" | "faccessat2" | "stat" | "lstat" | "newfstatat" | "statx" | "fstat" | "statfs"
        | "readlink" | "readlinkat" | "getcwd" | "chdir" | "fchdir" | "getxattr" | "lgetxattr" | "listxattr"
        | "llistxattr" | "name_to_handle_at" | "inotify_add_watch" => false,
        "clone" | "clone3" | "fork" | "vfork" | "wait4" | "waitid" | "exit" | "exit_group" | "kill" | "tgkill"
        | "rt_sigqueueinfo" | "pidfd_open" | "pidfd_send_signal" => false,
        "socket" | "socketpair" | "getsockname" | "getpeername" | "getsockopt" | "setsockopt" | "recvmsg"
        | "recvfrom" | "shutdown" => false,
        _ => !name.starts_with(['<', '+', '-', '.']),
    }
}

/// Checks every command that `part` selects.
fn look(name: &str, part: impl Fn(usize) -> bool) {
    if !strace::is_available() {
        return;
    }
    let world = World::new(Rules::default());
    let commands = commands();
    let free: Vec<&String> = commands.iter().filter(|text| world.verdict(&format!("Bash {text}")) == Allow).collect();
    let looked: Vec<&String> = free.iter().enumerate().filter(|(at, _)| part(*at)).map(|(_, text)| *text).collect();
    eprintln!("{} commands, {} need no question, {} are run", commands.len(), free.len(), looked.len());
    let next = AtomicUsize::new(0);
    let wrong: Vec<String> = thread::scope(|scope| {
        let workers = thread::available_parallelism().map_or(2, usize::from);
        let running: Vec<_> = (0..workers)
            .map(|worker| {
                let (next, looked) = (&next, &looked);
                scope.spawn(move || {
                    let place = Place::new(&format!("{name}-{worker}"));
                    let mut wrong = Vec::new();
                    while let Some(text) = looked.get(next.fetch_add(1, Ordering::Relaxed)) {
                        wrong.extend(place.trace(text));
                    }
                    wrong
                })
            })
            .collect();
        running.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{} wrong calls:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn some_commands_that_need_no_question_only_read() {
    look("some", |at| at % 100 == 0);
}

#[test]
#[ignore = "runs some thousand commands"]
fn all_commands_that_need_no_question_only_read() {
    look("all", |_| true);
}

/// Words that would write a file named `W`, if a program took them with their meaning in other programs.
const HOSTILE: &[&str] =
    &["--output=W", "--output", "-oW", "-o", "W", "--outp=W", "-fprint", "w W", "-i", "--exec=W", "-D", "-d", "-m"];

/// Numbers that are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit.max(1)
    }

    fn of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }
}

/// Programs that can write a file named by an option, by an operand or in their own language.
const WRITERS: &[&str] = &[
    "awk",
    "fd",
    "find .",
    "git diff",
    "git diff-index",
    "git diff-tree",
    "git log",
    "git range-diff",
    "git reflog",
    "git rev-list",
    "git shortlog",
    "git show",
    "git stash list",
    "git stash show",
    "git whatchanged",
    "iconv",
    "jq",
    "rg",
    "sed",
    "shuf",
    "sort",
    "tree",
    "uniq",
    "xxd",
];

/// Runs the commands without a permission request among so many commands of words in any order.
fn shuffle(name: &str, count: usize) {
    let world = World::new(Rules::default());
    let place = Place::new(name);
    let mut programs: Vec<(&str, Vec<&str>)> = WRITERS.iter().map(|program| (*program, vec!["--"])).collect();
    for line in OPTIONS.lines() {
        let [program, option, kind] = line.split('\t').collect::<Vec<_>>()[..] else { continue };
        if let Some((_, options)) = programs.iter_mut().find(|(known, _)| *known == program)
            && ["attached", "next", "next-only", "next-two"].contains(&kind)
        {
            options.push(option);
        }
    }
    let entries = |directory: &str| fs::read_dir(place.work().join(directory)).unwrap().count();
    let before = [entries("."), entries(".git"), entries(".git/refs/heads"), entries("src")];
    let mut numbers = Numbers(20);
    let (mut free, mut written) = (0, Vec::new());
    for at in 0..count {
        let (program, options) = &programs[at % programs.len()];
        let mut text = (*program).to_owned();
        for _ in 0..2 + numbers.below(5) {
            let word = match numbers.below(8) {
                0..=3 => numbers.of(options),
                4 => "--output=W",
                5 => numbers.of(HOSTILE),
                6 => "--",
                _ => numbers.of(&["HEAD", "a", "1", "stash@{0}"]),
            };
            text.push(' ');
            text.push_str(if word.contains(' ') { "'w W'" } else { word });
        }
        if world.verdict(&format!("Bash {text}")) != Allow {
            continue;
        }
        free += 1;
        let mut command = Command::new("timeout");
        command.args(["10", "bash", "--noprofile", "--norc", "-c", "--", &text, "bash"]).current_dir(place.work());
        command.env("GIT_OPTIONAL_LOCKS", "0").env("GIT_PAGER", "cat").env("GIT_CONFIG_GLOBAL", "/dev/null");
        let _ = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        if [entries("."), entries(".git"), entries(".git/refs/heads"), entries("src")] != before {
            written.push(text);
            break;
        }
    }
    eprintln!("{count} commands, {free} need no question");
    assert!(written.is_empty(), "{written:?}");
    assert!(free > count / 50, "{free} of {count}");
}

#[test]
fn no_order_of_words_hides_a_file_that_is_written() {
    shuffle("order", 600);
}

#[test]
#[ignore = "runs some ten thousand commands"]
fn no_order_of_many_words_hides_a_file_that_is_written() {
    shuffle("orders", 20_000);
}

/// A command that does something is noticed.
#[test]
fn writing_connecting_and_starting_are_seen() {
    if !strace::is_available() {
        return;
    }
    let place = Place::new("seen");
    for text in [
        "git log -U --output=out",
        "sort -o out x",
        "echo x > out",
        "mkdir d",
        "rm b",
        "mv a z",
        "touch x",
        "chmod 600 x",
        "sed -i s/a/b/ x",
        "cat < /dev/tcp/127.0.0.1/9",
        "git -c diff.external=true diff --ext-diff HEAD~1",
        "awk 'BEGIN{system(\"true\")}'",
        "sed 1e\\ true x",
        "tar -cf z.tar a",
    ] {
        assert!(!place.trace(text).is_empty(), "{text}");
    }
    for text in ["git status", "git log -p --stat", "ls -la", "cat x | sort | uniq -c", "grep -rn one ."] {
        assert_eq!(place.trace(text), [""; 0], "{text}");
    }
}
