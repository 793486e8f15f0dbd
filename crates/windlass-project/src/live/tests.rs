use super::*;
use crate::resolve;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use windlass_permission::{Policy, PolicyConfig, SettingsRules, SourceRules};
use windlass_types::Behavior;

/// The tools that rules of the tests deny.
const TOOLS: [&str; 3] = ["Alpha", "Beta", "Gamma"];
const FILES: [&str; 5] = [
    "etc/managed-settings.json",
    "etc/managed-settings.d/10-first.json",
    "work/.claude/settings.json",
    "work/.claude/settings.local.json",
    "home/settings.json",
];

/// Change of a settings file.
#[derive(Debug, Clone)]
enum Edit {
    Denies(Vec<usize>),
    Broken(&'static str),
    Gone,
}

fn edits() -> impl Strategy<Value = Vec<(usize, Edit)>> {
    let broken = prop_oneof![
        Just(""),
        Just("{"),
        Just("[]"),
        Just(r#"{"permissions":{"deny":["Alpha("]}}"#),
        Just(r#"{"permissions":{"deny":"Alpha"}}"#),
        Just(r#"{"permissions":{"denyInsteadOfPrompting":true}}"#),
        Just("{\"permissions\":{},\"permissions\":{}}"),
    ];
    let edit = prop_oneof![
        4 => proptest::collection::vec(0..TOOLS.len(), 0..3).prop_map(Edit::Denies),
        3 => broken.prop_map(Edit::Broken),
        1 => Just(Edit::Gone),
    ];
    proptest::collection::vec((0..FILES.len(), edit), 1..12)
}

fn places(root: &Path) -> Places {
    let mut places = Places::new(root.join("work"));
    places.managed = vec![root.join("etc/managed-settings.json")];
    places.user = vec![root.join("home")];
    places
}

fn rules(resolved: &Resolved) -> SettingsRules {
    let mut said = SettingsRules::default();
    for set in &resolved.permissions.rules {
        said.rules.push(SourceRules::new(set.source, set.behavior, set.rules.clone(), set.anchor.clone()));
    }
    said
}

fn denied(resolved: &Resolved) -> BTreeSet<String> {
    let sets = resolved.permissions.rules.iter().filter(|set| set.behavior == Behavior::Deny);
    sets.flat_map(|set| set.rules.clone()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// The rule: each file applies as it was last readable; a removed file does not apply.
    #[test]
    fn what_a_file_denied_stays_denied_until_it_can_be_read_again(edits in edits()) {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().canonicalize().unwrap();
        for file in FILES {
            fs::create_dir_all(path.join(file).parent().unwrap()).unwrap();
        }
        let (places, request) = (places(&path), SettingsRequest::new());
        let (mut live, _) = LiveSettings::load(&places, &request).unwrap();
        let mut policy = Policy::new(PolicyConfig::new(path.join("work")));
        let mut model: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (file, edit) in edits {
            let written = path.join(FILES[file]);
            let is_broken = matches!(edit, Edit::Broken(_));
            match edit {
                Edit::Denies(tools) => {
                    let names: Vec<&str> = tools.iter().map(|tool| TOOLS[*tool]).collect();
                    fs::write(&written, serde_json::json!({"permissions": {"deny": names}}).to_string()).unwrap();
                    model.insert(file, tools);
                }
                Edit::Broken(text) => fs::write(&written, text).unwrap(),
                Edit::Gone => {
                    let _ = fs::remove_file(&written);
                    model.remove(&file);
                }
            }
            if let Some(news) = taken(&mut live, &places, &request) {
                prop_assert!(!is_broken || !news.kept.is_empty());
                policy.renew_settings(&rules(&news.before), &rules(&news.now)).unwrap();
            }
            let expected: BTreeSet<String> =
                model.values().flatten().map(|tool| TOOLS[*tool].to_owned()).collect();
            prop_assert_eq!(&denied(live.resolved()), &expected);
            for tool in TOOLS {
                prop_assert_eq!(policy.is_hidden(tool), expected.contains(tool), "{}", tool);
            }
            prop_assert!(live.look(&places, &request).is_none(), "no file has changed since");
        }
    }
}

#[test]
fn the_changed_files_are_named() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().canonicalize().unwrap();
    fs::create_dir_all(path.join("work/.claude")).unwrap();
    let (places, request) = (places(&path), SettingsRequest::new());
    let (mut live, _) = LiveSettings::load(&places, &request).unwrap();
    assert!(live.look(&places, &request).is_none());
    let file = path.join("work/.claude/settings.json");
    fs::write(&file, r#"{"permissions":{"deny":["Read(.env)"],"allow":["Bash"]}}"#).unwrap();
    let news = taken(&mut live, &places, &request).unwrap();
    assert_eq!(news.changed, [(Layer::Project, Origin::File(file.clone()))]);
    assert_eq!(denied(&news.now), BTreeSet::from(["Read(.env)".to_owned()]));
    assert!(news.now.notes[0].to_string().contains("without trust"), "what it allows needs trust, as at the start");
    fs::write(&file, "{").unwrap();
    let news = taken(&mut live, &places, &request).unwrap();
    assert!(news.changed.is_empty() && news.kept[0].to_string().contains("settings.json"), "{news:?}");
    fs::remove_file(&file).unwrap();
    assert_eq!(taken(&mut live, &places, &request).unwrap().changed.len(), 1);
    assert!(resolve(&live.files).unwrap().permissions.rules.is_empty());
}

#[test]
fn files_that_are_dropped_in_count_in_the_order_of_their_names() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("etc/managed-settings.d");
    fs::create_dir_all(&folder).unwrap();
    for (name, text) in [
        ("20-b.json", r#"{"model":"b","env":{"A":"b"},"permissions":{"deny":["Beta"]}}"#),
        ("10-a.json", r#"{"model":"a","env":{"A":"a","B":"a"},"permissions":{"deny":["Alpha"]}}"#),
        (".30-hidden.json", "{"),
        ("40-note.txt", "{"),
    ] {
        fs::write(folder.join(name), text).unwrap();
    }
    fs::write(root.path().join("etc/managed-settings.json"), r#"{"model":"base","permissions":{"deny":["Gamma"]}}"#)
        .unwrap();
    let places = places(root.path());
    let (live, _) = LiveSettings::load(&places, &SettingsRequest::new()).unwrap();
    let resolved = live.resolved();
    assert_eq!(resolved.models.model.as_ref().unwrap().value, "b");
    assert_eq!((resolved.env.programs["A"].value.as_str(), resolved.env.programs["B"].value.as_str()), ("b", "a"));
    assert_eq!(denied(resolved).len(), 3);
    fs::write(folder.join("30-c.json"), "{").unwrap();
    let problem = LiveSettings::load(&places, &SettingsRequest::new()).unwrap_err().to_string();
    assert!(problem.contains("30-c.json"), "{problem}");
}

/// Managed settings of a host apply in full if the administrator has none, and otherwise only restrict.
#[test]
fn a_host_can_only_tighten_what_the_administrator_manages() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().canonicalize().unwrap();
    fs::create_dir_all(path.join("etc")).unwrap();
    let places = places(&path);
    let given = r#"{"permissions":{"allow":["Bash"],"deny":["Alpha"],"defaultMode":"bypassPermissions"},"model":"m","disableAllHooks":true}"#;
    let request = SettingsRequest::new().managed(Some(given.to_owned()));
    let (live, _) = LiveSettings::load(&places, &request).unwrap();
    assert!(live.resolved().models.model.is_some() && live.resolved().permissions.rules.len() == 2);
    fs::write(path.join("etc/managed-settings.json"), r#"{"permissions":{"deny":["Beta"]}}"#).unwrap();
    let (live, loaded) = LiveSettings::load(&places, &request).unwrap();
    let resolved = live.resolved();
    assert!(resolved.models.model.is_none() && resolved.permissions.default_mode.is_none());
    assert_eq!(denied(resolved), BTreeSet::from(["Alpha".to_owned(), "Beta".to_owned()]));
    assert_eq!(resolved.permissions.rules.len(), 2);
    assert!(loaded.notes[0].to_string().starts_with("--managed-settings: this machine has managed settings"));
    let broken = SettingsRequest::new().managed(Some("{".to_owned()));
    assert!(LiveSettings::load(&places, &broken).is_err(), "what cannot be read might have denied something");
}

fn taken(live: &mut LiveSettings, places: &Places, request: &SettingsRequest) -> Option<SettingsNews> {
    let news = live.look(places, request)?;
    Some(live.take(news, &[]))
}

#[test]
fn a_change_that_is_refused_counts_once_the_file_changes_again() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().canonicalize().unwrap();
    for folder in ["work/.claude", "home"] {
        fs::create_dir_all(path.join(folder)).unwrap();
    }
    let (places, request) = (places(&path), SettingsRequest::new());
    let write = |file: &str, tool: &str| {
        fs::write(path.join(file), format!(r#"{{"permissions":{{"deny":["{tool}"]}}}}"#)).unwrap();
    };
    let names = |tools: &[&str]| -> BTreeSet<String> { tools.iter().map(|tool| (*tool).to_owned()).collect() };
    let (project, user) = ("work/.claude/settings.json", "home/settings.json");
    write(project, "Bash");
    write(user, "Edit");
    let (mut live, _) = LiveSettings::load(&places, &request).unwrap();
    let news = |live: &LiveSettings| live.look(&places, &request).unwrap();
    write(project, "WebFetch");
    write(user, "Write");
    assert_eq!(denied(live.resolved()), names(&["Bash", "Edit"]), "nothing counts before it is taken over");
    let both = news(&live);
    assert_eq!(denied(&live.take(both, &[Layer::Project]).now), names(&["Bash", "Write"]));
    assert!(live.look(&places, &request).is_none(), "it is not asked about again");
    fs::remove_file(path.join(project)).unwrap();
    let gone = news(&live);
    assert_eq!(denied(&live.take(gone, &[Layer::Project]).now), names(&["Bash", "Write"]), "it is as if it were there");
    write(project, "NotebookEdit");
    let back = news(&live);
    assert_eq!(denied(&live.take(back, &[]).now), names(&["NotebookEdit", "Write"]));
}
