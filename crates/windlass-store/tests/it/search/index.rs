//! Updates of the index from the logs.

use super::{Place, answer, ids, key, numbers, prompt, touch};
use std::fs::{self, OpenOptions};
use std::path::Path;
use windlass_session::{Annotation, SessionStore};
use windlass_store::{PageSource, SessionPage};

async fn found(place: &Place, text: &str) -> SessionPage {
    let page = place.store.search(text).page().await.unwrap();
    assert_eq!(page.source, PageSource::Index);
    page
}

#[tokio::test]
async fn what_is_written_renamed_tagged_and_deleted_is_seen_at_once() {
    let place = Place::new();
    place.session("/a", 1, "first words", 1);
    assert_eq!(numbers(&found(&place, "first").await), ids(&[1]));
    place.append("/a", 1, prompt("/a", "second thoughts").as_bytes(), 1);
    assert_eq!(numbers(&found(&place, "second first").await), ids(&[1]));
    assert_eq!(found(&place, "second").await.sessions[0].digest.as_ref().unwrap().prompts, 2);
    place.annotate("/a", 1, Annotation::title("Old name").unwrap()).await;
    assert_eq!(found(&place, "old").await.sessions.len(), 1);
    place.annotate("/a", 1, Annotation::title("Fresh name").unwrap()).await;
    place.annotate("/a", 1, Annotation::tag("blue").unwrap()).await;
    assert!(found(&place, "old").await.sessions.is_empty());
    let page = found(&place, "fresh blue").await;
    assert_eq!(page.sessions[0].summary.custom_title.as_deref(), Some("Fresh name"));
    place.store.delete(&key("/a", 1)).await.unwrap();
    assert!(found(&place, "first").await.sessions.is_empty());
}

#[tokio::test]
async fn nothing_stays_in_the_index_of_a_session_that_was_deleted() {
    let place = Place::new();
    place.session("/a", 1, "zyzzyva of mine", 1);
    place.session("/a", 2, "another", 1);
    found(&place, "mine").await;
    let folder = place.home.path().join("windlass-index");
    let kept = || {
        let files = fs::read_dir(&folder).unwrap().map(|entry| fs::read(entry.unwrap().path()).unwrap());
        files
            .flat_map(|file| file.windows(10).map(<[u8]>::to_vec).collect::<Vec<_>>())
            .any(|part| part == b"zyzzyva of")
    };
    assert!(kept());
    place.store.delete(&key("/a", 1)).await.unwrap();
    assert!(!kept());
    assert!(found(&place, "zyzzyva").await.sessions.is_empty());
}

#[tokio::test]
async fn a_log_that_was_written_anew_is_read_anew() {
    let place = Place::new();
    let path = place.session("/a", 1, "alpha words", 1);
    assert_eq!(found(&place, "alpha").await.sessions.len(), 1);
    let same_length = fs::read_to_string(&path).unwrap().replace("alpha", "gamma");
    fs::write(&path, same_length + &answer("m2", "longer")).unwrap();
    assert!(found(&place, "alpha").await.sessions.is_empty());
    assert_eq!(found(&place, "gamma longer").await.sessions.len(), 1);
    fs::write(&path, prompt("/a", "short")).unwrap();
    assert!(found(&place, "gamma").await.sessions.is_empty());
    let again = found(&place, "short").await;
    assert_eq!(again.sessions[0].digest.as_ref().unwrap().prompts, 1);
}

#[tokio::test]
async fn only_what_is_new_is_read() {
    let place = Place::new();
    let path = place.session("/a", 1, "alpha words", 1);
    found(&place, "alpha").await;
    // Damage in the middle of the indexed part, which the time does not show: it is not read again.
    let filler = prompt("/a", &"x".repeat(4_000));
    place.append("/a", 1, filler.as_bytes(), 2);
    place.append("/a", 1, prompt("/a", "tail").as_bytes(), 2);
    found(&place, "tail").await;
    let mut log = fs::read(&path).unwrap();
    let at = log.len() / 2;
    log[at] = b'y';
    fs::write(&path, &log).unwrap();
    touch(&OpenOptions::new().append(true).open(&path).unwrap(), 3);
    place.append("/a", 1, prompt("/a", "later").as_bytes(), 3);
    let page = found(&place, "later").await;
    assert_eq!(page.sessions[0].digest.as_ref().unwrap().prompts, 4);
}

#[cfg(unix)]
#[tokio::test]
async fn the_index_is_for_its_user_only_and_no_list_makes_it() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    place.session("/a", 1, "words", 1);
    let folder = place.home.path().join("windlass-index");
    place.store.sessions_by_time().page().await.unwrap();
    place.store.list(&key("/a", 1).project).await.unwrap();
    place.store.search("words").from_logs().page().await.unwrap();
    assert!(!folder.exists());
    found(&place, "words").await;
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    for entry in fs::read_dir(&folder).unwrap() {
        assert_eq!(mode(&entry.unwrap().path()), 0o600);
    }
}

#[tokio::test]
async fn many_use_it_at_once() {
    let place = std::sync::Arc::new(Place::new());
    for number in 0..200 {
        place.session("/a", number, "common words", u64::from(number));
    }
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let place = place.clone();
        tasks.spawn(async move { found(&place, "common").await.sessions.len() });
    }
    while let Some(count) = tasks.join_next().await {
        assert_eq!(count.unwrap(), 50);
    }
}
