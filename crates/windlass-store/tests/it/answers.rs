//! Answers beside a log: protection against those of other users.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use windlass_session::{PendingAnswers, SessionKey, StoredAnswer, token_hash};
use windlass_store::JsonlStore;
use windlass_testkit::store::key;
use windlass_types::{
    Behavior, CallDigest, Decision, DecisionReason, JsonText, PendingQuestion, PermissionRequest, QuestionId,
    QuestionToken, Timestamp, ToolUse,
};

struct Place {
    _home: tempfile::TempDir,
    store: JsonlStore,
    key: SessionKey,
    question: PendingQuestion,
}

fn place() -> Place {
    let home = tempfile::tempdir().unwrap();
    let store = JsonlStore::new(home.path());
    let call = ToolUse::new("t", "Bash", JsonText::empty_object());
    let decision = Decision::new(Behavior::Ask, DecisionReason::Default, "?");
    let mut request = PermissionRequest::new(call, "ls".into(), decision, CallDigest::new("d"));
    request.id = QuestionId::from_bits(1);
    let question = PendingQuestion::new(&request, "l".into(), "/w".into(), token_hash(&QuestionToken::new("t")));
    Place { _home: home, store, key: key("answers", 1), question }
}

impl Place {
    fn answer(&self) -> StoredAnswer {
        let token = QuestionToken::new("t");
        StoredAnswer::new(&self.key, &self.question, token, true, Timestamp::default())
    }

    fn file(&self, extension: &str) -> PathBuf {
        let folder = self.store.log_path(&self.key).with_extension("").join("answers");
        folder.join(format!("{}.{extension}", self.question.id))
    }

    async fn found(&self) -> Result<Option<StoredAnswer>, String> {
        self.store.answer_to(&self.key, &self.question.id).await.map_err(|error| error.to_string())
    }
}

#[tokio::test]
async fn an_answer_is_readable_by_its_user_only() {
    let place = place();
    place.store.give(&place.key, &place.answer()).await.unwrap();
    let file = place.file("json");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(file.parent().unwrap()).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(place.found().await.unwrap(), Some(place.answer()));
    assert!(place.store.take(&place.key, &place.question.id).await.unwrap());
    assert!(place.file("taken").exists());
}

#[tokio::test]
async fn what_others_could_have_put_there_does_not_count() {
    // A file or a folder that others can write or read.
    for (what, mode) in [("file", 0o644), ("file", 0o620), ("answers", 0o720), ("session", 0o702)] {
        let place = place();
        place.store.give(&place.key, &place.answer()).await.unwrap();
        let file = place.file("json");
        let path = match what {
            "file" => file,
            "answers" => file.parent().unwrap().to_owned(),
            _ => file.parent().unwrap().parent().unwrap().to_owned(),
        };
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let refused = place.found().await.unwrap_err();
        assert!(refused.contains("not private"), "{what} {mode:o}: {refused}");
    }
}

#[tokio::test]
async fn no_link_is_followed() {
    // The file itself, its folder, and the folder of the session.
    for depth in 0..3 {
        let place = place();
        place.store.give(&place.key, &place.answer()).await.unwrap();
        let linked = place.file("json").ancestors().nth(depth).unwrap().to_owned();
        let moved = linked.with_extension("moved");
        fs::rename(&linked, &moved).unwrap();
        symlink(&moved, &linked).unwrap();
        place.found().await.unwrap_err();
        if depth > 0 {
            let mut other = place.answer();
            other.question = QuestionId::from_bits(2);
            place.store.give(&place.key, &other).await.unwrap_err();
        }
    }
}

#[tokio::test]
async fn what_is_no_answer_is_an_error_and_stays_the_first() {
    let long = "x".repeat(100_000);
    for content in ["", "{}", "[", "\u{0}", long.as_str()] {
        let place = place();
        let file = place.file("json");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        for folder in file.ancestors().skip(1).take(2) {
            fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).unwrap();
        }
        fs::write(&file, content).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        place.found().await.unwrap_err();
        let refused = place.store.give(&place.key, &place.answer()).await.unwrap_err();
        assert_eq!(refused.kind, windlass_session::StoreErrorKind::Exists);
    }
}

#[tokio::test]
async fn ids_that_are_no_names_of_files_are_refused() {
    let place = place();
    let long = "a".repeat(65);
    for id in ["", ".", "..", "../x", "a/b", "a\0b", "a.b", "é", long.as_str()] {
        let id = QuestionId::from(id);
        let mut answer = place.answer();
        answer.question = id.clone();
        assert!(place.store.give(&place.key, &answer).await.is_err(), "{id:?}");
        assert!(place.store.answer_to(&place.key, &id).await.is_err(), "{id:?}");
        assert!(place.store.take(&place.key, &id).await.is_err(), "{id:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_at_once_one_answers_and_one_takes() {
    let place = place();
    let (mut giving, mut taking) = (Vec::new(), Vec::new());
    for number in 0..16 {
        let (store, key) = (place.store.clone(), place.key.clone());
        let answer = place.answer().with_message(Some(number.to_string()));
        giving.push(tokio::spawn(async move { store.give(&key, &answer).await.is_ok() }));
    }
    let mut given = 0;
    for one in giving {
        given += usize::from(one.await.unwrap());
    }
    for _ in 0..16 {
        let (store, key, id) = (place.store.clone(), place.key.clone(), place.question.id.clone());
        taking.push(tokio::spawn(async move { store.take(&key, &id).await.unwrap() }));
    }
    let mut taken = 0;
    for one in taking {
        taken += usize::from(one.await.unwrap());
    }
    assert_eq!((given, taken), (1, 1));
}
