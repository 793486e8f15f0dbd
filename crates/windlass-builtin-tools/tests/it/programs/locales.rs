//! Sessions in five locales: bash runs the commands that were analysed, whatever character set the user's locale has.
//!
//! `WINDLASS_LOCALE_LINES` is the number of generated lines for each locale; default: 500. `WINDLASS_LOCALE_SEED` is a
//! byte that seeds the generated lines; default: 7.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use windlass_shell::{Analysis, WordKind, analyse};
use windlass_testkit::skipped;
use windlass_tool::environment::child_environment;

/// Runs each line of standard input, and notes what it runs: the number of fields, then program and arguments.
const SCRIPT: &str = r#"
exec 198<&0 200>&1 </dev/null
note() { printf '%s\0' "$#" "${@//$'\n'/$'\1'}" >&200; }
one() { note one "$@"; }
two() { note two "$@"; }
command_not_found_handle() { note "$@"; }
PATH=/nonexistent
while IFS= read -r -d '' -u 198 line; do
    eval "$line" </dev/null >/dev/null 2>/dev/null
    wait
    printf 'END\0' >&200
done
"#;

/// Locales with the name, source and charmap that `localedef` builds them from.
const BUILT: [(&str, &str, &str); 3] =
    [("zh_CN.GBK", "zh_CN", "GBK"), ("zh_TW.BIG5", "zh_TW", "BIG5"), ("ja_JP.SJIS", "ja_JP", "SHIFT_JIS")];

type Environment = Vec<(OsString, OsString)>;

/// A line of commands with quotes, backslashes and operators beside characters of two to four bytes.
fn line() -> impl Strategy<Value = String> {
    let character = prop_oneof![
        prop::char::range('\u{a1}', '\u{7ff}'),
        prop::char::range('\u{4e00}', '\u{9fff}'),
        prop::char::range('\u{3041}', '\u{30fe}'),
        prop::char::range('\u{1f300}', '\u{1f6ff}'),
    ];
    let piece = prop_oneof![
        6 => character.prop_map(String::from),
        5 => prop::sample::select(vec!["\\", "\"", "'", "\\\"", "\\'", "\\\\", "|", ";", "&&", "\n", "#", " #", "`", "$"])
            .prop_map(str::to_owned),
        4 => prop::sample::select(vec![" ", "a", "; two ", "| two ", " && one ", "\\\n", "x=", "~", "(", ")", "[", "{"])
            .prop_map(str::to_owned),
    ];
    let word = prop::collection::vec(piece, 1..8).prop_map(|pieces| pieces.concat());
    let quoted = (word, prop::sample::select(vec!["", "\"", "'"]), prop::bool::ANY)
        .prop_map(|(word, quote, closed)| format!("{quote}{word}{}", if closed { quote } else { "" }));
    prop::collection::vec(quoted, 1..4)
        .prop_map(|words| format!("one {}; two \"", words.join(" ")))
        .prop_flat_map(|line| prop_oneof![Just(line.clone()), Just(line.trim_end_matches("; two \"").to_owned())])
}

fn build(place: &Path) -> Result<(), String> {
    for (name, source, charmap) in BUILT {
        let mut localedef = Command::new("localedef");
        localedef.args(["-c", "-i", source, "-f", charmap]).arg(place.join(name));
        let ended = localedef.stdout(Stdio::null()).stderr(Stdio::null()).status();
        if ended.is_err() || !place.join(name).join("LC_CTYPE").is_file() {
            return Err(format!("localedef with the locale {source} and the charmap {charmap}"));
        }
    }
    Ok(())
}

/// The commands that bash runs of each line in this environment.
fn run(lines: &[String], environment: &Environment, place: &Path) -> Vec<Vec<Vec<String>>> {
    let input = place.join("lines");
    std::fs::write(&input, lines.iter().flat_map(|line| [line.as_bytes(), b"\0"].concat()).collect::<Vec<u8>>())
        .unwrap();
    let mut bash = Command::new("bash");
    bash.args(["--norc", "--noprofile", "-c", SCRIPT]).env_clear().current_dir(place);
    bash.envs(environment.iter().map(|(name, value)| (name, value))).env("LOCPATH", place);
    let output = bash.stdin(std::fs::File::open(input).unwrap()).stderr(Stdio::null()).output().unwrap();
    let fields: Vec<String> =
        output.stdout.split(|byte| *byte == 0).map(|field| String::from_utf8_lossy(field).into_owned()).collect();
    let mut fields = fields.into_iter();
    let mut of_line = || {
        let mut ran = Vec::new();
        while let Some(count) = fields.next().filter(|field| field != "END" && !field.is_empty()) {
            let count = count.parse().expect("the number of fields that follow");
            ran.push(fields.by_ref().take(count).map(|field| field.replace('\u{1}', "\n")).collect());
        }
        ran
    };
    lines.iter().map(|_| of_line()).collect()
}

/// The commands of a line that is understood, in words that bash passes as they are.
fn understood(analysis: &Analysis) -> Option<Vec<Vec<String>>> {
    let commands = analysis.understood().ok()?.commands();
    let words = commands.iter().flat_map(|command| command.words());
    let plain = words.clone().all(|word| word.kind() == WordKind::Literal)
        && commands.iter().all(|command| {
            command.redirects().is_empty()
                && matches!(command.program(), Some("one" | "two"))
                && command.assignments().is_empty()
        });
    let texts =
        |command: &windlass_shell::SimpleCommand| command.words().iter().map(|word| word.text().to_owned()).collect();
    plain.then(|| commands.iter().map(texts).collect())
}

/// Returns `true` if bash ran no more than the analysis found. For an understood line, that is exactly its commands;
/// otherwise, the programs found.
fn is_analysed(text: &str, ran: &[Vec<String>]) -> bool {
    let analysis = analyse(text);
    if let Some(mut expected) = understood(&analysis) {
        // The commands of a pipeline note themselves in any order.
        let mut ran = ran.to_vec();
        expected.sort();
        ran.sort();
        return ran == expected;
    }
    analysis.undecided().is_some()
        || ran.iter().all(|command| {
            let program = command.first().map(String::as_str);
            analysis.found().iter().any(|found| found.program() == program)
        })
}

#[test]
fn bash_runs_what_was_analysed_in_every_locale() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<usize>().ok());
    let (wanted, seed) = (number("WINDLASS_LOCALE_LINES").unwrap_or(500), number("WINDLASS_LOCALE_SEED").unwrap_or(7));
    let folder = tempfile::tempdir().unwrap();
    if let Err(missing) = build(folder.path()) {
        return skipped(&missing);
    }
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[u8::try_from(seed % 256).unwrap(); 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let mut lines: Vec<String> = vec!["one \"中\\\"; two #\"".to_owned(), "one 'ソ\\'; two #'".to_owned()];
    lines.extend((lines.len()..wanted).map(|_| line().new_tree(&mut runner).unwrap().current()));
    let plain = lines.iter().filter(|text| understood(&analyse(text)).is_some()).count();
    assert!(plain * 20 > wanted, "{plain} of {wanted} lines are understood");
    for locale in ["C", "C.UTF-8", "zh_CN.GBK", "zh_TW.BIG5", "ja_JP.SJIS"] {
        for variable in ["LC_ALL", "LC_CTYPE", "LANG"] {
            let given = vec![(variable.into(), locale.into())];
            let ran = run(&lines, &child_environment(&given, &[]), folder.path());
            let wrong = lines.iter().zip(&ran).find(|(text, ran)| !is_analysed(text, ran));
            assert_eq!(wrong, None, "{variable}={locale}");
            // The locale as it was set reads other commands, unless each character of it begins as in ASCII.
            let raw = run(&lines, &given, folder.path());
            let misread = lines.iter().zip(&raw).filter(|(text, ran)| !is_analysed(text, ran)).count();
            assert_eq!(misread > 0, locale.contains('_'), "{variable}={locale}: {misread} lines");
            let shown = format!("{variable}={locale}: {wanted} lines, {plain} understood, {misread} misread as set\n");
            std::io::stdout().write_all(shown.as_bytes()).unwrap();
        }
    }
}
