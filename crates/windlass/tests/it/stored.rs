//! Stored sessions from outside: what programs do with them that do not run them.

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use windlass::session::Resume;
use windlass::{
    Error, Home, Hook, HookContext, HookError, JsonText, PermissionAnswer, Permissions, PreToolUseAction, Script,
    ScriptedModel, coding_tools,
    event::CompactTrigger,
    hook::{HookEventName, Interest, PreToolUse},
    permission::{Behavior, DecisionReason, InputChangedBy},
    query,
    session::{ForkOptions, OpenError, SessionTranscript, TaskRecord, TranscriptEntry, TranscriptItem},
};

const UNKNOWN: &str = "11111111-1111-4111-8111-111111111111";

struct World {
    work: tempfile::TempDir,
    home: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let world = Self { work: tempfile::tempdir().unwrap(), home: tempfile::tempdir().unwrap() };
        std::fs::write(world.work.path().join("word.txt"), "tea").unwrap();
        world
    }

    fn home(&self) -> Home {
        Home::new(self.home.path())
    }

    fn directory(&self) -> PathBuf {
        self.work.path().canonicalize().unwrap()
    }

    /// Runs one prompt of a session, a new one without an id, and returns the id.
    async fn run(&self, prompt: &str, id: Option<&str>, script: Script) -> String {
        let run = query(prompt)
            .provider(ScriptedModel::new(script))
            .tools(coding_tools(self.work.path()))
            .permissions(Permissions::new().allow(["Bash(touch x)"]))
            .persist(self.home());
        let run = id.into_iter().fold(run, |run, id| run.resume(id));
        run.await.unwrap().session_id.to_string()
    }

    async fn simple(&self, prompt: &str) -> String {
        self.run(prompt, None, Script::new().turn(|turn| turn.text("ok"))).await
    }
}

fn prompts(transcript: &SessionTranscript) -> Vec<String> {
    let prompts = transcript.entries.iter().filter(|entry| matches!(entry.item, TranscriptItem::Prompt { .. }));
    prompts.filter_map(|entry| entry.item.text()).collect()
}

/// The ids of the sessions of a directory.
async fn ids(home: &Home, directory: &Path) -> Vec<String> {
    let list = home.sessions(directory).await.unwrap();
    list.sessions.iter().map(|session| session.session_id.to_string()).collect()
}

#[tokio::test]
async fn a_transcript_has_each_step_as_an_item() {
    let world = World::new();
    let script = Script::new()
        .turn(|turn| turn.text("Looking.").tool_use("Read", json!({"file_path": "word.txt"})))
        .turn(|turn| turn.tool_use("Bash", json!({"command": "touch x"})))
        .turn(|turn| turn.tool_use("Bash", json!({"command": "rm word.txt"})))
        .turn(|turn| turn.text("It says tea."));
    let id = world.run("What does it say?", None, script).await;
    let transcript = world.home().transcript(id.to_uppercase()).await.unwrap();
    assert_eq!(transcript.damage, Vec::<String>::new());
    let mut seen = Vec::new();
    for TranscriptEntry { item, id, at, .. } in &transcript.entries {
        assert!(!id.as_str().is_empty() && at.millis() > 0, "{item:?}");
        seen.push(match item {
            TranscriptItem::Prompt { .. } => format!("prompt: {}", item.text().unwrap()),
            TranscriptItem::Message { usage, stop_reason, model, content, .. } => {
                assert!(usage.output_tokens > 0 && stop_reason.is_some() && !model.is_empty(), "{item:?}");
                let calls = content.iter().filter(|block| block.as_tool_use().is_some()).count();
                format!("message: {} and {calls} calls", item.text().unwrap_or_default())
            }
            TranscriptItem::Verdict { tool, decision, .. } => {
                format!(
                    "{}: {}",
                    tool.as_deref().unwrap(),
                    if decision.behavior == Behavior::Allow { "allowed" } else { "denied" }
                )
            }
            TranscriptItem::Started { tool, .. } => format!("{} starts", tool.as_deref().unwrap()),
            TranscriptItem::ToolResult { tool, result, made_up, .. } => {
                assert!(!made_up);
                let tool = tool.as_deref().unwrap();
                if result.is_error { format!("{tool} failed") } else { format!("{tool} returned") }
            }
            TranscriptItem::RunFinished { outcome, turns, .. } => format!("{outcome} after {turns} turns"),
            TranscriptItem::RuntimeText { .. } => continue,
            other => panic!("{other:?}"),
        });
    }
    assert_eq!(
        seen,
        [
            "prompt: What does it say?",
            "message: Looking. and 1 calls",
            "Read: allowed",
            "Read returned",
            "message:  and 1 calls",
            "Bash: allowed",
            "Bash starts",
            "Bash returned",
            "message:  and 1 calls",
            "Bash: denied",
            "Bash failed",
            "message: It says tea. and 0 calls",
            "success after 4 turns",
        ]
    );
}

#[tokio::test]
async fn a_transcript_names_compactions_notes_and_damage() {
    let world = World::new();
    let id = world.simple("first").await;
    world.home().rename_session(&id, "A title").await.unwrap();
    let log = world.home().find_session(&id).await.unwrap().unwrap().log;
    let mut lines = std::fs::read_to_string(&log).unwrap();
    let last: Value = lines
        .lines()
        .rev()
        .find_map(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            (line["type"] == "assistant").then_some(line)
        })
        .unwrap();
    let line = |value: Value| format!("{value}\n");
    lines +=
        &line(json!({"type": "system", "subtype": "compact_boundary", "uuid": "aaaaaaaa-2222-4222-8222-222222222222",
        "parentUuid": null, "logicalParentUuid": last["uuid"], "isSidechain": false, "sessionId": id,
        "timestamp": "2026-01-01T00:00:00.000Z", "compactMetadata": {"trigger": "manual", "preTokens": 900}}));
    lines += "nonsense\n";
    lines += &line(json!({"type": "user", "uuid": "bbbbbbbb-2222-4222-8222-222222222222",
        "parentUuid": "aaaaaaaa-2222-4222-8222-222222222222", "isSidechain": false, "sessionId": id, "isCompactSummary": true,
        "timestamp": "2026-01-01T00:00:00.000Z", "message": {"role": "user", "content": "What was said."}}));
    std::fs::write(&log, lines).unwrap();
    let transcript = world.home().transcript(&id).await.unwrap();
    assert_eq!(prompts(&transcript), Vec::<String>::new(), "a summary stands for the prompt");
    let summaries = transcript.entries.iter().filter_map(|entry| match &entry.item {
        TranscriptItem::Compacted { pre_tokens, trigger, summary, .. } => {
            Some((pre_tokens.unwrap(), trigger.unwrap(), summary.as_str()))
        }
        _ => None,
    });
    assert_eq!(summaries.collect::<Vec<_>>(), [(900, CompactTrigger::Manual, "What was said.")]);
    let notes = transcript.entries.iter().filter_map(|entry| match &entry.item {
        TranscriptItem::Other(line) => Some(line.as_str()),
        _ => None,
    });
    assert!(notes.clone().any(|note| note.contains("A title")), "{:?}", notes.collect::<Vec<_>>());
    assert!(transcript.damage.iter().any(|one| one.contains("is skipped")), "{:?}", transcript.damage);
    assert!(!transcript.entries.iter().any(|entry| matches!(entry.item, TranscriptItem::Task(TaskRecord::Started(_)))));
}

#[tokio::test]
async fn sessions_are_listed_named_tagged_copied_exported_and_deleted() {
    let world = World::new();
    let home = world.home();
    assert_eq!(ids(&home, world.work.path()).await, Vec::<String>::new());
    let first = world.simple("first").await;
    world.run("second", Some(&first), Script::new().turn(|turn| turn.text("ok"))).await;
    home.rename_session(&first, "  The title ").await.unwrap();
    home.tag_session(&first, Some("a\u{200b}b")).await.unwrap();
    let summary = || async { home.find_session(&first).await.unwrap().unwrap().summary.unwrap() };
    let (title, tag) = (summary().await.custom_title, summary().await.tag);
    assert_eq!((title.as_deref(), tag.as_deref()), (Some("The title"), Some("ab")));
    home.tag_session(&first, None).await.unwrap();
    assert_eq!(summary().await.tag, None);
    for problem in [home.rename_session(&first, " ").await, home.tag_session(&first, Some("\u{200b}")).await] {
        assert!(matches!(problem, Err(Error::Annotation(_))), "{problem:?}");
    }

    let transcript = home.transcript(&first).await.unwrap();
    assert_eq!(prompts(&transcript), ["first", "second"]);
    let answer = transcript.entries.iter().find(|entry| matches!(entry.item, TranscriptItem::Message { .. })).unwrap();
    let copy = home.fork_session(&first, ForkOptions::new()).await.unwrap();
    let given = "cccccccc-1111-4111-8111-111111111111";
    let half = ForkOptions::new().at(answer.id.clone()).title("Half").session_id(given);
    assert_eq!(home.fork_session(&first, half.clone()).await.unwrap().as_str(), given);
    assert!(home.fork_session(&first, half).await.unwrap_err().to_string().contains("already"));
    assert_eq!(prompts(&home.transcript(&copy).await.unwrap()), ["first", "second"]);
    assert_eq!(prompts(&home.transcript(given).await.unwrap()), ["first"]);
    let listed = home.sessions(world.work.path()).await.unwrap();
    let titles: Vec<_> = listed.sessions.iter().map(|one| one.custom_title.as_deref().unwrap()).collect();
    assert_eq!(titles.len(), 3);
    assert!(titles.contains(&"The title (fork)") && titles.contains(&"Half"), "{titles:?}");

    let exported: Vec<Value> = serde_json::from_str(&home.export_session(given).await.unwrap()).unwrap();
    assert_eq!((exported.len(), &exported[1]["role"]), (2, &json!("assistant")));
    home.delete_session(&first).await.unwrap();
    home.delete_session(&copy).await.unwrap();
    assert_eq!(ids(&home, world.work.path()).await, [given]);
    assert!(home.find_session(&first).await.unwrap().is_none());
}

#[tokio::test]
async fn what_is_not_there_is_an_error_that_says_so() {
    let world = World::new();
    let home = world.home();
    let id = world.simple("first").await;
    let agent = "a0000000000000000".into();
    let outcomes = [
        home.transcript(UNKNOWN).await.map(drop),
        home.session_agents(UNKNOWN).await.map(drop),
        home.agent_transcript(UNKNOWN, &agent).await.map(drop),
        home.fork_session(UNKNOWN, ForkOptions::new()).await.map(drop),
        home.rename_session(UNKNOWN, "x").await,
        home.tag_session(UNKNOWN, Some("x")).await,
        home.delete_session(UNKNOWN).await,
        home.export_session(UNKNOWN).await.map(drop),
    ];
    for outcome in outcomes {
        let error = outcome.unwrap_err();
        assert!(matches!(&error, Error::Open(OpenError::NotFound { session_id }) if session_id == UNKNOWN), "{error}");
    }
    assert!(home.find_session(UNKNOWN).await.unwrap().is_none());
    assert!(matches!(home.find_session("../../x").await, Err(Error::BadSessionId { .. })));
    assert!(matches!(home.export_agent(&id, &agent).await, Err(Error::NoAgent { .. })));
    assert!(matches!(home.sessions(world.work.path().join("gone")).await, Err(Error::Directory { .. })));
    let pipe = home.find_session(&id).await.unwrap().unwrap().log.with_file_name(format!("{UNKNOWN}.jsonl"));
    std::fs::create_dir(&pipe).unwrap();
    let list = home.sessions(world.work.path()).await.unwrap();
    assert_eq!((list.sessions.len(), list.skipped.len()), (1, 1));
    assert_eq!(list.skipped[0].path, pipe);
}

#[tokio::test]
async fn the_agents_of_a_session_have_transcripts() {
    let world = World::new();
    let call = json!({"description": "Look for it", "prompt": "Find the word.", "subagent_type": "general-purpose"});
    let script = Script::new()
        .turn(move |turn| turn.tool_use("Agent", call))
        .turn(|turn| turn.text("It is here."))
        .turn(|turn| turn.text("Done."));
    let run = query("Go.")
        .provider(ScriptedModel::new(script))
        .tools(coding_tools(world.work.path()))
        .subagents(windlass::Subagents::new())
        .persist(world.home());
    let id = run.await.unwrap().session_id;
    let agents = world.home().session_agents(&id).await.unwrap();
    let [agent] = agents.as_slice() else { panic!("{agents:?}") };
    let transcript = world.home().agent_transcript(&id, &agent.id).await.unwrap();
    assert_eq!(prompts(&transcript), ["Find the word."]);
    let exported = world.home().export_agent(&id, &agent.id).await.unwrap();
    assert!(exported.contains("It is here.") && !exported.contains("Go."), "{exported}");
}

/// A home from which sessions are only read, as `~/.claude` is.
fn with_import(world: &World, own: &Path) -> Home {
    let (user, own) = (world.home.path().to_path_buf(), own.to_path_buf());
    Home::from_lookup(move |name| match name {
        "HOME" => Some(user.to_string_lossy().into_owned()),
        "WINDLASS_HOME" => Some(own.to_string_lossy().into_owned()),
        _ => None,
    })
    .unwrap()
}

#[tokio::test]
async fn a_session_of_a_home_that_is_only_read_is_found_and_copied_before_it_changes() {
    let world = World::new();
    let id = world.simple("first").await;
    std::fs::create_dir(world.home.path().join(".claude")).unwrap();
    std::fs::rename(world.home.path().join("projects"), world.home.path().join(".claude/projects")).unwrap();
    let own = tempfile::tempdir().unwrap();
    let home = with_import(&world, own.path());
    let stored = home.find_session(&id).await.unwrap().unwrap();
    assert!(stored.only_read && stored.directory == Some(world.directory()), "{stored:?}");
    assert_eq!(prompts(&home.transcript(&id).await.unwrap()), ["first"]);
    let refused = home.delete_session(&id).await.unwrap_err();
    assert!(matches!(&refused, Error::OnlyRead { log, .. } if *log == stored.log), "{refused}");
    let before = std::fs::read(&stored.log).unwrap();
    home.rename_session(&id, "Mine").await.unwrap();
    assert_eq!(std::fs::read(&stored.log).unwrap(), before);
    let stored = home.find_session(&id).await.unwrap().unwrap();
    assert!(!stored.only_read && stored.summary.unwrap().custom_title.as_deref() == Some("Mine"));
    home.delete_session(&id).await.unwrap();
}

#[tokio::test]
async fn a_session_of_another_directory_is_refused_with_the_name_of_its_own() {
    let world = World::new();
    let id = world.simple("first").await;
    let elsewhere = tempfile::tempdir().unwrap();
    let resume = |fork: bool, id: &str| {
        query("again")
            .provider(ScriptedModel::new(Script::new().turn(|turn| turn.text("ok"))))
            .tools(coding_tools(elsewhere.path()))
            .persist(world.home())
            .resume(if fork { Resume::session(id).fork() } else { Resume::session(id) })
    };
    for fork in [false, true] {
        let error = resume(fork, &id).await.unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with(&format!("No conversation found with session ID: {id}")), "{text}");
        assert!(text.contains(&world.directory().display().to_string()), "{text}");
        let there = elsewhere.path().canonicalize().unwrap();
        let expected = (there, world.directory());
        assert!(
            matches!(error, Error::KeptElsewhere { cwd, kept_in, .. } if (cwd.clone(), kept_in.clone()) == expected)
        );
        let unknown = resume(fork, UNKNOWN).await.unwrap_err();
        assert_eq!(unknown.to_string(), format!("No conversation found with session ID: {UNKNOWN}"));
    }
    // A log that names a directory that it is not stored for leads there as little as anywhere.
    let log = world.home().find_session(&id).await.unwrap().unwrap().log;
    let forged = std::fs::read_to_string(&log).unwrap().replace(&*world.directory().to_string_lossy(), "/somewhere");
    std::fs::write(&log, forged).unwrap();
    let error = resume(false, &id).await.unwrap_err();
    assert!(matches!(&error, Error::KeptElsewhere { kept_in, .. } if *kept_in == log), "{error}");
}

/// Has every call of Bash say something else.
struct Louder;

#[async_trait::async_trait]
impl Hook for Louder {
    fn name(&self) -> &str {
        "louder"
    }

    fn interests(&self) -> Vec<Interest> {
        vec![Interest::tools(HookEventName::PreToolUse, ["Bash"])]
    }

    async fn pre_tool_use(&self, _: &HookContext, event: &PreToolUse) -> Result<PreToolUseAction, HookError> {
        let input = event.tool_input.as_str().replace("quiet", "loud");
        Ok(PreToolUseAction::Rewrite { input: JsonText::parse(input).unwrap() })
    }
}

#[tokio::test]
async fn the_log_says_which_input_ran_what_was_asked_and_who_changed_it() {
    let world = World::new();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let questions = Arc::clone(&asked);
    let permissions = Permissions::ask(move |request| {
        questions.lock().unwrap().push(request.input.as_str().to_owned());
        let input = request.input.as_str().replace("loud", "louder");
        std::future::ready(PermissionAnswer::Allow { updated_input: JsonText::parse(input).ok(), updates: Vec::new() })
    });
    let script = Script::new()
        .turn(|turn| turn.tool_use("Bash", json!({"command": "touch quiet"})))
        .turn(|turn| turn.tool_use("Read", json!({"file_path": "word.txt"})))
        .turn(|turn| turn.text("ok"));
    let run = query("go").provider(ScriptedModel::new(script)).tools(coding_tools(world.work.path()));
    let id = run.permissions(permissions).hook(Louder).persist(world.home()).await.unwrap().session_id;
    assert!(world.work.path().join("louder").exists());
    let transcript = world.home().transcript(&id).await.unwrap();
    let changes: Vec<_> = transcript
        .entries
        .iter()
        .filter_map(|entry| match &entry.item {
            TranscriptItem::Verdict { tool, input_changes, .. } => Some((tool.clone().unwrap(), input_changes)),
            _ => None,
        })
        .map(|(tool, changes)| {
            let changes = changes.iter().map(|change| (change.by, change.input.as_str().to_owned()));
            (tool, changes.collect::<Vec<_>>())
        })
        .collect();
    let (loud, louder) = (r#"{"command":"touch loud"}"#, r#"{"command":"touch louder"}"#);
    let expected = vec![(InputChangedBy::Hook, loud.to_owned()), (InputChangedBy::Host, louder.to_owned())];
    assert_eq!(changes, [("Bash".to_owned(), expected), ("Read".to_owned(), Vec::new())]);
    assert_eq!(*asked.lock().unwrap(), [loud]);
}

#[tokio::test]
async fn verdicts_on_unknown_tools_and_unfit_inputs_are_in_the_log() {
    let world = World::new();
    let script = Script::new()
        .turn(|turn| turn.tool_use("Nope", json!({})))
        .turn(|turn| turn.tool_use("Read", json!({"path": 7})))
        .turn(|turn| turn.text("ok"));
    let id = world.run("go", None, script).await;
    let transcript = world.home().transcript(&id).await.unwrap();
    let verdicts: Vec<_> = transcript
        .entries
        .iter()
        .filter_map(|entry| match &entry.item {
            TranscriptItem::Verdict { tool, decision, .. } => {
                assert_eq!(decision.behavior, Behavior::Deny);
                Some((tool.as_deref().unwrap(), &decision.reason))
            }
            _ => None,
        })
        .collect();
    assert_eq!(verdicts, [("Nope", &DecisionReason::UnknownTool), ("Read", &DecisionReason::InvalidInput)]);
}

#[tokio::test]
async fn a_call_that_was_reading_when_the_program_died_is_interrupted() {
    let world = World::new();
    let id = world
        .run(
            "go",
            None,
            Script::new()
                .turn(|turn| turn.tool_use("Read", json!({"file_path": "word.txt"})))
                .turn(|turn| turn.text("ok")),
        )
        .await;
    let log = world.home().find_session(&id).await.unwrap().unwrap().log;
    // State after a kill while the call runs: the message with the call is the last line.
    let lines = std::fs::read_to_string(&log).unwrap();
    let end = lines.find("\"tool_use\"").and_then(|call| lines[call..].find('\n').map(|end| call + end + 1)).unwrap();
    std::fs::write(&log, &lines[..end]).unwrap();
    let messages = world.home().export_session(&id).await.unwrap();
    assert!(messages.contains("This call was interrupted") && !messages.contains("did not run"), "{messages}");
}

#[tokio::test]
async fn sessions_are_searched_titled_by_a_model_and_resumed_by_title() {
    let world = World::new();
    let (first, second) = (world.simple("mend the parser").await, world.simple("write a poem").await);
    let home = world.home();
    let found = home.search("PARSE ok").page().await.unwrap();
    assert_eq!(found.sessions.iter().map(|session| session.id.as_str()).collect::<Vec<_>>(), [&first]);
    assert_eq!(found.sessions[0].directory(), Some(&*world.directory()));
    let listed = home.list().in_directory(world.work.path()).limit(1).page().await.unwrap();
    assert_eq!(listed.sessions[0].id.as_str(), second);
    let model = || ScriptedModel::new(Script::new().turn(|turn| turn.text("\"The parser.\"")));
    for id in [&first, &second] {
        assert_eq!(home.title_session(id, model(), "small").await.unwrap().as_deref(), Some("The parser"));
    }
    let resumed = |title: &str| {
        let model = ScriptedModel::new(Script::new().turn(|turn| turn.text("again")));
        query("more")
            .provider(model)
            .tools(coding_tools(world.work.path()))
            .persist(world.home())
            .resume(Resume::titled(title))
    };
    let Err(Error::AmbiguousTitle { sessions, .. }) = resumed("the parser").await else { panic!() };
    assert_eq!(sessions.len(), 2);
    home.rename_session(&second, "Poems").await.unwrap();
    assert_eq!(resumed("the pars").await.unwrap().session_id.as_str(), first);
    assert!(matches!(resumed("nothing").await, Err(Error::NoTitle { .. })));
    assert!(matches!(
        home.title_session(UNKNOWN, model(), "small").await,
        Err(Error::Open(OpenError::NotFound { .. }))
    ));
    assert_eq!(home.list().page().await.unwrap().sessions.len(), 2, "a title is asked for in no session");
}

#[tokio::test]
async fn the_next_session_removes_the_temporary_files_of_a_killed_one() {
    let world = World::new();
    let (work, lists) = (world.directory(), world.home.path().join("temporary"));
    let temporary = |number: u128| work.join(format!(".{number:032x}.tmp"));
    let leave_behind = |name: &str, listed: &Path| {
        std::fs::create_dir_all(&lists).unwrap();
        std::fs::write(lists.join(name), [listed.as_os_str().as_encoded_bytes(), b"\0"].concat()).unwrap();
    };
    for number in 1..=3 {
        std::fs::write(temporary(number), "cut").unwrap();
    }
    leave_behind("1.temporary", &temporary(1));
    world.simple("hi").await;
    assert!(!temporary(1).exists() && temporary(2).exists(), "it removes what is listed");
    leave_behind("2.temporary", &temporary(2));
    assert_eq!(world.home().remove_left_behind().await.unwrap(), 1);
    assert!(!temporary(2).exists() && temporary(3).exists());
    assert_eq!(std::fs::read_dir(&lists).unwrap().count(), 0);
}
