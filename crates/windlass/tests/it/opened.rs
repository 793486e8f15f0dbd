//! Files that a session of a program opens, by `strace`: none outside of the roots that it was given.

use crate::instructions::{Place, run};
use std::collections::BTreeSet;
use std::path::Path;
use windlass::options::ContextOptions;
use windlass::{Project, ScriptedModel, ScriptedTurn, coding_tools, session};
use windlass_testkit::strace::{self, Inside, Subject};

/// The environment variable that says which session the subject opens.
const CASE: &str = "WINDLASS_TEST_CASE";

#[tokio::test]
#[ignore = "another test starts it, traced"]
async fn subject() {
    let Some(inside) = Inside::find() else { return };
    let root = inside.place().to_path_buf();
    let work = root.join("work");
    let model = ScriptedModel::from_fn(|_, _| ScriptedTurn::new().text("ok"));
    let builder = session().provider(model).tools(coding_tools(&work));
    let builder = match std::env::var(CASE).unwrap().as_str() {
        "bare" => builder,
        "project" => builder.project(Project::at(&work)),
        "mentions" => builder.context(ContextOptions::new().mentions(true)),
        _ => builder.project(Project::at(&work).environment([("HOME", root.join("home").into_os_string())])),
    };
    inside.begin();
    let mut session = builder.open().await.unwrap();
    run(&mut session, "See @a.txt, @../outside/secret.txt and @link.").await;
    session.handle.close().await.unwrap();
    inside.report("done");
}

/// The regular files below a place that a session opened.
fn opened(place: &Path, case: &str) -> BTreeSet<String> {
    let options = ["-y", "-s", "300", "-e", "trace=openat,openat2,open", "-o", "PLACE/trace"];
    let report = Subject::new("opened::subject", place).env(CASE, case).run(&options, case);
    assert_eq!(report.as_deref(), Some("done"));
    let trace = std::fs::read_to_string(place.join("trace")).unwrap();
    let calls = strace::calls(&trace);
    let files = calls.iter().filter_map(|call| strace::opened(call)).filter(|path| path.is_file());
    let files = files.filter_map(|path| Some(path.strip_prefix(place).ok()?.to_str()?.to_owned()));
    files.filter(|name| !matches!(name.as_str(), "begun" | "report" | "trace")).collect()
}

#[test]
fn a_session_opens_nothing_outside_of_the_roots_that_it_was_given() {
    if !strace::is_available() {
        return;
    }
    let of_project = ["work/.claude/rules/r.md", "work/.claude/settings.json", "work/CLAUDE.md"];
    let of_user = ["home/.claude/CLAUDE.md", "home/.claude/settings.json", "outside/notes.md"];
    for (case, expected) in [
        ("bare", vec![]),
        ("mentions", vec!["work/a.txt"]),
        ("project", of_project.to_vec()),
        ("user", [&of_user[..2], &of_user[2..], &of_project].concat()),
    ] {
        let place = Place::new(&[
            ("work/a.txt", "a"),
            ("work/CLAUDE.md", "Root. @../outside/secret.txt @link @~/mine.md"),
            ("work/.claude/settings.json", "{}"),
            ("work/.claude/rules/r.md", "Rule."),
            ("work/.env", "KEY=1"),
            ("work/below/CLAUDE.md", "Below."),
            ("CLAUDE.md", "Above the repository."),
            ("home/mine.md", "Mine."),
            ("home/.claude/CLAUDE.md", "User. @../../outside/notes.md"),
            ("home/.claude/settings.json", "{}"),
            ("outside/notes.md", "Notes."),
            ("outside/secret.txt", "Secret."),
        ]);
        std::os::unix::fs::symlink(place.path("outside/secret.txt"), place.path("work/link")).unwrap();
        let expected: BTreeSet<String> = expected.into_iter().map(str::to_owned).collect();
        assert_eq!(opened(&place.path(""), case), expected, "{case}");
    }
}
