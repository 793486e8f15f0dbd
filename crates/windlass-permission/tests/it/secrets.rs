//! Places of secrets ask even if the workspace contains them.

use crate::common::{HOME, Rules, World, allow, short};
use windlass_permission::{Policy, PolicyConfig, SandboxedCommands};
use windlass_types::Behavior::{Allow, Ask};
use windlass_types::PermissionMode;
use windlass_types::secret::{HOME_PLACES, SYSTEM_PLACES};

/// Returns a session that was started in the home.
fn at_home() -> World {
    let mut world = World::new(Rules::default());
    world.policy = Policy::new(PolicyConfig::new(HOME).with_home(Some(HOME.into())));
    world.cwd = HOME.into();
    world
}

#[test]
fn places_of_secrets_ask_wherever_the_workspace_holds_them() {
    for world in [at_home(), World::new(Rules::default())] {
        for place in HOME_PLACES.iter().copied().filter(|place| !place.contains(' ')).chain([
            ".env",
            ".env.local",
            ".envrc",
            "secrets.yml",
            "credentials.json",
            "terraform.tfstate",
            "config/master.key",
            "deploy/id_rsa",
            "certs/server.pem",
            ".htpasswd",
            "wp-config.php",
        ]) {
            for call in [
                format!("Read {place}"),
                format!("Grep {place}"),
                format!("Bash cat {place}"),
                format!("Bash head -c 100 ./{place}"),
                format!("Bash grep -r x {place}"),
                format!("Bash ls && base64 {place}"),
                format!("Bash wc -l < {place}"),
                format!("Bash git show HEAD:{place}"),
                format!("Bash nice -n 5 cat {place}"),
            ] {
                let decision = world.decision(&call);
                assert_eq!(decision.behavior, Ask, "{call}: {decision:?}");
            }
        }
        world.check(Ask, &["Read .ssh/config", "Read .config/gh/hosts.yml", "Bash cat .mozilla/firefox/x/logins.json"]);
    }
    let world = World::new(Rules::default());
    for place in SYSTEM_PLACES {
        world.check(Ask, &[&format!("Read {place}")]);
    }
}

#[test]
fn names_of_places_and_examples_are_free() {
    for world in [at_home(), World::new(Rules::default())] {
        world.check(
            Allow,
            &[
                "Read .env.example",
                "Bash cat .env.sample",
                "Bash ls -la .ssh",
                "Bash test -f .env && echo yes",
                "Bash stat .npmrc",
                "Bash find . -name .env",
                "Glob .ssh",
                "Read src/secrets.rs",
                "Bash cat id_rsa.pub",
                "Bash git status",
                "Grep .",
                "Read .git/HEAD",
            ],
        );
    }
    World::new(Rules::default()).check(Allow, &["Bash grep -rn TODO .", "Bash rg x"]);
    // In the home a recursive read reaches all of its places.
    at_home().check(Ask, &["Bash grep -rn TODO .", "Bash cat .ssh/config"]);
    at_home().check(Allow, &["Bash grep -rn TODO src", "Bash ls -R ."]);
}

#[test]
fn only_a_rule_that_names_the_place_lets_it_be_read() {
    let files = &["/w/.env"];
    let world = World::new(Rules::default()).files(files);
    assert_eq!(short(&world.decision("Read .env").suggestions), ["Read(//w/.env) session"]);
    assert_eq!(short(&world.decision("Bash cat .env").suggestions), ["Read(//w/.env) session"]);
    for mode in [PermissionMode::AcceptEdits, PermissionMode::Auto] {
        World::in_mode(mode, Rules::default()).check(Ask, &["Read .env", "Bash cat .env", "Bash cp .env x"]);
    }
    World::new(allow(&["Bash(cat *)", "Bash(git *)"])).check(Ask, &["Bash cat .env", "Bash git show HEAD:.env"]);
    World::new(allow(&["Read(.env)"])).check(Allow, &["Read .env", "Bash cat .env"]);
    World::new(allow(&["Bash"])).check(Allow, &["Bash cat .env"]);
    World::in_mode(PermissionMode::BypassPermissions, Rules::default()).check(Allow, &["Read .env"]);
    // A link with another name leads there all the same.
    World::new(Rules::default()).link("/w/notes.txt", "/w/.env").check(Ask, &["Read notes.txt", "Bash cat notes.txt"]);
}

#[test]
fn a_sandbox_does_not_answer_for_the_secrets_of_a_project() {
    let mut world = World::new(Rules::default());
    world.policy.confine(SandboxedCommands::new().with_auto_allow());
    world.check(Ask, &["Bash cat .env"]);
}

/// A search of a tree prints the places of secrets below it.
#[test]
fn a_search_of_a_tree_asks_where_it_would_print_a_secret() {
    let files =
        &["/w/.env", "/w/src/a.rs", "/w/src/credentials.json", "/w/certs/test.pem", "/w/.git/config", "/w/docs/b.md"];
    let world = World::new(Rules::default()).files(files);
    world.check(
        Ask,
        &[
            "Bash grep -r x .",
            "Bash grep -rn x",
            "Bash cd src && grep -r x .",
            "Bash grep -r x src docs",
            "Bash grep -rn x . | head -5",
            "Bash diff -r . ../w",
            "Bash rg --hidden x",
            "Bash rg x",
            "Bash find . -name '.env*' -exec cat {} +",
        ],
    );
    world.check(
        Allow,
        &[
            "Bash grep -rn x docs",
            "Bash grep -rn --include='*.rs' x .",
            "Bash grep -rn --include=*.md x .",
            "Bash grep -rn --exclude='.env*' --exclude='*.json' x .",
            "Bash grep -rn --exclude=.env --exclude-dir=src x .",
            "Bash rg -t rust x",
            "Bash rg x docs",
            "Bash ls -R .",
            "Bash find . -name '*.rs'",
            "Bash git grep x",
        ],
    );
    // Keys of tests and the repository's own files are no texts that a search is for.
    World::new(Rules::default())
        .files(&["/w/certs/test.pem", "/w/.git/config", "/w/.npmrc", "/w/.env.example"])
        .check(Allow, &["Bash grep -r x ."]);
    let named = World::new(allow(&["Read(.env)", "Read(src/credentials.json)"])).files(files);
    named.check(Allow, &["Bash grep -r x ."]);
}

/// A rule for a tree covers the rest of it.
#[test]
fn a_wide_rule_covers_no_place_of_secrets_below() {
    let world = World::new(allow(&["Read(//x/**)", "Read(~/**)", "Read(**)", "Read(//w/**)"]));
    world.check(Allow, &["Read /x/a.txt", "Bash cat /x/a.txt", &format!("Read {HOME}/notes.md")]);
    world.check(
        Ask,
        &[
            "Read /x/.env",
            "Bash cat /x/.env",
            "Read /x/a/id_rsa",
            "Read .env",
            &format!("Read {HOME}/.ssh/id_rsa"),
            "Bash cat ~/.aws/credentials",
        ],
    );
    for (rule, call) in [
        ("Read(//x/.env)", "Read /x/.env"),
        ("Read(//x/**/.env)", "Read /x/a/.env"),
        ("Read(//x/.env*)", "Read /x/.env.local"),
        ("Read(//x/*.pem)", "Read /x/a.pem"),
        ("Read(~/.ssh/**)", &*format!("Read {HOME}/.ssh/id_rsa")),
        ("Read(~/.config/gh/**)", &*format!("Bash cat {HOME}/.config/gh/hosts.yml")),
        ("Read(.env)", "Read .env"),
    ] {
        World::new(allow(&[rule])).check(Allow, &[call]);
    }
}

/// The places of the table of secrets, one of each. In a session of the home logs of sessions are free, since results
/// that were cut lie beside them.
#[test]
fn no_place_of_the_table_is_read_without_a_question() {
    const PLACES: &str = include_str!("secrets.txt");
    let places: Vec<&str> = PLACES.lines().filter(|line| !line.trim().is_empty()).collect();
    assert_eq!(places.len(), 84);
    let world = at_home();
    let free: Vec<&&str> = places
        .iter()
        .filter(|place| {
            let reads = [format!("Read {place}"), format!("Bash cat '{}'", place.replace('~', HOME))];
            reads.iter().any(|call| world.verdict(&call.replace('~', HOME)) == Allow)
        })
        .collect();
    assert_eq!(free, [&"~/.windlass/projects/other/session.jsonl"], "{} of {}", free.len(), places.len());
}

const MUST_EXIST: &[&str] = &["git log -p .env", "git show --format= HEAD .env", "git diff HEAD~3 HEAD .env"];

/// A secret that was deleted is still in the history: what git prints of it is a read, whatever the working tree has.
#[test]
fn a_secret_that_only_the_history_has_asks() {
    let there: &[&str] = &["/w/.env", "/w/certs/server.pem", "/w/a.rs"];
    for files in [&["/w/a.rs"][..], there] {
        let world = World::new(Rules::default()).files(files);
        let mut free = Vec::new();
        for command in [
            "git log -p -- .env",
            "git log -p -- ./.env",
            "git log -p -- ':(top).env'",
            "git log -p -- ':/.env'",
            "git log -p -- '.env*'",
            "git log -p -- '*.pem'",
            "git log -p -- '**/.env'",
            "git log -p -- ':(glob)**/.env'",
            "git log -p -- ':(icase).ENV'",
            "git log -p --all --full-history -- .env",
            "git log -p --follow -- .env",
            "git log -p .env",
            "git log -L1,5:.env",
            "git log --all -p -S x -- certs/server.pem",
            "git show HEAD~3:.env",
            "git show :.env",
            "git show HEAD -- .env",
            "git show --format= HEAD .env",
            "git diff HEAD~3 -- .env",
            "git diff HEAD~3 HEAD .env",
            "git diff HEAD~3:.env HEAD:a.rs",
            "git diff --cached -- .env",
            "git diff-tree -p HEAD~1 HEAD -- .env",
            "git cat-file -p HEAD~3:.env",
            "git cat-file blob HEAD~3:.env",
            "git cat-file --textconv HEAD~3:.env",
            "git archive HEAD~3 .env",
            "git archive HEAD~3 -- .env",
            "git archive --format=tar HEAD~3 certs/server.pem | tar -xO",
            "git stash show -p -- .env",
            "git stash show -p stash@{0} -- .env",
            "git blame HEAD~3 -- .env",
            "git annotate HEAD~3 .env",
            "git grep x HEAD~3 -- .env",
            "git grep x HEAD~3 -- '.env*'",
            "git checkout HEAD~3 -- .env && cat .env",
            "git restore --source HEAD~3 .env && cat .env",
            "git format-patch --stdout HEAD~3 -- .env",
            "git range-diff HEAD~3 HEAD~2 HEAD -- .env",
            "git reflog -p -- .env",
            "git whatchanged -p -- .env",
        ] {
            // Without `--`, git refuses most words that name no file.
            let is_refused = files != there && MUST_EXIST.contains(&command);
            if !is_refused && world.decision(&format!("Bash {command}")).behavior == Allow {
                free.push(command);
            }
        }
        assert!(free.is_empty(), "{files:?}: {free:#?}");
        world.check(
            Allow,
            &[
                "Bash git log --oneline -- .env",
                "Bash git log --stat -- '.env*'",
                "Bash git log -p -- '*.rs'",
                "Bash git log -p -- src docs",
                "Bash git log -p -- .env.example",
                "Bash git diff HEAD~3 -- a.rs",
                "Bash git diff --stat HEAD~3 -- .env",
                "Bash git diff --name-only -- '*.pem'",
                "Bash git show HEAD~3:a.rs",
                "Bash git grep x -- '*.rs'",
                "Bash git log -p -- . ':!.env'",
            ],
        );
    }
}
