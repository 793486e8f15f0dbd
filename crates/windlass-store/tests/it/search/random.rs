//! After any operations the index agrees with a new one, and with the logs.

use super::{Place, answer, key, prompt};
use proptest::prelude::*;
use std::fs;
use windlass_session::{Annotation, SessionStore};
use windlass_store::{PageSource, SessionPage, SessionSearch};

#[derive(Debug, Clone)]
enum Operation {
    Prompt(u32, u8, String),
    Answer(u32, u8, String),
    Raw(u32, u8, Vec<u8>),
    Title(u32, u8, String),
    Tag(u32, u8, Option<String>),
    Delete(u32, u8),
    Cut(u32, u8, u16),
    Search(String),
}

fn operation() -> impl Strategy<Value = Operation> {
    let at = || (0..4_u32, 0..2_u8);
    let text = || "[a-c]{1,2}( [a-cé日本\"*]{1,3}){0,4}";
    prop_oneof![
        4 => (at(), text()).prop_map(|((n, p), text)| Operation::Prompt(n, p, text)),
        4 => (at(), text()).prop_map(|((n, p), text)| Operation::Answer(n, p, text)),
        1 => (at(), proptest::collection::vec(any::<u8>(), 0..60)).prop_map(|((n, p), raw)| Operation::Raw(n, p, raw)),
        1 => (at(), text()).prop_map(|((n, p), text)| Operation::Title(n, p, text)),
        1 => (at(), proptest::option::of("[a-c]{1,3}")).prop_map(|((n, p), tag)| Operation::Tag(n, p, tag)),
        1 => at().prop_map(|(n, p)| Operation::Delete(n, p)),
        1 => (at(), any::<u16>()).prop_map(|((n, p), cut)| Operation::Cut(n, p, cut)),
        3 => "[a-c日]{1,2}( [a-c]{1,2})?".prop_map(Operation::Search),
    ]
}

fn project(number: u8) -> &'static str {
    if number == 0 { "/a" } else { "/b" }
}

async fn apply(place: &Place, operation: &Operation, time: u64) {
    match operation {
        Operation::Prompt(n, p, text) => {
            place.append(project(*p), *n, prompt(project(*p), text).as_bytes(), time);
        }
        Operation::Answer(n, p, text) => {
            place.append(project(*p), *n, answer(&format!("m{}", time / 2), text).as_bytes(), time);
        }
        Operation::Raw(n, p, raw) => drop(place.append(project(*p), *n, raw, time)),
        Operation::Title(n, p, text) if fs::metadata(place.log(project(*p), *n)).is_ok_and(|log| log.len() > 0) => {
            place.annotate(project(*p), *n, Annotation::title(text).unwrap()).await;
        }
        Operation::Tag(n, p, tag) if fs::metadata(place.log(project(*p), *n)).is_ok_and(|log| log.len() > 0) => {
            let tag = tag.as_ref().map_or_else(Annotation::no_tag, |tag| Annotation::tag(tag).unwrap());
            place.annotate(project(*p), *n, tag).await;
        }
        Operation::Delete(n, p) => place.store.delete(&key(project(*p), *n)).await.unwrap(),
        Operation::Cut(n, p, cut) => {
            if let Ok(log) = fs::read(place.log(project(*p), *n)) {
                let length = log.len() * usize::from(*cut) / usize::from(u16::MAX);
                fs::write(place.log(project(*p), *n), &log[..length]).unwrap();
            }
        }
        _ => {}
    }
}

async fn page(search: SessionSearch) -> SessionPage {
    search.page().await.unwrap()
}

async fn check(place: &Place, text: &str) {
    let by_index = page(place.store.search(text)).await;
    let is_made = place.home.path().join("windlass-index").exists();
    assert_eq!(by_index.source, if is_made { PageSource::Index } else { PageSource::Logs });
    let of_logs = page(place.store.search(text).from_logs()).await;
    assert_eq!(by_index.sessions, of_logs.sessions, "{text}");
    let listed = page(place.store.sessions_by_time().with_digests()).await;
    assert_eq!(listed.sessions, page(place.store.sessions_by_time().with_digests().from_logs()).await.sessions);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_index_says_what_the_logs_say(operations in proptest::collection::vec(operation(), 1..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let place = Place::new();
            for (time, operation) in operations.iter().enumerate() {
                apply(&place, operation, time as u64).await;
                if let Operation::Search(text) = operation {
                    check(&place, text).await;
                }
            }
            let kept = page(place.store.search("a").limit(100)).await;
            let _ = fs::remove_dir_all(place.home.path().join("windlass-index"));
            let fresh = page(place.store.search("a").limit(100)).await;
            assert_eq!(kept.sessions, fresh.sessions);
            check(&place, "b").await;
        });
    }
}
