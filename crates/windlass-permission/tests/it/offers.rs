//! An offer with a question gives away no more than the question was about.

use crate::common::{Rules, World, short};
use proptest::prelude::*;
use windlass_types::{Behavior, PermissionUpdate};

/// Programs with an option, an operand or a form of theirs that runs a program: the command, and where the option goes.
const RUNNERS: &[(&str, &str)] = &[
    ("git fetch{} origin", " --upload-pack=./x"),
    ("git pull{} origin", " --upload-pack=./x"),
    ("git push{} origin", " --receive-pack=./x"),
    ("git rebase{} main", " --exec ./x"),
    ("git clone{} a b", " -c core.fsmonitor=./x"),
    ("git{} commit -m x", " -c core.editor=./x"),
    ("git{} add -A", " -c core.fsmonitor=./x"),
    ("git diff{} a.txt", " --ext-diff"),
    ("git grep{} a", " -O./x"),
    ("git archive{} HEAD", " --remote=. --exec=./x"),
    ("git ls-remote{} origin", " --upload-pack=./x"),
    ("git merge{} topic", " -s ours"),
    ("ssh{} host uptime", " -oProxyCommand=./x"),
    ("scp{} a host:b", " -S ./x"),
    ("sftp{} host", " -D ./x"),
    ("rsync{} -a a b", " -e ./x"),
    ("tar{} xf a.tar", " --to-command=./x"),
    ("tar{} -cf a.tar a", " -I ./x"),
    ("zip{} a.zip a", " -T -TT ./x"),
    ("docker run{} image", " -v /:/host"),
    ("docker exec web{}", " sh"),
    ("docker compose run web{}", " sh"),
    ("kubectl exec pod{}", " -- sh"),
    ("curl{} https://example.com/a", " -o ../x"),
    ("wget{} https://example.com/a", " --use-askpass=./x"),
    ("less{} n.txt", " +!x"),
    ("man{} ls", " -P ./x"),
    ("vim{} n.txt", " -c :!x"),
    ("find .{} -name a", " -exec ./x {} +"),
    ("fd{} a", " -x ./x"),
    ("rg{} a", " --pre ./x"),
    ("sort{} n.txt", " --compress-program=./x"),
    ("awk{} /x/ n.txt", " -f x.awk"),
    ("sed{} s/a/b/w n.txt", " -f x.sed"),
    ("jq{} . n.json", " -L x"),
    ("bundle exec{} ssh host", " ./x"),
    ("npx{} ssh host", " -c ./x"),
    ("uv run{} bash", " ./x"),
    ("pnpm{} bash", " exec ./x"),
    ("poetry run{} env", " ./x"),
    ("gdb{} a", " -ex !x"),
    ("man{} x", " --pager=./x"),
    ("psql{} base", " -c \\!x"),
    ("sqlite3{} base", " .shell"),
    ("ansible{} all", " -a ./x"),
    ("parallel{} a", " ./x"),
    ("watch{} ls", " -x ./x"),
    ("openssl{} version", " engine -pre ./x"),
    ("gpg{} --list-keys", " --photo-viewer ./x"),
    ("unknown-tool{} a", " --exec ./x"),
    ("/usr/bin/tool{} a", " --exec ./x"),
];

const AROUND: &[&str] =
    &["{}", "cd src && {}", "timeout 5 {}", "{} | head -5", "ls && {}", "npm test && {}", "{} 2>&1"];

/// Places outside of the workspace, and whether each is a file.
const PLACES: &[(&str, bool)] = &[
    ("/", false),
    ("/etc", false),
    ("/etc/hostname", true),
    ("/etc/ssl/openssl.cnf", true),
    ("/etc/ssl", false),
    ("/proc", false),
    ("/proc/cpuinfo", true),
    ("/proc/1/environ", true),
    ("/usr/bin/x", true),
    ("/home", false),
    ("/home/u", false),
    ("/home/u/notes", true),
    ("/home/u/.config/a/b", true),
    ("/home/u/.config", false),
    ("/home/v/x", true),
    ("/root/x", true),
    ("/var/log/x", true),
    ("/var/log", false),
    ("/tmp/x", true),
    ("/tmp", false),
    ("/sys/x/y", true),
    ("/x", true),
];

fn offered(call: &str) -> (World, Vec<PermissionUpdate>) {
    let world = World::new(Rules::default()).files(&["/w/n.txt", "/w/a.txt", "/w/src/n.txt"]);
    let suggestions = world.decision(call).suggestions;
    (world, suggestions)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(600) })]

    /// Each suggestion alone settles the call, and none allows the program with an option that runs another.
    #[test]
    fn no_offer_covers_an_option_that_runs_a_program(
        runner in proptest::sample::select(RUNNERS), around in proptest::sample::select(AROUND), before in any::<bool>(),
    ) {
        let (form, option) = runner;
        let call = |option: &str| format!("Bash {}", around.replace("{}", &form.replace("{}", option)));
        let (asked, other) = if before { (call(""), call(option)) } else { (call(option), call("")) };
        let (world, suggestions) = offered(&asked);
        for update in &suggestions {
            let mut with = world.clone();
            with.policy.apply(update).unwrap();
            prop_assert_eq!(with.verdict(&asked), Behavior::Allow, "{}: {:?}", asked, short(&suggestions));
            if before {
                prop_assert_ne!(with.verdict(&other), Behavior::Allow, "{}: {:?}", other, short(&suggestions));
            }
            let words = call(&format!("{} ./y", if before { "" } else { option }));
            // A command that is free by itself is none of the rule's.
            let alone = format!("Bash {}", form.replace("{}", &format!("{} ./y", if before { "" } else { option })));
            if world.verdict(&alone) != Behavior::Allow {
                prop_assert_ne!(with.verdict(&words), Behavior::Allow, "{}: {:?}", words, short(&suggestions));
            }
        }
    }

    /// A read is never answered with a mode, and nothing that is offered names a directory of the system or a home.
    #[test]
    fn no_offer_for_a_read_is_wider_than_a_directory_of_the_user(
        program in proptest::sample::select(&["Read ", "Grep ", "Glob ", "Bash cat ", "Bash less ", "Bash ls ", "Bash grep -r x "][..]),
        (path, is_file) in proptest::sample::select(PLACES),
    ) {
        let call = format!("{program}{path}");
        let mut world = World::new(Rules::default());
        if is_file {
            world = world.files(&[path]);
        }
        let suggestions = world.decision(&call).suggestions;
        for update in &suggestions {
            prop_assert!(matches!(update, PermissionUpdate::AddRules { .. }), "{}: {:?}", call, short(&suggestions));
            let mut with = world.clone();
            with.policy.apply(update).unwrap();
            prop_assert_eq!(with.verdict(&call), Behavior::Allow);
            for other in ["/etc/other", "/proc/2/environ", "/usr/bin/other", "/home/u/other", "/home/u/.ssh/id", "/home/w/x", "/root/y", "/var/log/other", "/tmp/other", "/other"] {
                let other = format!("Read {other}");
                prop_assert_ne!(with.verdict(&other), Behavior::Allow, "{}: {:?}", other, short(&suggestions));
            }
        }
    }
}
