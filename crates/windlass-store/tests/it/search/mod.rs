//! Lists and searches, from the logs alone and from the index.

#[cfg(feature = "index")]
mod damage;
#[cfg(all(feature = "index", target_os = "linux"))]
mod faults;
#[cfg(feature = "index")]
mod index;
#[cfg(feature = "index")]
mod random;

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};
use windlass_session::{Annotation, LogTextKind, Owner, ProjectKey, SessionKey, SessionStore, slug};
use windlass_store::{JsonlStore, PageCursor, SessionPage, SessionSearch};
use windlass_types::{SessionId, Timestamp};

/// A home with logs in it.
pub(crate) struct Place {
    pub(crate) home: tempfile::TempDir,
    pub(crate) store: JsonlStore,
}

pub(crate) fn key(project: &str, number: u32) -> SessionKey {
    SessionKey::new(ProjectKey::from_slug(slug(project)), SessionId::from_bits(u128::from(number) + 1))
}

/// Returns the line of a prompt.
pub(crate) fn prompt(cwd: &str, text: &str) -> String {
    let message = serde_json::json!({"role": "user", "content": text});
    // In the field order of logs.
    format!("{{\"type\":\"user\",\"message\":{message},\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"cwd\":{cwd:?}}}\n")
}

/// Returns the line of a text of the model.
pub(crate) fn answer(id: &str, text: &str) -> String {
    let line = serde_json::json!({
        "type": "assistant", "timestamp": "2026-01-01T00:00:01.000Z",
        "message": {"id": id, "model": "m", "role": "assistant", "content": [{"type": "text", "text": text}],
                    "usage": {"input_tokens": 2, "output_tokens": 3}},
    });
    format!("{line}\n")
}

impl Place {
    pub(crate) fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        Self { store: JsonlStore::new(home.path()), home }
    }

    pub(crate) fn log(&self, project: &str, number: u32) -> PathBuf {
        let key = key(project, number);
        self.home.path().join("projects").join(key.project.as_str()).join(format!("{}.jsonl", key.session))
    }

    /// Writes to the end of a log, and sets its time of change to `seconds` after 1970.
    pub(crate) fn append(&self, project: &str, number: u32, text: &[u8], seconds: u64) -> PathBuf {
        let path = self.log(project, number);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut file = OpenOptions::new().create(true).append(true).open(&path).unwrap();
        file.write_all(text).unwrap();
        touch(&file, seconds);
        path
    }

    pub(crate) fn session(&self, project: &str, number: u32, said: &str, seconds: u64) -> PathBuf {
        let lines = prompt(project, said) + &answer("m1", &format!("Reply number{number}."));
        self.append(project, number, lines.as_bytes(), seconds)
    }

    pub(crate) async fn annotate(&self, project: &str, number: u32, note: Annotation) {
        self.store.annotate(&key(project, number), &Owner::new(1, "test"), &note).await.unwrap();
    }
}

pub(crate) fn touch(file: &File, seconds: u64) {
    file.set_modified(UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
}

/// Returns the numbers of the sessions of a page.
pub(crate) fn numbers(page: &SessionPage) -> Vec<u128> {
    page.sessions
        .iter()
        .map(|session| u128::from_str_radix(&session.id.as_str().replace('-', ""), 16).unwrap())
        .collect()
}

/// Returns a page from the logs, and checks that the index gives the same one if the feature is enabled.
async fn same(search: SessionSearch) -> SessionPage {
    let of_logs = search.clone().from_logs().page().await.unwrap();
    let mut by_default = search.page().await.unwrap();
    by_default.source = of_logs.source.clone();
    assert_eq!(by_default, of_logs);
    of_logs
}

fn ids(numbers: &[u32]) -> Vec<u128> {
    let id = |number: &u32| SessionId::from_bits(u128::from(*number) + 1);
    numbers.iter().map(|number| u128::from_str_radix(&id(number).as_str().replace('-', ""), 16).unwrap()).collect()
}

#[tokio::test]
async fn sessions_are_found_by_what_was_said_and_by_their_titles_and_tags() {
    let place = Place::new();
    place.session("/a", 1, "Mend the parser of dates", 10);
    place.session("/a", 2, "Write a parser", 20);
    place.session("/b", 3, "Nothing of the kind", 30);
    place.annotate("/b", 3, Annotation::title("Parser rewrite").unwrap()).await;
    place.annotate("/a", 2, Annotation::tag("urgent").unwrap()).await;
    let search = |text: &str| place.store.search(text);
    let found = same(search("PARS")).await;
    assert_eq!(found.sessions.len(), 3);
    assert_eq!(found.next, None);
    let kinds: Vec<LogTextKind> = found.sessions.iter().flat_map(|one| &one.matches).map(|found| found.kind).collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == LogTextKind::Title).count(), 1);
    assert_eq!(numbers(&same(search("dates mend")).await), ids(&[1]));
    assert_eq!(numbers(&same(search("number2")).await), ids(&[2]));
    // Words of one session may be in several texts of it.
    assert_eq!(numbers(&same(search("parser number1")).await), ids(&[1]));
    assert_eq!(numbers(&same(search("urgent")).await), ids(&[2]));
    assert_eq!(numbers(&same(search("parser").in_directory("/b")).await), ids(&[3]));
    assert_eq!(numbers(&same(search("parser").tagged("urgent")).await), ids(&[2]));
    assert_eq!(numbers(&same(place.store.sessions_by_time().titled("parser R")).await), ids(&[3]));
    assert!(same(search("missing")).await.sessions.is_empty());
    assert!(same(search("\"*(")).await.sessions.is_empty());
    let hit = &same(search("date")).await.sessions[0];
    assert_eq!(hit.matches[0].snippet, "Mend the parser of dates");
    assert_eq!(hit.matches[0].snippet.get(hit.matches[0].marks[0].clone()), Some("dates"));
    assert_eq!(hit.directory(), Some(Path::new("/a")));
    let digest = hit.digest.as_ref().unwrap();
    assert_eq!((digest.prompts, digest.answers, digest.model.as_deref()), (1, 1, Some("m")));
    assert_eq!(digest.usage().output_tokens, 3);
}

#[tokio::test]
async fn pages_follow_on_one_another() {
    let place = Place::new();
    for number in 0..25 {
        // Several changed at the same time.
        place.session("/a", number, "same words", u64::from(number / 4));
    }
    for search in [place.store.sessions_by_time(), place.store.search("words"), place.store.search("words").from_logs()]
    {
        let whole = numbers(&search.clone().limit(100).page().await.unwrap());
        assert_eq!(whole.len(), 25);
        let mut pages = search.clone().limit(4).pages();
        let mut paged = Vec::new();
        while let Some(page) = pages.try_next().await.unwrap() {
            assert!(page.sessions.len() == 4 || page.next.is_none());
            paged.extend(numbers(&page));
        }
        assert_eq!(paged, whole);
        let id = search.clone().page().await.unwrap().sessions[9].id.clone();
        let cursor: PageCursor = id.as_str().parse().unwrap();
        assert_eq!(numbers(&search.clone().after(cursor).page().await.unwrap()), whole[10..]);
    }
    let time = |seconds: u64| Timestamp::from_millis(seconds * 1000);
    let between = place.store.sessions_by_time().since(time(2)).until(time(4)).page().await.unwrap();
    assert_eq!(between.sessions.len(), 8);
    let unknown: PageCursor = key("/a", 99).session.as_str().parse().unwrap();
    assert!(place.store.sessions_by_time().after(unknown).page().await.is_err());
    for text in ["", "x", "@1", "00000000-0000-4000-8000-000000000000@x"] {
        assert!(text.parse::<PageCursor>().is_err(), "{text}");
    }
}

#[tokio::test]
async fn hostile_texts_are_found_like_others() {
    let place = Place::new();
    for (number, text) in [
        "\" OR 1=1; DROP TABLE sessions; -- needle",
        "a\u{0}needle\u{1b}[31m\u{7}",
        "\u{202e}needle\u{2066} right to left",
        "NEAR(needle, 1) AND NOT col:needle*",
    ]
    .into_iter()
    .enumerate()
    {
        place.session("/a", number as u32, text, number as u64);
    }
    place.session("/a", 4, &format!("needle {}", "long ".repeat(2 << 20)), 4);
    // Invalid lines, and an unterminated one.
    place.append(
        "/a",
        4,
        b"\xff\xfe nonsense \0\n{\"type\":\"user\"\n{\"type\":\"user\",\"message\":{\"content\":\"late\"}}",
        5,
    );
    assert_eq!(same(place.store.search("needle")).await.sessions.len(), 5);
    assert!(same(place.store.search("late")).await.sessions.is_empty());
    place.append("/a", 4, b"\n", 6);
    assert_eq!(numbers(&same(place.store.search("late")).await), ids(&[4]));
    for text in ["needle\" OR \"x", "needle*", "needle NEAR(", "\0needle", "col : needle"] {
        let _ = same(place.store.search(text)).await;
    }
}

#[tokio::test]
async fn a_session_of_two_homes_is_listed_where_it_changed_last() {
    let (ours, theirs) = (Place::new(), Place::new());
    ours.session("/a", 1, "shared words", 10);
    theirs.session("/a", 1, "shared words and more", 20);
    theirs.session("/b", 2, "shared words elsewhere", 5);
    let store = JsonlStore::with_imports(ours.home.path(), vec![theirs.home.path().to_path_buf()]);
    let found = same(store.search("shared")).await;
    assert_eq!(numbers(&found), ids(&[1, 2]));
    assert!(found.sessions.iter().all(|session| session.only_read));
    assert_eq!(found.sessions[0].log, theirs.log("/a", 1));
    // Another set of homes over the same index.
    assert_eq!(numbers(&same(ours.store.search("shared")).await), ids(&[1]));
    assert_eq!(numbers(&same(store.search("elsewhere")).await), ids(&[2]));
}

#[cfg(unix)]
#[tokio::test]
async fn what_is_no_log_hides_no_other() {
    let place = Place::new();
    place.session("/a", 1, "words", 1);
    fs::create_dir(place.log("/a", 2)).unwrap();
    std::os::unix::fs::symlink(place.log("/a", 1), place.log("/a", 3)).unwrap();
    fs::write(place.home.path().join("projects/file"), "x").unwrap();
    let found = same(place.store.search("words")).await;
    assert_eq!(numbers(&found), ids(&[1]));
    let mut reasons: Vec<&str> = found.skipped.iter().map(|skipped| skipped.reason.as_str()).collect();
    reasons.sort_unstable();
    assert_eq!(reasons, ["it is a directory, not a regular file", "it is a link, not a regular file"]);
    let empty = tempfile::tempdir().unwrap();
    assert!(same(JsonlStore::new(empty.path().join("none")).search("x")).await.sessions.is_empty());
    assert!(!empty.path().join("none").exists(), "a search makes no home");
}
