//! Hostile repositories: before trust nothing of them runs, connects, is read from outside or widens what may happen; with
//! trust exactly what `windlass trust --show` lists.
//!
//! The command runs under `strace` in each. Its model tries what a repository would want it to: a program, a change, and a
//! file outside. The rows are in [`planted`].

mod planted;
mod traced;

use crate::place::{Place, call, text};
use planted::{ROWS, Row};
use serde_json::json;
use std::collections::BTreeSet;
use traced::{Traced, traced};
use windlass_testkit::strace;

/// Text that no session may read.
const SECRET: &str = "SECRET-OF-THE-USER";

/// A place with what a repository must not get at.
fn place_of(row: &Row) -> Place {
    let place = Place::new();
    for name in ["ran", "outside/folder"] {
        std::fs::create_dir_all(place.path(name)).unwrap();
    }
    for name in ["outside/secret.txt", "outside/folder/secret.md", "home/.ssh/id_rsa", "home/.aws/credentials"] {
        crate::place::write(&place.path(name), &format!("{SECRET} {name}\n"));
    }
    crate::place::write(&place.work().join(".git/HEAD"), "ref: refs/heads/main\n");
    (row.plant)(&place);
    let wanted = [
        call("Bash", &json!({ "command": "touch by-model" })),
        call("Write", &json!({ "file_path": place.work().join("made"), "content": "x" })),
        call("Read", &json!({ "file_path": place.path("outside/secret.txt") })),
        call("Write", &json!({ "file_path": place.path("outside/made"), "content": "x" })),
        text("Finished."),
    ];
    place.script(&wanted);
    place
}

/// Returns the effects of a run, in the words of the rows.
fn effects(place: &Place, traced: &Traced) -> BTreeSet<String> {
    let mut effects = BTreeSet::new();
    for entry in std::fs::read_dir(place.path("ran")).unwrap() {
        effects.insert(format!("ran {}", entry.unwrap().file_name().to_string_lossy()));
    }
    effects.extend(traced.programs.iter().map(|program| format!("program {program}")));
    if traced.connects {
        effects.insert("connects".to_owned());
    }
    let root = place.path("").canonicalize().unwrap();
    let own = ["work", "ran", "home/.windlass", "home/.claude", "home/.claude.json", "script.json"]
        .map(|name| root.join(name));
    let outside = |path: &&std::path::PathBuf| path.starts_with(&root) && !own.iter().any(|own| path.starts_with(own));
    effects.extend(
        traced
            .opened
            .iter()
            .filter(outside)
            .map(|path| format!("reads {}", path.strip_prefix(&root).unwrap_or(path).display())),
    );
    if traced.opened.iter().any(|path| path.file_name().is_some_and(|name| name == ".env")) {
        effects.insert("reads .env".to_owned());
    }
    for made in ["work/by-model", "work/made", "outside/made"] {
        if place.path(made).exists() {
            effects.insert(format!("writes {made}"));
        }
    }
    let logs: Vec<String> = place.logs().iter().map(|log| std::fs::read_to_string(log).unwrap()).collect();
    if logs.iter().any(|log| log.contains(SECRET)) || traced.output.contains(SECRET) {
        effects.insert("tells the secret".to_owned());
    }
    effects
}

/// The items that `windlass trust --show` lists: kind and name.
fn shown(place: &Place) -> BTreeSet<String> {
    let root = place.path("").canonicalize().unwrap().display().to_string();
    let ran = place.run(&["trust", "--show"]);
    let item = |line: &str| {
        let mut words = line.split_whitespace().skip(1);
        Some(format!("{} {}", words.next()?, words.next()?.replace(&root, "ROOT")))
    };
    ran.stdout.lines().filter_map(item).collect()
}

fn set(of: &[&str]) -> BTreeSet<String> {
    of.iter().map(|&one| one.to_owned()).collect()
}

#[test]
fn nothing_of_a_repository_acts_before_trust_and_with_trust_what_was_shown() {
    if !strace::is_available() {
        return;
    }
    assert!(ROWS.len() >= 25, "{} repositories", ROWS.len());
    let mut wrong = Vec::new();
    for row in ROWS {
        let name = row.name;
        let place = place_of(row);
        let ran = traced(&place, row.prompt, &[]);
        let before = effects(&place, &ran);
        if !before.is_empty() || (ran.code == 0) != row.opens {
            wrong.push(format!("{name}: before trust: {before:?}, code {}: {}", ran.code, ran.output));
        }
        let place = place_of(row);
        let items = shown(&place);
        if items != set(row.shown) {
            wrong.push(format!("{name}: shown: {items:?}"));
        }
        let ran = traced(&place, row.prompt, &["--trust"]);
        let with = effects(&place, &ran);
        if with != set(row.with_trust) {
            wrong.push(format!("{name}: with trust: {with:?}, code {}: {}", ran.code, ran.output));
        }
        assert!(!row.shown.is_empty() || row.with_trust.is_empty(), "{name}: what is not shown must not act");
    }
    assert!(wrong.is_empty(), "{} of {} repositories:\n{}", wrong.len(), ROWS.len(), wrong.join("\n"));
}
