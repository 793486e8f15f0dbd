//! Everything in the logs is found, whatever the state of the index.

use super::{Place, ids, numbers};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use windlass_store::{JsonlStore, PageSource, SessionPage};

const HOME: &str = "WINDLASS_INDEX_TEST_HOME";

fn filled() -> (Place, PathBuf) {
    let place = Place::new();
    for number in 0..40 {
        place.session("/a", number, &format!("common words and own{number}"), u64::from(number));
    }
    let index = place.home.path().join("windlass-index/sessions.sqlite3");
    (place, index)
}

async fn search(place: &Place, text: &str) -> SessionPage {
    let page = place.store.search(text).page().await.unwrap();
    let of_logs = place.store.search(text).from_logs().page().await.unwrap();
    assert_eq!(page.sessions, of_logs.sessions);
    page
}

/// Returns a generator of numbers that look random.
fn scrambled(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    }
}

#[tokio::test]
async fn a_damaged_index_is_made_anew() {
    let (place, index) = filled();
    search(&place, "common").await;
    let sound = fs::read(&index).unwrap();
    let mut damaged: Vec<(String, Vec<u8>)> = vec![
        ("empty".into(), Vec::new()),
        ("no database".into(), b"not a database".repeat(400)),
        ("zeroes".into(), vec![0; sound.len()]),
    ];
    damaged.extend(
        [1, 15, 16, 99, 100, 4095, 4096, 5000, sound.len() / 2, sound.len() - 1]
            .map(|length| (format!("{length} bytes"), sound[..length].to_vec())),
    );
    damaged.extend((0..8).map(|seed| {
        let mut random = scrambled(seed);
        (format!("random {seed}"), (0..sound.len()).map(|_| random() as u8).collect())
    }));
    for page in 0..sound.len() / 4096 {
        let mut bytes = sound.clone();
        bytes[page * 4096..(page + 1) * 4096].fill(0xa5);
        damaged.push((format!("page {page}"), bytes));
    }
    for (what, bytes) in damaged {
        fs::write(&index, bytes).unwrap();
        for text in ["common", "own7 common"] {
            let page = search(&place, text).await;
            assert_eq!(page.source, PageSource::Index, "{what}");
        }
    }
}

#[tokio::test]
async fn an_index_of_another_version_is_made_anew() {
    let (place, index) = filled();
    let change = |sql: &str| rusqlite::Connection::open(&index).unwrap().execute_batch(sql).unwrap();
    for sql in [
        "PRAGMA user_version = 99",
        "DROP TABLE texts",
        "DROP TABLE words",
        "ALTER TABLE sessions ADD COLUMN x",
        "CREATE TRIGGER t AFTER DELETE ON texts BEGIN DELETE FROM sessions; END",
        "UPDATE sessions SET digest = 'nonsense', size = 0",
        "UPDATE sessions SET summary = x'ff', digest = 7",
        "UPDATE texts SET kind = 'nonsense'",
        "DELETE FROM texts",
        "UPDATE sessions SET mark = x'00', size = 1",
    ] {
        search(&place, "common").await;
        change(sql);
        let page = search(&place, "common").await;
        assert_eq!((page.source, page.sessions.len()), (PageSource::Index, 40), "{sql}");
    }
}

fn problem(page: &SessionPage) -> &str {
    match &page.source {
        PageSource::LogsInsteadOfIndex { problem, .. } => problem,
        source => panic!("{source:?}"),
    }
}

#[tokio::test]
async fn an_index_that_cannot_be_used_is_left_and_the_logs_are_read() {
    let (place, index) = filled();
    let folder = index.parent().unwrap();
    fs::create_dir_all(&index).unwrap();
    assert!(problem(&search(&place, "common").await).contains("directory"));
    fs::remove_dir_all(folder).unwrap();
    fs::write(folder, "a file in its place").unwrap();
    let page = search(&place, "own3").await;
    assert!(problem(&page).contains("windlass-index"), "{page:?}");
    fs::remove_file(folder).unwrap();
    search(&place, "common").await;
    // Another process writes and does not end.
    let other = rusqlite::Connection::open(&index).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert_eq!(search(&place, "common").await.source, PageSource::Index);
    place.session("/a", 99, "common words, written meanwhile", 99);
    assert!(problem(&search(&place, "meanwhile").await).contains("locked"));
    drop(other);
    assert_eq!(search(&place, "meanwhile").await.source, PageSource::Index);
    // A damaged index is not replaced while another process has it open.
    fs::write(&index, "nonsense".repeat(1000)).unwrap();
    let lock = fs::File::open(folder.join("lock")).unwrap();
    lock.lock_shared().unwrap();
    assert!(problem(&search(&place, "meanwhile").await).contains("another process"));
    drop(lock);
    assert_eq!(search(&place, "meanwhile").await.source, PageSource::Index);
}

#[cfg(unix)]
#[tokio::test]
async fn links_in_the_place_of_the_index_are_not_followed() {
    let (place, index) = filled();
    fs::create_dir_all(index.parent().unwrap()).unwrap();
    let elsewhere = place.home.path().join("elsewhere");
    fs::write(&elsewhere, "mine").unwrap();
    for name in ["sessions.sqlite3", "lock"] {
        let path = index.with_file_name(name);
        let _ = fs::remove_file(&path);
        std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
        assert!(problem(&search(&place, "common").await).contains("link"));
        fs::remove_file(&path).unwrap();
    }
    assert_eq!(fs::read(&elsewhere).unwrap(), b"mine");
}

/// Not a test: the process that is killed.
#[tokio::test]
#[ignore = "run by the test below"]
async fn indexer() {
    let Some(home) = std::env::var_os(HOME) else { return };
    let store = JsonlStore::new(home);
    println!("begins");
    loop {
        let _ = store.search("common").page().await;
        println!("done");
    }
}

#[tokio::test]
async fn a_process_that_is_killed_leaves_an_index_that_can_be_used() {
    let (place, index) = filled();
    for round in 0..12_u64 {
        for number in 0..200 {
            place.session("/a", 100 + number, &format!("common round{round}"), 1000 + round);
        }
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["search::damage::indexer", "--exact", "--ignored", "--nocapture"])
            .env(HOME, place.home.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        lines.by_ref().find(|line| line.as_ref().unwrap().contains("begins")).unwrap().unwrap();
        if round % 3 == 0 {
            lines.by_ref().find(|line| line.as_ref().unwrap().contains("done")).unwrap().unwrap();
        } else {
            // At another moment of the work in each round: after a number of bytes of the journal.
            let journal = index.with_file_name("sessions.sqlite3-wal");
            let length = || fs::metadata(&journal).map_or(0, |metadata| metadata.len());
            let from = length();
            let wanted = round * 20_000;
            let begun = std::time::Instant::now();
            while length().abs_diff(from) < wanted && begun.elapsed().as_secs() < 2 {
                std::thread::yield_now();
            }
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(search(&place, &format!("round{round}")).await.source, PageSource::Index);
    }
    assert_eq!(numbers(&search(&place, "own7").await), ids(&[7]));
}
