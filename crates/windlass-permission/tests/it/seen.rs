//! Tests that the driver's facts about paths affect each decision.

use crate::common::{Rules, World, deny};
use std::path::Path;
use windlass_permission::git::GitTracked;
use windlass_permission::{CallFacts, PathFact, PatternFact, Policy, PolicyConfig, Standing};
use windlass_types::Behavior::{self, Allow, Ask, Deny};
use windlass_types::{DecisionReason, PermissionMode};

fn bypassing(rules: &[&str]) -> World {
    World::in_mode(PermissionMode::BypassPermissions, deny(rules))
}

fn verdict(world: &World, facts: &CallFacts) -> Behavior {
    world.policy.decide(facts, None, None).behavior
}

/// Returns the index of a repository with these files.
fn tracked(files: &[&str]) -> GitTracked {
    let mut index =
        [b"DIRC".as_slice(), &2_u32.to_be_bytes(), &u32::try_from(files.len()).unwrap().to_be_bytes()].concat();
    for file in files {
        let mut entry = vec![0_u8; 62];
        entry[24..28].copy_from_slice(&0o100_644_u32.to_be_bytes());
        entry.extend_from_slice(file.as_bytes());
        entry.resize(entry.len() + 8 - entry.len() % 8, 0);
        index.extend(entry);
    }
    GitTracked::new("/w", index, 20)
}

/// A driver may add paths to the requested ones. Rules apply to them as to others.
#[test]
fn paths_that_a_driver_adds_are_judged() {
    let world = bypassing(&["Read(secrets/**)", "Edit(locked/**)"]);
    let with = |fact: PathFact| {
        let mut facts = world.call("Bash frob a");
        facts.command.as_mut().unwrap().paths.push(fact);
        verdict(&world, &facts)
    };
    assert_eq!(with(PathFact::new("/w/b", "/w/b", true)), Allow);
    assert_eq!(with(PathFact::new("/w/secrets/x", "/w/secrets/x", false)), Deny);
    assert_eq!(with(PathFact::new("/w/b", "/w/secrets/x", false)), Deny);
    assert_eq!(with(PathFact::new("/w/b", "/w/c", false).with_via(vec!["/w/secrets/x".into()])), Deny);
    assert_eq!(with(PathFact::new("/w/locked/x", "/w/locked/x", false)), Allow);
    assert_eq!(with(PathFact::new("/w/locked/x", "/w/locked/x", true)), Deny);
    assert_eq!(with(PathFact::new("/w/b", "/w/.git/config", true)), Ask);
    assert_eq!(with(PathFact::new("/w/b", "/w/.git/config", false)), Allow);
    // Each of several facts about one path applies.
    let mut facts = world.call("Bash frob a");
    let command = facts.command.as_mut().unwrap();
    command.paths.push(PathFact::new("/w/b", "/w/secrets/x", false));
    command.paths.push(PathFact::new("/w/b", "/w/b", false));
    assert_eq!(verdict(&world, &facts), Deny);
}

/// Git shows of tracked files only these, as long as the repository is the one that was read.
#[test]
fn git_shows_no_more_than_it_tracks() {
    let world = bypassing(&["Read(secrets/**)"]);
    let with = |line: &str, files: &[&str]| {
        let mut facts = world.call(&format!("Bash {line}"));
        let command = facts.command.as_mut().unwrap();
        command.tracked = Some(tracked(files));
        verdict(&world, &facts)
    };
    assert_eq!(world.verdict("Bash git diff"), Ask);
    assert_eq!(with("git diff", &["src/a"]), Allow);
    assert_eq!(with("git diff", &["secrets/key", "src/a"]), Ask);
    assert_eq!(with("git diff && ls", &["src/a"]), Allow);
    // Elsewhere there may be another one.
    assert_eq!(with("cd sub && git diff", &["src/a"]), Ask);
    assert_eq!(with("GIT_DIR=other git diff", &["src/a"]), Ask);
    assert_eq!(with("ls; GIT_DIR=other git diff", &["src/a"]), Ask);
    assert_eq!(with("(cd sub; git diff)", &["src/a"]), Ask);
    // The files of the history differ from the files tracked now.
    for line in ["git log -p", "git diff HEAD~3", "git diff HEAD: HEAD~:", "git diff ':/message'"] {
        assert_eq!(with(line, &["src/a"]), Ask, "{line}");
    }
    // The contents of the index beside the working tree, and the files tracked by another repository, differ too.
    for line in ["git diff --cached", "git diff --stag", "git diff --no-index", "git -C sub diff", "git --bare diff"] {
        assert_eq!(with(line, &["src/a"]), Ask, "{line}");
    }
}

/// A deny rule applies to a file that git shows, whatever the words before the sub-command.
#[test]
fn git_shows_no_denied_file() {
    let world = bypassing(&["Read(/secrets/**)"]);
    world.check(
        Deny,
        &[
            "Bash git show HEAD:secrets/key",
            "Bash git --paginate show HEAD:secrets/key",
            "Bash git cat-file blob HEAD:secrets/key",
            "Bash git --bare log -p -- secrets/key",
            "Bash git stash show -U3 -- secrets/key",
            "Bash { git blame secrets/key; }",
        ],
    );
    world.check(
        Ask,
        &[
            "Bash git --paginate log -p",
            "Bash git --attr-source HEAD log -p",
            "Bash git stash show --unified=1",
            "Bash git worktree add ../x",
            "Bash git diff ':!src'",
            "Bash git diff ':^src'",
            "Bash git show HEAD:1:2:3:4:5:6:7:8:x",
        ],
    );
    world.check(
        Allow,
        &[
            "Bash git cat-file blob HEAD:src/a",
            "Bash git cat-file -p @",
            "Bash git push -u origin main",
            "Bash git stash show",
        ],
    );
}

/// Git takes a word for a path if a file has this name. Any other word may be a revision, which contains all files.
#[test]
fn git_shows_the_file_that_a_word_names() {
    let world = bypassing(&["Read(secrets/**)"]);
    let with = |end: Standing| {
        let mut facts = world.call("Bash git diff readme");
        facts.command.as_mut().unwrap().paths = vec![world.fact(Path::new("readme"), false).with_end(end)];
        verdict(&world, &facts)
    };
    assert_eq!((with(Standing::Leaf), with(Standing::Missing), with(Standing::Unknown)), (Allow, Ask, Ask));
}

/// A path that the driver could not follow is treated as outside. If it has no `..`, its text identifies it.
#[test]
fn a_path_that_was_not_followed_counts_as_outside() {
    let unseen = |world: &World, call: &str| {
        let mut facts = world.call(call);
        facts.command.as_mut().unwrap().paths.clear();
        let decision = world.policy.decide(&facts, None, None);
        (decision.behavior, decision.reason)
    };
    let world = World::new(Rules::default());
    assert_eq!(unseen(&world, "Bash cat x"), (Ask, DecisionReason::WorkingDirectory));
    assert_eq!(unseen(&world, "Bash cat gone/../x"), (Ask, DecisionReason::NotUnderstood));
    let world = bypassing(&["Read(keys/**)"]);
    assert_eq!(unseen(&world, "Bash touch x").0, Allow);
    assert_eq!(unseen(&world, "Bash touch gone/../x").0, Ask);
    assert_eq!(unseen(&world, "Bash touch keys/x").0, Deny);
}

/// Names below the matches of a pattern are handed on like those below a named directory.
#[test]
fn a_rule_holds_for_names_handed_on_from_what_a_pattern_stands_for() {
    let world = bypassing(&["Read(/secrets/**)", "Read(//other/s/**)"]).link("/w/t/l", "/other/s");
    let with = |line: &str, base: &str, pattern: &str, name: &str| {
        let mut facts = world.call(&format!("Bash {line}"));
        let matches = vec![world.fact(Path::new(name), false)];
        facts.command.as_mut().unwrap().patterns = vec![PatternFact::new(base, pattern, matches, true)];
        verdict(&world, &facts)
    };
    for line in ["find secr* -type f | xargs cat", "find secr* -type f -exec cat {} +", "ls secr* | xargs cat"] {
        assert_eq!(with(line, "/w", "secr*", "secrets"), Deny, "{line}");
        assert_eq!(with(line, "/w", "secr*", "secretary"), Allow, "{line}");
    }
    assert_eq!(with("find secr* -type f", "/w", "secr*", "secrets"), Allow);
    world.check(Deny, &["Bash find secrets -type f | xargs cat", "Bash ls t/* | xargs cat"]);
}

/// Only paths in a protected directory are protected, in any spelling.
#[test]
fn protected_paths_are_those_that_are_named() {
    let mut world = bypassing(&[]);
    let config = PolicyConfig::new("/w").with_mode(PermissionMode::BypassPermissions).with_bypass_allowed(true);
    world.policy = Policy::new(config.with_protected_paths(["/w/Kept".into()]));
    world.check(Ask, &["Bash touch Kept/x", "Write /w/Kept/x", "Bash rm -r kept", "Bash cp a KEPT/b"]);
    world.check(Allow, &["Bash touch x", "Write /w/x", "Bash rm -r keep", "Bash cat Kept/x", "Read /w/Kept/x"]);
}

/// A redirection touches the file that it names, and nothing below it, whatever the program does to its words.
#[test]
fn a_redirection_touches_one_file() {
    let world = bypassing(&["Read(./conf/**)", "Edit(./locked/**)", "Edit(./part/x)"]);
    world.check(Allow, &["Bash mv a b < conf", "Bash mv a b > locked", "Bash rm a < conf", "Bash rm a > locked"]);
    world.check(Deny, &["Bash mv conf b", "Bash mv locked b", "Bash rm -r locked", "Bash rm -r part"]);
    // A command that only makes or changes a directory changes nothing in it.
    world.check(Allow, &["Bash touch part", "Bash mkdir part"]);
}

/// A rule that applies at any depth still applies after a move, one about a place does not.
#[test]
fn a_move_takes_files_away_from_rules_on_their_place() {
    bypassing(&["Read(./src/*.key)"]).check(Ask, &["Bash mv src lib"]);
    bypassing(&["Read(*.key)"]).check(Allow, &["Bash mv src lib"]);
}

/// A file name pattern reaches into directories below, so it may reach a rule's directory from above and from no other
/// place.
#[test]
fn a_pattern_reaches_rules_below_it() {
    let world = bypassing(&["Read(~/keys/**)", "Edit(~/locked/**)"]);
    world.check(Ask, &["Bash cat /home/*/keys/a", "Bash cat /*/u/keys/a", "Bash rm /home/*/locked/a"]);
    world.check(Allow, &["Bash cat src/*.rs", "Bash cat /other/*/keys/a", "Bash rm src/*.o"]);
    // A program reads below each of its files, deeper than the pattern.
    let world = bypassing(&["Read(./src/a/b/**)"]);
    world.check(Ask, &["Bash grep -r x src/*", "Bash rg x s*"]);
    world.check(Allow, &["Bash grep -r x other/*", "Bash rg x src/*/*.rs", "Bash grep x src/*"]);
}

/// A pattern that starts at the home directory matches more than the path with its wildcards.
#[test]
fn a_pattern_at_home_may_stand_for_what_a_rule_names() {
    let world = bypassing(&["Read(~/keys/**)"]);
    world.check(Ask, &["Bash cat ~/k*/a", "Bash cat ~/*/a", "Bash cat $HOME/k?ys/a", "Bash cat \"$HOME\"/key[s]/a"]);
    world.check(Ask, &["Bash cat < ~/k*/a", "Bash bash -c 'cat ~/k*/a'"]);
    world.check(Deny, &["Bash cat ~/keys/*", "Bash cat ~/keys/a", "Bash cat ${HOME}/keys/a"]);
    world.check(Allow, &["Bash cat ~/other/a"]);
    bypassing(&[]).check(Ask, &["Bash echo x > ~/.ss*/config", "Bash cp a ~/.ss*/config"]);
    bypassing(&[]).check(Allow, &["Bash cat ~/k*/a"]);
}

/// The question is about the path that leads out of the workspace, not about the one that stands beside it.
#[test]
fn a_question_names_the_link_that_leads_out() {
    let world = World::new(Rules::default()).link("/w/t/a", "/w/src/a").link("/w/t/b", "/other/b");
    let decision = world.decision("Bash cat t/*");
    assert_eq!(decision.blocked_path.as_deref(), Some(Path::new("/other/b")), "{decision:?}");
    assert!(decision.message.contains("/other/b"), "{decision:?}");
}

/// A tree that is copied elsewhere takes along the entries found in it.
#[test]
fn a_rule_holds_for_what_was_found_in_a_tree_that_goes_elsewhere() {
    let world = bypassing(&["Read(.env)"]).link("/w/one/sub/.env", "/w/a").link("/w/two/sub/l", "/w/a");
    world.check(Deny, &["Bash mv one x", "Bash cp -r one x"]);
    world.check(Allow, &["Bash mv two x"]);
    // The entries brought by a copy are not all known to be harmless.
    world.check(Ask, &["Bash cp -r two x"]);
}

/// Facts about the places that words of a command may name affect each decision.
#[test]
fn words_are_judged_by_the_places_that_they_may_name() {
    let world = bypassing(&["Read(/secrets/**)", "Read(~/keys/**)", "Edit(/locked/**)", "Edit(/out/locked/**)"]);
    world.check(
        Ask,
        &[
            // Commands that search the current directory if no other is named.
            "Bash { grep -r key; }",
            // A program may write the file that its option names, or not.
            "Bash { frob -xlocked/p; }",
            "Bash { tar -xf a.tar -C out; }",
            // The directory below the home, or that of the command, is unknown.
            "Bash { cat ~/$x/a; }",
            "Bash cd $x; cat a",
        ],
    );
    world.check(Deny, &["Bash { grep -fsecrets/p x; }", "Bash { cat ~/keys/a; }"]);
    world.check(
        Allow,
        &[
            "Bash { grep -r key src; }",
            "Bash { grep -r key src lib; }",
            "Bash { grep -flocked/p x; }",
            "Bash { tar -xf a.tar -C other; }",
            "Bash cd $x; cat /tmp/a",
            // Commands that search only their named operands.
            "Bash { rm -r build; }",
        ],
    );
}

/// The sub-command of git decides, also behind the options of git itself.
#[test]
fn git_commands_that_read_change_nothing() {
    let world = bypassing(&["Edit(/locked/**)"]);
    world.check(
        Allow,
        &["Bash { git diff locked/p; }", "Bash { git --no-pager diff locked/p; }", "Bash { git -C . log locked/p; }"],
    );
    world.check(
        Ask,
        &[
            "Bash { git checkout locked/p; }",
            "Bash { git --no-pager checkout locked/p; }",
            "Bash { frob show locked/p; }",
        ],
    );
}

/// Names handed on from a directory may be any file in it.
#[test]
fn a_rule_holds_for_files_that_are_handed_on() {
    let world = bypassing(&["Read(/secrets/**)", "Edit(/locked/**)"]);
    world.check(
        Ask,
        &[
            "Bash find . -type f -exec rm {} +",
            "Bash find . -type f | xargs rm",
            "Bash find locked | xargs touch",
            "Bash ls locked | xargs rm",
            "Bash { find . -type f | xargs rm; }",
            "Bash { find -type f -exec rm {} +; }",
            "Bash { find locked -type f -exec rm {} +; }",
            "Bash { find locked | xargs rm; }",
            "Bash { fd . locked -x touch; }",
            "Bash { fd . locked -X touch; }",
            "Bash { fd . locked -Hx touch; }",
            "Bash { fd . locked -HIX touch; }",
            "Bash { fd . locked --exec touch; }",
        ],
    );
    world.check(
        Allow,
        &[
            "Bash find . -type f",
            "Bash { find locked -xdev -type f; }",
            "Bash { fd -exml . locked; }",
            "Bash find secrets -xdev -type f",
            "Bash { find . -name '*.rs' -exec wc -l {} +; }",
            "Bash { find locked -type f -exec cat {} +; }",
            "Bash { find locked | xargs grep x; }",
            "Bash { find src -type f -exec rm {} +; }",
            "Bash { find src | xargs rm; }",
        ],
    );
}

/// Of a copy, source and target are from the same directory.
#[test]
fn copies_go_to_where_the_command_runs() {
    let world = bypassing(&[]).link("/tmp/d/kit/.vscode/l", "/w/a").link("/home/u/kit/.vscode/l", "/w/a");
    world.check(Ask, &["Bash { cd sub; cp -r ~/kit/. ../o; }", "Bash { cp -r /tmp/d/kit/. sub; }"]);
    world.check(Allow, &["Bash { cd /tmp/d; cp -r kit/. sub; }", "Bash { cp -r ~/kit/. ../o; }"]);
}

/// The files that `find` deletes below its start directories are unknown.
#[test]
fn a_rule_holds_for_what_find_deletes() {
    let world = bypassing(&["Edit(/locked/**)"]);
    world.check(
        Ask,
        &[
            "Bash find locked -name p -delete",
            "Bash find -L -- locked -delete",
            "Bash { find . -name p -delete; }",
            "Bash find -name p -delete",
        ],
    );
    world.check(
        Allow,
        &["Bash find src -name locked -delete", "Bash { find src lib -delete; }", "Bash { find locked -name p; }"],
    );
}
