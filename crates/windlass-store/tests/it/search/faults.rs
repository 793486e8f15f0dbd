//! A full disk, and failing system calls while the index is created: everything in the logs is found all the same.

use super::{Place, ids, numbers};
use windlass_store::{JsonlStore, PageSource};
use windlass_testkit::strace::{self, Inside, Subject};

/// Calls made by SQLite and not by reading a log, with their errors.
const FAULTS: [(&str, &str); 7] = [
    ("pwrite64", "ENOSPC"),
    ("pwrite64", "EIO"),
    ("pread64", "EIO"),
    ("fdatasync", "EIO"),
    ("ftruncate", "ENOSPC"),
    ("fallocate", "ENOSPC"),
    ("unlink", "EIO"),
];

/// Not a test: the process whose calls fail.
#[tokio::test]
#[ignore = "another test starts it, with faults"]
async fn searching() {
    let Some(inside) = Inside::find() else { return };
    let store = JsonlStore::new(inside.place().join("home"));
    strace::open_and_read(8);
    inside.begin();
    let page = store.search("common").page().await.unwrap();
    let source = match page.source {
        PageSource::Index => "index".to_owned(),
        PageSource::LogsInsteadOfIndex { problem, .. } => format!("logs: {problem}"),
        source => format!("{source:?}"),
    };
    inside.report(&format!("{} sessions, {source}", page.sessions.len()));
}

#[tokio::test]
async fn a_search_on_a_disk_that_fails_finds_what_the_logs_say() {
    if !strace::is_available() {
        return;
    }
    let place = Place::new();
    let home = place.home.path().join("home");
    let mut of_logs = 0;
    for (call, error) in FAULTS {
        for when in ["1", "2", "7", "1+", "5+"] {
            let _ = std::fs::remove_dir_all(&home);
            let files = Place::new();
            for number in 0..30 {
                files.session("/a", number, "common words", u64::from(number));
            }
            std::fs::rename(files.home.path(), &home).unwrap();
            let fault = strace::inject(call, error, when);
            let what = format!("{call} {error} {when}");
            let Some(report) = Subject::new("search::faults::searching", place.home.path()).run(&fault, &what) else {
                continue;
            };
            assert!(report.starts_with("30 sessions"), "{what}: {report}");
            of_logs += u32::from(report.contains("logs"));
            // Without the fault the index is created, or used as it was left.
            let page = JsonlStore::new(&home).search("common").page().await.unwrap();
            assert_eq!((page.source, page.sessions.len()), (PageSource::Index, 30), "{what}");
        }
    }
    assert!(of_logs > 5, "{of_logs}");
    let page = JsonlStore::new(&home).search("number7").page().await.unwrap();
    assert_eq!(numbers(&page), ids(&[7]));
}
