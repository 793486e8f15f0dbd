//! Links on the way of a command: `..` behind them, patterns and programs that go through them, parts that make them.

use crate::common::{Rules, World, allow, deny};
use windlass_types::Behavior::{Allow, Ask, Deny};
use windlass_types::{DecisionReason, PermissionMode};

fn bypassing(rules: Rules<'_>) -> World {
    World::in_mode(PermissionMode::BypassPermissions, rules)
}

#[test]
fn the_parent_of_a_link_is_where_it_leads() {
    let world = World::new(Rules::default()).link("/w/out", "/other/deep").link("/w/in", "/w/src/deep");
    world.check(
        Ask,
        &[
            "Bash cat out/../x",
            "Bash cat < out/../x",
            "Bash cat src/../out/../x",
            "Bash grep -r x out/..",
            "Bash cat out/../*.txt",
            "Bash cd src && cat ../out/../x",
            "Bash cd out/.. && ls",
            "Bash cat in/../../../x",
        ],
    );
    world.check(
        Allow,
        &[
            "Bash cat in/../x",
            "Bash cd in && cat ../x",
            "Bash cat src/../x",
            "Bash cd src/.. && ls",
            "Bash cd in/.. && cat x",
            "Bash cat in/../*.rs",
        ],
    );
    let hooks = bypassing(Rules::default()).link("/w/h", "/w/.git/hooks").link("/w/k", "/other/deep");
    hooks.check(
        Ask,
        &["Bash echo x >> h/../config", "Bash touch h/../x", "Bash tee h/../config", "Bash (echo x > h/../config)"],
    );
    let plan = World::in_mode(PermissionMode::Plan, Rules::default()).link("/w/out", "/other/deep");
    plan.check(Ask, &["Bash cat out/../x"]);
    let accept = World::in_mode(PermissionMode::AcceptEdits, Rules::default()).link("/w/k", "/other/deep");
    accept.check(Ask, &["Bash rm -rf k/../bin", "Bash echo x > k/../y", "Bash mv k/../x a", "Bash cp a k/../x"]);
    accept.check(Allow, &["Bash touch src/../a", "Bash echo x > src/../y"]);
    let denied = bypassing(deny(&["Read(//other/**)"])).link("/w/k", "/other/deep");
    denied.check(Deny, &["Bash cat k/../x", "Bash (cat k/../x)", "Bash cd src && cat ../k/../x"]);
}

/// A driver that could not follow a path reports none of it.
#[test]
fn a_parent_that_cannot_be_found_is_asked_about() {
    let world = World::new(Rules { allow: &["Bash(tool:*)"], deny: &["Read(keys/**)"], ask: &[] });
    for command in ["cat gone/../x", "cd gone/.. && cat x"] {
        let mut call = world.call(&format!("Bash {command}"));
        call.command.as_mut().unwrap().paths.retain(|fact| !fact.requested.to_string_lossy().contains(".."));
        let decision = world.policy.decide(&call, None, None);
        assert_eq!(
            (decision.behavior, decision.reason),
            (Ask, DecisionReason::NotUnderstood),
            "{command} {decision:?}"
        );
    }
}

#[test]
fn patterns_are_judged_by_what_they_stand_for() {
    let world = World::new(Rules::default())
        .link("/w/t/l", "/other/secret")
        .link("/w/p", "/proc")
        .link("/proc/1/exe", "/bin/x")
        .link("/w/all/l", "/w/src/a")
        .link("/w/.h", "/other/x");
    world.check(
        Ask,
        &[
            "Bash cat t/*",
            "Bash cat */l",
            "Bash cat **/l",
            "Bash grep x p*/*/environ",
            "Bash ls p*",
            "Bash cat ?/l",
            "Bash cat [t]/[l]",
            "Bash cat .h*",
            "Bash cd t && cat *",
            "Bash cat < t/*",
        ],
    );
    world.check(
        Allow,
        &[
            "Bash cat src/*.rs",
            "Bash wc -l **/*.rs",
            "Bash grep foo */*.toml",
            "Bash cat all/*",
            "Bash cat *.h",
            "Bash ls *.md",
        ],
    );
    let denied = bypassing(deny(&["Read(//other/**)", "Read(keys/**)", "Read(.env)"])).link("/w/t/l", "/other/secret");
    denied.check(Deny, &["Bash cat t/*", "Bash (cat t/*)", "Bash cat keys/*", "Bash cat keys/*/x"]);
    // Of other files that such a rule may be about nothing is known.
    denied.check(Ask, &["Bash cat .e*", "Bash cat s*/*/*"]);
    denied.check(Allow, &["Bash cat src/*.rs"]);
    // If the driver did not look, it may be any file.
    let mut call = world.call("Bash cat src/*.rs");
    call.command.as_mut().unwrap().patterns.clear();
    assert_eq!(world.policy.decide(&call, None, None).behavior, Ask);
}

#[test]
fn programs_that_follow_links_are_judged_by_these() {
    let world = World::new(Rules::default()).link("/w/a/x/l", "/other").link("/w/c/l", "/w/src");
    world.check(
        Ask,
        &["Bash diff -r a b", "Bash diff b a", "Bash timeout 5 diff -r a b", "Bash cd src && diff -r ../a ."],
    );
    world.check(
        Allow,
        &[
            "Bash diff -r c b",
            "Bash diff -r --no-dereference a b",
            "Bash grep -r x a",
            "Bash find a -name x",
            "Bash du a",
        ],
    );
    let mut call = world.call("Bash diff -r c b");
    call.command.as_mut().unwrap().trees.clear();
    assert_eq!(world.policy.decide(&call, None, None).behavior, Ask);
}

#[test]
fn parts_that_make_links_leave_later_paths_unknown() {
    let accept = World::in_mode(PermissionMode::AcceptEdits, Rules::default())
        .link("/w/src/l", "/w/deep")
        .link("/w/tree/sub/l", "/w/deep")
        .link("/w/there", "/w/real");
    accept.check(
        Ask,
        &[
            "Bash cp -a src/l e && cp a e/x",
            "Bash cp -P src/l e; echo x > e",
            "Bash cp -R tree e && cat e/sub/l/x",
            "Bash mv src/l e && touch e/x",
            "Bash mv tree e && cat e/sub/*",
            "Bash cat e/sub/l/x | mv tree e",
            "Bash cp -a src/l there && cat real/l/x",
            "Bash cp -a src/l real && cat there/l/x",
            "Bash cp -a src/l real && cp -a there/l e && cat e/x",
            "Bash mkdir d && mv src/l d && cat d/l/x",
            "Bash cp -r plain b && cp -r tree b && diff -r b c",
            "Bash cp -r tree b && mv b c && cat c/x",
            "Bash cp -a src/l plain/sub && cp -r plain e && cat e/sub/x",
            "Bash cp -a src/l d/e && diff -r d c",
        ],
    );
    accept.check(
        Allow,
        &[
            "Bash cp a e && cp a e2 && cat e",
            "Bash cp -r plain e && echo x > e/y && cat e/y",
            "Bash mv plain e && ls e/sub",
            "Bash cp -a src/l e && cat a",
            "Bash cp -r tree e && cat src/*.rs",
            "Bash mkdir -p x/y && touch x/y/z && cat x/y/z",
            "Bash cat a && cp -r tree e",
            // A command that ran before has met no link yet, unless it runs at the same time.
            "Bash cat e/sub/l/x && mv tree e",
            "Bash cat e/sub/l/x; ls | wc -l; mv tree e",
        ],
    );
    // In a directory that is there already a tree keeps its own name, under which there may be a link.
    let inside = accept.clone().link("/w/e/tree", "/w/other");
    inside.check(Ask, &["Bash cp -R tree e && cat other/sub/l/x", "Bash cp -R ./tree/ e && cat other/sub/l/x"]);
    inside.check(Allow, &["Bash cp -R tree f && cat other/sub/l/x"]);
    // The target of the write may be protected: its place is unknown.
    let bypass = bypassing(Rules::default()).link("/w/tree/sub/l", "/w/.git");
    bypass.check(
        Ask,
        &[
            "Bash cp -r tree x && echo x > x/sub/l/config",
            "Bash mv tree x && touch x/sub/l/hooks/post-commit",
            "Bash ln -s a x && echo x > x/config",
            "Bash mv h away; mv tree h; echo x >> h/sub/../config",
            "Bash cp -r tree x | tee x/sub/config",
        ],
    );
    bypass.check(
        Allow,
        &[
            "Bash cp -r tree x && cat x/sub/a",
            "Bash cp -r tree x && echo x > y",
            "Bash ln -s a b && cat b/c && echo x > d",
            // A redirection target gets no link.
            "Bash ln -s a b > log && echo x > log",
            "Bash cp -r plain e && echo x > e/y",
        ],
    );
    let linking = World::new(allow(&["Bash(ln:*)"]));
    linking.check(
        Ask,
        &[
            "Bash ln -s a x && cat x/passwd",
            "Bash ln -s a x; ls x",
            "Bash ln -s a x && cat */passwd",
            "Bash ln -s a d1/e && cat d*/e/p",
            "Bash ln -s a x && cat x/../b",
        ],
    );
    linking.check(
        Allow,
        &[
            "Bash ln -s a x && cat b",
            "Bash ln -s a x && cat b*/passwd",
            "Bash ln -s a d1/x && cat d*/e/p",
            "Bash ln -s a x && cat y/../b",
        ],
    );
}

#[test]
fn copies_bring_no_protected_files_along() {
    let accept = World::in_mode(PermissionMode::AcceptEdits, Rules::default())
        .link("/w/kit/.git/hooks/l", "/w/a")
        .link("/w/cfg/fish/l", "/w/a");
    accept.check(Ask, &["Bash cp -r kit/. .", "Bash cp -r kit src", "Bash mv kit src", "Bash cp -r cfg/. .config"]);
    bypassing(Rules::default())
        .link("/w/kit/.git/hooks/l", "/w/a")
        .check(Ask, &["Bash cp -r kit/. .", "Bash cp -a kit src"]);
    bypassing(Rules::default())
        .link("/w/kit/.git/hooks/l", "/w/a")
        .check(Allow, &["Bash cp -r kit /tmp/backup", "Bash mv kit src", "Bash cp -r src lib"]);
    let mut call = accept.call("Bash cp -r plain lib");
    call.command.as_mut().unwrap().trees.clear();
    assert_eq!(accept.policy.decide(&call, None, None).behavior, Ask);
    accept.check(Allow, &["Bash cp -r plain lib", "Bash mv plain lib"]);
}

/// Matches of a pattern are copied like named files.
#[test]
fn copies_of_what_a_pattern_stands_for_bring_no_protected_files_along() {
    let in_mode = |mode| {
        let world = World::in_mode(mode, Rules::default());
        world.link("/w/kit/.git/hooks/l", "/w/a").link("/w/deep/kit/.vscode/l", "/w/a").link("/w/zoo/x", "/w/a")
    };
    let brings = [
        "Bash cp -r k*/. .",
        "Bash cp -r k* src",
        "Bash cp -a ./k?t/. .",
        "Bash cp -r d*/kit src",
        "Bash cp -r d*/k*/. src",
        "Bash cp -rt src k*",
        "Bash cp -r z* k* src",
    ];
    let bypass = in_mode(PermissionMode::BypassPermissions);
    bypass.check(Ask, &brings);
    bypass.check(Allow, &["Bash cp -r k* /tmp/backup", "Bash mv k* src", "Bash cp -r z*/. .", "Bash cp -r x* ."]);
    // Also where the line, the program or its options are not understood.
    bypass.check(
        Ask,
        &[
            "Bash bash -c 'cp -r kit/. .'",
            "Bash (cd deep; cp -r ../k* ..)",
            "Bash cp -r --reflink=auto kit/. .",
            "Bash cp --reflink -a --target-directory src kit",
            "Bash cp --reflink -rt src kit",
            "Bash cp --reflink -r kit --t=src",
            "Bash cp --reflink -rtsrc kit",
            "Bash for i in 1; do cp -r kit src; done",
            "Bash rsync -a kit/ .",
            "Bash (cp -r -- kit src)",
            "Bash env cp -r ./* kit \"$x\" src",
            "Bash cd deep && cd .. && cp -r kit/. .",
        ],
    );
    bypass.check(
        Allow,
        &[
            "Bash bash -c 'cp -r kit/. /tmp/x'",
            "Bash cp kit/. .",
            "Bash (cp -r zoo src)",
            "Bash (cp kit/. .)",
            "Bash (cp kit /tmp/x -r)",
            // Entries below the start of a pattern are not its matches.
            "Bash (cp -r . /tmp/x; cp -r z* src)",
            "Bash rsync -a zoo/ .",
            "Bash rsync -at src kit /tmp/x",
        ],
    );
    // A name that it has in the target may be protected there alone.
    let cfg = World::in_mode(PermissionMode::BypassPermissions, Rules::default()).link("/w/c/fish/l", "/w/a");
    cfg.check(Ask, &["Bash cp -r c*/. .config", "Bash cp -r c/f* .config"]);
    cfg.check(Allow, &["Bash cp -r c* .configs", "Bash cp -r c* src"]);
}

/// A copy of a tree writes through the links that stand where its files come to lie.
#[test]
fn copies_are_judged_by_the_links_that_they_may_write_through() {
    let world = |mode, rules| {
        let world = World::in_mode(mode, rules).link("/w/kit/l", "/w/a").link("/w/kit/sub/m", "/w/a");
        let world =
            world.link("/w/out/kit/l", "/other/f").link("/w/in/kit/l", "/w/b").link("/w/flat/sub/m", "/other/f");
        world.link("/w/hooks/kit/l", "/w/.git/hooks/x").link("/w/away/kit/n", "/other/f")
    };
    let accept = world(PermissionMode::AcceptEdits, Rules::default());
    accept.check(
        Ask,
        &[
            "Bash cp -r kit out",
            "Bash cp -r kit/. out/kit",
            "Bash cp -a kit/. flat",
            "Bash cp -rt out kit",
            "Bash ls && cp -r kit out",
        ],
    );
    accept.check(
        Allow,
        &[
            "Bash cp -r kit in",
            "Bash cp -r kit away",
            "Bash cp -r kit/sub flat/other",
            "Bash mv kit/l out/kit/x",
            "Bash mv kit flat",
        ],
    );
    // A link that an earlier part of the line puts there is treated as one.
    accept.check(
        Ask,
        &["Bash cp -a in/kit/l e/x && cp -r plain e", "Bash cp -a in/kit/l d/x && cp -a in/kit/l e/x && cp -r plain e"],
    );
    accept.check(Allow, &["Bash cp -a in/kit/l e/x && cp -r plain f", "Bash cp -a in/kit/l e/x && rm -r e"]);
    let bypass = world(PermissionMode::BypassPermissions, deny(&["Edit(//other/**)"]));
    bypass.check(Deny, &["Bash cp -r kit out", "Bash bash -c 'cp -r kit out'", "Bash (cp -r k*/. flat)"]);
    bypass.check(Ask, &["Bash cp -r kit hooks", "Bash cp -r --reflink=auto kit hooks"]);
    bypass.check(Allow, &["Bash cp -r kit in", "Bash (cp -r kit away)"]);
}

/// Paths behind the home directory are followed as others are.
#[test]
fn links_in_the_home_directory_are_followed() {
    let world = bypassing(deny(&["Read(//other/**)", "Edit(/keep)"]))
        .link("/home/u/l", "/other/x")
        .link("/home/u/keep", "/w/keep")
        .link("/home/u/vs", "/w/.vscode");
    world.check(
        Deny,
        &["Bash cat ~/l", "Bash (cat $HOME/l)", "Bash touch ~/keep", "Bash bash -c 'cat ~/l'", "Bash cat ~/l*"],
    );
    world.check(Ask, &["Bash echo x > ~/vs/tasks.json"]);
    world.check(Allow, &["Bash cat ~/m", "Bash touch ~/x"]);
}

/// Programs that follow links follow those among the matches of a pattern.
#[test]
fn links_in_what_a_pattern_stands_for_are_judged() {
    let denies = bypassing(deny(&["Read(//other/**)"])).link("/w/a/x/l", "/other").link("/w/c/l", "/w/src");
    denies.check(Deny, &["Bash diff -r a* c", "Bash diff -r c a*", "Bash diff -r a b", "Bash (diff -r a b)"]);
    denies.check(Allow, &["Bash diff -r c* b", "Bash diff -r --no-dereference a* b", "Bash (diff -r c b)"]);
    denies.check(
        Deny,
        &[
            "Bash grep -R x a",
            "Bash egrep --deref x a*",
            "Bash rg -L x a",
            "Bash rg --follow x ./*",
            "Bash ag -f x a",
            "Bash fd -L . a -x cat",
            "Bash find -L a -exec cat {} +",
            "Bash find a -follow -type f | xargs cat",
            "Bash cp -rL a b",
            "Bash cp -r --dereference a b",
            "Bash rsync -aL a b",
            "Bash tar -chf x.tar a",
            "Bash tar chf x.tar a",
            "Bash zip -r x.zip a",
            "Bash scp -r a host:b",
        ],
    );
    denies.check(
        Allow,
        &[
            "Bash grep -R x c",
            "Bash grep -r x a",
            "Bash (grep -r -- x a)",
            "Bash rg x a",
            "Bash ag x a",
            "Bash fd . a -x cat",
            "Bash find -L a -type f",
            "Bash cp -r a b",
            "Bash rsync -a a b",
            "Bash tar -cf x.tar a",
            "Bash zip -ry x.zip a",
            "Bash zip -r x.zip c",
        ],
    );
    let mut call = denies.call("Bash diff -r c* b");
    call.command.as_mut().unwrap().trees.clear();
    assert_eq!(denies.policy.decide(&call, None, None).behavior, Ask);
}

#[test]
fn a_deny_holds_for_the_directories_above() {
    let rules =
        deny(&["Read(secrets/**)", "Read(./conf/inner/**)", "Read(/one/key)", "Edit(/locked/**)", "Read(.env)"]);
    let world = bypassing(rules);
    world.check(
        Deny,
        &[
            "Bash mv secrets x && cat x/key",
            "Bash mv sub/secrets x",
            "Bash mv conf x",
            "Bash mv one x",
            "Bash mv -t x conf",
            "Bash rm -r secrets",
            "Bash rm -rf conf",
            "Bash chmod -R 777 one",
            "Bash chown u conf",
            "Bash ln -s conf x",
            "Bash git mv conf x",
            "Bash git -C sub mv secrets x",
            "Bash cp -r secrets x",
            "Bash tar cf x.tar secrets",
            "Bash rsync -a secrets/ x",
            "Bash rg foo secrets",
            "Bash find secrets -type f | xargs cat",
            "Bash find secrets -type f -exec cat {} +",
            "Bash find sub/secrets -type f -print0 | xargs -0 grep x",
            "Bash cd secrets && grep -r x",
            "Bash timeout 5 mv secrets x",
            "Bash sudo mv conf x",
            "Bash bash -c 'mv conf x'",
            "Bash (cd conf && mv inner x)",
            "Bash rm -rf locked",
            "Bash cp -r a locked",
        ],
    );
    world.check(Ask, &["Bash grep -r foo .", "Bash tar cf x.tar .", "Bash cp -r one x", "Bash rg foo conf"]);
    world.check(
        Allow,
        &[
            "Bash rm -rf target",
            "Bash mv src lib",
            "Bash chmod +x run.sh",
            "Bash ls secrets",
            "Bash find secrets -name x",
            "Bash find . -name '*.rs' | xargs wc -l",
            "Bash ln -s src x",
            "Grep secrets",
        ],
    );
}

#[test]
fn a_deny_holds_for_what_git_shows() {
    let world = bypassing(deny(&["Read(secrets/**)", "Read(//etc/**)"]));
    world.check(
        Deny,
        &[
            "Bash git show HEAD:secrets/key",
            "Bash git diff -- secrets",
            "Bash git log -p ':(top)secrets'",
            "Bash git diff -- ':/secrets/key'",
            "Bash cd sub && git show HEAD:secrets/key",
            "Bash git archive HEAD -- secrets",
            "Bash git grep foo -- secrets",
            "Bash (git blame secrets/key)",
        ],
    );
    world.check(
        Ask,
        &[
            "Bash git log -p",
            "Bash git diff",
            "Bash git show",
            "Bash git diff HEAD -- .",
            "Bash git stash show -p",
            "Bash git archive HEAD",
        ],
    );
    world.check(
        Allow,
        &[
            "Bash git status",
            "Bash git log --oneline",
            "Bash git diff --stat",
            "Bash git show HEAD:src/a",
            "Bash git blame src/a",
        ],
    );
    bypassing(deny(&["Read(//etc/**)", "Read(~/.ssh/**)"]))
        .check(Allow, &["Bash git log -p", "Bash git diff", "Bash git show"]);
    World::new(Rules::default()).check(Allow, &["Bash git log -p", "Bash git diff", "Bash git show"]);
}
