use super::*;
use crate::testing::Folder;
use crate::{Settings, SettingsRequest, load};
use windlass_permission::parse_rule;
use windlass_types::RuleValue;

fn add(behavior: Behavior, rules: &[&str], destination: UpdateDestination) -> PermissionUpdate {
    let rules = rules.iter().map(|rule| parse_rule(rule).unwrap().value()).collect();
    PermissionUpdate::AddRules { rules, behavior, destination }
}

const LOCAL: UpdateDestination = UpdateDestination::LocalSettings;

#[test]
fn the_rest_of_a_file_stays_as_it_is() {
    let text = "{\"z\":  [1,2 ],\n \"permissions\": {\"deny\":[ \"Bash(rm *)\" ],\"allow\":[\"Read\"],\"x\":1e3}, \"a\":\"\\u00e9\"}";
    let changed = updated(text, &add(Behavior::Allow, &["Bash(npm test *)", "Read"], LOCAL)).unwrap().unwrap();
    let expected = r#"{
  "z": [1,2 ],
  "permissions": {
    "deny": [ "Bash(rm *)" ],
    "allow": [
      "Read",
      "Bash(npm test *)"
    ],
    "x": 1e3
  },
  "a": "\u00e9"
}
"#;
    assert_eq!(changed, expected);
    // The same again changes nothing.
    assert_eq!(updated(&changed, &add(Behavior::Allow, &["Bash(npm test *)"], LOCAL)).unwrap(), None);
}

#[test]
fn every_kind_of_change() {
    let rules = |rules: &[&str]| rules.iter().map(|rule| parse_rule(rule).unwrap().value()).collect::<Vec<_>>();
    let (behavior, destination) = (Behavior::Allow, LOCAL);
    let start = r#"{"permissions":{"allow":["Task(x)","Bash(a:*)","Bash(\\(b\\))"],"deny":null}}"#;
    for (update, key, expected) in [
        (add(Behavior::Deny, &["Read(.env)"], LOCAL), "deny", r#"["Read(.env)"]"#),
        (add(Behavior::Ask, &["Bash"], LOCAL), "ask", r#"["Bash"]"#),
        (PermissionUpdate::ReplaceRules { rules: rules(&["Read"]), behavior, destination }, "allow", r#"["Read"]"#),
        (
            PermissionUpdate::RemoveRules { rules: rules(&["Agent(x)", r"Bash(\(b\))"]), behavior, destination },
            "allow",
            r#"["Bash(a:*)"]"#,
        ),
        (PermissionUpdate::SetMode { mode: PermissionMode::Plan, destination }, "defaultMode", r#""plan""#),
        (
            PermissionUpdate::AddDirectories { directories: vec!["/x".into()], destination },
            "additionalDirectories",
            r#"["/x"]"#,
        ),
    ] {
        let changed = updated(start, &update).unwrap().unwrap();
        let value: serde_json::Value = serde_json::from_str(&changed).unwrap();
        assert_eq!(value["permissions"][key].to_string(), expected, "{update:?}");
        assert!(updated(&changed, &update).unwrap().is_none());
    }
    let gone = PermissionUpdate::RemoveDirectories { directories: vec!["/x".into()], destination };
    assert!(updated("", &gone).unwrap().is_none());
    for broken in ["[]", "{", r#"{"permissions":{"deny":"x"}}"#, r#"{"a":1,"a":2}"#] {
        assert!(updated(broken, &add(behavior, &["Read"], LOCAL)).is_err(), "{broken}");
    }
}

struct Ground {
    root: Folder,
    places: Places,
}

fn ground() -> Ground {
    let root = Folder::new();
    root.make("work");
    root.make("home");
    let mut places = root.places("work");
    places.records = vec![root.path("home/.windlass/windlass-trust.json")];
    Ground { root, places }
}

impl Ground {
    fn updates(&self) -> SettingsUpdates {
        SettingsUpdates::new(self.places.clone(), SettingSources::default())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path(name)
    }

    fn write(&self, name: &str, text: &str) {
        self.root.write(name, text);
    }

    fn allowed(&self) -> Vec<String> {
        let resolved = load(&self.places, &SettingsRequest::new()).unwrap().resolve().unwrap();
        resolved
            .permissions
            .rules
            .into_iter()
            .filter(|set| set.behavior == Behavior::Allow)
            .flat_map(|set| set.rules)
            .collect()
    }
}

#[test]
fn a_change_goes_to_the_file_that_is_there() {
    use UpdateDestination::{CliArg, LocalSettings, ProjectSettings, Session, UserSettings};
    for (there, claude, destination, expected) in [
        (&[][..], false, LocalSettings, Some("work/.windlass/settings.local.json")),
        (&[], true, LocalSettings, Some("work/.claude/settings.local.json")),
        (&["work/.claude/settings.local.json"], false, LocalSettings, Some("work/.claude/settings.local.json")),
        (&["work/.claude/settings.json"], false, LocalSettings, Some("work/.windlass/settings.local.json")),
        (&["work/.claude/settings.json"], false, ProjectSettings, Some("work/.claude/settings.json")),
        (
            &["work/.claude/settings.json", "work/.windlass/settings.json"],
            true,
            ProjectSettings,
            Some("work/.windlass/settings.json"),
        ),
        (&[], true, UserSettings, Some("home/.windlass/settings.json")),
        (&["home/.claude/settings.json"], false, UserSettings, Some("home/.claude/settings.json")),
        (&[], false, Session, None),
        (&[], false, CliArg, None),
    ] {
        let ground = ground();
        for file in there {
            ground.write(file, "{}");
        }
        let updates = if claude { ground.updates().in_claude_folder() } else { ground.updates() };
        let kept = updates.keep(&add(Behavior::Allow, &["Bash(make)"], destination)).unwrap();
        assert_eq!(kept, expected.map(|name| ground.path(name)), "{there:?} {destination:?}");
        // Approved rules apply in the next session, though the project is not trusted.
        assert_eq!(ground.allowed().len(), usize::from(expected.is_some()), "{there:?} {destination:?}");
    }
}

#[test]
fn approval_is_for_what_was_approved() {
    let ground = ground();
    let updates = ground.updates();
    updates.keep(&add(Behavior::Allow, &["Bash(make)"], LOCAL)).unwrap();
    // Another program adds to the file, or the repository brings one.
    let file = ground.path("work/.windlass/settings.local.json");
    let text = std::fs::read_to_string(&file).unwrap().replace("\"Bash(make)\"", "\"Bash(make)\", \"Bash\"");
    std::fs::write(&file, text).unwrap();
    assert_eq!(ground.allowed(), ["Bash(make)"]);
    let rules = vec![RuleValue::new("Bash", "make")];
    updates.keep(&PermissionUpdate::RemoveRules { rules, behavior: Behavior::Allow, destination: LOCAL }).unwrap();
    assert!(ground.allowed().is_empty());
    std::fs::write(&file, r#"{"permissions":{"allow":["Bash(make)"]}}"#).unwrap();
    assert!(ground.allowed().is_empty(), "an approval that was taken back");
}

#[test]
fn trust_is_recorded_and_taken_back() {
    let ground = ground();
    ground.write("work/.claude/settings.json", r#"{"permissions":{"allow":["Bash(make)"]}}"#);
    let updates = ground.updates();
    updates.keep(&add(Behavior::Allow, &["Bash(ls)"], LOCAL)).unwrap();
    assert_eq!(ground.allowed(), ["Bash(ls)"]);
    let record = updates.record_trust(true).unwrap();
    assert_eq!(record, Some(ground.path("home/.windlass/windlass-trust.json")));
    assert_eq!(ground.allowed(), ["Bash(ls)", "Bash(make)"]);
    updates.record_trust(false).unwrap();
    assert_eq!(ground.allowed(), ["Bash(ls)"], "what was approved is not forgotten");
    ground.write("home/.windlass/windlass-trust.json", "{ broken");
    assert!(updates.record_trust(true).is_err());
    assert_eq!(std::fs::read_to_string(ground.path("home/.windlass/windlass-trust.json")).unwrap(), "{ broken");
}

#[test]
fn what_must_not_be_written_is_refused_and_changes_no_file() {
    let ground = ground();
    let updates = ground.updates();
    let bypass = PermissionUpdate::SetMode { mode: PermissionMode::BypassPermissions, destination: LOCAL };
    assert!(matches!(updates.keep(&bypass), Err(KeepError::Bypass)));
    let unusable = PermissionUpdate::AddRules {
        rules: vec![RuleValue::new("Ba sh", "x")],
        behavior: Behavior::Allow,
        destination: LOCAL,
    };
    assert!(matches!(updates.keep(&unusable), Err(KeepError::Update(_))));
    let relative = PermissionUpdate::AddDirectories { directories: vec!["../x".into()], destination: LOCAL };
    assert!(matches!(updates.keep(&relative), Err(KeepError::Update(_))));
    assert!(!ground.path("work/.windlass").exists());
    ground.write("work/.windlass/settings.local.json", "{ broken");
    assert!(matches!(updates.keep(&add(Behavior::Allow, &["Read"], LOCAL)), Err(KeepError::Settings(_))));
    assert_eq!(std::fs::read_to_string(ground.path("work/.windlass/settings.local.json")).unwrap(), "{ broken");

    let unread = SettingsUpdates::new(ground.places.clone(), "user".parse().unwrap());
    assert_eq!(unread.keep(&add(Behavior::Allow, &["Read"], LOCAL)).unwrap(), None);
}

#[test]
#[cfg(unix)]
fn links_of_a_project_are_not_followed() {
    use std::os::unix::fs::symlink;
    for (link, target) in [("work/.windlass", "home"), ("work/.windlass/settings.local.json", "home/x.json")] {
        let ground = ground();
        ground.write("home/x.json", "{}");
        std::fs::create_dir_all(ground.path(link).parent().unwrap()).unwrap();
        symlink(ground.path(target), ground.path(link)).unwrap();
        let kept = ground.updates().keep(&add(Behavior::Allow, &["Read"], LOCAL));
        assert!(matches!(kept, Err(KeepError::Link(_))), "{kept:?}");
        assert_eq!(std::fs::read_to_string(ground.path("home/x.json")).unwrap(), "{}");
    }
    // The user's own links lead where the user wants, and stay.
    let ground = ground();
    ground.write("home/dotfiles.json", "{}");
    std::fs::create_dir_all(ground.path("home/.windlass")).unwrap();
    symlink(ground.path("home/dotfiles.json"), ground.path("home/.windlass/settings.json")).unwrap();
    ground.updates().keep(&add(Behavior::Deny, &["Read(.env)"], UpdateDestination::UserSettings)).unwrap();
    assert!(std::fs::read_to_string(ground.path("home/dotfiles.json")).unwrap().contains("Read(.env)"));
    assert!(ground.path("home/.windlass/settings.json").symlink_metadata().unwrap().is_symlink());
}

#[test]
#[cfg(unix)]
fn a_file_keeps_its_mode_and_leaves_no_litter() {
    use std::os::unix::fs::PermissionsExt;
    let ground = ground();
    ground.write("work/.windlass/settings.local.json", "{}");
    let file = ground.path("work/.windlass/settings.local.json");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
    ground.updates().keep(&add(Behavior::Allow, &["Read"], LOCAL)).unwrap();
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    let record = ground.path("home/.windlass/windlass-trust.json");
    assert_eq!(record.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let names: Vec<_> =
        std::fs::read_dir(file.parent().unwrap()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["settings.local.json"]);
}

/// An editor, or another agent's program, takes none of our locks.
#[test]
fn a_change_by_another_program_is_not_written_over() {
    use std::io::Write as _;
    const ROUNDS: usize = 40;
    let ground = ground();
    let updates = ground.updates();
    let (file, _) = updates.target(LOCAL).unwrap();
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "{\"notes\": []}").unwrap();
    std::thread::scope(|scope| {
        let ours = scope.spawn(|| {
            for round in 0..ROUNDS {
                updates.keep(&add(Behavior::Allow, &[&format!("Bash(x{round})")], LOCAL)).unwrap();
            }
        });
        let theirs = scope.spawn(|| {
            let mut written = 0;
            while written < ROUNDS {
                let old = std::fs::read(&file).unwrap();
                let mut value: serde_json::Value = serde_json::from_slice(&old).unwrap();
                value["notes"].as_array_mut().unwrap().push(written.into());
                let mut new = AtomicFile::create(&file).unwrap();
                new.file().write_all(value.to_string().as_bytes()).unwrap();
                match new.replace_expected(Some(&old)) {
                    Err(error) => assert!(ContentChanged::is(&error), "{error}"),
                    Ok(()) => written += 1,
                }
            }
        });
        ours.join().unwrap();
        theirs.join().unwrap();
    });
    let value: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let count = |value: &serde_json::Value| value.as_array().unwrap().len();
    assert_eq!((count(&value["permissions"]["allow"]), count(&value["notes"])), (ROUNDS, ROUNDS));
    assert_eq!(std::fs::read_dir(file.parent().unwrap()).unwrap().count(), 1, "no litter");
}

#[test]
fn many_writers_lose_no_change() {
    let ground = ground();
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let updates = ground.updates();
            scope.spawn(move || {
                for number in 0..5 {
                    let rule = format!("Bash(make {writer}-{number})");
                    updates.keep(&add(Behavior::Allow, &[&rule], LOCAL)).unwrap();
                }
            });
        }
    });
    assert_eq!(ground.allowed().len(), 40);
}

mod any_file {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn texts() -> impl Strategy<Value = Vec<String>> {
        prop::collection::vec("Bash\\([a-z() *\\\\]{1,6}\\)", 0..3)
    }

    fn settings() -> impl Strategy<Value = Value> {
        (texts(), texts(), texts(), any::<Option<bool>>(), "\\PC{0,8}").prop_map(|(allow, ask, deny, flag, odd)| {
            json!({"permissions": {"allow": allow, "ask": ask, "deny": deny, "x": flag}, "other": [odd, 1.5e3], "env": {"A": odd}})
        })
    }

    fn update() -> impl Strategy<Value = PermissionUpdate> {
        let rule = "[a-z()*\\\\ ]{1,6}".prop_map(|content| RuleValue::new("Bash", content));
        let behavior = prop::sample::select(vec![Behavior::Allow, Behavior::Ask]);
        (prop::collection::vec(rule, 0..3), behavior, 0..5_u8).prop_map(|(rules, behavior, kind)| {
            let destination = LOCAL;
            match kind {
                0 => PermissionUpdate::AddRules { rules, behavior, destination },
                1 => PermissionUpdate::ReplaceRules { rules, behavior, destination },
                2 => PermissionUpdate::RemoveRules { rules, behavior, destination },
                3 => PermissionUpdate::AddDirectories { directories: vec!["/a\"b".into()], destination },
                _ => PermissionUpdate::SetMode { mode: PermissionMode::Plan, destination },
            }
        })
    }

    proptest! {
        #[test]
        fn keeps_what_a_change_does_not_name(settings in settings(), update in update(), pretty in any::<bool>()) {
            let text = if pretty { serde_json::to_string_pretty(&settings).unwrap() } else { settings.to_string() };
            let Some(changed) = updated(&text, &update).unwrap() else { return Ok(()) };
            Settings::parse(&changed).unwrap();
            let after: Value = serde_json::from_str(&changed).unwrap();
            for key in ["other", "env"] {
                prop_assert_eq!(&after[key], &settings[key]);
            }
            for key in ["deny", "x"] {
                prop_assert_eq!(&after["permissions"][key], &settings["permissions"][key]);
            }
            prop_assert_eq!(updated(&changed, &update).unwrap(), None, "the same again changes nothing");
        }
    }
}
