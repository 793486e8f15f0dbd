//! Settings files on real disks, also damaged and hostile ones.

use std::path::{Path, PathBuf};
use tempfile::TempDir;
use windlass_project::{
    Layer, Loaded, Places, Resolved, SettingSources, SettingsError, SettingsRequest, SettingsUpdates, load,
};
use windlass_types::{Behavior, RuleSource};

struct Ground {
    root: TempDir,
    places: Places,
}

impl Ground {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let base = root.path().canonicalize().unwrap();
        std::fs::create_dir_all(base.join("work/.git")).unwrap();
        std::fs::create_dir_all(base.join("work/sub")).unwrap();
        let mut places = Places::new(base.join("work/sub"));
        places.managed = vec![base.join("etc/windlass.json"), base.join("etc/other.json")];
        places.user = vec![base.join("home/.windlass"), base.join("home/.claude")];
        places.user_home = Some(base.join("home"));
        places.records = vec![base.join("home/.windlass/record.json")];
        places.claude_json = vec![base.join("home/.claude.json")];
        Self { root, places }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(name)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) -> &Self {
        std::fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        std::fs::write(self.path(name), text).unwrap();
        self
    }

    fn load(&self, request: &SettingsRequest) -> Result<Loaded, SettingsError> {
        load(&self.places, request)
    }

    fn resolved(&self) -> Resolved {
        self.load(&SettingsRequest::new()).unwrap().resolve().unwrap()
    }
}

/// All files that can be there, the strongest first, with their source and where their patterns start.
const FILES: [(&str, RuleSource, &str); 12] = [
    ("etc/windlass.json", RuleSource::PolicySettings, "work/sub"),
    ("etc/other.json", RuleSource::PolicySettings, "work/sub"),
    ("work/sub/.windlass/settings.local.json", RuleSource::LocalSettings, "work/sub"),
    ("work/sub/.claude/settings.local.json", RuleSource::LocalSettings, "work/sub"),
    ("work/.windlass/settings.local.json", RuleSource::LocalSettings, "work"),
    ("work/.claude/settings.local.json", RuleSource::LocalSettings, "work"),
    ("work/sub/.windlass/settings.json", RuleSource::ProjectSettings, "work/sub"),
    ("work/sub/.claude/settings.json", RuleSource::ProjectSettings, "work/sub"),
    ("work/.windlass/settings.json", RuleSource::ProjectSettings, "work"),
    ("work/.claude/settings.json", RuleSource::ProjectSettings, "work"),
    ("home/.windlass/settings.json", RuleSource::UserSettings, "home/.windlass"),
    ("home/.claude/settings.json", RuleSource::UserSettings, "home/.claude"),
];

#[test]
fn every_file_has_its_rank_source_and_anchor() {
    let ground = Ground::new();
    for (at, (file, ..)) in FILES.iter().enumerate() {
        ground.write(file, format!(r#"{{"model":"m{at}","permissions":{{"deny":["Read(/x{at})"]}}}}"#));
    }
    let resolved = ground.resolved();
    let found: Vec<_> =
        resolved.permissions.rules.iter().map(|set| (set.rules[0].clone(), set.source, set.anchor.clone())).collect();
    let expected = FILES.iter().enumerate();
    let expected: Vec<_> =
        expected.map(|(at, (_, source, anchor))| (format!("Read(/x{at})"), *source, ground.path(anchor))).collect();
    assert_eq!(found, expected);
    // Each is the strongest when those before it are gone; those of the project only with trust.
    let trusting = SettingsRequest::new().trust(true);
    for (at, (file, ..)) in FILES.iter().enumerate() {
        let model = ground.load(&trusting).unwrap().resolve().unwrap().models.model.unwrap();
        assert_eq!(
            (model.value, model.origin.to_string()),
            (format!("m{at}"), ground.path(file).display().to_string())
        );
        std::fs::remove_file(ground.path(file)).unwrap();
    }
    assert!(ground.resolved().permissions.rules.is_empty());
}

#[test]
fn flags_are_text_or_a_file() {
    let ground = Ground::new();
    ground.write("work/sub/mine.json", r#"{"permissions":{"allow":["Edit(/a)"]}}"#);
    ground.write("work/b/mine.json", "\u{feff}{\"permissions\":{\"allow\":[\"Edit(/a)\"]}}");
    for (given, anchor) in [
        (r#" {"permissions":{"allow":["Edit(/a)"]}}"#.to_owned(), "work/sub"),
        ("mine.json".to_owned(), "work/sub"),
        ("../b/mine.json".to_owned(), "work/b"),
        (ground.path("work/b/mine.json").display().to_string(), "work/b"),
    ] {
        let loaded = ground.load(&SettingsRequest::new().flags(Some(given.clone()))).unwrap();
        let set = &loaded.resolve().unwrap().permissions.rules[0];
        assert_eq!((set.source, &set.anchor), (RuleSource::FlagSettings, &ground.path(anchor)), "{given}");
    }
    for missing in ["not-there.json", "[]", "x", "{", "work"] {
        let error = ground.load(&SettingsRequest::new().flags(Some(missing.to_owned()))).unwrap_err();
        assert!(!error.to_string().is_empty(), "{missing}");
    }
    assert!(ground.load(&SettingsRequest::new().flags(Some(" ".to_owned()))).unwrap().files.is_empty());
}

#[test]
fn a_file_that_cannot_be_read_is_an_error_wherever_it_is() {
    type Damage<'a> = (&'a str, &'a dyn Fn(&Path));
    let damage: [Damage<'_>; 5] = [
        ("broken", &|path| std::fs::write(path, "{\"permissions\":").unwrap()),
        ("big", &|path| std::fs::write(path, format!("{{}}{}", " ".repeat(1024 * 1024))).unwrap()),
        ("binary", &|path| std::fs::write(path, [0xff, 0xfe, b'{', b'}']).unwrap()),
        ("directory", &|path| std::fs::create_dir(path).unwrap()),
        ("rule", &|path| std::fs::write(path, r#"{"permissions":{"ask":["Read(x"]}}"#).unwrap()),
    ];
    for (file, ..) in FILES {
        for (what, damage) in damage {
            let ground = Ground::new();
            std::fs::create_dir_all(ground.path(file).parent().unwrap()).unwrap();
            damage(&ground.path(file));
            let refused = ground.load(&SettingsRequest::new()).and_then(|loaded| loaded.resolve());
            let text = refused.unwrap_err().to_string();
            assert!(text.contains(ground.path(file).to_str().unwrap()), "{what} {file}: {text}");
        }
    }
}

#[test]
#[cfg(unix)]
fn special_files_do_not_hang_and_dangling_links_are_not_overlooked() {
    use std::os::unix::fs::symlink;
    for file in ["work/sub/.claude/settings.json", "home/.claude/settings.json"] {
        let ground = Ground::new();
        std::fs::create_dir_all(ground.path(file).parent().unwrap()).unwrap();
        let made = std::process::Command::new("mkfifo").arg(ground.path(file)).status().unwrap();
        assert!(made.success());
        assert!(matches!(ground.load(&SettingsRequest::new()), Err(SettingsError::Unreadable { .. })));
        std::fs::remove_file(ground.path(file)).unwrap();
        symlink(ground.path("nowhere"), ground.path(file)).unwrap();
        assert!(matches!(ground.load(&SettingsRequest::new()), Err(SettingsError::Unreadable { .. })));
        // A link to a file is as good as the file.
        ground.write("nowhere", r#"{"permissions":{"deny":["Bash"]}}"#);
        assert_eq!(ground.resolved().permissions.rules.len(), 1);
    }
}

#[test]
fn what_the_user_names_is_relative_to_the_file_or_the_home() {
    let ground = Ground::new();
    ground.write("home/.claude/settings.json", r#"{"permissions":{"additionalDirectories":["~/notes","/abs","rel"]}}"#);
    let found: Vec<PathBuf> =
        ground.resolved().permissions.additional_directories.into_iter().map(|found| found.value).collect();
    assert_eq!(found, [ground.path("home/notes"), PathBuf::from("/abs"), ground.path("home/.claude/rel")]);
}

#[test]
#[cfg(unix)]
fn a_link_in_the_project_takes_nothing_in_from_outside() {
    let ground = Ground::new();
    std::fs::create_dir_all(ground.path("work/docs")).unwrap();
    std::os::unix::fs::symlink("/etc", ground.path("work/linked")).unwrap();
    let text = r#"{"permissions":{"additionalDirectories":["docs","linked","../.."]}}"#;
    ground.write("work/.claude/settings.json", text);
    let resolved = ground.load(&SettingsRequest::new().trust(true)).unwrap().resolve().unwrap();
    let found: Vec<PathBuf> =
        resolved.permissions.additional_directories.into_iter().map(|found| found.value).collect();
    assert_eq!(found, [ground.path("work/docs")]);
    assert!(resolved.notes.iter().any(|note| note.text.contains("outside")));
}

#[test]
fn only_sources_that_are_read_can_break() {
    let ground = Ground::new();
    ground.write("work/.claude/settings.json", "{").write("home/.claude/settings.json", "{");
    for (sources, fine) in [("", true), ("local", true), ("user", false), ("project", false)] {
        let request = SettingsRequest::new().sources(sources.parse().unwrap());
        assert_eq!(ground.load(&request).is_ok(), fine, "{sources}");
    }
    ground.write("etc/windlass.json", "{");
    assert!(
        ground.load(&SettingsRequest::new().sources("".parse().unwrap())).is_err(),
        "the administrator always counts"
    );
}

#[test]
fn records_of_trust_are_read_and_grant_nothing_when_broken() {
    let ground = Ground::new();
    ground.write("work/.claude/settings.json", r#"{"permissions":{"allow":["Bash"]}}"#);
    let allows = || ground.resolved().permissions.rules.iter().any(|set| set.behavior == Behavior::Allow);
    assert!(!allows());
    for record in ["home/.claude.json", "home/.windlass/record.json"] {
        for (path, counts) in [("work", true), ("work/sub", false), ("", false), ("home", false)] {
            let path = ground.path(path);
            let known = serde_json::json!({"projects": {path.to_str().unwrap().trim_end_matches('/'): {"hasTrustDialogAccepted": true, "trusted": true}}});
            ground.write(record, known.to_string());
            assert!(!allows(), "it does not say what it covers");
            SettingsUpdates::new(ground.places.clone(), SettingSources::default()).pin_trust().unwrap();
            assert_eq!(allows(), counts, "{record} {}", path.display());
        }
        ground.write(record, "{");
        assert!(!allows());
        assert!(ground.resolved().notes.iter().any(|note| note.text.contains("record of trust")));
        for record in ["home/.claude.json", "home/.windlass/record.json"] {
            drop(std::fs::remove_file(ground.path(record)));
        }
    }
    assert_eq!(ground.load(&SettingsRequest::new()).unwrap().files[0].layer, Layer::Project);
}
