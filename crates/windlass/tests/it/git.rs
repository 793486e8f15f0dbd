//! Git through the facade: reading commands run unasked where nothing of the repository can make them run a
//! program, and nowhere else.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use windlass::options::WorkspaceOptions;
use windlass::{EventKind, PermissionAnswer, Permissions, Script, ScriptedModel, coding_tools, query};

/// Runs git as a user would, apart from this machine's configuration.
fn git(directory: &Path, arguments: &[&str]) {
    let output = Command::new("git")
        .args(["-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always"])
        .args(arguments)
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .expect("git is installed");
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    /// A clone with a history, a change, a branch and a second folder.
    fn cloned() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let origin = folder.path().join("origin");
        std::fs::create_dir_all(origin.join("src")).unwrap();
        git(&origin, &["init", "-q", "-b", "main"]);
        std::fs::write(origin.join("a.txt"), "one\n").unwrap();
        std::fs::write(origin.join("src/b.rs"), "fn main() {}\n").unwrap();
        std::fs::write(origin.join(".gitattributes"), "* text=auto\n*.rs diff=rust\n").unwrap();
        git(&origin, &["add", "."]);
        git(&origin, &["commit", "-q", "-m", "first"]);
        git(folder.path(), &["clone", "-q", "origin", "clone"]);
        let place = Self { folder };
        git(&place.root(), &["config", "user.name", "T"]);
        git(&place.root(), &["config", "pull.rebase", "true"]);
        std::fs::write(place.root().join("a.txt"), "one\ntwo\n").unwrap();
        place
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("clone").canonicalize().unwrap()
    }

    /// A program that leaves a mark when it is run.
    fn trap(&self) -> String {
        let trap = self.folder.path().join("trap.sh");
        let mark = self.mark();
        std::fs::write(&trap, format!("#!/bin/sh\ntouch '{}'\ncat \"$1\" 2>/dev/null\nexit 0\n", mark.display()))
            .unwrap();
        #[cfg(unix)]
        std::fs::set_permissions(&trap, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        trap.to_string_lossy().into_owned()
    }

    fn mark(&self) -> PathBuf {
        self.folder.path().join("was-run")
    }

    fn config(&self, key: &str, value: &str) {
        git(&self.root(), &["config", key, value]);
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.root().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

#[derive(Debug, Default)]
struct Ran {
    asked: Vec<String>,
    results: Vec<(bool, String)>,
}

/// Runs commands one after another in one session that denies whatever it is asked.
async fn run(cwd: &Path, commands: &[&str]) -> Ran {
    run_with(cwd, &[], commands).await
}

/// The same with rules that allow.
async fn run_with(cwd: &Path, allowed: &[&str], commands: &[&str]) -> Ran {
    let mut script = Script::new();
    for command in commands {
        let input = serde_json::json!({"command": command});
        script = script.turn(move |turn| turn.tool_use("Bash", input));
    }
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&asked);
    let permissions = Permissions::ask(move |request| {
        let input: serde_json::Value = request.input.to().unwrap_or_default();
        seen.lock().unwrap().push(input["command"].as_str().unwrap_or_default().to_owned());
        async { PermissionAnswer::deny("no") }
    });
    let permissions = permissions.allow(allowed.iter().copied());
    let model = ScriptedModel::new(script.turn(|turn| turn.text("ok")));
    let mut stream =
        query("look")
            .provider(model)
            .tools(coding_tools(cwd))
            .permissions(permissions)
            .workspace(WorkspaceOptions::new().env([
                ("PATH", std::env::var("PATH").unwrap()),
                ("HOME", cwd.join("..").to_string_lossy().into_owned()),
            ]))
            .stream();
    let mut ran = Ran::default();
    while let Some(event) = stream.try_next().await.unwrap() {
        if let EventKind::ToolFinished(finished) = event.kind {
            ran.results.push((finished.result.is_error, finished.result.content.text()));
        }
    }
    ran.asked.clone_from(&asked.lock().unwrap());
    ran
}

const EVERYDAY: &[&str] = &[
    "git status",
    "git status --short",
    "git log --oneline -5",
    "git log -p -1",
    "git diff",
    "git diff --stat HEAD",
    "git diff --cached",
    "git show HEAD",
    "git show --stat",
    "git branch",
    "git branch -a",
    "git branch --show-current",
    "git rev-parse HEAD",
    "git rev-parse --show-toplevel",
    "git ls-files",
    "git blame a.txt",
    "git remote -v",
    "git status && git diff",
    "git log --oneline | head -3",
];

#[tokio::test]
async fn everyday_reading_needs_no_question() {
    let place = Place::cloned();
    let ran = run(&place.root(), EVERYDAY).await;
    assert_eq!(ran.asked, [""; 0]);
    for ((is_error, text), command) in ran.results.iter().zip(EVERYDAY) {
        assert!(!is_error, "{command}: {text}");
    }
    assert_eq!(ran.results.len(), EVERYDAY.len());
    assert!(ran.results[4].1.contains("+two"), "{ran:?}");
    // In a folder of it, too.
    assert_eq!(run(&place.root(), &["cd src", "git status"]).await.asked, [""; 0]);
}

#[tokio::test]
async fn what_writes_is_asked_about_all_the_same() {
    let place = Place::cloned();
    let commands =
        ["git commit -am x", "git checkout -b y", "git stash", "git clean -fd", "git push", "git config core.pager x"];
    assert_eq!(run(&place.root(), &commands).await.asked, commands);
}

#[tokio::test]
async fn a_linked_working_tree_inside_the_workspace_is_inert_and_elsewhere_not() {
    let place = Place::cloned();
    git(&place.root(), &["worktree", "add", "-q", "trees/x"]);
    assert_eq!(run(&place.root(), &["cd trees/x", "git status"]).await.asked, [""; 0]);
    // From the tree alone its repository is outside.
    assert_eq!(run(&place.root().join("trees/x"), &["git status"]).await.asked, ["git status"]);
}

type Arm = fn(&Place);

/// Repositories in which `git status`, `git diff` or `git log -p` would run a program, or look elsewhere.
const HOSTILE: &[(&str, Arm)] = &[
    ("fsmonitor", |place| place.config("core.fsmonitor", &place.trap())),
    ("external diff", |place| place.config("diff.external", &place.trap())),
    ("textconv", |place| {
        place.config("diff.x.textconv", &place.trap());
        place.write(".gitattributes", "*.txt diff=x\n");
    }),
    ("textconv in a folder", |place| {
        place.config("diff.x.textconv", &place.trap());
        place.write("src/.gitattributes", "* diff=x\n");
    }),
    ("filter", |place| {
        place.config("filter.x.clean", &place.trap());
        place.write(".git/info/attributes", "*.txt filter=x\n");
    }),
    ("a filter of the user", |place| place.write(".gitattributes", "*.txt filter=lfs\n")),
    ("a filter of the user, aside", |place| place.write(".git/info/attributes", "*.txt filter=lfs\n")),
    ("a filter of the user, in a tracked folder", |place| {
        place.write("src/.gitattributes", "*.rs filter=lfs\n");
        git(&place.root(), &["add", "src/.gitattributes"]);
    }),
    ("a filter of the user, in a folder, untracked", |place| place.write("src/.gitattributes", "*.rs filter=lfs\n")),
    ("a driver of the user, in a folder, untracked", |place| place.write("src/.gitattributes", "* diff=exif\n")),
    ("attributes that are a link", |place| {
        place.write("evil", "* filter=lfs\n");
        #[cfg(unix)]
        std::os::unix::fs::symlink("../evil", place.root().join("src/.gitattributes")).unwrap();
        #[cfg(not(unix))]
        place.write("src/.gitattributes", "* filter=lfs\n");
    }),
    ("attributes in the index that are gone", |place| {
        place.write("src/.gitattributes", "*.rs filter=lfs\n");
        git(&place.root(), &["add", "src/.gitattributes"]);
        std::fs::remove_file(place.root().join("src/.gitattributes")).unwrap();
    }),
    ("include", |place| {
        place.write("evil", &format!("[core]\nfsmonitor = {}\n", place.trap()));
        place.config("include.path", "../evil");
    }),
    ("conditional include", |place| {
        place.write("evil", &format!("[core]\nfsmonitor = {}\n", place.trap()));
        place.config("includeIf.onbranch:main.path", "../evil");
    }),
    ("hooks path", |place| {
        place.trap();
        place.config("core.hooksPath", "hooks");
        std::fs::create_dir(place.root().join("hooks")).unwrap();
        std::fs::copy(place.folder.path().join("trap.sh"), place.root().join("hooks/post-index-change")).unwrap();
    }),
    ("hook", |place| {
        place.trap();
        let hook = place.root().join(".git/hooks/post-index-change");
        std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
        std::fs::copy(place.folder.path().join("trap.sh"), hook).unwrap();
    }),
    ("pager", |place| place.config("core.pager", &place.trap())),
    ("working tree elsewhere", |place| place.config("core.worktree", "/")),
    ("partial clone", |place| place.config("remote.origin.promisor", "true")),
    ("signatures", |place| place.config("gpg.program", &place.trap())),
    ("a .git file that leads out", |place| {
        let aside = place.folder.path().join("aside");
        std::fs::rename(place.root().join(".git"), &aside).unwrap();
        git(&aside, &["config", "core.fsmonitor", &place.trap()]);
        place.write(".git", &format!("gitdir: {}\n", aside.display()));
    }),
    ("a .git link that leads out", |place| {
        let aside = place.folder.path().join("aside");
        std::fs::rename(place.root().join(".git"), &aside).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(aside, place.root().join(".git")).unwrap();
    }),
    ("a common directory elsewhere", |place| {
        let aside = place.folder.path().join("aside");
        git(place.folder.path(), &["clone", "-q", "origin", "aside"]);
        git(&aside, &["config", "core.fsmonitor", &place.trap()]);
        place.write(".git/commondir", &format!("{}\n", aside.join(".git").display()));
    }),
    ("a repository that is not one, in one that is", |place| {
        // Git passes by what has no HEAD and takes the next one above.
        let root = place.root();
        std::fs::rename(root.join(".git"), place.folder.path().join(".git")).unwrap();
        place.write(".git/config", "");
    }),
    ("a bare repository as a working tree", |place| {
        let root = place.root();
        for entry in std::fs::read_dir(root.join(".git")).unwrap() {
            let entry = entry.unwrap();
            std::fs::rename(entry.path(), root.join(entry.file_name())).unwrap();
        }
        std::fs::remove_dir(root.join(".git")).unwrap();
        git(&root, &["config", "core.worktree", "."]);
        git(&root, &["config", "core.fsmonitor", &place.trap()]);
    }),
    ("a submodule", |place| {
        git(&place.root(), &["submodule", "-q", "add", "../origin", "sub"]);
        git(&place.root().join("sub"), &["config", "core.fsmonitor", &place.trap()]);
    }),
    ("a repository inside that nothing says is a submodule", |place| {
        git(&place.root(), &["clone", "-q", "../origin", "sub"]);
        git(&place.root(), &["add", "sub"]);
        git(&place.root().join("sub"), &["config", "core.fsmonitor", &place.trap()]);
    }),
    ("a split index", |place| git(&place.root(), &["update-index", "--split-index"])),
];

#[tokio::test]
async fn a_hostile_repository_is_asked_about_and_runs_nothing() {
    for (name, arm) in HOSTILE {
        let place = Place::cloned();
        assert!(run(&place.root(), &["git status"]).await.asked.is_empty(), "{name}: before");
        arm(&place);
        // Marks of the arming itself are ignored.
        let _ = std::fs::remove_file(place.mark());
        let commands = ["git status", "git diff", "git log -p -1 --ext-diff"];
        let ran = run(&place.root(), &commands).await;
        assert_eq!(ran.asked.get(..2), Some(["git status".to_owned(), "git diff".to_owned()].as_slice()), "{name}");
        assert!(!place.mark().exists(), "{name}: a program of the repository was run");
    }
}

/// Links in the directory of a repository through which git shows a file of the user, with a command that shows it.
#[cfg(unix)]
const LINKED: &[(&str, &str)] = &[
    ("BISECT_LOG", "git bisect log"),
    ("BISECT_START", "git status"),
    ("shallow", "git log"),
    ("packed-refs", "git show-ref"),
    ("info/grafts", "git log"),
    ("objects/info/alternates", "git status"),
    ("rebase-merge/head-name", "git status"),
    ("rebase-apply/head-name", "git status"),
    ("worktrees/x/gitdir", "git worktree list"),
    ("branches/x", "git remote get-url x"),
];

#[cfg(unix)]
#[tokio::test]
async fn links_of_a_repository_show_no_file_of_the_user() {
    for (name, command) in LINKED {
        let place = Place::cloned();
        assert!(run(&place.root(), &[command]).await.asked.is_empty(), "{name}: before");
        let secret = place.folder.path().join("secret");
        std::fs::write(&secret, "the-secret\n").unwrap();
        let link = place.root().join(".git").join(name);
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink(&secret, &link).unwrap();
        let ran = run(&place.root(), &[command]).await;
        assert_eq!(ran.asked, [*command], "{name}");
        assert!(!format!("{ran:?}").contains("the-secret"), "{name}: {ran:?}");
    }
}

#[tokio::test]
async fn objects_of_another_repository_are_shown_within_the_workspace_alone() {
    let place = Place::cloned();
    git(&place.root(), &["clone", "-q", "--shared", ".", "inside"]);
    let ran = run(&place.root(), &["cd inside", "git log -p -1"]).await;
    assert_eq!(ran.asked, [""; 0], "{ran:?}");
    let alternates = place.folder.path().join("origin/.git/objects");
    place.write(".git/objects/info/alternates", &format!("{}\n", alternates.display()));
    assert_eq!(run(&place.root(), &["git log -p -1"]).await.asked, ["git log -p -1"]);
}

/// The drivers of the user's own configuration, which an attacker can only name.
#[tokio::test]
async fn no_attributes_of_a_folder_make_drivers_of_the_user_run() {
    let place = Place::cloned();
    let home = place.folder.path().join("clone/..");
    let trap = place.trap();
    std::fs::write(
        home.join(".gitconfig"),
        format!("[diff \"exif\"]\n\ttextconv = {trap}\n[filter \"lfs\"]\n\tclean = {trap}\n[user]\n\tname = T\n"),
    )
    .unwrap();
    place.write("src/b.rs", "fn main() { }\n");
    let ran = run(&place.root(), &["git diff", "git status", "git log -p -1"]).await;
    assert_eq!(ran.asked, [""; 0]);
    place.write("src/.gitattributes", "*.rs diff=exif filter=lfs\n");
    let ran = run(&place.root(), &["git diff", "git status", "git log -p -1", "git diff --stat HEAD"]).await;
    assert_eq!(ran.asked.len(), 4, "{ran:?}");
    assert!(!place.mark().exists(), "a driver was run");
    // Commands that inspect no file run no driver.
    let ran = run(&place.root(), &["git log --oneline -3", "git branch -a", "git rev-parse HEAD"]).await;
    assert_eq!(ran.asked, [""; 0]);
    assert!(!place.mark().exists(), "a driver was run");
}

#[tokio::test]
async fn plain_attributes_anywhere_need_no_question() {
    let place = Place::cloned();
    place.write("src/.gitattributes", "*.rs text eol=lf linguist-generated\n*.md diff=markdown -text\n");
    for number in 0..400 {
        place.write(&format!("many/{number}/deep/file"), "x\n");
    }
    git(&place.root(), &["add", "many"]);
    place.write("many/7/.gitattributes", "* -diff\n");
    let ran = run(&place.root(), &["git status", "git diff", "git log -p -1", "git diff HEAD"]).await;
    assert_eq!(ran.asked, [""; 0]);
}

#[tokio::test]
async fn a_hostile_repository_in_a_folder_is_asked_about_there_only() {
    let place = Place::cloned();
    git(&place.root(), &["clone", "-q", "../origin", "inner"]);
    git(&place.root().join("inner"), &["config", "core.fsmonitor", &place.trap()]);
    let ran = run(&place.root(), &["git status", "cd inner", "git status", "cd inner && git status"]).await;
    assert_eq!(ran.asked.len(), 2, "{ran:?}");
    assert!(!place.mark().exists());
    let ran = run(&place.root(), &["cd inner && git status", "git status"]).await;
    assert_eq!(ran.asked, ["cd inner && git status"]);
}

/// A rule means the repository that its writer knows, not one in a folder of it or one that an earlier command has
/// entered.
#[cfg(unix)]
#[tokio::test]
async fn a_rule_for_git_does_not_reach_into_a_repository_inside() {
    let place = Place::cloned();
    git(&place.root(), &["clone", "-q", "../origin", "inner"]);
    git(&place.root().join("inner"), &["config", "core.fsmonitor", &place.trap()]);
    git(&place.root(), &["init", "-q", "--bare", "bare"]);
    std::os::unix::fs::symlink("inner", place.root().join("alias")).unwrap();
    let rules = ["Bash(git status:*)", "Bash(git log)", "Bash(git commit:*)"];
    let into = [
        "cd inner && git status",
        "cd inner/src && git status --short",
        "cd alias && git status",
        "cd inner && git commit --allow-empty -m x",
        "cd bare/refs && git status",
    ];
    let inside = ["cd src && git status", "cd src && git commit --allow-empty -m x", "git status"];
    let ran = run_with(&place.root(), &rules, &[&into[..], &inside[..]].concat()).await;
    assert_eq!(ran.asked, into, "{ran:?}");
    let two = ["cd inner", "git status", "git log", "cd ..", "git log"];
    assert_eq!(run_with(&place.root(), &rules, &two).await.asked, ["git status", "git log"]);
    assert!(!place.mark().exists());
}

#[tokio::test]
async fn a_repository_above_the_workspace_is_not_looked_at() {
    let place = Place::cloned();
    assert_eq!(run(&place.root().join("src"), &["git status"]).await.asked, ["git status"]);
}

#[tokio::test]
async fn unusual_but_plain_repositories_are_inert_too() {
    let place = Place::cloned();
    git(&place.root(), &["submodule", "-q", "add", "../origin", "sub"]);
    git(&place.root(), &["commit", "-q", "-m", "with a submodule"]);
    git(place.folder.path(), &["clone", "-q", "clone", "without"]);
    git(place.folder.path(), &["init", "-q", "--object-format=sha256", "long"]);
    let folder = place.folder.path().canonicalize().unwrap();
    std::fs::write(folder.join("long/a"), "a").unwrap();
    git(&folder.join("long"), &["add", "a"]);
    git(&folder.join("long"), &["update-index", "--index-version", "4"]);
    git(&folder.join("without"), &["checkout", "-q", "--detach"]);
    for name in ["without", "long"] {
        assert_eq!(run(&folder.join(name), &["git status", "git ls-files"]).await.asked, [""; 0], "{name}");
    }
}

#[tokio::test]
async fn where_there_is_no_repository_git_may_say_so() {
    let place = Place::cloned();
    let folder = place.folder.path().join("plain");
    std::fs::create_dir(&folder).unwrap();
    let ran = run(&folder, &["git status"]).await;
    assert_eq!(ran.asked, [""; 0]);
    assert!(ran.results[0].1.contains("not a git repository"), "{ran:?}");
}

/// A host's variables reach programs, but not those that lead git to another repository.
#[tokio::test]
async fn an_environment_that_leads_elsewhere_reaches_no_git() {
    let place = Place::cloned();
    let script = Script::new()
        .turn(|turn| turn.tool_use("Bash", serde_json::json!({"command": "git status"})))
        .turn(|turn| turn.text("ok"));
    let mut stream = query("look")
        .provider(ScriptedModel::new(script))
        .tools(coding_tools(place.root()))
        .workspace(
            WorkspaceOptions::new()
                .env([("PATH", std::env::var("PATH").unwrap()), ("GIT_DIR", "/elsewhere/.git".to_owned())]),
        )
        .stream();
    let mut results = Vec::new();
    while let Some(event) = stream.try_next().await.unwrap() {
        if let EventKind::ToolFinished(finished) = event.kind {
            results.push((finished.result.is_error, finished.result.content.text()));
        }
    }
    assert!(!results[0].0 && results[0].1.contains("modified:   a.txt"), "{results:?}");
}
