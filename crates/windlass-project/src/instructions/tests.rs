use super::*;
use crate::sources::SettingSource;
use async_trait::async_trait;
use std::fs;
use std::sync::Mutex;
use tempfile::TempDir;
use windlass_tool::{
    DirectoryEntry, EntryKind, FileInfo, OpenFile, Permit, ResolvedPath, WorkspaceError, WorkspaceErrorKind,
    WriteOptions,
};

/// The files of this machine, as far as these tests need them, and which of them were opened.
#[derive(Debug, Default)]
struct Disk {
    opened: Mutex<Vec<PathBuf>>,
}

#[derive(Debug)]
struct Open(FileInfo, Vec<u8>);

#[async_trait]
impl OpenFile for Open {
    fn info(&self) -> &FileInfo {
        &self.0
    }

    async fn read(&mut self, limit: usize) -> Result<Vec<u8>, WorkspaceError> {
        let rest = self.1.split_off(limit.min(self.1.len()));
        Ok(std::mem::replace(&mut self.1, rest))
    }
}

fn kind_of(kind: fs::FileType) -> EntryKind {
    match kind {
        kind if kind.is_symlink() => EntryKind::Link,
        kind if kind.is_dir() => EntryKind::Directory,
        kind if kind.is_file() => EntryKind::File,
        _ => EntryKind::Special,
    }
}

#[async_trait]
impl Workspace for Disk {
    async fn resolve(&self, path: &Path) -> Result<ResolvedPath, WorkspaceError> {
        let Ok(resolved) = path.canonicalize() else { return Ok(ResolvedPath::new(path, EntryKind::Missing)) };
        let kind = kind_of(resolved.metadata().unwrap().file_type());
        Ok(ResolvedPath::new(resolved, kind))
    }

    async fn open(&self, permit: &Permit, path: &Path) -> Result<Box<dyn OpenFile>, WorkspaceError> {
        assert!(permit.readable(path).is_some());
        let content =
            fs::read(path).map_err(|error| WorkspaceError::new(WorkspaceErrorKind::Other, error.to_string()))?;
        self.opened.lock().unwrap().push(path.to_path_buf());
        Ok(Box::new(Open(FileInfo::new(content.len() as u64, None, false), content)))
    }

    async fn write(&self, _: &Permit, _: &Path, _: &[u8], _: WriteOptions) -> Result<(), WorkspaceError> {
        Err(WorkspaceError::new(WorkspaceErrorKind::NotPermitted, "instructions are never written"))
    }

    async fn list(&self, _: &Permit, _: &Path, _: usize) -> Result<Vec<String>, WorkspaceError> {
        Err(WorkspaceError::new(WorkspaceErrorKind::NotPermitted, "instructions need no hints"))
    }

    async fn entries(&self, folder: &Path, limit: usize) -> Result<Vec<DirectoryEntry>, WorkspaceError> {
        let entries = fs::read_dir(folder).unwrap().take(limit).map(Result::unwrap);
        Ok(entries.map(|entry| DirectoryEntry::new(entry.file_name(), kind_of(entry.file_type().unwrap()))).collect())
    }

    fn is_local(&self) -> bool {
        false
    }
}

struct World {
    directory: TempDir,
    disk: Arc<Disk>,
}

impl World {
    /// Creates a home with a repository in it.
    fn new(files: &[(&str, &str)]) -> Self {
        let world = Self { directory: TempDir::new().unwrap(), disk: Arc::default() };
        fs::create_dir_all(world.path("home/w/.git")).unwrap();
        for (path, content) in files {
            world.write(path, content);
        }
        world
    }

    fn path(&self, path: &str) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join(path)
    }

    fn write(&self, path: &str, content: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn places(&self, start: &str) -> Places {
        let start = self.path(start);
        fs::create_dir_all(&start).unwrap();
        let mut places = Places::new(start);
        places.user_home = Some(self.path("home"));
        places.user = vec![self.path("home/.windlass"), self.path("home/.claude")];
        places.managed = vec![self.path("etc/managed-settings.json")];
        places
    }

    fn files(&self, start: &str) -> InstructionFiles {
        InstructionFiles::new(self.places(start), SettingSources::default(), Arc::clone(&self.disk) as _)
    }

    /// Instructions read: paths without the directory of the test, and contents.
    fn shown(&self, found: &[Instruction]) -> Vec<String> {
        let root = self.path("");
        let shown = |one: &Instruction| {
            format!("{} {}: {}", one.source.as_str(), one.path.strip_prefix(&root).unwrap().display(), one.content)
        };
        found.iter().map(shown).collect()
    }
}

/// Runs a future that never waits.
fn now<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    match future.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) {
        std::task::Poll::Ready(value) => value,
        std::task::Poll::Pending => panic!("these files are there at once"),
    }
}

fn notes(files: &mut InstructionFiles) -> Vec<String> {
    files.take_notes().into_iter().map(|note| note.text).collect()
}

#[test]
fn each_layout_is_read_in_the_order_of_its_weight() {
    let world = World::new(&[
        ("etc/CLAUDE.md", "managed"),
        ("home/.claude/CLAUDE.md", "user"),
        ("home/.windlass/AGENTS.md", "own user"),
        ("home/.claude/rules/brief.md", "user rule"),
        ("home/w/CLAUDE.md", "root"),
        ("home/w/AGENTS.md", "root agents"),
        ("home/w/.claude/CLAUDE.md", "root inner"),
        ("home/w/.claude/rules/a.md", "rule a"),
        ("home/w/.claude/rules/deep/b.md", "---\npaths: [\"**/*.rs\"]\n---\nrule b"),
        ("home/w/.windlass/AGENTS.md", "root own"),
        ("home/w/CLAUDE.local.md", "root local"),
        ("home/w/app/AGENTS.md", "app"),
        ("home/w/app/CLAUDE.local.md", "app local"),
        ("home/w/app/below/CLAUDE.md", "below"),
        ("home/CLAUDE.md", "above the repository"),
    ]);
    let found = now(world.files("home/w/app").load());
    let expected = [
        "managed etc/CLAUDE.md: managed",
        "user home/.claude/CLAUDE.md: user",
        "user home/.claude/rules/brief.md: user rule",
        "user home/.windlass/AGENTS.md: own user",
        "project home/w/AGENTS.md: root agents",
        "project home/w/CLAUDE.md: root",
        "project home/w/.claude/CLAUDE.md: root inner",
        "project home/w/.windlass/AGENTS.md: root own",
        "project home/w/.claude/rules/a.md: rule a",
        "local home/w/CLAUDE.local.md: root local",
        "project home/w/app/AGENTS.md: app",
        "local home/w/app/CLAUDE.local.md: app local",
    ];
    assert_eq!(world.shown(&found), expected);
}

#[test]
fn only_the_sources_that_are_asked_for_are_opened() {
    let world = World::new(&[
        ("home/w/CLAUDE.md", "root"),
        ("home/w/CLAUDE.local.md", "local"),
        ("home/.claude/CLAUDE.md", "user"),
    ]);
    let read = |sources| {
        let mut files = InstructionFiles::new(world.places("home/w"), sources, Arc::clone(&world.disk) as _);
        world.shown(&now(files.load()))
    };
    assert_eq!(read(SettingSources::none()), [""; 0]);
    assert!(world.disk.opened.lock().unwrap().is_empty());
    assert_eq!(read([SettingSource::Local].into()), ["local home/w/CLAUDE.local.md: local"]);
    assert_eq!(*world.disk.opened.lock().unwrap(), [world.path("home/w/CLAUDE.local.md")]);
    assert_eq!(read([SettingSource::User].into()), ["user home/.claude/CLAUDE.md: user"]);
}

#[test]
fn without_a_repository_the_folders_below_the_home_count() {
    let world = World::new(&[
        ("home/x/CLAUDE.md", "x"),
        ("home/x/y/CLAUDE.md", "y"),
        ("home/CLAUDE.md", "home"),
        ("elsewhere/CLAUDE.md", "elsewhere"),
        ("elsewhere/z/CLAUDE.md", "z"),
    ]);
    let read = |start| world.shown(&now(world.files(start).load()));
    assert_eq!(read("home/x/y"), ["project home/x/CLAUDE.md: x", "project home/x/y/CLAUDE.md: y"]);
    assert_eq!(read("elsewhere/z"), ["project elsewhere/z/CLAUDE.md: z"]);
}

#[test]
fn imports_follow_their_file_once_and_to_a_limit() {
    let world = World::new(&[
        ("home/w/CLAUDE.md", "See @AGENTS.md and @docs/one.md and @docs/one.md and `@docs/two.md`."),
        ("home/w/AGENTS.md", "Agents. @CLAUDE.md"),
        ("home/w/docs/one.md", "1 @two.md @missing.md @types/node"),
        ("home/w/docs/two.md", "2 @three.md"),
        ("home/w/docs/three.md", "3 @four.md"),
        ("home/w/docs/four.md", "4 @five.md"),
        ("home/w/docs/five.md", "5 @six.md"),
        ("home/w/docs/six.md", "6"),
    ]);
    let mut files = world.files("home/w");
    let found = now(files.load());
    let paths: Vec<&str> = found.iter().map(|one| one.path.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(paths, ["AGENTS.md", "CLAUDE.md", "one.md", "two.md", "three.md", "four.md"]);
    assert_eq!(found[2].imported_by, Some(world.path("home/w/CLAUDE.md")));
    let notes = notes(&mut files);
    assert_eq!(notes, ["@five.md is left out: 5 imports lead to it already", "the import @missing.md is not there"]);
}

#[test]
fn a_project_cannot_have_files_read_that_are_not_its_own() {
    let world = World::new(&[
        (
            "home/w/CLAUDE.md",
            "@~/notes.md @/etc/passwd @../other/x.md @.env @.git/config @docs/../../notes.md @link.md @secret.md",
        ),
        ("home/notes.md", "private"),
        ("home/other/x.md", "other"),
        ("home/w/.env", "KEY=1"),
        ("home/w/.git/config", "[url]"),
    ]);
    std::os::unix::fs::symlink(world.path("home/notes.md"), world.path("home/w/link.md")).unwrap();
    std::os::unix::fs::symlink(world.path("home/w/.env"), world.path("home/w/secret.md")).unwrap();
    std::os::unix::fs::symlink(world.path("home/w/.env"), world.path("home/w/AGENTS.md")).unwrap();
    std::os::unix::fs::symlink(world.path("home/other"), world.path("home/w/.claude")).unwrap();
    world.write("home/other/rules/r.md", "rule of others");
    let mut files = world.files("home/w");
    let found = now(files.load());
    assert_eq!(found.len(), 1, "{found:?}");
    let notes = notes(&mut files);
    assert_eq!(notes.iter().filter(|note| note.contains("out of the project")).count(), 5, "{notes:?}");
    assert_eq!(notes.iter().filter(|note| note.contains("may hold secrets")).count(), 4, "{notes:?}");
    // Files named by the user's own file are read.
    world.write("home/.claude/CLAUDE.md", "@~/notes.md @~/.ssh/id_rsa");
    world.write("home/.ssh/id_rsa", "key");
    let found = world.shown(&now(world.files("home/w").load()));
    assert_eq!(found[1], "user home/notes.md: private");
    assert!(!found.iter().any(|one| one.contains("id_rsa:")), "{found:?}");
}

#[test]
fn a_rule_of_the_user_that_denies_reading_holds() {
    let world = World::new(&[("home/w/CLAUDE.md", "@docs/a.md"), ("home/w/docs/a.md", "a")]);
    let forbidden = world.path("home/w/docs/a.md");
    let mut files = world.files("home/w").may_read(move |_, resolved| resolved != forbidden);
    assert_eq!(now(files.load()).len(), 1);
    assert_eq!(notes(&mut files), ["a rule forbids to read it, so it is left out"]);
}

#[test]
fn one_file_under_two_names_is_read_once_and_so_is_one_content() {
    let world = World::new(&[("home/w/AGENTS.md", "same"), ("home/w/.claude/CLAUDE.md", "same\n")]);
    std::os::unix::fs::symlink("AGENTS.md", world.path("home/w/CLAUDE.md")).unwrap();
    assert_eq!(world.shown(&now(world.files("home/w").load())), ["project home/w/AGENTS.md: same"]);
}

#[test]
fn folders_and_rules_are_read_when_their_files_are_used() {
    let world = World::new(&[
        ("home/w/CLAUDE.md", "root"),
        ("home/w/a/AGENTS.md", "a"),
        ("home/w/a/b/CLAUDE.md", "b @../c.md"),
        ("home/w/a/c.md", "c"),
        ("home/w/x/CLAUDE.md", "x"),
        ("home/w/.claude/rules/rust.md", "---\npaths:\n  - src/**/*.rs\n  - '*.toml'\n---\nRust."),
        ("home/w/.claude/rules/bad.md", "---\npaths: '[z-a]'\n---\nBad."),
        ("home/.claude/rules/docs.md", "---\npaths: docs/**\n---\nDocs."),
        ("home/w/.claude/rules/flow.md", "---\npaths: ['flow/**', 'a.rs'] # two\n---\nFlow."),
        ("home/w/.claude/rules/braces.md", "---\npaths: web/**/*.{ts,tsx}\n---\nBraces."),
        ("home/w/.claude/rules/star.md", "---\npaths: **/*.star\n---\nStar."),
    ]);
    let mut files = world.files("home/w");
    // A rule with unknown files applies to all of them.
    let bad = "project home/w/.claude/rules/bad.md: Bad.";
    assert_eq!(world.shown(&now(files.load())), ["project home/w/CLAUDE.md: root", bad]);
    assert!(notes(&mut files)[0].starts_with("its `paths` cannot be used"), "{:?}", files);
    let mut used = |paths: &[&str]| {
        let paths: Vec<PathBuf> = paths.iter().map(|path| world.path(path)).collect();
        let folders: Vec<&Path> =
            paths.iter().map(|path| if path.is_dir() { path } else { path.parent().unwrap() }).collect();
        world.shown(&now(files.of_paths(&folders, &paths)))
    };
    let below =
        ["project home/w/a/AGENTS.md: a", "project home/w/a/b/CLAUDE.md: b @../c.md", "project home/w/a/c.md: c"];
    assert_eq!(used(&["home/w/a/b/x.rs", "home/w/a/b/y.rs"]), below);
    assert_eq!(used(&["home/w/a/b/x.rs"]), [""; 0]);
    assert_eq!(used(&["home/w/src/deep/lib.rs"]), ["project home/w/.claude/rules/rust.md: Rust."]);
    assert_eq!(used(&["home/w/docs/x.md"]), ["user home/.claude/rules/docs.md: Docs."]);
    assert_eq!(used(&["home/w/a.rs"]), ["project home/w/.claude/rules/flow.md: Flow."]);
    assert_eq!(used(&["home/w/web/x/y.tsx"]), ["project home/w/.claude/rules/braces.md: Braces."]);
    assert_eq!(used(&["home/w/x.star"]), ["project home/w/.claude/rules/star.md: Star."]);
    // A searched folder is treated as used, unless it is outside of the project.
    assert_eq!(used(&["home/w/x"]), ["project home/w/x/CLAUDE.md: x"]);
    assert_eq!(used(&["home/.claude/x", "etc/passwd"]), [""; 0]);
}

#[test]
fn what_is_too_long_is_cut_by_weight_and_says_so() {
    let lines = |name: &str, count: usize| format!("{name}\n").repeat(count);
    let world = World::new(&[
        ("home/.claude/CLAUDE.md", &lines("user", 100)),
        ("home/w/CLAUDE.md", &lines("root", 100)),
        ("home/w/app/CLAUDE.md", &lines("apps", 100)),
    ]);
    let mut files = world.files("home/w/app").most_characters(1_200);
    let found = now(files.load());
    let kept: Vec<(usize, usize)> = found.iter().map(|one| (one.content.matches('\n').count(), one.left_out)).collect();
    // 499 characters of the start, as many of the root, and the rest for the user's.
    assert_eq!(kept, [(40, 300), (99, 0), (99, 0)]);
    assert!(found[0].content.ends_with("Read the file for it.]"));
    assert_eq!(notes(&mut files), ["the last 300 characters are left out: the instructions are too long"]);
    let one = World::new(&[("home/w/CLAUDE.md", &lines("é", 30_000))]);
    assert_eq!(now(one.files("home/w").load())[0].content.matches('é').count(), 20_000);
}

#[test]
fn odd_files_are_left_out_and_named() {
    let world =
        World::new(&[("home/w/AGENTS.md", "\u{feff}marked"), ("home/w/.claude/CLAUDE.md", &"x".repeat(300_000))]);
    fs::write(world.path("home/w/CLAUDE.md"), [0xff, 0xfe, 0]).unwrap();
    fs::create_dir(world.path("home/w/CLAUDE.local.md")).unwrap();
    let mut files = world.files("home/w");
    assert_eq!(world.shown(&now(files.load())), ["project home/w/AGENTS.md: marked"]);
    let notes = notes(&mut files);
    assert_eq!(notes, ["it is not UTF-8 text, so it is left out", "it is larger than 262144 bytes, so it is left out"]);
}

/// Excludes from settings of two layers.
fn excludes(world: &World, of_user: &[&str], of_project: &[&str]) -> InstructionExcludes {
    let mut resolved = crate::Resolved::default();
    for (layer, patterns) in [(crate::Layer::User, of_user), (crate::Layer::Project, of_project)] {
        resolved.memory.instruction_excludes.extend(patterns.iter().map(|pattern| crate::Setting {
            value: pattern.replace("ROOT", &world.path("").display().to_string()),
            layer,
            origin: crate::Origin::File(world.path("settings.json")),
        }));
    }
    let (excludes, unusable) = InstructionExcludes::new(&resolved, Some(&world.path("home")));
    assert_eq!(unusable.len(), of_user.iter().filter(|pattern| pattern.contains("[x")).count(), "{unusable:?}");
    excludes
}

#[test]
fn settings_leave_files_out_and_a_project_only_its_own() {
    let files = [
        ("etc/CLAUDE.md", "managed"),
        ("home/.claude/CLAUDE.md", "user"),
        ("home/.claude/rules/brief.md", "user rule"),
        ("home/w/CLAUDE.md", "root @docs/a.md @docs/b.md"),
        ("home/w/docs/a.md", "a"),
        ("home/w/docs/b.md", "b"),
        ("home/w/.claude/rules/a.md", "rule"),
        ("home/w/app/CLAUDE.md", "app"),
    ];
    let all = ["managed", "user", "user rule", "root @docs/a.md @docs/b.md", "a", "b", "rule", "app"];
    for (of_user, of_project, left_out) in [
        (&["**/docs/a.md", "[x"][..], &[][..], &["a"][..]),
        (&["~/.claude/rules/**"], &["ROOThome/w/app/*.md"], &["user rule", "app"]),
        // The imports of a file that is left out are not read.
        (&["ROOThome/w/CLAUDE.md"], &[], &["root @docs/a.md @docs/b.md", "a", "b"]),
        (&["docs/a.md", "*.md", "CLAUDE.md"], &["a.md"], &[]),
        // Neither the user's nor the administrator's.
        (
            &["ROOTetc/CLAUDE.md"],
            &["**/.claude/**", "**/CLAUDE.md"],
            &["root @docs/a.md @docs/b.md", "a", "b", "rule", "app"],
        ),
    ] {
        let world = World::new(&files);
        let mut read = world.files("home/w/app").excluding(excludes(&world, of_user, of_project));
        let found: Vec<String> = now(read.load()).into_iter().map(|one| one.content).collect();
        let expected: Vec<&str> = all.into_iter().filter(|content| !left_out.contains(content)).collect();
        assert_eq!(found, expected, "{of_user:?} {of_project:?}");
    }
    // Also by another name.
    let world = World::new(&[("home/w/docs/a.md", "a")]);
    std::os::unix::fs::symlink(world.path("home/w/docs/a.md"), world.path("home/w/CLAUDE.md")).unwrap();
    let mut read = world.files("home/w").excluding(excludes(&world, &["**/docs/a.md"], &[]));
    assert_eq!(now(read.load()), []);
}

#[test]
fn directories_of_the_workspace_are_read_when_they_are_given() {
    let world = World::new(&[
        ("home/w/CLAUDE.md", "root"),
        ("more/CLAUDE.md", "more @inner.md @../secret.md"),
        ("more/inner.md", "inner"),
        ("more/.claude/rules/r.md", "rule of more"),
        ("more/CLAUDE.local.md", "local of more"),
        ("more/below/CLAUDE.md", "below more"),
        ("secret.md", "secret"),
    ]);
    let contents = |found: Vec<Instruction>| found.into_iter().map(|one| one.content).collect::<Vec<_>>();
    assert_eq!(contents(now(world.files("home/w").load())), ["root"]);
    let mut files = world.files("home/w").with_directories(vec![world.path("more"), world.path("home/w")]);
    let found = contents(now(files.load()));
    assert_eq!(found, ["root", "more @inner.md @../secret.md", "inner", "rule of more", "local of more"]);
    assert_eq!(notes(&mut files), ["@../secret.md is left out: it leads out of the project"]);
    assert_eq!(contents(now(files.of_paths(&[&world.path("more/below")], &[world.path("more/below/x.rs")]))), [""; 0]);
}

#[test]
fn what_waits_for_its_files_can_be_listed() {
    let world = World::new(&[
        ("home/w/CLAUDE.md", "root"),
        ("home/w/.claude/rules/rust.md", "---\npaths: [\"src/**/*.rs\", \"build.rs\"]\n---\nrule"),
        ("home/w/app/CLAUDE.md", "app"),
        ("home/w/app/ui/.claude/CLAUDE.md", "ui"),
        ("home/w/app/ui/.claude/rules/css.md", "---\npaths: \"*.css\"\n---\ncss"),
        ("home/w/app/empty/readme.md", "nothing"),
        ("home/w/node_modules/other/CLAUDE.md", "of others"),
        ("home/w/.hidden/CLAUDE.md", "hidden"),
    ]);
    let mut files = world.files("home/w");
    assert_eq!(world.shown(&now(files.load())), ["project home/w/CLAUDE.md: root"]);
    let root = world.path("home/w");
    let waiting = now(files.into_waiting());
    let shown: Vec<String> = waiting
        .iter()
        .map(|one| {
            let below = one.folder.strip_prefix(&root).unwrap().display();
            format!("{} [{below}] {}", one.instruction.content, one.patterns.join(" "))
        })
        .collect();
    assert_eq!(shown, ["app [app] ", "ui [app/ui] ", "rule [] src/**/*.rs build.rs", "css [app/ui] *.css"]);
}
