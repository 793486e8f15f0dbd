//! Settings that change while a session is open.

use serde_json::json;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use tempfile::TempDir;
use windlass::hook::ConfigAction;
use windlass::{
    EventKind, Permissions, Project, RunResult, Script, ScriptedModel, coding_tools, event::Status, hook_fn, query,
    session, session::Session, tool_fn,
};

struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        for folder in ["work", "home/.windlass"] {
            std::fs::create_dir_all(place.0.path().join(folder)).unwrap();
        }
        std::fs::write(place.path("work/read.txt"), "text").unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(name)
    }

    /// Writes the user's settings.
    fn settings(&self, text: &str) {
        std::fs::write(self.path("home/.windlass/settings.json"), text).unwrap();
    }

    fn project(&self) -> Project {
        let path = std::env::var_os("PATH").unwrap_or_default();
        Project::at(self.path("work")).environment([("HOME", self.path("home").into_os_string()), ("PATH", path)])
    }
}

const ALLOWED: &str = r#"{"permissions":{"allow":["Bash(touch *)"]}}"#;
const DENIED: &str = r#"{"permissions":{"allow":["Bash(touch *)"],"deny":["Bash(touch *)"]}}"#;

/// A model that touches a file with each prompt.
fn touching(prompts: usize) -> ScriptedModel {
    let one = |script: Script, _| {
        script.turn(|turn| turn.tool_use("Bash", json!({"command": "touch made"}))).turn(|turn| turn.text("Done."))
    };
    ScriptedModel::new((0..prompts).fold(Script::new(), one))
}

/// The result of a prompt, and the notices on the way.
async fn asked(session: &mut Session) -> (RunResult, Vec<String>) {
    session.handle.prompt("Go.").unwrap();
    let mut notices = Vec::new();
    loop {
        match session.events.try_next().await.unwrap().unwrap().kind.clone() {
            EventKind::Status(Status::Notice { message }) => notices.push(message),
            EventKind::RunFinished(result) => return (result, notices),
            _ => {}
        }
    }
}

#[tokio::test]
async fn changed_settings_count_from_the_next_prompt_and_a_broken_file_lifts_no_denial() {
    let place = Place::new();
    place.settings(ALLOWED);
    let project = place.project().load().unwrap();
    let builder = session().provider(touching(6)).tools(coding_tools(place.path("work"))).project(project.clone());
    let mut session = builder.permissions(Permissions::new()).open().await.unwrap();
    for (text, denied, said) in [
        (ALLOWED, 0, ""),
        (DENIED, 1, ""),
        ("{", 1, "until it is mended"),
        (r#"{"permissions":{"deny":"Bash"}}"#, 1, "`permissions.deny` must be a list of texts"),
        (r#"{"permissions":{"allow":["Bash(touch *)"]},"model":"other"}"#, 0, "count from now on: model"),
        ("{}", 1, "opened from now on: model"),
    ] {
        place.settings(text);
        project.refresh(&session.handle).await.unwrap();
        let (result, notices) = asked(&mut session).await;
        assert_eq!(result.permission_denials.len(), denied, "{text}: {notices:?}");
        let all = notices.join("\n");
        assert!(all.contains(said) && (said.is_empty() == all.is_empty()), "{text}: {all:?}");
    }
    session.handle.close().await.unwrap();
}

/// Within a run: after a call that uses a file, the next calls are judged by the files as they are.
#[tokio::test]
async fn changed_settings_count_within_a_run() {
    let place = Place::new();
    place.settings(ALLOWED);
    let file = place.path("home/.windlass/settings.json");
    let tighten = tool_fn("tighten", "Denies.", move |_: std::collections::BTreeMap<String, String>, _| {
        let file = file.clone();
        async move {
            std::fs::write(file, DENIED).unwrap();
            Ok("done")
        }
    });
    let script = Script::new()
        .turn(|turn| turn.tool_use("Bash", json!({"command": "touch one"})))
        .turn(|turn| turn.tool_use("tighten", json!({})))
        .turn(|turn| turn.tool_use("Read", json!({"file_path": "read.txt"})))
        .turn(|turn| turn.tool_use("Bash", json!({"command": "touch two"})))
        .turn(|turn| turn.text("Done."));
    let result = query("Go.")
        .provider(ScriptedModel::new(script))
        .tools(coding_tools(place.path("work")))
        .tools(tighten)
        .permissions(Permissions::new().allow(["tighten"]))
        .project(place.project())
        .await
        .unwrap();
    assert_eq!(result.permission_denials.len(), 1, "{result:?}");
    assert!(place.path("work/one").exists() && !place.path("work/two").exists());
}

/// Directories and the mode without questions follow, too.
#[tokio::test]
async fn directories_and_a_forbidden_mode_follow() {
    let place = Place::new();
    std::fs::create_dir(place.path("more")).unwrap();
    std::fs::write(place.path("more/a.txt"), "text").unwrap();
    let read = json!({"file_path": place.path("more/a.txt")});
    let one = |script: Script, _| {
        let read = read.clone();
        script.turn(move |turn| turn.tool_use("Read", read)).turn(|turn| turn.text("Done."))
    };
    let project = place.project().load().unwrap();
    let builder = session().provider(ScriptedModel::new((0..3).fold(Script::new(), one)));
    let mut session = builder.tools(coding_tools(place.path("work"))).project(project.clone()).open().await.unwrap();
    let adding = json!({"permissions": {"additionalDirectories": [place.path("more")]}}).to_string();
    for (text, denied) in [("{}", 1), (adding.as_str(), 0), ("{}", 1)] {
        place.settings(text);
        project.refresh(&session.handle).await.unwrap();
        assert_eq!(asked(&mut session).await.0.permission_denials.len(), denied, "{text}");
    }
    session.handle.close().await.unwrap();
}

#[tokio::test]
async fn a_hook_can_block_changed_settings() {
    let place = Place::new();
    place.settings(ALLOWED);
    let project = place.project().load().unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let asked_about = Arc::clone(&seen);
    let guard = hook_fn("guard").on_config_change(move |change| {
        let seen = Arc::clone(&asked_about);
        async move {
            let text = std::fs::read_to_string(change.file_path.unwrap()).unwrap();
            seen.lock().unwrap().push(change.source);
            Ok(match text.contains("Bash(*)") {
                true => ConfigAction::Block { reason: "Too wide.".to_owned() },
                false => ConfigAction::Continue,
            })
        }
    });
    let one = |script: Script, _| {
        script.turn(|turn| turn.tool_use("Bash", json!({"command": "sh made"}))).turn(|turn| turn.text("Done."))
    };
    let builder = session().provider(ScriptedModel::new((0..2).fold(Script::new(), one))).hook(guard);
    let builder = builder.tools(coding_tools(place.path("work"))).project(project.clone());
    let mut session = builder.permissions(Permissions::new()).open().await.unwrap();
    for (text, denied, said) in [
        (r#"{"permissions":{"allow":["Bash(*)"]}}"#, 1, "the hook \"guard\" says: Too wide."),
        (r#"{"permissions":{"allow":["Bash(sh *)"]}}"#, 0, ""),
    ] {
        place.settings(text);
        project.refresh(&session.handle).await.unwrap();
        project.refresh(&session.handle).await.unwrap();
        let (result, notices) = asked(&mut session).await;
        assert_eq!(result.permission_denials.len(), denied, "{text}");
        assert_eq!(notices.iter().any(|notice| notice.contains("says")), !said.is_empty(), "{notices:?}");
        assert!(said.is_empty() || notices.iter().any(|notice| notice.contains(said)), "{notices:?}");
    }
    assert_eq!(*seen.lock().unwrap(), ["user_settings", "user_settings"], "once about each change");
    session.handle.close().await.unwrap();
}

#[tokio::test]
async fn model_effort_and_variables_follow() {
    let place = Place::new();
    let settings = |model: &str, effort: &str, colour: &str| {
        let said = json!({"permissions": {"allow": ["Bash"]}, "model": model, "effortLevel": effort, "env": {"COLOUR": colour}});
        place.settings(&said.to_string());
    };
    settings("first", "low", "red");
    let project = place.project().load().unwrap();
    let turn = |script: Script, _| {
        let call = json!({"command": "printf %s \"$COLOUR\" > made"});
        script.turn(|turn| turn.tool_use("Bash", call)).turn(|turn| turn.text("Done."))
    };
    let model = ScriptedModel::new((0..3).fold(Script::new(), turn));
    let builder = session().provider(model.clone()).tools(coding_tools(place.path("work"))).project(project.clone());
    let mut session = builder.open().await.unwrap();
    let made = || std::fs::read_to_string(place.path("work/made")).unwrap();
    let _ = asked(&mut session).await;
    assert_eq!(made(), "red");

    settings("second", "high", "blue");
    project.refresh(&session.handle).await.unwrap();
    let notices = asked(&mut session).await.1.join("\n");
    assert_eq!(made(), "blue");
    assert!(notices.contains("count from now on: model, effortLevel, env (for programs)"), "{notices}");
    let requests = model.requests();
    let asked_for: Vec<String> = requests.iter().map(|request| request.model.to_string()).collect();
    assert_eq!(asked_for, ["first", "first", "second", "second"]);

    // A variable that settings no longer name gets the program's value: none.
    place.settings(r#"{"permissions":{"allow":["Bash"]}}"#);
    project.refresh(&session.handle).await.unwrap();
    let _ = asked(&mut session).await;
    assert_eq!(made(), "");
    session.handle.close().await.unwrap();
}

#[tokio::test]
async fn what_the_program_says_of_the_model_does_not_follow() {
    let place = Place::new();
    place.settings(r#"{"model":"first"}"#);
    let project = place.project().load().unwrap();
    let model = ScriptedModel::new(Script::new().turn(|turn| turn.text("Done.")));
    let builder = session().provider(model.clone()).model("own").project(project.clone());
    let mut session = builder.open().await.unwrap();
    place.settings(r#"{"model":"second"}"#);
    project.refresh(&session.handle).await.unwrap();
    let notices = asked(&mut session).await.1.join("\n");
    assert!(notices.contains("opened from now on: model"), "{notices}");
    assert_eq!(model.requests()[0].model.to_string(), "own");
    session.handle.close().await.unwrap();
}
