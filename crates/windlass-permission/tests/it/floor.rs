//! The safety floor over every program of it and every way to write a path: a command that would hit a whole system,
//! home or working tree is never run, by whatever link, `..` or change of directory the path gets there.

use crate::common::{Rules, World, allow, deny};
use windlass_types::Behavior::{self, Allow, Ask, Deny};
use windlass_types::PermissionMode;

/// Programs of the floor; `P` is the place of the path.
const PROGRAMS: [&str; 13] = [
    "rm -rf P",
    "rm --recursive --force P",
    "rmdir P",
    "shred -u P",
    "mv P /tmp/x",
    "chmod -R 777 P",
    "chown -R u:u P",
    "chgrp --recursive u P",
    "setfacl -R -m u:x:rwx P",
    "chattr -R +i P",
    "find P -delete",
    "find P -type f -exec rm -f {} +",
    "find P -exec shred {} \\;",
];

/// Paths that end in `/etc`, for `k` and `~/k` that lead to `/etc/ssl`, `j` to `k` and `e/up` to `/etc`.
const PATHS: [&str; 18] = [
    "/etc",
    "k/..",
    "./k/..",
    "k//..",
    "k/./../.",
    "'k'/..",
    "\"k/..\"",
    "j/..",
    "k/../../etc",
    "k/../../usr/../etc/",
    "e/up/",
    "e/up/.",
    "/w/a/b/k/..",
    "~/k/..",
    "$HOME/k/..",
    "\"$HOME\"/k/../../etc",
    "$PWD/k/..",
    "~+/k/../ssl/..",
];

/// Lines around a program, with the path from where it then runs.
const LINES: [(&str, &str); 18] = [
    ("C", "k/.."),
    ("sudo C", "k/.."),
    ("timeout 5 C", "k/.."),
    ("ls; C", "k/.."),
    ("ls && C || ls", "k/.."),
    ("(C)", "k/.."),
    ("if true; then C; fi", "k/.."),
    ("echo $(C)", "k/.."),
    ("bash -c \"C\"", "k/.."),
    ("cd k && C", ".."),
    ("cd k && C", "../../etc"),
    ("cd k; C", "../../etc"),
    ("cd k && ls && C", "../ssl/.."),
    ("cd /tmp; cd ../etc; C", "."),
    ("cd /tmp && cd ../etc && C", "."),
    ("cd /tmp; cd nope; cd ../etc; C", "."),
    ("(cd k; C)", "../../etc"),
    ("cd k || cd j; C", "../../etc"),
];

fn world(mode: PermissionMode, rules: Rules<'_>) -> World {
    let world = World::in_mode(mode, rules)
        .link("/w/a/b/k", "/etc/ssl")
        .link("/home/u/k", "/etc/ssl")
        .link("/w/a/b/j", "/w/a/b/k")
        .link("/w/a/b/e/up", "/etc")
        .link("/w/a/b/in", "/w/a/c");
    World { cwd: "/w/a/b".into(), ..world }
}

fn worlds() -> [(&'static str, World); 3] {
    [
        ("default", world(PermissionMode::Default, Rules::default())),
        ("Bash", world(PermissionMode::Default, allow(&["Bash"]))),
        ("bypass", world(PermissionMode::BypassPermissions, Rules::default())),
    ]
}

fn expect(expected: Behavior, lines: &[String]) {
    let mut wrong = Vec::new();
    for (name, world) in worlds() {
        let fits = |line: &&String| match expected {
            Deny => world.verdict(&format!("Bash {line}")) == Deny,
            // Nothing is granted by default.
            _ => name == "default" || world.verdict(&format!("Bash {line}")) == expected,
        };
        let shown = |line: &String| format!("{name}: {line}: {}", world.decision(&format!("Bash {line}")).message);
        wrong.extend(lines.iter().filter(|line| !fits(line)).map(shown));
    }
    assert!(wrong.is_empty(), "{} of {}: {wrong:#?}", wrong.len(), lines.len() * 3);
}

#[test]
fn no_way_to_write_a_path_leads_below_the_floor() {
    let by_path = PROGRAMS.iter().flat_map(|program| PATHS.map(|path| program.replace('P', path)));
    let by_line = PROGRAMS
        .iter()
        .filter(|program| !program.contains("\\;"))
        .flat_map(|program| LINES.map(|(line, path)| line.replace('C', &program.replace('P', path))));
    let lines: Vec<String> = by_path.chain(by_line).collect();
    assert!(lines.len() > 400, "{}", lines.len());
    expect(Deny, &lines);
}

#[test]
fn all_that_a_directory_holds_is_found_behind_links() {
    let lines = [
        "rm -rf k/../*",
        "cd k && rm -rf ../*",
        "cd k/.. && rm -rf *",
        "cd /tmp; cd ../etc; rm -rf *",
        "cd /tmp && cd ../etc && rm -rf ./*",
        "cd; rm -rf *",
        "cd && rm -rf *",
        "cd ~ && rm -rf *",
        "cd in && cd .. && rm -rf /w/a/b/*",
        "rm -rf ~/k/../*",
        "chmod -R 777 k/../*",
    ];
    expect(Deny, &lines.map(str::to_owned));
}

#[test]
fn what_stays_above_the_floor_is_decided_by_rules() {
    let lines = [
        // A link alone is lost, not the tree behind it.
        "rm k",
        "rm -rf k",
        "mv k old",
        "rm -rf e/up",
        "rm -rf in/../target",
        "chmod -R u+w in/../target",
        "find in/ -delete",
        "rm -rf in/../b/target",
        "cd in && rm -rf ../target",
        "cd build && cmake .. && cd .. && rm -rf build/tmp",
        "cd src && cd .. && rm -rf target",
        "cd src; ls; cd ..; rm -rf target",
        "rm -rf $PWD/target",
        "find k/.. -name x",
        "chmod 644 in/file",
    ];
    expect(Allow, &lines.map(str::to_owned));
    for (name, world) in worlds() {
        for line in ["cd build && rm -rf * && cd ..", "(cd x && rm -rf *); (cd y && rm -rf *)"] {
            assert_ne!(world.verdict(&format!("Bash {line}")), Deny, "{name}: {line}");
        }
    }
}

/// A command that names the files it shows is not asked about because of a rule elsewhere.
#[test]
fn a_rule_elsewhere_does_not_ask_about_what_is_named() {
    let rules = || deny(&["Read(/a/b/secret/**)", "Read(/keys/**)"]);
    let world = world(PermissionMode::Default, rules());
    for (line, expected) in [
        ("git diff -- src", Allow),
        ("git diff HEAD -- src/main.rs", Allow),
        ("git log -p -- src", Allow),
        ("git diff", Ask),
        ("git diff -- .", Ask),
        ("git diff -- secret", Deny),
    ] {
        assert_eq!(world.verdict(&format!("Bash {line}")), expected, "{line}");
    }
}

/// Behind a change that failed the shell is where it was.
#[test]
fn a_change_that_may_have_failed_leads_nowhere() {
    let world = world(PermissionMode::Default, Rules::default());
    for (line, expected) in [
        ("! cd c && cat ../../../x", Ask),
        ("! cd nope && cat ../../../x", Ask),
        ("cd nope || cat ../../../x", Ask),
        ("cd c; cat ../../../x", Ask),
        ("cd c && cat ../x", Allow),
        ("cd c && ls && cd .. && cat x", Allow),
        ("cd c && cd .. && cat ../../../x", Ask),
        ("cd c; cd ..; ls", Allow),
        ("cd k && cd .. && ls", Ask),
        ("cd k/.. && ls", Ask),
        ("cd c && ls && cd ..", Allow),
        ("cd in && cat ../x", Allow),
        ("cd in/../../.. && ls", Ask),
        ("cd c && cd -P .. && ls", Ask),
        ("cd c | ls; cat x", Ask),
    ] {
        assert_eq!(world.verdict(&format!("Bash {line}")), expected, "{line}");
    }
}

#[test]
fn a_denied_folder_below_is_not_handed_to_programs() {
    let rules = || Rules { allow: &["Bash"], ..deny(&["Read(/a/b/secret/**)"]) };
    for (name, world) in [
        ("Bash", world(PermissionMode::Default, rules())),
        ("bypass", world(PermissionMode::BypassPermissions, rules())),
    ] {
        let free = |line: &&str| world.verdict(&format!("Bash {line}")) == Allow;
        let handed = [
            "find . -exec cat {} +",
            "find . -type f -exec cat {} \\;",
            "find -exec cat {} +",
            "find . -execdir cat {} +",
            "find /w/a -exec head {} +",
            "find . -ok cat {} \\;",
            "fd . -x cat",
            "fd -X cat",
            "cd .. && find b -exec cat {} +",
            "find . | xargs cat",
            "find . -print0 | xargs -0 grep x",
            "ls -R | xargs head",
        ];
        let wrong: Vec<&&str> = handed.iter().filter(|line| free(line)).collect();
        assert!(wrong.is_empty(), "{name}: {wrong:#?}");
        let others = [
            "find src -exec cat {} +",
            "find . -name x",
            "find . -exec ls -d {} +",
            "find . -exec basename {} \\;",
            "find . -name x | xargs dirname",
            "find src | xargs cat",
            "ls",
        ];
        let wrong: Vec<&&str> = others.iter().filter(|line| !free(line)).collect();
        assert!(wrong.is_empty(), "{name}: {wrong:#?}");
    }
    // A rule on names matters only if the names of the handed-on files match it.
    let named = Rules { allow: &["Bash"], ..deny(&["Read(.env)", "Read(*.pem)"]) };
    let world = world(PermissionMode::Default, named);
    for (line, expected) in [
        ("find . -name '*.rs' -exec cat {} +", Allow),
        ("find . -name '*.rs' | xargs grep -n x", Allow),
        ("find . -type f -name '*.p*' -exec cat {} +", Ask),
        ("find . -name '*.rs' -o -name '*.pem' | xargs cat", Ask),
        ("find . ! -name '*.rs' -exec cat {} +", Ask),
        ("find . -type f -exec cat {} +", Ask),
    ] {
        assert_eq!(world.verdict(&format!("Bash {line}")), expected, "{line}");
    }
}

#[test]
fn a_pattern_in_the_place_of_a_program_may_be_any_program() {
    let rules = || Rules { allow: &["Bash"], ..deny(&["Bash(rm:*)"]) };
    for (name, world) in [
        ("Bash", world(PermissionMode::Default, rules())),
        ("bypass", world(PermissionMode::BypassPermissions, rules())),
    ] {
        let mut free = Vec::new();
        for wrapper in [
            "unshare",
            "unshare -r",
            "sudo",
            "env",
            "nice",
            "nohup",
            "timeout 5",
            "setsid",
            "xargs",
            "stdbuf -oL",
            "time",
            "command",
            "exec",
            "chroot .",
            "nsenter -a",
            "flock x",
            "ionice",
            "taskset 1",
            "strace",
            "doas",
            "busybox",
        ] {
            for program in ["r?", "[r]m", "/bin/r*", "{r,}m"] {
                let line = format!("{wrapper} {program} -rf target");
                if world.verdict(&format!("Bash {line}")) == Allow {
                    free.push(line);
                }
            }
        }
        assert!(free.is_empty(), "{name}: {free:#?}");
        assert_eq!(world.verdict("Bash unshare -r ls"), Allow, "{name}");
    }
}

/// Lines in which a command is handed a whole tree while it runs.
const HANDED: &[&str] = &[
    "ls / | xargs rm -rf",
    "ls -d /* | xargs rm -rf",
    "ls /|grep -v proc|xargs -I{} rm -rf /{}",
    "ls -A ~ | xargs -d '\\n' rm -rf",
    "find / | xargs rm",
    "find / -type f -print0 | xargs -0 rm -f",
    "find ~ -mtime +0 | xargs rm",
    "find / -name '*' -print | xargs rm",
    "find / ! -name x | xargs rm",
    "find / -size +0 -delete",
    "find / -name '*' -delete",
    "find / -exec sh -c 'rm -rf \"$1\"' _ {} \\;",
    "cd / && ls | xargs rm -rf",
    "echo / | xargs rm -rf",
    "echo '~' | xargs rm -rf",
    "printf '/etc\\0' | xargs -0 rm -rf",
    "xargs rm -rf <<< /",
    "xargs rm -rf <<< ~",
    "cat <<'E' | xargs rm -rf\n/etc\nE",
    "ls -d /* | parallel rm -rf",
    "ls -d /* | xargs sh -c 'rm -rf \"$@\"' _",
    "ls -d /* | sudo xargs busybox rm -rf",
    "ls -d /* |\n xargs rm -rf",
    "(ls -d /*) | (xargs rm -rf)",
    "{ ls -d /*; } | { xargs rm -rf; }",
    "bash -c 'ls -d /* | xargs rm -rf'",
    "bash -c 'ls -d /*' | bash -c 'xargs rm -rf'",
    "ls -d /* | while read f; do rm -rf \"$f\"; done",
    "while read f; do rm -rf \"$f\"; done < <(ls -d /*)",
    "while read f; do rm -rf $f; done <<< /",
    "for f in $(ls -d /*); do rm -rf $f; done",
    "rm -rf $(ls -d /*)",
    "rm -rf `echo /`",
    "rm -rf \"$(printf /)\"",
    "chmod -R 777 $(ls -d /*)",
    "ls -d /* | xargs chmod -R 777",
    "ls / | xargs -n1 mv -t /tmp/x",
    "f() { rm -rf \"$1\"; }; f /",
    "function wipe { d=$1; rm -rf \"$d\"; }; wipe ~",
    "ls | xargs rm -rf",
    "stat -c %n /* | xargs rm -rf",
    "dirname ~/x | xargs rm -rf",
    "locate / | xargs rm",
    "ls -d /* | awk '{print \"rm -rf \"$0}' | sh",
    "ls -d /* | awk '{system(\"rm -rf \"$0)}'",
    "ls -d /* | sed 's/^/rm -rf /' | sh",
    "x=$(ls -d /*); rm -rf $x",
    "read f <<< /; rm -rf \"$f\"",
    "mapfile a < <(ls -d /*); rm -rf \"${a[@]}\"",
    "rm -rf \"$(cd /; pwd)\"",
    "fd . / -x rm",
    "fd -H . ~ --exec rm -rf",
    "find / -empty -o -delete",
    "find ~ -path x -prune -o -type f -delete",
    "sh -c \"rm -rf \\\"$X\\\"\"",
    "eval rm -rf $X",
    "su -c \"rm -rf $X\"",
    "bash -c \"rm -rf $X/\"",
    "sh -c \"rm -rf $X\"",
    "eval \"rm -rf $X\"",
    "bash -c \"cd /tmp; rm -r -f '$X'\"",
    "python3 -c 'import shutil; shutil.rmtree(\"/\")'",
    "python3 -c \"import shutil; shutil.rmtree('/')\"",
    "python -c 'import shutil,os; shutil.rmtree(os.path.expanduser(\"~\"))'",
    "python3 -c 'import shutil; from pathlib import Path; shutil.rmtree(Path.home())'",
    "python3 -c 'import shutil, os; shutil.rmtree(os.environ[\"HOME\"])'",
    "python3 -c 'import os; os.system(\"rm -rf /\")'",
    "python3 -c 'import subprocess; subprocess.run([\"rm\", \"-rf\", \"/\"])'",
    "python3 -c 'import subprocess; subprocess.run(\"rm -rf ~\", shell=True)'",
    "python3 <<'E'\nimport shutil\nshutil.rmtree('/etc')\nE",
    "echo 'import shutil; shutil.rmtree(\"/\")' | python3",
    "cat <<'E' | python3 -\nimport os\nos.system('rm -rf /')\nE",
    "python3 <<< 'import shutil; shutil.rmtree(\"/home/u\")'",
    "timeout 9 python3.12 -Bc 'import shutil; shutil.rmtree(\"/usr\")'",
    "perl -e 'system(\"rm -rf /\")'",
    "perl -e 'system qw(rm -rf /)'",
    "perl -MFile::Path -e 'remove_tree(\"/\")'",
    "perl -MFile::Path=rmtree -e 'rmtree q{/etc}'",
    "perl -e '`rm -rf /`'",
    "perl -e 'unlink glob \"/*\"'",
    "perl -e 'exec \"rm\", \"-rf\", $ENV{HOME}'",
    "ruby -e 'system(\"rm -rf /\")'",
    "ruby -rfileutils -e 'FileUtils.rm_rf(\"/\")'",
    "ruby -e 'require \"fileutils\"; FileUtils.rm_r Dir.home'",
    "ruby -e '%x(rm -rf /)'",
    "node -e 'require(\"fs\").rmSync(\"/\", {recursive: true})'",
    "node -e 'require(\"child_process\").execSync(\"rm -rf ~\")'",
    "node -p 'require(\"fs\").rmSync(require(\"os\").homedir(), {recursive: true, force: true})'",
    "node --eval='require(\"fs\").rmdirSync(`/`, {recursive: true})'",
    "php -r 'system(\"rm -rf /\");'",
    "lua -e 'os.execute(\"rm -rf /\")'",
    "R -e 'unlink(\"/\", recursive = TRUE)'",
    "deno eval 'Deno.removeSync(\"/\", {recursive: true})'",
    "bun -e 'require(\"fs\").rmSync(\"/\")'",
    "pwsh -c 'Remove-Item -Recurse -Force /'",
    "pwsh -Command 'Remove-Item -Recurse ~'",
];

#[test]
fn a_whole_tree_that_a_command_is_handed_asks() {
    expect_not_allowed(HANDED);
}

/// Lines near to those of [`HANDED`] that nobody wants to be asked about.
const NOT_HANDED: &[&str] = &[
    "find . -name '*.o' | xargs rm -f",
    "find ~ \\( -name '*.pyc' -o -name '*.pyo' \\) -delete",
    "find ~ -name node_modules -prune -o -name '*.pyc' -delete",
    "fd -e pyc . src -x rm",
    "fd core /tmp/x -x rm",
    "x=$(mktemp -d); rm -rf \"$x\"",
    "files=$(ls *.o); rm -f $files",
    "cat list | xargs rm -f",
    "git -C sub ls-files -d | xargs rm -f",
    "ls /usr/lib | awk '{print $1}' | sort",
    "a=(build dist); rm -rf \"${a[@]}\"",
    "rm -rf \"${TMPDIR:-/tmp}/x\"",
    "read -r dir < .builddir; rm -rf \"$dir\"",
    "docker ps -aq | xargs docker rm -f",
    "echo \"$HOME\" | sed 's/rm/x/'",
    "find / -name core.1234 | xargs rm",
    "find ~ -name .DS_Store -print0 | xargs -0 rm",
    "find ~/.cache/x -type f | xargs rm",
    "find /tmp -mtime +7 -delete",
    "find /tmp/x -type f | xargs rm",
    "ls | grep '\\.log$' | xargs rm -f",
    "ls *.log | xargs rm -f",
    "ls build | xargs -I{} rm -rf build/{}",
    "git ls-files -d | xargs git rm",
    "git branch --merged | xargs git branch -d",
    "echo a b | xargs rm -rf",
    "ls / | xargs -n1 echo",
    "ls ~; d=$(mktemp -d); cp x \"$d\"; rm -rf \"$d\"",
    "echo \"$HOME\"; rm -rf \"$BUILD\"",
    "rm -rf $(cat list)",
    "rm -rf \"$(mktemp -d)\"",
    "for f in $(ls *.tmp); do rm \"$f\"; done",
    "ls *.tmp | while read f; do rm \"$f\"; done",
    "clean() { rm -rf \"$1\"; }; clean build",
    "bash -c 'rm -rf \"$1\"' _ build",
    "bash -c \"rm -rf '$X/build'\"",
    "X=build; sh -c \"rm -rf $X\"",
    "python3 -c 'import shutil; shutil.rmtree(\"build\")'",
    "python3 -c 'import shutil; shutil.rmtree(\"/tmp/x\")'",
    "python3 -c 'import os; print(os.listdir(\"/\"))'",
    "python3 -c 'import shutil, os; shutil.rmtree(os.path.expanduser(\"~/.cache/x\"))'",
    "python3 -c 'import shutil, os; shutil.rmtree(os.path.join(os.environ[\"HOME\"], \".cache/x\"))'",
    "python3 -c 'import os; [os.remove(p) for p in \"a/b\".split(\"/\")]'",
    "python3 -c 'import os; os.remove(\"/\".join([\"a\", \"b\"]))'",
    "python3 -c 'print(4 / 2)'",
    "node -e 'require(\"fs\").rmSync(\"dist\", {recursive: true})'",
    "node -e 'require(\"fs\").rmSync(require(\"os\").homedir() + \"/.cache/x\")'",
    "perl -pi -e 's/a/b/' x",
    "perl -e 'unlink \"x\"'",
    "ruby -e 'File.delete(\"x\")'",
    "echo 'rm -rf /' | tee notes",
    "grep -rn 'rm -rf /' src",
];

#[test]
fn neighbours_of_a_tree_that_is_handed_on_are_free() {
    expect(Allow, &NOT_HANDED.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>());
}

#[test]
fn arguments_of_a_script_are_put_into_it() {
    let lines = [
        "bash -c 'rm -rf \"$1\"' _ /",
        "bash -c 'rm -rf \"$@\"' _ a /",
        "bash -c 'rm -rf \"${@}\"' _ /etc",
        "bash -c 'rm -rf $0' /",
        "sh -c 'shift; rm -rf \"$1\"' _ a ~",
        "sh -c 'cd \"$1\" && ls; rm -rf ${2}' _ a /usr",
        "bash -c 'for d; do rm -rf \"$1\"; done' _ /",
        "set -- /; rm -rf \"$1\"",
        "set -e /etc && rm -rf \"$@\"",
        "bash -c 'd=$1; rm -rf $d' _ /",
        "bash -c 'for x in \"$@\"; do rm -rf \"$x\"; done' _ /",
        "bash -c 'for x; do rm -rf $x; done' _ /",
        "bash -c 'rm -rf ${1:-x}' _ /",
        "bash -c 'rm -rf \"${1%/}\"' _ /etc/",
        "bash -s -- / <<'E'\nrm -rf \"$1\"\nE",
        "bash -s / <<< 'rm -rf $1'",
        "a=(/ /etc); rm -rf \"${a[@]}\"",
        "a=(/); rm -rf ${a[0]}",
        "d=/; e=$d; rm -rf $e",
        "printf -v d /; rm -rf $d",
        "rm -rf ${HOME:-x}",
    ];
    expect(Deny, &lines.map(str::to_owned));
}

fn expect_not_allowed(lines: &[&str]) {
    let mut wrong = Vec::new();
    for (name, world) in worlds() {
        for line in lines.iter().filter(|line| world.verdict(&format!("Bash {line}")) == Allow) {
            wrong.push(format!("{name}: {line}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}: {wrong:#?}", wrong.len(), lines.len() * 3);
}
