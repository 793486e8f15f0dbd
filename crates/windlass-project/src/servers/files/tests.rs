use super::*;
use crate::load::load;
use crate::servers::Servers;
use std::fs;
use tempfile::TempDir;

struct World {
    root: TempDir,
    places: Places,
}

impl World {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().canonicalize().unwrap();
        for directory in ["home", "w/.git"] {
            fs::create_dir_all(path.join(directory)).unwrap();
        }
        let mut places = Places::new(path.join("w"));
        places.claude_json = vec![path.join("home/.claude.json")];
        places.records = vec![path.join("home/windlass-trust.json")];
        Self { root, places }
    }

    fn write(&self, name: &str, text: &str) -> &Self {
        fs::write(self.root.path().join(name), text).unwrap();
        self
    }

    /// Returns the servers in use, and those left out.
    fn servers(&self, files: &ServerFiles, request: &SettingsRequest) -> (Vec<String>, Vec<String>) {
        let resolved = load(&self.places, request).unwrap().resolve().unwrap();
        let Servers { servers, left_out, .. } = files.servers(&self.places, request, &resolved);
        let left_out = left_out.into_iter().map(|left| left.server.name).collect();
        (servers.into_iter().map(|server| server.name).collect(), left_out)
    }
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn entries(names: &[&str]) -> String {
    let entries: Vec<String> = names.iter().map(|name| format!(r#""{name}":{{"command":"{name}"}}"#)).collect();
    format!(r#"{{"mcpServers":{{{}}}}}"#, entries.join(","))
}

#[test]
fn a_file_that_cannot_be_used_counts_as_it_did_and_is_noted_until_it_is_gone() {
    for (file, broken) in [
        ("w/.mcp.json", "{"),
        ("w/.mcp.json", r#"{"mcpServers":7}"#),
        ("home/.claude.json", ""),
        ("home/.claude.json", r#"{"mcpServers":[]}"#),
    ] {
        let (world, request) = (World::new(), SettingsRequest::new().trust(true));
        world.write(file, &entries(&["one", "two"]));
        let files = ServerFiles::read(&world.places, &request);
        assert_eq!(world.servers(&files, &request).0, ["one", "two"], "{file}");
        assert!(files.look(&world.places, &request).is_none(), "nothing has changed");

        world.write(file, broken);
        let kept = files.look(&world.places, &request).unwrap();
        assert_eq!(world.servers(&kept, &request).0, ["one", "two"], "{file} {broken}");
        assert!(files.changed(&kept).is_empty());
        assert!(kept.notes()[0].text.contains("until it is mended"), "{:?}", kept.notes());

        world.write(file, &entries(&["two"]));
        let mended = kept.look(&world.places, &request).unwrap();
        assert_eq!(world.servers(&mended, &request).0, ["two"], "{file}");
        assert_eq!((kept.changed(&mended).len(), mended.notes().len()), (1, 0));

        fs::remove_file(world.root.path().join(file)).unwrap();
        let gone = mended.look(&world.places, &request).unwrap();
        assert!(world.servers(&gone, &request).0.is_empty(), "{file}");
    }
}

/// A file that was broken from the beginning has nothing to keep.
#[test]
fn what_never_could_be_used_has_no_servers() {
    let (world, request) = (World::new(), SettingsRequest::new().trust(true));
    world.write("w/.mcp.json", "{");
    let files = ServerFiles::read(&world.places, &request);
    assert!(files.notes()[0].text.contains("are left out"), "{:?}", files.notes());
    world.write("w/.mcp.json", "[]");
    assert!(world.servers(&files.look(&world.places, &request).unwrap(), &request).0.is_empty());
}

/// A setting that switches a server of the project off still applies when its file breaks.
#[test]
fn a_broken_file_of_the_user_switches_nothing_on() {
    let (world, request) = (World::new(), SettingsRequest::new().trust(true));
    let said = format!(r#"{{"projects":{{{:?}:{{"disabledMcpjsonServers":["one"]}}}}}}"#, world.places.start());
    world.write("w/.mcp.json", &entries(&["one"])).write("home/.claude.json", &said);
    let files = ServerFiles::read(&world.places, &request);
    assert_eq!(world.servers(&files, &request), (Vec::new(), names(&["one"])));
    let part = format!(r#"{{"projects":{{{:?}:{{"disabledMcpjsonServers":7}}}}}}"#, world.places.start());
    for broken in ["{", part.as_str()] {
        world.write("home/.claude.json", broken);
        let kept = files.look(&world.places, &request).unwrap();
        assert_eq!(world.servers(&kept, &request), (Vec::new(), names(&["one"])), "{broken}");
        assert!(!kept.notes().is_empty());
    }
}

/// Trust covers the earlier contents. A broken record takes nothing away, and gives nothing.
#[test]
fn trust_covers_what_was_there_and_a_broken_record_changes_nothing() {
    let (world, request) = (World::new(), SettingsRequest::new());
    let record = format!(r#"{{"projects":{{{:?}:{{"trusted":true}}}}}}"#, world.places.start());
    world.write("w/.mcp.json", &entries(&["one"])).write("home/windlass-trust.json", &record);
    crate::SettingsUpdates::new(world.places.clone(), request.sources).pin_trust().unwrap();
    let files = ServerFiles::read(&world.places, &request);
    assert_eq!(world.servers(&files, &request).0, ["one"]);

    world.write("home/windlass-trust.json", "{").write("w/.mcp.json", &entries(&["one", "new"]));
    let broken = files.look(&world.places, &request).unwrap();
    assert_eq!(world.servers(&broken, &request), (names(&["one"]), names(&["new"])));
    assert!(broken.notes().iter().any(|note| note.text.contains("counts for nothing")), "{:?}", broken.notes());

    fs::remove_file(world.root.path().join("home/windlass-trust.json")).unwrap();
    let gone = broken.look(&world.places, &request).unwrap();
    assert_eq!(world.servers(&gone, &request).1, ["new", "one"]);
}

#[test]
fn a_layer_that_is_refused_counts_as_it_did() {
    let (world, request) = (World::new(), SettingsRequest::new().trust(true));
    world.write("w/.mcp.json", &entries(&["one"])).write("home/.claude.json", &entries(&["own"]));
    let mut files = ServerFiles::read(&world.places, &request);
    world.write("w/.mcp.json", &entries(&["two"])).write("home/.claude.json", &entries(&["other"]));
    let newer = files.look(&world.places, &request).unwrap();
    let changed: Vec<Layer> = files.changed(&newer).into_iter().map(|(layer, _)| layer).collect();
    assert_eq!(changed, [Layer::Project, Layer::User]);
    files.take(newer, &[Layer::Project]);
    assert_eq!(world.servers(&files, &request).0, ["one", "other"]);
    assert!(files.look(&world.places, &request).is_none(), "it is not asked about again");
}
