#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot be set up has failed")]

use super::*;
use crate::home::Home;
use crate::options::ModelOptions;
use crate::permissions::Permissions;
use crate::session_builder::SessionBuilder;
use crate::toolkit::Toolkit;
use crate::{coding_tools, session};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use tempfile::TempDir;
use windlass_project::{SettingSource, SettingSources};
use windlass_tool::DynTool;
use windlass_types::{PermissionMode, Thinking};

/// A directory with a home and a project in it.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        for directory in ["home/.windlass", "work/.claude"] {
            std::fs::create_dir_all(place.path(directory)).unwrap();
        }
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(name)
    }

    fn with(self, file: &str, settings: &Value) -> Self {
        std::fs::write(self.path(file), settings.to_string()).unwrap();
        self
    }

    fn project(&self) -> Project {
        Project::at(self.path("work")).environment([("HOME", self.path("home"))])
    }

    fn session(&self, project: Project) -> SessionBuilder {
        session().tools(coding_tools(self.path("work"))).project(project).resolve().unwrap()
    }
}

const SHARED: &str = "work/.claude/settings.json";
const OF_USER: &str = "home/.windlass/settings.json";

#[test]
fn what_the_program_says_counts_for_more_than_settings() {
    let said = json!({"model": "opus", "fallbackModel": "sonnet", "env": {"MAX_THINKING_TOKENS": "2000"},
        "permissions": {"defaultMode": "acceptEdits"}});
    let place = Place::new().with(OF_USER, &said);
    let options = place.session(place.project()).options().clone();
    assert_eq!((options.model(), options.model.fallback.as_deref()), (Some("opus"), Some("sonnet")));
    assert_eq!(options.permission_mode(), PermissionMode::AcceptEdits);
    assert_eq!(options.thinking(), Thinking::Budget(2_000));
    // Before and after the project is given.
    let builder = session().model("haiku").project(place.project()).model(ModelOptions::new().thinking(Thinking::Off));
    let builder = builder.permissions(Permissions::new().mode(PermissionMode::Plan)).resolve().unwrap();
    assert_eq!((builder.options().model(), builder.options().thinking()), (Some("haiku"), Thinking::Off));
    assert_eq!(builder.options().permission_mode(), PermissionMode::Plan);
    assert_eq!(builder.options().surroundings.cwd.as_deref(), Some(place.path("work").as_path()));
}

#[test]
fn what_a_file_forbids_counts_for_more_than_the_program() {
    let said = json!({"permissions": {"disableBypassPermissionsMode": "disable", "deny": ["Bash"]}});
    let place = Place::new().with(SHARED, &said);
    let project = place.project().load().unwrap();
    let permissions = Permissions::new().mode(PermissionMode::BypassPermissions).allow_bypass().allow(["Bash"]);
    let builder = session().project(project.clone()).permissions(permissions).resolve().unwrap();
    assert_eq!(builder.options().permission_mode(), PermissionMode::Default);
    assert!(builder.options().policy().unwrap().is_hidden("Bash"));
    let notices = project.take_notices();
    assert_eq!(notices.iter().map(|notice| notice.kind).collect::<Vec<_>>(), [ProjectNoticeKind::Mode]);
    assert!(notices[0].text.contains("settings.json"), "{notices:?}");
    assert_eq!(project.notices(), []);
}

#[test]
fn naming_sources_is_no_trust_unless_a_list_is_parsed() {
    let place = Place::new().with(SHARED, &json!({"permissions": {"allow": ["Bash"]}, "model": "opus"}));
    let shared = || [SettingSource::Project];
    for (project, counts) in [
        (place.project(), false),
        (place.project().sources(shared()), false),
        (place.project().sources("project".parse::<SettingSources>().unwrap()), true),
        (place.project().sources(shared()).trust(true), true),
        (place.project().sources([SettingSource::User, SettingSource::Local]).trust(true), false),
    ] {
        assert_eq!(place.session(project.clone()).options().model().is_some(), counts, "{project:?}");
    }
}

#[test]
fn without_an_environment_no_variable_is_read() {
    let place = Place::new().with(OF_USER, &json!({"model": "opus"}));
    let bare = Project::at(place.path("work"));
    assert_eq!(place.session(bare.clone()).options().model(), None);
    assert_eq!(bare.load().unwrap().variable("PATH"), None);
    let home = place.project().home(Home::new(place.path("elsewhere")));
    assert_eq!(home.load().unwrap().places().user[0], place.path("elsewhere"));
}

#[test]
fn files_that_might_forbid_something_keep_the_session_from_being_opened() {
    let hook = json!({"hooks": {"PreToolUse": [{"hooks": [{"type": "comand", "command": "check"}]}]}});
    for (file, said, part) in [
        (SHARED, json!({"permissions": {"deny": ["Bash("]}}), "Bash("),
        (SHARED, json!({"permissions": {"deny": "Bash"}}), "settings.json"),
        #[cfg(not(feature = "sandbox"))]
        (OF_USER, json!({"sandbox": {"enabled": true, "failIfUnavailable": true}}), "sandbox"),
        (OF_USER, hook.clone(), "check"),
        (OF_USER, json!({"agent": "missing"}), "missing"),
    ] {
        let place = Place::new().with(file, &said);
        let refused = session().project(place.project()).resolve().unwrap_err();
        assert!(matches!(refused, crate::Error::Project(_)) && refused.to_string().contains(part), "{refused}");
    }
    // A merely reviewed project does not circumvent this.
    let place = Place::new().with(OF_USER, &hook);
    let reviewed = place.project().review().unwrap();
    assert!(reviewed.notices()[0].text.contains("no session starts here"));
    assert!(session().project(reviewed).resolve().is_err());
}

#[test]
fn a_project_is_that_of_the_session() {
    let (place, other) = (Place::new(), tempfile::tempdir().unwrap());
    let refused = session().cwd(other.path()).project(place.project()).resolve().unwrap_err();
    assert!(refused.to_string().contains("give both the same directory"), "{refused}");
    let missing = Project::at(place.path("missing")).load().unwrap_err();
    assert!(matches!(missing, ProjectError::Directory { .. }), "{missing}");
}

#[test]
fn a_tool_of_the_program_keeps_its_place() {
    let place = Place::new().with(OF_USER, &json!({"env": {"BASH_DEFAULT_TIMEOUT_MS": "77000"}}));
    let bash = |builder: SessionBuilder| Arc::clone(&builder.options().tools().tools()[0]);
    let own: Arc<dyn DynTool> = Arc::new(windlass_builtin_tools::Bash::new());
    let tools = Toolkit::from(vec![Arc::clone(&own)]);
    let kept = session().cwd(place.path("work")).tools(tools).project(place.project()).resolve().unwrap();
    assert!(Arc::ptr_eq(&bash(kept), &own));
    let ours = coding_tools(place.path("work"));
    let before = Arc::clone(&ours.tools()[0]);
    let replaced = session().tools(ours).project(place.project()).resolve().unwrap();
    assert!(!Arc::ptr_eq(&bash(replaced), &before));
}

#[test]
fn settings_are_read_again_and_notices_given_once() {
    let place = Place::new().with(SHARED, &json!({"permissions": {"allow": ["Bash"]}}));
    let project = place.project().load().unwrap();
    assert_eq!(project.take_notices().len(), 1);
    let place = place.with(SHARED, &json!({"permissions": {"allow": ["Bash"], "deny": ["Write"]}}));
    let again = project.reread().unwrap();
    assert_eq!((project.resolved().permissions.rules.len(), again.resolved().permissions.rules.len()), (0, 1));
    assert_eq!(project.notices(), []);
    let place = place.with(SHARED, &json!({"permissions": {"allow": ["Edit"]}}));
    assert!(project.reread().is_ok() && project.take_notices()[0].text.contains("Edit"));
    drop(place);
}

#[tokio::test]
async fn a_project_is_let_go_of_when_its_session_has_ended() {
    let place = Place::new();
    let skill = place.path("work/.claude/skills/tidy/SKILL.md");
    std::fs::create_dir_all(skill.parent().unwrap()).unwrap();
    std::fs::write(skill, "---\ndescription: Tidies.\n---\nTidy up.").unwrap();
    let project = place.project().load().unwrap();
    let shared = Arc::downgrade(&project.shared);
    let model = crate::ScriptedModel::new(crate::Script::new().turn(|turn| turn.text("ok")));
    let session = session().provider(model).tools(coding_tools(place.path("work"))).project(project);
    let mut session = session.open().await.unwrap();
    assert_eq!(session.ask("go").await.unwrap().text, "ok");
    session.handle.close().await.unwrap();
    drop(session);
    let gone = async {
        while shared.upgrade().is_some() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(60), gone).await.expect("something holds the project");
}
