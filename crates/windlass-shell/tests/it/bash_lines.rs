//! For an understood line, bash runs exactly the understood commands, with the understood arguments and variables, and
//! writes no other files.
//!
//! `WINDLASS_BASH_LINES` is how many generated lines are compared; default: 3,000. `WINDLASS_BASH_SEED` is a byte from
//! which other lines follow; default: 7.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use windlass_shell::{RedirectKind, SimpleCommand, WordKind, analyse};

use crate::bash_words::{fragment, from_environment};

/// Runs each line of the file that is descriptor 199, and notes at descriptor 200 the commands run: the number of
/// fields, the variable `A`, the program and its arguments. Line ends are noted as another character, since bash would
/// write there, and commands of a pipeline at once. `one` succeeds, the others fail, and `cat` prints its input. Any
/// other command that would run is noted as well.
const SCRIPT: &str = r#"
note() { printf '%s\0' "$#" "${@//$'\n'/$'\1'}" >&200; }
one() { note "${A-}" one "$@"; }
two() { note "${A-}" two "$@"; return 1; }
three() { note "${A-}" three "$@"; return 2; }
cat() { IFS= read -r -d '' text; printf %s "$text"; }
command_not_found_handle() { note "${A-}" "$@"; }
exec 199<"$LINES_FILE" 200>>"$NOTES_FILE"
PATH=/nonexistent
while IFS= read -r -d '' -u 199 line; do
    eval "$line" </dev/null >/dev/null 2>/dev/null
    wait
    printf 'END\0' >&200
done
"#;

/// Programs that the script knows.
const NOTED: [&str; 3] = ["one", "two", "three"];

fn of(all: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop::sample::select(all).prop_map(str::to_owned)
}

/// Returns a command, perhaps with variables before it and a redirection behind it.
fn command() -> impl Strategy<Value = String> {
    let word = || prop::collection::vec(fragment(), 1..3).prop_map(|parts| parts.concat());
    let front = prop_oneof![
        12 => Just(String::new()),
        2 => of(&["! ", "A=1 ", "A='b c' ", "A=\"d\"\\\n ", "A=1 A=2 ", "A= ", "A=e\\ f "]),
        1 => word().prop_map(|value| format!("A={value} ")),
    ];
    let program = of(&["one", "two", "one", "'one'", "t\"w\"o", "o\\\nne", "\\two", "three"]);
    let redirection = prop_oneof![
        6 => Just(String::new()),
        2 => of(&[" >out", " >> 'b c'", " 2>&1", " 2>/dev/null", " </dev/null", " &>all", " >|\"out\"", " 2> err", " 3>&1", " >a >b", " &>> all", " <<E\nx\nE\n", " <<'E'\n$(two)\nE\n", " <<E # c\none\nE\n", " <<-'E'\n\tx\n\tE", " <<'E' 2>&1", " <<< x", " <<<'a b'", "1>x", " 1 > x", " >\\\nx", " <> y"]),
        1 => word().prop_map(|target| format!(" > {target}")),
    ];
    let words = prop::collection::vec(word(), 0..4).prop_map(|words| words.join(" "));
    (front, program, words, redirection)
        .prop_map(|(front, program, words, redirection)| format!("{front}{program} {words}{redirection}"))
}

fn line() -> impl Strategy<Value = String> {
    let operator = of(&[
        " && ", ";", "\n", " || ", " | ", "&&", "||", "|", " |& ", " & ", " \\\n&& ", "&\\\n&", " # c\n", " #\\\n",
        "\n\n", "; ", " ;\n", "|\n", "\\\n",
    ]);
    let more = prop::collection::vec((operator, command()), 0..4);
    let list = (command(), more).prop_map(|(first, more)| {
        more.into_iter().fold(first, |line, (operator, command)| format!("{line}{operator}{command}"))
    });
    let around = of(&[
        "LINE",
        "LINE",
        "LINE",
        "LINE",
        "LINE",
        "LINE",
        "LINE",
        "LINE",
        "(LINE)",
        "{ LINE; }",
        "one $(LINE)",
        "one \"$(LINE)\"",
        "if LINE; then two; fi",
        "if LINE\nthen two\nelse three; fi",
        "for f in x 'y z' a{b,c}; do one \"$f\" \"[$f]\"; done; LINE",
        "for f in x y; do LINE; one $f ${f}; done",
        "for f in x; do LINE; done; one \"$f\"",
        "(for g in {1,-2}; do one \"$g\"; done\nLINE)",
        "one <<E\nLINE\nE",
        "one '\n'LINE",
        "one \"LINE\"",
        "one \\\nLINE",
        "LINE # one",
        "  LINE\n",
    ]);
    (list, around).prop_map(|(list, around)| around.replace("LINE", &list))
}

/// A line that is understood in words that bash passes as they are.
struct Line {
    text: String,
    /// For each command the variable `A`, its program and its arguments.
    commands: Vec<Vec<String>>,
    /// Files of the directory that may be written.
    targets: Vec<String>,
    /// `true` if each of the commands runs, whatever the results of the others.
    all_run: bool,
}

impl Line {
    fn read(text: String) -> Option<Self> {
        let analysis = analyse(&text);
        let commands = analysis.understood().ok()?.commands();
        let redirects = || commands.iter().flat_map(|command| command.redirects());
        let words = commands.iter().flat_map(SimpleCommand::words).chain(redirects().map(|redirect| &redirect.target));
        let is_plain = words.clone().all(|word| word.kind() == WordKind::Literal)
            && commands.iter().all(|command| !command.words().is_empty() && command.program() != Some("exec"))
            && !redirects().any(|redirect| redirect.target.text().contains('/') && !redirect.is_harmless());
        if !is_plain {
            return None;
        }
        let written =
            redirects().filter(|redirect| matches!(redirect.kind, RedirectKind::Write | RedirectKind::Append));
        let targets = written.map(|redirect| redirect.target.text().to_owned()).collect();
        // Builtins are not noted, and neither are programs that are named by a path.
        let are_noted =
            commands.iter().all(|command| command.program().is_some_and(|program| NOTED.contains(&program)));
        let all_run = are_noted
            && redirects().next().is_none()
            && !["&&", "||", "\\", "if "].iter().any(|joint| text.contains(joint));
        let commands = commands.iter().map(noted).collect();
        Some(Self { text, commands, targets, all_run })
    }

    /// Returns `true` if bash ran only the understood commands.
    fn is_matched(&self, ran: &[Vec<String>]) -> bool {
        let mut left = self.commands.clone();
        let known = ran.iter().all(|command| {
            let at = left.iter().position(|understood| understood == command);
            at.map(|at| left.remove(at)).is_some()
        });
        known && (!self.all_run || left.is_empty())
    }
}

/// Returns the script's note of a command.
fn noted(command: &SimpleCommand) -> Vec<String> {
    let variable = command.assignments().iter().rfind(|assignment| assignment.name == "A");
    let variable = variable.map(|assignment| assignment.value.clone()).unwrap_or_default();
    std::iter::once(variable).chain(command.words().iter().map(|word| word.text().to_owned())).collect()
}

/// Runs each line in bash, in a directory of its own; returns the commands run, and the entries of the directory
/// afterwards.
fn run(lines: &[Line], place: &Path) -> (Vec<Vec<Vec<String>>>, BTreeSet<String>) {
    let work = place.join("work");
    let _ = std::fs::remove_dir_all(&work);
    std::fs::create_dir_all(&work).expect("a directory for the lines");
    let (file, notes) = (place.join("lines"), place.join("notes"));
    let mut all = std::fs::File::create(&file).expect("a file for the lines");
    for line in lines {
        all.write_all(line.text.as_bytes()).and_then(|()| all.write_all(b"\0")).expect("a line is written");
    }
    std::fs::write(&notes, "").expect("a file for the notes");
    let status = Command::new("bash")
        .args(["--norc", "--noprofile", "-c", SCRIPT])
        .env_clear()
        .env("LC_ALL", "C.UTF-8")
        .env("LINES_FILE", &file)
        .env("NOTES_FILE", &notes)
        .current_dir(&work)
        .status()
        .expect("bash runs");
    assert!(status.code().is_some(), "bash was ended by a signal");
    let text = String::from_utf8(std::fs::read(&notes).expect("notes")).expect("arguments are UTF-8");
    let mut fields = text.split_terminator('\0');
    let ran = lines.iter().map(|_| of_one_line(&mut fields)).collect();
    let names = std::fs::read_dir(&work).expect("the directory of the lines").flatten();
    (ran, names.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect())
}

fn of_one_line<'a>(fields: &mut impl Iterator<Item = &'a str>) -> Vec<Vec<String>> {
    let mut ran = Vec::new();
    while let Some(count) = fields.next().filter(|field| *field != "END") {
        let count = count.parse().expect("how many fields follow");
        ran.push(fields.by_ref().take(count).map(|field| field.replace('\u{1}', "\n")).collect());
    }
    ran
}

/// Removed at the end.
struct Place(PathBuf);

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn lines_are_the_commands_of_bash() {
    let wanted = from_environment("WINDLASS_BASH_LINES").unwrap_or(3_000_usize);
    let seed = from_environment("WINDLASS_BASH_SEED").unwrap_or(7_u8);
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let place = Place(std::env::temp_dir().join(format!("windlass-lines-{}", std::process::id())));
    let (mut tried, mut compared, mut commands) = (0_usize, 0_usize, 0_usize);
    let mut wrong = Vec::new();
    while compared < wanted && tried < wanted.saturating_mul(20).saturating_add(1_000) {
        let generated: Vec<String> =
            (0..1_000).map(|_| line().new_tree(&mut runner).expect("a value").current()).collect();
        tried += generated.len();
        let lines: Vec<Line> = generated.into_iter().filter_map(Line::read).collect();
        let (ran, files) = run(&lines, &place.0);
        for (line, ran) in lines.iter().zip(&ran) {
            commands += ran.len();
            if !line.is_matched(ran) {
                wrong.push(format!("{:?}\n  understood {:?}\n  bash ran   {ran:?}", line.text, line.commands));
            }
        }
        let targets: BTreeSet<&str> = lines.iter().flat_map(|line| &line.targets).map(String::as_str).collect();
        wrong
            .extend(files.iter().filter(|file| !targets.contains(file.as_str())).map(|file| format!("wrote {file:?}")));
        compared += lines.len();
        assert!(wrong.is_empty(), "{} of {compared} lines:\n{}", wrong.len(), wrong.join("\n"));
    }
    let shown = format!("{compared} of {tried} lines compared, {commands} commands ran\n");
    std::io::stdout().write_all(shown.as_bytes()).expect("standard output");
    assert!(compared >= wanted && commands >= wanted, "{shown}");
}
