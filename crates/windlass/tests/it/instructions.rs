//! Instructions from `CLAUDE.md`, `AGENTS.md` and rules, over the life of a session.

use serde_json::json;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use tempfile::TempDir;
use windlass::options::ContextOptions;
use windlass::{
    ContentBlock, EventKind, Home, Permissions, Project, ScriptedModel, ScriptedTurn, Session, SessionBuilder,
    coding_tools, project::ProjectNoticeKind, project::SettingSource, session,
};
use windlass_types::{ModelRequest, SharedMessage};

type Requests = Arc<Mutex<Vec<Arc<ModelRequest>>>>;

pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        for directory in ["work/.git", "home"] {
            std::fs::create_dir_all(place.path(directory)).unwrap();
        }
        files.iter().for_each(|(name, text)| place.write(name, text));
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn project(&self) -> Project {
        Project::at(self.path("work")).environment([("HOME", self.path("home").into_os_string())])
    }

    fn home(&self) -> Home {
        Home::new(self.path("kept"))
    }

    /// A session in which each prompt that names a file has it read, and the requests of it.
    fn session(&self, project: Project) -> (SessionBuilder, Requests) {
        let seen = Requests::default();
        let requests = Arc::clone(&seen);
        let work = self.path("work");
        let model = ScriptedModel::from_fn(move |request, _| {
            requests.lock().unwrap().push(Arc::new(request.clone()));
            let last = request.messages.last().unwrap();
            let prompt = last.content.first().and_then(ContentBlock::as_text).unwrap_or_default();
            let read = |turn: ScriptedTurn, name| turn.tool_use("Read", json!({"file_path": work.join(name)}));
            match prompt.strip_prefix("read ") {
                Some(names) => names.split(' ').fold(ScriptedTurn::new(), read),
                None if is_summary(last) => ScriptedTurn::new().text("<summary>We worked.</summary>"),
                None => ScriptedTurn::new().text("ok"),
            }
        });
        let tools = coding_tools(self.path("work"));
        (session().provider(model).tools(tools).project(project).permissions(Permissions::new()), seen)
    }
}

fn is_summary(message: &SharedMessage) -> bool {
    let text = message.content.last().and_then(ContentBlock::as_text);
    text.is_some_and(|text| text.contains("about to be replaced by a summary"))
}

/// The texts that the runtime wrote of files into messages, each by its path and content.
fn told(messages: &[SharedMessage]) -> Vec<String> {
    let texts = messages.iter().flat_map(|message| &message.content).filter_map(ContentBlock::as_text);
    let of_file = |text: &str| {
        let rest = text.strip_prefix("<system-reminder>\nInstructions from \"")?;
        let (path, rest) = rest.split_once("\" (")?;
        let content = rest.split_once("<file-instructions>\n")?.1.split_once("\n</file-instructions>")?.0;
        Some(format!("{}: {content}", path.rsplit('/').next()?))
    };
    texts.filter_map(of_file).collect()
}

pub(crate) async fn run(session: &mut Session, prompt: impl Into<windlass::Prompt>) {
    session.handle.prompt(prompt).unwrap();
    while let Some(event) = session.events.try_next().await.unwrap() {
        // Agents below report their runs, too.
        if let EventKind::RunFinished(result) = event.kind
            && event.agent.is_main()
        {
            assert!(result.outcome.is_success(), "{result:?}");
            return;
        }
    }
    panic!("no result");
}

fn all(requests: &Requests) -> Vec<Vec<String>> {
    requests.lock().unwrap().iter().map(|request| told(&request.messages)).collect()
}

#[tokio::test]
async fn they_stand_behind_the_first_prompt_and_those_of_folders_behind_the_first_use() {
    let place = Place::new(&[
        ("work/CLAUDE.md", "Root."),
        ("work/app/AGENTS.md", "App."),
        ("work/app/x.rs", "fn main() {}"),
        ("work/.claude/rules/rust.md", "---\npaths: '**/*.rs'\n---\nRust."),
        ("home/.claude/CLAUDE.md", "User."),
    ]);
    let (builder, requests) = place.session(place.project());
    let mut session = builder.context(ContextOptions::new().instructions("Host.")).open().await.unwrap();
    run(&mut session, "hello").await;
    run(&mut session, "read app/x.rs").await;
    run(&mut session, "read app/x.rs").await;
    session.handle.close().await.unwrap();
    let first = ["CLAUDE.md: User.", "CLAUDE.md: Root.", "the program: Host."];
    let used = [&first[..], &["AGENTS.md: App.", "rust.md: Rust."]].concat();
    assert_eq!(all(&requests), [&first[..], &first, &used, &used, &used]);
    // Each request is the beginning of the next, and all have one system prompt.
    let requests = requests.lock().unwrap();
    for pair in requests.windows(2) {
        assert_eq!(pair[0].messages[..], pair[1].messages[..pair[0].messages.len()]);
        assert_eq!(pair[0].system, pair[1].system);
    }
}

#[tokio::test]
async fn calls_that_end_together_have_the_instructions_of_each_of_their_folders_once() {
    let folders: Vec<String> = (0..10).map(|number| format!("part-{number}")).collect();
    let place = Place::new(&[]);
    for folder in &folders {
        place.write(&format!("work/{folder}/CLAUDE.md"), &format!("Of {folder}."));
        place.write(&format!("work/{folder}/x.txt"), "x");
        place.write(&format!("work/{folder}/y.txt"), "y");
    }
    let (builder, requests) = place.session(place.project());
    let mut session = builder.open().await.unwrap();
    let names = folders.iter().flat_map(|folder| [format!("{folder}/x.txt"), format!("{folder}/y.txt")]);
    run(&mut session, format!("read {}", names.collect::<Vec<_>>().join(" "))).await;
    session.handle.close().await.unwrap();
    let mut told = all(&requests).pop().unwrap();
    told.sort();
    assert_eq!(told, folders.iter().map(|folder| format!("CLAUDE.md: Of {folder}.")).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_resumed_session_reads_what_is_new_and_after_a_compaction_everything() {
    let place = Place::new(&[("work/CLAUDE.md", "One."), ("work/AGENTS.md", "Agents.")]);
    let (builder, requests) = place.session(place.project());
    let mut session = builder.persist(place.home()).open().await.unwrap();
    let id = session.handle.session_id().clone();
    run(&mut session, "hello").await;
    session.handle.close().await.unwrap();
    place.write("work/CLAUDE.md", "Two.");
    let (builder, later) = place.session(place.project());
    let mut session = builder.persist(place.home()).resume(&id).open().await.unwrap();
    run(&mut session, "again").await;
    run(&mut session, "again").await;
    let before = ["AGENTS.md: Agents.", "CLAUDE.md: One."];
    let after = ["AGENTS.md: Agents.", "CLAUDE.md: One.", "CLAUDE.md: Two."];
    assert_eq!(all(&requests), [before]);
    assert_eq!(all(&later), [after, after]);
    session.handle.compact(None).unwrap();
    run(&mut session, "after it").await;
    // The run of the compaction ended first.
    run(&mut session, "and on").await;
    assert_eq!(all(&later).last().unwrap()[..], ["AGENTS.md: Agents.", "CLAUDE.md: Two."]);
    session.handle.close().await.unwrap();
}

#[tokio::test]
async fn what_is_not_read_is_a_notice_and_a_rule_that_denies_reading_holds() {
    let place = Place::new(&[
        ("work/CLAUDE.md", "Root. @~/private.md @docs/a.md @.env"),
        ("work/docs/a.md", "A."),
        ("work/.env", "KEY=1"),
        ("home/private.md", "Private."),
        ("work/.claude/settings.json", r#"{"permissions":{"deny":["Read(docs/**)"]}}"#),
    ]);
    let project = place.project().load().unwrap();
    let notices = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&notices);
    project.on_notice(move |notice| heard.lock().unwrap().push(notice.clone()));
    let model = ScriptedModel::from_fn(|_, _| ScriptedTurn::new().text("ok"));
    let builder = session().provider(model.clone()).tools(coding_tools(place.path("work"))).project(project);
    let mut session = builder.open().await.unwrap();
    run(&mut session, "hello").await;
    assert_eq!(told(&model.requests()[0].messages), ["CLAUDE.md: Root. @~/private.md @docs/a.md @.env"]);
    session.handle.close().await.unwrap();
    let notices = notices.lock().unwrap();
    let of_files = notices.iter().filter(|notice| notice.kind == ProjectNoticeKind::Instructions);
    let texts: Vec<String> = of_files.map(ToString::to_string).collect();
    for (text, part) in texts.iter().zip(["out of the project", "may hold secrets", "a rule forbids"]) {
        assert!(text.contains(part), "{texts:?}");
    }
    assert_eq!(texts.len(), 3);
}

#[tokio::test]
async fn agents_read_them_too_and_a_project_without_them_has_none() {
    let place = Place::new(&[("work/CLAUDE.md", "Root."), ("home/.claude/CLAUDE.md", "User.")]);
    let model = ScriptedModel::from_fn(|request, _| {
        let is_main = request.messages[0].content[0].as_text() == Some("hello");
        match (is_main, request.messages.len()) {
            (true, 1) => ScriptedTurn::new().tool_use("Agent", json!({"description": "Look", "prompt": "Look."})),
            _ => ScriptedTurn::new().text("ok"),
        }
    });
    let open =
        |project: Project| session().provider(model.clone()).tools(coding_tools(place.path("work"))).project(project);
    let mut session = open(place.project()).open().await.unwrap();
    run(&mut session, "hello").await;
    session.handle.close().await.unwrap();
    for project in [place.project().instructions(false), place.project().sources([SettingSource::Local])] {
        let mut session = open(project).open().await.unwrap();
        run(&mut session, "hello").await;
        session.handle.close().await.unwrap();
    }
    let read: Vec<usize> = model.requests().iter().map(|request| told(&request.messages).len()).collect();
    assert_eq!(read, [2, 2, 2, 0, 0, 0, 0, 0, 0]);
}
