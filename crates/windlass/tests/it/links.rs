//! Links through the facade, with real files, a real bash and a real git: what a command reaches through a link is
//! judged where the link leads.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use windlass::options::WorkspaceOptions;
use windlass::{
    EventKind, PermissionAnswer, PermissionMode, Permissions, Script, ScriptedModel, coding_tools,
    permission::can_use_tool_fn, query,
};

/// A workspace `w` with a repository, beside a folder `out` with a secret in it.
struct Place {
    folder: tempfile::TempDir,
}

const SECRET: &str = "the-secret-of-somebody-else";

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = Self { folder };
        for directory in ["w/src/deep", "w/real/inner", "out/dir/sub"] {
            std::fs::create_dir_all(place.at(directory)).unwrap();
        }
        for file in ["out/secret", "out/dir/secret", "out/dir/sub/secret"] {
            std::fs::write(place.at(file), SECRET).unwrap();
        }
        for file in ["w/a.txt", "w/src/b.rs", "w/src/deep/c.rs", "w/real/x"] {
            std::fs::write(place.at(file), "plain\n").unwrap();
        }
        place.git(&["init", "-q", "-b", "main"]);
        place
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(path)
    }

    fn root(&self) -> PathBuf {
        self.at("w")
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.at(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn link(&self, target: impl AsRef<Path>, path: &str) {
        symlink(target, self.root().join(path)).unwrap();
    }

    fn git(&self, arguments: &[&str]) {
        let output = Command::new("git")
            .args(["-c", "user.name=T", "-c", "user.email=t@example.org"])
            .args(arguments)
            .current_dir(self.root())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .expect("git is installed");
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[derive(Debug, Default)]
struct Ran {
    asked: Vec<String>,
    results: Vec<(bool, String)>,
}

/// Runs each command in a session of its own, in the workspace, that denies whatever it is asked.
async fn run(place: &Place, permissions: Permissions, commands: &[&str]) -> Ran {
    let mut all = Ran::default();
    for command in commands {
        let call = ("Bash", serde_json::json!({"command": command}));
        let ran = run_calls(place, permissions.clone(), vec![call]).await;
        all.asked.extend(ran.asked);
        all.results.extend(ran.results);
    }
    all
}

async fn run_calls(place: &Place, permissions: Permissions, calls: Vec<(&'static str, serde_json::Value)>) -> Ran {
    let count = calls.len();
    let mut script = Script::new();
    for (tool, input) in calls {
        script = script.turn(move |turn| turn.tool_use(tool, input));
    }
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&asked);
    let permissions = permissions.host(can_use_tool_fn(move |request| {
        let input: serde_json::Value = request.input.to().unwrap_or_default();
        seen.lock().unwrap().push(input["command"].as_str().unwrap_or(&request.tool).to_owned());
        async { PermissionAnswer::deny("no") }
    }));
    let model = ScriptedModel::new(script.turn(|turn| turn.text("ok")));
    let mut stream =
        query("look")
            .provider(model)
            .tools(coding_tools(place.root()))
            .permissions(permissions)
            .workspace(WorkspaceOptions::new().env([
                ("PATH", std::env::var("PATH").unwrap()),
                ("HOME", place.at("home").to_string_lossy().into_owned()),
            ]))
            .stream();
    let mut ran = Ran::default();
    while let Some(event) = stream.try_next().await.unwrap() {
        if let EventKind::ToolFinished(finished) = event.kind {
            ran.results.push((finished.result.is_error, finished.result.content.text()));
        }
    }
    ran.asked.clone_from(&asked.lock().unwrap());
    assert_eq!(ran.results.len(), count, "{ran:?}");
    ran
}

async fn check_all_asked(place: &Place, permissions: Permissions, commands: &[&str]) {
    let ran = run(place, permissions, commands).await;
    let missed: Vec<(&&str, &(bool, String))> =
        commands.iter().zip(&ran.results).filter(|(command, _)| !ran.asked.contains(&command.to_string())).collect();
    assert!(missed.is_empty(), "not asked about: {missed:#?}");
}

async fn check_all_free(place: &Place, permissions: Permissions, commands: &[&str]) {
    let ran = run(place, permissions, commands).await;
    assert_eq!(ran.asked, [""; 0], "asked about what is harmless");
    for ((is_error, text), command) in ran.results.iter().zip(commands) {
        assert!(!is_error, "{command}: {text}");
    }
}

async fn check_all_denied(place: &Place, permissions: Permissions, commands: &[&str]) {
    let ran = run(place, permissions, commands).await;
    assert_eq!(ran.asked, [""; 0], "a question where a rule denies for certain");
    for ((is_error, text), command) in ran.results.iter().zip(commands) {
        assert!(*is_error && text.contains("denied"), "{command}: {text}");
        assert!(!text.contains(SECRET), "{command}: {text}");
    }
}

fn bypass() -> Permissions {
    Permissions::new().mode(PermissionMode::BypassPermissions).allow_bypass()
}

fn accept_edits() -> Permissions {
    Permissions::new().mode(PermissionMode::AcceptEdits)
}

#[tokio::test]
async fn the_parent_of_a_link_is_where_the_link_leads() {
    let place = Place::new();
    place.link(place.at("out/dir"), "link");
    place.link(place.at("out/dir/sub"), "src/up");
    place.link("real/inner", "in");
    let reads = [
        "cat link/../secret",
        "cat ./link/./../secret",
        "cat src/up/../../secret",
        "cat src/../link/../secret",
        "head -c 9 < link/../secret",
        "grep -r the link/..",
        "ls link/..",
        "cat link/../*",
        "cat src/../src/up/../se*",
        "cd src && cat up/../secret",
        "cd src && cat ../link/../secret",
        "find link/../dir -name secret",
        "diff a.txt link/../secret",
    ];
    check_all_asked(&place, Permissions::new(), &reads).await;
    let ran = run(&place, Permissions::new().mode(PermissionMode::Plan), &reads).await;
    assert!(ran.results.iter().all(|(is_error, text)| *is_error && !text.contains(SECRET)), "{ran:#?}");
    // The same where the link stays inside.
    check_all_free(
        &place,
        Permissions::new(),
        &[
            "cat in/../x",
            "cat src/../a.txt",
            "cat src/deep/../b.rs",
            "cd src && cat ../a.txt",
            "cd src/deep && cat ../b.rs ../../a.txt",
            "cd in && ls",
            "ls src/..",
            "cat src/../src/*.rs",
            "grep -rn plain src/../src",
        ],
    )
    .await;
}

#[tokio::test]
async fn a_directory_is_left_by_its_name_and_by_where_it_leads() {
    let place = Place::new();
    place.link(place.at("out/dir"), "link");
    place.write("w/secret", "plain\n");
    // Bash goes to the parent by name, programs to the parent in the file system: both must be harmless.
    check_all_asked(&place, Permissions::new(), &["cd link/.. && cat secret", "cd link/../src && cat ../../secret"])
        .await;
    check_all_free(&place, Permissions::new(), &["cd src/.. && cat a.txt", "cd src/../src && cat ../a.txt"]).await;
}

#[tokio::test]
async fn writing_behind_a_link_is_judged_where_it_leads() {
    let place = Place::new();
    place.link(".git/hooks", "h");
    place.link(place.at("out/dir"), "k");
    let before = std::fs::read_to_string(place.root().join(".git/config")).unwrap();
    let writes =
        ["echo '[core]' >> h/../config", "touch h/../x", "rm -rf h/../objects", "cp a.txt h/../hooks/post-commit"];
    for permissions in [bypass(), accept_edits(), Permissions::new().allow(["Bash"])] {
        check_all_asked(&place, permissions, &writes).await;
    }
    assert_eq!(std::fs::read_to_string(place.root().join(".git/config")).unwrap(), before);
    check_all_asked(
        &place,
        accept_edits(),
        &["rm -rf k/../dir", "echo x > k/../secret", "mv k/../secret a", "mkdir k/../new", "sed -i s/a/b/ k/../secret"],
    )
    .await;
    assert!(place.at("out/dir/sub/secret").exists() && !place.at("out/new").exists());
    check_all_free(&place, accept_edits(), &["echo x > src/../n.txt", "touch src/deep/../m", "rm src/../n.txt"]).await;
}

#[tokio::test]
async fn file_tools_open_what_was_judged() {
    let place = Place::new();
    place.link(place.at("out/dir"), "link");
    place.link("real/inner", "in");
    place.write("w/secret", "plain\n");
    let read = |path: &str| ("Read", serde_json::json!({"file_path": place.root().join(path)}));
    let write = |path: &str| ("Write", serde_json::json!({"file_path": place.root().join(path), "content": "x"}));
    let ran = run_calls(
        &place,
        accept_edits(),
        vec![read("link/../secret"), write("link/../new"), read("in/../x"), read("in/../a.txt"), write("src/../new")],
    )
    .await;
    assert_eq!(ran.asked, ["Read", "Write"], "{ran:#?}");
    // By the name: in the directory of the link, not where it leads.
    assert!(ran.results[2].0 && !ran.results[3].0 && !ran.results[4].0, "{ran:#?}");
    assert!(ran.results.iter().all(|(_, text)| !text.contains(SECRET)), "{ran:#?}");
    assert!(place.root().join("new").exists() && !place.at("out/new").exists());
}

#[tokio::test]
async fn what_a_pattern_stands_for_is_judged() {
    let place = Place::new();
    for directory in ["w/t", "w/p1/self", "w/all"] {
        std::fs::create_dir_all(place.at(directory)).unwrap();
    }
    place.write("w/t/plain", "plain\n");
    place.link(place.at("out/secret"), "t/s");
    place.link(place.at("out"), "p2");
    place.link(place.at("out/secret"), ".hidden");
    place.link("../src/b.rs", "all/b");
    check_all_asked(
        &place,
        Permissions::new(),
        &[
            "cat t/*",
            "cat */s",
            "grep the p*/*/secret",
            "grep the p*/dir/*",
            "wc -c p*/secret",
            "wc -l **/s",
            "cat [p]2/secret",
            "cat ?/s",
            "head -n1 t/?",
            "ls p*",
            "ls -d p*/dir/*",
            "stat -c %s t/*",
            "cat .h*",
            "cat < t/[s]",
            "cd t && cat *",
            "echo p*/*",
            "awk '{print}' t/s*",
            "sed -n 1p t/s*",
            "jq -R . t/s*",
        ],
    )
    .await;
    check_all_free(
        &place,
        Permissions::new(),
        &[
            "cat src/*.rs",
            "cat */b.rs",
            "wc -l **/*.rs",
            "cat t/p*",
            "cat all/*",
            "ls src/*",
            "ls *.txt",
            "grep plain */*.rs",
            "cd src && wc -l *.rs",
            "echo nothing/*/here || true",
        ],
    )
    .await;
}

#[tokio::test]
async fn a_file_whose_name_is_an_option_is_seen() {
    let place = Place::new();
    place.link(place.at("out"), "elsewhere");
    place.write("w/-R", "");
    place.write("w/d/--files0-from=..", "");
    place.write("w/-f/etc/passwd", "");
    let asked =
        ["grep -s the *", "ls *", "cd d && wc *", "sort *", "grep x */*/*", "cat ?R", "touch -- d/-x; cd d && ls *"];
    for mode in [PermissionMode::Default, PermissionMode::Plan] {
        check_all_asked(&place, Permissions::new().mode(mode), asked.get(..6).unwrap()).await;
    }
    check_all_asked(&place, Permissions::new().allow(["Bash(touch *)"]), &asked).await;
    check_all_asked(&place, bypass().deny(["Read(../out/**)"]), &["grep -s the *"]).await;
    check_all_free(
        &place,
        Permissions::new(),
        &["wc -l *.txt", "grep -c a ./a.txt", "ls -- *.txt", "sort src/*.rs", "cat a*", "echo ?R"],
    )
    .await;
}

#[tokio::test]
async fn a_search_that_would_print_a_secret_of_the_project_asks() {
    let place = Place::new();
    place.write("w/.env", "KEY=x\n");
    place.write("w/src/deep/credentials.json", "{}\n");
    place.write("w/node_modules/x/.env", "KEY=x\n");
    check_all_asked(
        &place,
        Permissions::new(),
        &[
            "grep -r KEY .",
            "grep -rn KEY src",
            "cd src && grep -r KEY .",
            "grep -rn x *",
            "find . -name '.e*' -exec cat {} +",
        ],
    )
    .await;
    check_all_free(
        &place,
        Permissions::new(),
        &[
            "grep -rn KEY real",
            "grep -rn --include='*.rs' KEY .",
            "grep -rn --exclude='.env*' --exclude-dir=deep KEY .",
            "ls -R .",
        ],
    )
    .await;
}

#[tokio::test]
async fn programs_that_follow_links_on_their_own_are_judged_by_all_they_would_follow() {
    let place = Place::new();
    for directory in ["w/one/x", "w/two/x", "w/three", "w/four"] {
        std::fs::create_dir_all(place.at(directory)).unwrap();
    }
    place.write("w/one/x/f", "1\n");
    place.write("w/two/x/f", "1\n");
    place.write("w/three/f", "1\n");
    place.write("w/four/f", "1\n");
    place.link(place.at("out/dir"), "one/x/l");
    place.link("f", "three/same");
    check_all_asked(
        &place,
        Permissions::new(),
        &[
            "diff -r one two",
            "diff -rN one two",
            "diff one/x two/x",
            "timeout 9 diff -r one two",
            "cd one && diff -r x ../two/x",
            "grep -R the one",
            "find -L one -name secret",
            "ls -LR one",
            "rg -L the one",
            "tree -l one",
            "du -L one",
            "cp -rL one five",
        ],
    )
    .await;
    check_all_free(
        &place,
        Permissions::new(),
        &[
            "diff -r three four || true",
            "diff -ru src src",
            "diff a.txt a.txt",
            "grep -r plain .",
            "find . -name '*.rs'",
            "ls -R one",
            "du -s one",
            "diff -r --no-dereference one two || true",
        ],
    )
    .await;
}

/// `~` is followed as any other path.
#[tokio::test]
async fn links_in_the_home_directory_are_followed() {
    let place = Place::new();
    std::fs::create_dir_all(place.at("home")).unwrap();
    symlink(place.at("out/secret"), place.at("home/l")).unwrap();
    symlink(place.at("w/.git/config"), place.at("home/c")).unwrap();
    let rule = format!("Read(/{}/**)", place.at("out").display());
    check_all_denied(&place, bypass().deny([rule]), &["cat ~/l", "cat $HOME/l", "bash -c 'cat ~/l'"]).await;
    check_all_asked(&place, bypass(), &["echo x >> ~/c", "(cd src; touch ~/c)"]).await;
    check_all_free(&place, bypass(), &["echo x > ~/d && cat ~/d"]).await;
}

/// A copy writes through the links that stand where its files come to lie, whatever names its sources.
#[tokio::test]
async fn copies_are_judged_by_what_they_write() {
    let place = Place::new();
    place.write("w/kit/.vscode/tasks.json", "{}\n");
    for file in ["w/new/secret", "w/new/sub/secret", "w/safe/a.txt"] {
        place.write(file, "changed\n");
    }
    for directory in ["w/dst/new", "w/dst/new/sub", "w/flat", "w/inner/safe", "w/hooks/safe"] {
        std::fs::create_dir_all(place.at(directory)).unwrap();
    }
    place.link(place.at("out/secret"), "dst/new/secret");
    place.link(place.at("out/dir/secret"), "dst/new/sub/secret");
    place.link(place.at("out/secret"), "flat/secret");
    place.link("../../a.txt", "inner/safe/a.txt");
    place.link("../../.git/config", "hooks/safe/a.txt");
    check_all_asked(
        &place,
        accept_edits(),
        &["cp -r new dst", "cp -r new/. flat", "cp -a new/sub dst/new", "cp -rt dst new", "cp -r safe hooks"],
    )
    .await;
    check_all_asked(
        &place,
        bypass(),
        &[
            "cp -r k*/. .",
            "cp -r k* src",
            "bash -c 'cp -r k*/. .'",
            "cp -r --reflink=auto kit/. .",
            "(cd src; cp -r ../kit/. ..)",
            "cp -r safe hooks",
            "cp -r s*e hooks",
        ],
    )
    .await;
    let rule = bypass().deny([format!("Edit(/{}/**)", place.at("out").display())]);
    check_all_denied(&place, rule, &["cp -r new dst", "cp -r n* dst", "bash -c 'cp -r new/. flat'"]).await;
    check_all_free(&place, accept_edits(), &["cp -r safe inner", "cp -r safe other", "cp -r new/. empty"]).await;
    check_all_free(&place, bypass(), &["cp -r n* elsewhere", "cp -r k* ../out/kit"]).await;
    assert_eq!(std::fs::read_to_string(place.at("out/secret")).unwrap(), SECRET);
    assert_eq!(std::fs::read_to_string(place.at("w/a.txt")).unwrap(), "changed\n");
}

#[tokio::test]
async fn what_an_earlier_part_made_is_not_known() {
    let place = Place::new();
    place.link(place.at("out/dir"), "link");
    // Harmless where it is, and leads out of the workspace one directory higher.
    place.link("..", "src/deep/up");
    place.link("../hooks", ".git/info/h");
    place.write("w/kit/.git/hooks/pre-commit", "#!/bin/sh\n");
    place.write("w/agent/.claude/settings.json", "{}\n");
    place.write("w/plain/sub/file", "x\n");
    place.write("w/git/hooks/x", "x\n");
    check_all_asked(
        &place,
        accept_edits(),
        &[
            "cp -a link elsewhere && cp a.txt elsewhere/x",
            "cp -P link elsewhere; echo x > elsewhere/y",
            "cp -R link elsewhere && rm -r elsewhere/sub",
            "mv link moved && touch moved/new",
            "mkdir d && mv link d/ && cat d/link/secret",
            "cp -a link l2 && cp -a l2 l3 && cat l3/secret",
            "cp -a src/deep/up up && cat up/out/secret",
            "cp -P src/deep/up up; cp a.txt up/out/planted",
            "mv src/deep/up up && cat up/out/*",
            "cat up/out/secret | cp -d src/deep/up up",
            "ln -s ../out x && echo > x/y",
            "cp -r kit/. .",
            "cp -r agent/.claude/. src && mv src/settings.json x && cp -r agent/. .",
            "cp -r kit src",
            "mv agent src",
            "mv git .git",
        ],
    )
    .await;
    check_all_free(
        &place,
        accept_edits(),
        &[
            "cp -r plain copy && echo y > copy/sub/file && cat copy/sub/file",
            "mv copy moved && ls moved/sub",
            "cp a.txt b.txt && cat b.txt",
            "mv b.txt c.txt && cat c.txt",
            "mkdir -p new/dir && touch new/dir/file && echo x > new/dir/file",
            "echo x > n.txt && cat n.txt",
            "cp -r plain/. src && ls src/sub",
        ],
    )
    .await;
    // A rule for the program that makes the link says no more of where it leads.
    let permissions = Permissions::new().allow(["Bash(ln:*)"]);
    check_all_asked(&place, permissions, &["ln -s ../out x && cat x/secret", "ln -sfn ../out/dir y; ls y"]).await;
}

#[tokio::test]
async fn a_read_deny_holds_for_what_moves_copies_or_removes_a_tree() {
    let place = Place::new();
    place.write("w/secrets/key", SECRET);
    place.write("w/conf/inner/token", SECRET);
    let deny = || bypass().deny(["Read(secrets/**)", "Read(./conf/inner/**)"]);
    check_all_denied(
        &place,
        deny(),
        &[
            "mv secrets x && cat x/key",
            "mv conf x && cat x/inner/token",
            "mv -t src secrets",
            "rm -r secrets",
            "rm -rf conf",
            "chmod -R 777 secrets",
            "chmod 777 conf",
            "cp -r secrets x && cat x/key",
            "tar czf x.tgz secrets",
            "rsync -a secrets/ x",
            "ln -s secrets x && cat x/key",
            "cat secrets/*",
            "grep -r the secrets",
            "timeout 5 mv secrets x",
            "bash -c 'mv secrets x; cat x/key'",
            "git mv secrets x",
        ],
    )
    .await;
    assert!(place.root().join("secrets/key").exists() && place.root().join("conf/inner/token").exists());
    check_all_denied(&place, deny(), &["cp -r . ../copy"]).await;
    check_all_asked(&place, deny(), &["grep -r the .", "tar cf ../x.tar ."]).await;
    check_all_free(&place, deny(), &["mv src lib", "rm -rf lib/deep", "cat a.txt", "ls", "chmod +x a.txt"]).await;
}

#[tokio::test]
async fn a_read_deny_holds_for_every_hop_of_a_link() {
    let place = Place::new();
    std::fs::create_dir_all(place.at("hop")).unwrap();
    place.write("other/key", SECRET);
    symlink(place.at("other/key"), place.at("hop/key")).unwrap();
    place.link(place.at("hop/key"), "first");
    place.link("first", "second");
    let rule = format!("Read(/{}/**)", place.at("hop").display());
    check_all_denied(&place, bypass().deny([rule]), &["cat first", "cat second", "cat src/../second", "cat secon*"])
        .await;
    check_all_denied(&place, bypass().deny(["Read(first)"]), &["cat second"]).await;
}

#[tokio::test]
async fn a_read_deny_holds_for_views_of_version_control() {
    let place = Place::new();
    place.write("w/secrets/key", SECRET);
    place.write("w/sub/b.txt", "plain\n");
    place.git(&["add", "."]);
    place.git(&["commit", "-q", "-m", "first"]);
    place.write("w/secrets/key", "changed\n");
    place.write("w/a.txt", "changed\n");
    let deny = || bypass().deny(["Read(secrets/**)"]);
    check_all_denied(
        &place,
        deny(),
        &[
            "git show HEAD:secrets/key",
            "git show :secrets/key",
            "git show :0:secrets/key",
            "git show HEAD:./secrets/key",
            "cd sub && git show HEAD:secrets/key",
            "git diff -- secrets",
            "git diff secrets/key",
            "git log -p -- secrets",
            "git log -p ':(top)secrets'",
            "git diff -- ':/secrets'",
            "git diff HEAD ':(icase)SECRETS'",
            "git blame secrets/key",
            "git cat-file -p HEAD:secrets/key",
            "git cat-file blob HEAD:secrets/key",
            "git archive HEAD secrets",
            "git grep the -- secrets",
            "git checkout HEAD -- secrets/key",
            "git log -L1,1:secrets/key",
            "cd sub && git diff ':/secrets'",
        ],
    )
    .await;
    check_all_asked(
        &place,
        deny(),
        &[
            "git log -p",
            "git log --patch -1",
            "git log --patch-with-stat",
            "git status -v",
            "git stash list --patch-with-raw",
            "git log --patch-with-r -1",
            "git log -U0",
            "git show",
            "git show HEAD",
            "git diff HEAD",
            "git diff HEAD -- .",
            "git diff -- ':!src'",
            "git diff ':/'",
            "git diff -- ':(glob)**/key'",
            "git stash show -p",
            "git grep the",
            "git archive HEAD",
            "git format-patch --stdout --root HEAD",
            "git cat-file -p 0123456789",
            "git -C sub log -p",
            "cd sub && git log -p",
            "(git log -p)",
        ],
    )
    .await;
    check_all_free(
        &place,
        deny(),
        &[
            "git status",
            "git log --oneline -5",
            "git log --stat -1",
            "git diff --stat",
            "git diff --name-only HEAD",
            "git show --stat",
            "git show -s HEAD",
            "git diff -- a.txt",
            "git diff a.txt src/b.rs",
            "git log -p -- a.txt sub/b.txt",
            "git show HEAD:a.txt",
            "git blame a.txt",
            "git branch -a",
            "git cat-file -t HEAD",
            "git rev-parse HEAD",
            "git ls-files",
        ],
    )
    .await;
}

/// Untracked files appear in no difference to the index.
#[tokio::test]
async fn a_read_deny_of_files_that_are_not_tracked_leaves_git_diff_alone() {
    let place = Place::new();
    place.git(&["add", "."]);
    place.git(&["commit", "-q", "-m", "first"]);
    place.write("w/.env", SECRET);
    place.write("w/a.txt", "changed\n");
    let deny = || bypass().deny(["Read(.env)", "Read(secrets/**)"]);
    check_all_free(&place, deny(), &["git diff", "git diff -- src a.txt", "git --no-pager diff -w", "git diff | head"])
        .await;
    let others = [
        "git diff HEAD",
        "git diff --cached",
        "git -C src diff",
        "cd src && git diff",
        "git log -p",
        "GIT_DIR=x git diff",
    ];
    check_all_asked(&place, deny(), &others).await;
    place.git(&["add", "-f", ".env"]);
    check_all_asked(&place, deny(), &["git diff", "git diff -- .", "git diff ':!src'"]).await;
    check_all_free(&place, deny(), &["git diff -- src"]).await;
    check_all_denied(&place, deny(), &["git diff -- .env"]).await;
}

#[tokio::test]
async fn a_git_directory_under_another_name_is_protected() {
    let place = Place::new();
    std::fs::create_dir(place.at("w/sub")).unwrap();
    let output = Command::new("git")
        .args(["init", "-q", "--separate-git-dir"])
        .arg(place.at("w/store"))
        .arg(place.at("w/sub"))
        .output()
        .unwrap();
    assert!(output.status.success());
    let writes = [
        "echo x > store/hooks/post-commit",
        "cp a.txt store/config",
        "rm -r store/objects",
        "touch store/hooks/new/deep",
        "mv store elsewhere",
        "tee store/info/attributes < a.txt",
        "echo x >> src/../store/config",
    ];
    check_all_asked(&place, bypass(), &writes).await;
    check_all_asked(&place, accept_edits(), &writes).await;
    check_all_free(&place, accept_edits(), &["cat store/HEAD", "ls store/hooks", "touch sub/file", "touch stored"])
        .await;
}

/// A repository is protected before it is one: whichever of its parts comes last, one of them asked.
#[tokio::test]
async fn a_bare_repository_is_protected_whatever_part_comes_first() {
    let place = Place::new();
    let head =
        ["echo x > evil/HEAD", "cp a.txt evil/HEAD", "mv a.txt HEAD", "tee new/deep/HEAD < a.txt", "ln -s x evil/HEAD"];
    check_all_asked(&place, bypass(), &head).await;
    check_all_free(&place, bypass(), &["mkdir -p evil/objects evil/refs", "touch heads", "git ls-files"]).await;
    place.write("w/evil/HEAD", "ref: refs/heads/x\n");
    let parts = ["echo x > evil/config", "mkdir -p evil/hooks", "mkdir evil/refs", "touch evil/hooks/post-checkout"];
    check_all_asked(&place, bypass(), &parts).await;
    check_all_asked(&place, accept_edits(), &parts).await;
    check_all_free(&place, accept_edits(), &["cat evil/HEAD", "touch src/b.txt", "touch c.txt"]).await;
}

/// Places that the configuration of the repository names are protected like `.git`.
#[tokio::test]
async fn places_that_a_configuration_of_git_names_are_protected() {
    let place = Place::new();
    place.git(&["config", "core.hooksPath", "tools/hooks"]);
    place.git(&["config", "include.path", "../shared.cfg"]);
    place.git(&["config", "core.fsmonitor", "./monitor.sh"]);
    place.write("w/monitor.sh", "");
    let writes = [
        "echo x > tools/hooks/pre-commit",
        "mkdir -p tools/hooks",
        "cp a.txt shared.cfg",
        "echo x >> src/../shared.cfg",
        "tee monitor.sh < a.txt",
    ];
    check_all_asked(&place, bypass(), &writes).await;
    check_all_asked(&place, accept_edits(), &writes).await;
    check_all_free(&place, accept_edits(), &["touch tools.txt", "mkdir -p tools/other", "touch shared.txt"]).await;
}
