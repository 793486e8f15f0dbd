//! Generated commands over generated links against a real bash: what is allowed without a question neither shows
//! nor changes anything outside the workspace, nor its git directory.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use windlass::coding_tools;
use windlass_local::LocalWorkspace;
use windlass_permission::{Policy, PolicyConfig};
use windlass_runtime::judge;
use windlass_tool::{ToolSet, Workspace};
use windlass_types::{Behavior, JsonText, PermissionMode, ToolUse, ToolUseId};

const SECRET: &str = "secret-outside";

/// A small generator: the same cases in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.roll(of.len())]
    }
}

const PLACES: &[&str] = &["a", "b", "a/c", "l", "m", "a/n", "a/c/o", "b/p"];
const TARGETS: &[&str] = &[
    "../out/dir",
    "../../out/dir",
    "../../../out/dir",
    "../out",
    "..",
    ".",
    "a",
    "../a/c",
    "../b",
    "b",
    "c",
    "../..",
    "a/c",
    ".git/hooks",
    "../.git/hooks",
    "/nowhere",
    "l",
];
const STEPS: &[&str] = &["a", "b", "l", "l", "m", "m", "a/n", "a/c", "a/c/o", "b/p", ".", "*", "n", "?"];

fn path(dice: &mut Dice) -> String {
    let mut path = String::new();
    for _ in 0..=dice.roll(2) {
        path.push_str(dice.one(STEPS));
        path.push_str(dice.one(&["/", "/../", "/../", "/./../"]));
    }
    format!("{path}{}", dice.one(&["f", "f", "f", "*", "config", "f?", "g"]))
}

fn directory(dice: &mut Dice) -> String {
    format!(
        "{}{}",
        dice.one(&["a", "b", "l", "m", "a/n", "a/c", "a/c/o", "b/p", "."]),
        dice.one(&["", "", "/..", "/../a"])
    )
}

fn command(dice: &mut Dice) -> String {
    let (one, two, dir) = (path(dice), path(dice), directory(dice));
    match dice.roll(14) {
        0..=3 => format!("cat {one}"),
        4 => format!("cat < {}", one.replace(['*', '?'], "f")),
        5 => format!("cd {dir} && cat {one}"),
        6 => format!("cd {dir}; cat {}", one.replace("../", "")),
        7 => format!("grep -rh . {dir}"),
        8 => format!("diff -r {dir} {}", directory(dice)),
        9 => format!("head -n3 {one} {two}"),
        10 => format!("echo changed > {}", one.replace(['*', '?'], "f")),
        11 => format!("cp -a {dir} z && cat z/{one}"),
        12 => format!("mv {dir} z && echo changed > z/{}", two.replace(['*', '?'], "f")),
        _ => format!("cp -P {dir} z && cp b/f z/{}", two.replace(['*', '?'], "f")),
    }
}

/// A workspace `w` with links in it, beside a folder `out`.
fn build(at: &Path, links: &[(&str, &str)]) {
    for directory in ["w/a/c", "w/b", "w/.git/hooks", "out/dir"] {
        fs::create_dir_all(at.join(directory)).unwrap();
    }
    for file in ["w/f", "w/a/f", "w/a/c/f", "w/b/f", "w/b/config", "w/.git/config", "w/.git/f"] {
        fs::write(at.join(file), "inside\n").unwrap();
    }
    for file in ["f", "g", "config", "out/f", "out/fx", "out/config", "out/dir/f", "out/dir/g"] {
        fs::write(at.join(file), SECRET).unwrap();
    }
    for (place, target) in links {
        // A place may be taken, or lie behind another link.
        let _ = symlink(target, at.join("w").join(place));
    }
}

/// Returns everything outside the workspace, and the protected places in it.
fn guarded(at: &Path) -> Vec<(PathBuf, String)> {
    fn collect(directory: &Path, found: &mut Vec<(PathBuf, String)>) {
        for entry in fs::read_dir(directory).into_iter().flatten() {
            let entry = entry.unwrap();
            let path = entry.path();
            if entry.file_type().unwrap().is_dir() {
                collect(&path, found);
            }
            let content = fs::read_to_string(&path).unwrap_or_default();
            found.push((path, content));
        }
    }
    let mut found = Vec::new();
    collect(&at.join("out"), &mut found);
    collect(&at.join("w/.git"), &mut found);
    for entry in fs::read_dir(at).unwrap() {
        let path = entry.unwrap().path();
        let content = fs::read_to_string(&path).unwrap_or_default();
        found.push((path, content));
    }
    found.sort();
    found
}

#[tokio::test]
async fn what_is_allowed_reaches_nothing_outside() {
    let tools = ToolSet::new(coding_tools(".").tools().iter().cloned()).unwrap();
    let workspace: Arc<dyn Workspace> = Arc::new(LocalWorkspace::default());
    let mut dice = Dice(20_261_122);
    let (mut allowed, mut asked) = (0, 0);
    for round in 0..60 {
        let links: Vec<(&str, &str)> = (0..=dice.roll(4)).map(|_| (dice.one(PLACES), dice.one(TARGETS))).collect();
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().canonicalize().unwrap();
        build(&at, &links);
        let mode = [PermissionMode::Default, PermissionMode::AcceptEdits, PermissionMode::AcceptEdits][dice.roll(3)];
        let policy = Policy::new(PolicyConfig::new(at.join("w")).with_mode(mode));
        for _ in 0..12 {
            let command = command(&mut dice);
            let input = JsonText::of(&serde_json::json!({"command": command})).unwrap();
            let call = ToolUse::new(ToolUseId::new("t"), "Bash", input);
            let decision = judge(&tools, &workspace, &policy, &call, &at.join("w")).await;
            if decision.behavior != Behavior::Allow {
                asked += 1;
                continue;
            }
            allowed += 1;
            let before = guarded(&at);
            let output = Command::new("bash")
                .args(["--noprofile", "--norc", "-c", &command])
                .current_dir(at.join("w"))
                .env("PWD", at.join("w"))
                .stdin(Stdio::null())
                .output()
                .unwrap();
            let shown = String::from_utf8_lossy(&output.stdout);
            assert!(!shown.contains(SECRET), "round {round} {mode:?} {links:?}: {command}: {shown}");
            assert_eq!(before, guarded(&at), "round {round} {mode:?} {links:?}: {command}");
            if mode != PermissionMode::Default {
                fs::remove_dir_all(at.join("w")).unwrap();
                build(&at, &links);
            }
        }
    }
    // Neither everything nor nothing is asked about.
    assert!(allowed > 100 && asked > 100, "{allowed} allowed, {asked} asked about");
}
