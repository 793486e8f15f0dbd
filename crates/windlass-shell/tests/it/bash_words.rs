//! The understood words are the arguments that bash passes: checked against bash itself.
//!
//! `WINDLASS_BASH_LINES` is how many generated lines are compared; default: 6,000. `WINDLASS_BASH_SEED` is a byte from
//! which other lines follow; default: 7.

use std::{io::Write as _, process::Command};

use proptest::{
    prelude::*,
    strategy::ValueTree,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};
use windlass_shell::{WordKind, analyse};

/// Fragments that are likely to be cut, joined or expanded.
pub(crate) fn fragment() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::sample::select(vec!["a", "b1", "-x", "--k=v", "a.b/c", "HEAD~1", "x=y", "@{0}", "{}", "{a}", "{a}{b}", "%s", "^", "!", "é", "日", "{a,b}", "x{-y,,z}", "{,}w", "$'\\t'", "$'a\\'b\\\\'", "$'\\x41'", "$f", "{a,{b,c}}", "{1..3}", "a{,b}c{d,e}", "a:b", "=", "+", ","])
            .prop_map(str::to_owned),
        3 => "[ -~]{0,6}".prop_map(|s| format!("'{}'", s.replace('\'', ""))),
        3 => "[ -~]{0,6}".prop_map(|s| format!("\"{}\"", s.replace('"', ""))),
        2 => "[ -~]".prop_map(|c| format!("\\{c}")),
        1 => document(),
        2 => prop::sample::select(vec![" ", "  ", "\t", "\\\n", " \\\n ", "#", " #", "\\#", "$", "\"$\"", "\"a$ b\"", "'a\nb'", "\"a\\\nb\"", "''", "\"\"", "]", "~", "a~", "1", "2"])
            .prop_map(str::to_owned),
        1 => "[ -~\\n\\t]{1,4}",
    ]
}

/// Returns a here-document that is replaced by its text.
fn document() -> impl Strategy<Value = String> {
    let start = prop::sample::select(vec!["cat <<'E'", "cat <<E", "cat <<-\"E\"", " cat  << 'E' "]);
    let end = prop::sample::select(vec!["E\n)", "\tE\n)", "E\n )", "E)", "E\n\n)"]);
    (start, "[ -~]{0,8}(\n[ -~\t]{0,4}){0,2}", end)
        .prop_map(|(start, text, end)| format!("\"$({start}\n{text}\n{end}\""))
}

/// Returns the understood words of `marker WORDS`, as the arguments of one command without redirections.
fn understood(words: &str) -> Option<Vec<String>> {
    let analysis = analyse(&format!("marker {words}"));
    let [command] = analysis.understood().ok()?.commands() else {
        return None;
    };
    if !command.redirects().is_empty() || command.words().iter().any(|w| w.kind() != WordKind::Literal) {
        return None;
    }
    Some(command.words().iter().skip(1).map(|w| w.text().to_owned()).collect())
}

fn bash_arguments(cases: &[(String, Vec<String>)]) -> Vec<Vec<String>> {
    let mut script = String::from("marker() { printf '%s\\0' \"$#\" \"$@\"; }\n");
    for (words, _) in cases {
        // A trailing comment must end before the next command.
        script.push_str(&format!("marker {words}\n"));
    }
    let output = Command::new("bash")
        .args(["--norc", "--noprofile", "-c", &script])
        .env_clear()
        .env("LC_ALL", "C.UTF-8")
        .current_dir(std::env::temp_dir())
        .output()
        .expect("bash runs");
    let text = String::from_utf8(output.stdout).expect("arguments are UTF-8");
    let mut fields = text.split('\0');
    cases
        .iter()
        .map(|_| {
            let count = fields.next().and_then(|n| n.parse().ok()).expect("one record for each case");
            fields.by_ref().take(count).map(str::to_owned).collect()
        })
        .collect()
}

#[test]
fn words_are_the_arguments_of_bash() {
    let lines = from_environment("WINDLASS_BASH_LINES").unwrap_or(6_000_usize);
    let seed = from_environment("WINDLASS_BASH_SEED").unwrap_or(7_u8);
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let strategy = prop::collection::vec(fragment(), 1..7).prop_map(|parts| parts.concat());
    let (mut tried, mut compared) = (0_usize, 0_usize);
    while compared < lines && tried < lines.saturating_mul(17) {
        let mut batch = Vec::new();
        for _ in 0..1_000 {
            tried += 1;
            let words = strategy.new_tree(&mut runner).expect("a value").current();
            batch.extend(understood(&words).map(|arguments| (words, arguments)));
        }
        for ((words, expected), actual) in batch.iter().zip(bash_arguments(&batch)) {
            assert_eq!(&actual, expected, "marker {words:?}");
        }
        compared += batch.len();
    }
    let shown = format!("{compared} of {tried} lines compared\n");
    std::io::stdout().write_all(shown.as_bytes()).expect("standard output");
    assert!(compared >= lines, "{shown}");
}

pub(crate) fn from_environment<T: std::str::FromStr>(name: &str) -> Option<T> {
    std::env::var(name).ok()?.parse().ok()
}

/// Lists of commands: the same commands run in the same order.
#[test]
fn commands_are_the_commands_of_bash() {
    let operators = [" && ", ";", "\n", " \\\n&& ", "&\\\n&", " ; # c\n", "\n\n#x\n", "&&\n\n"];
    let mut cases = Vec::new();
    for first in operators {
        for second in operators {
            for word in ["a", "'b c'", "\"d\\\ne\"", "\\;", "'&&'", "x#y", "\"#\"", "2\\>1"] {
                cases.push(format!("marker 1 {word}{first}marker {word} 2{second}marker 3"));
            }
        }
    }
    // `!` inverts the exit status: the next command runs after a failure or in any case.
    for operator in [" || ", ";", "\n", " ; # c\n", "||\\\n"] {
        for word in ["a", "'! b'", "!"] {
            cases.push(format!("! marker 1 {word}{operator}!\\\n marker {word} 2 ; !\tmarker 3"));
        }
    }
    for text in cases {
        let analysis = analyse(&text);
        let commands = analysis.understood().unwrap_or_else(|reason| panic!("{text:?}: {reason}")).commands();
        let ours: Vec<String> = commands
            .iter()
            .flat_map(|c| {
                let words: Vec<String> = c.words().iter().skip(1).map(|w| w.text().to_owned()).collect();
                std::iter::once(words.len().to_string()).chain(words)
            })
            .collect();
        assert_eq!(commands.len(), 3, "{text:?}");
        let reparsed: Vec<String> = commands.iter().map(|c| c.source().to_owned()).collect();
        assert!(reparsed.iter().all(|source| text.contains(source.as_str())), "{text:?}");
        let theirs = bash_output(&text);
        assert_eq!(ours, theirs, "{text:?}");
    }
}

fn bash_output(text: &str) -> Vec<String> {
    let script = format!("marker() {{ printf '%s\\0' \"$#\" \"$@\"; }}\n{text}\n");
    let output =
        Command::new("bash").args(["--norc", "--noprofile", "-c", &script]).env_clear().output().expect("bash runs");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    text.split_terminator('\0').map(str::to_owned).collect()
}
