//! Ordinary programs in a sandbox: results come through, and no process is left.

use std::fs;
use std::path::Path;
use std::time::Duration;

use windlass_sandbox::Mechanism;
use windlass_tool::{Cancel, ProcessExit, TerminalSize};

use crate::Test;
use crate::site::{SECRET, Site, Way, block_on, mechanisms, ways};

pub(crate) const TESTS: &[Test] = &[
    ("what_is_allowed_works", what_is_allowed_works),
    ("a_terminal_that_was_given_has_a_name", a_terminal_that_was_given_has_a_name),
    ("a_workspace_in_shared_memory_is_writable", a_workspace_in_shared_memory_is_writable),
    ("codes_and_signals_come_through", codes_and_signals_come_through),
    ("what_was_stopped_is_reported", what_was_stopped_is_reported),
    ("a_time_out_ends_the_tree", a_time_out_ends_the_tree),
    ("a_thousand_commands_leave_no_process", a_thousand_commands_leave_no_process),
    ("the_proxy_is_the_only_way_out", the_proxy_is_the_only_way_out),
    ("emptied_files_are_read_as_empty", emptied_files_are_read_as_empty),
    ("a_program_outside_is_not_confined", a_program_outside_is_not_confined),
];

/// Ways to the text of files that are emptied. Without mounts they stay: a directory that holds such a file could not be written.
const EMPTIED: &[&str] = &[
    "cat .env sub/.env g/.git/config",
    "cp .env x; cat x",
    "mv .env x; cat x .env",
    "ln .env x; cat x",
    "ln -s .env x; cat x",
    "mv sub sub3; cat sub3/.env; mv sub3 sub",
    "cat /proc/self/cwd/.env /proc/self/root/$PWD/.env",
    "dd if=.env bs=1 2>&1",
    "umount .env 2>&1; cat .env",
];

fn emptied_files_are_read_as_empty() {
    for mechanism in mechanisms() {
        let site = Site::new();
        let init = "git init -q g && cd g && git -c user.name=a -c user.email=b commit -q --allow-empty -m kept-commit";
        let made = std::process::Command::new("bash").args(["-c", init]).current_dir(site.at("w")).status().unwrap();
        assert!(made.success());
        let files = [".env", "sub/.env", "g/.git/config", "shown.env"].map(|name| site.at("w").join(name));
        for file in &files {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, format!("# {SECRET}\n")).unwrap();
        }
        let policy = site.policy().with_emptied(&files).with_shown([&files[3]]);
        block_on(async {
            let confined = site.open(mechanism, policy).await.unwrap();
            let readable = if mechanism == Mechanism::Landlock { &files[..3] } else { &[] };
            assert_eq!(confined.sandbox.readable_secrets(), readable, "{mechanism}");
            for script in EMPTIED {
                let outcome = confined.run(site.bash(script)).await;
                let said = format!("{}{}", outcome.stdout.head, outcome.stderr.head);
                if mechanism == Mechanism::Landlock {
                    assert!(said.contains(SECRET), "{mechanism}: {script}: {said}");
                    break;
                }
                assert!(!said.contains(SECRET), "{mechanism}: {script}: {said}");
            }
            let outcome = confined.run(site.bash("cd g && git status --short && git log --oneline -1")).await;
            assert!(outcome.stdout.head.contains("kept-commit"), "{mechanism}: {}", outcome.stderr.head);
            let outcome = confined.run(site.bash("cat shown.env; echo x > new && rm new")).await;
            assert!(outcome.exit == ProcessExit::Code(0) && outcome.stdout.head.contains(SECRET), "{mechanism}");
        });
    }
}

const ALLOWED: &[&str] = &[
    "echo x > new && [ $(cat new) = x ] && rm new",
    "mkdir -p a/b && mv a c && rm -r c",
    "echo x > .git/index.lock && mv .git/index.lock .git/index",
    "cat .git/config .windlass/settings.json >/dev/null",
    "cat $HOME/docs/plain $OUT/file /etc/passwd >/dev/null",
    "ls / $HOME /usr/bin >/dev/null",
    "f=$(mktemp -p \"$TMPDIR\") && echo x > $f && rm $f",
    "echo x > /dev/null; head -c 8 /dev/urandom >/dev/null",
    "echo x > /dev/full && exit 1; [ -c /dev/zero ] && echo x | cat /dev/stdin >/dev/null",
    "nice -n 5 true && ionice -c 3 true && (ulimit -n 64; ulimit -t 5; true)",
    "echo x | cat | (read a; [ $a = x ])",
    "diff <(echo a) <(echo a)",
    "cat <<< here >/dev/null",
    "sleep 5 & kill $!; wait $!; [ $? -eq 143 ]",
    "ln -s src link && readlink link && rm link",
    "python3 -c 'import subprocess,threading; threading.Thread(target=print).start(); subprocess.run([\"true\"],check=True)'",
    "python3 -c 'import socket; a,b=socket.socketpair(); a.send(b\"x\")'",
    "git init -q sub2 && cd sub2 && git -c user.name=a -c user.email=b commit -q --allow-empty -m x && git log >/dev/null",
];

fn what_is_allowed_works() {
    for (mechanism, way) in ways() {
        let site = Site::new();
        block_on(async {
            let confined = site.open_way(mechanism, way).await.unwrap();
            let temporary = confined.sandbox.temporary();
            for script in ALLOWED {
                let mut command = site.bash(&format!("set -e -o pipefail; {script}"));
                command.args[1] = (*script).into();
                command.env.push(("TMPDIR".into(), temporary.clone().into()));
                let outcome = confined.run(command).await;
                let said = format!("{}{}", outcome.stdout.head, outcome.stderr.head);
                assert_eq!(outcome.exit, ProcessExit::Code(0), "{mechanism}: {script}\n{said}");
                assert!(outcome.notes.is_empty(), "{mechanism}: {script}: {:?}", outcome.notes);
            }
            if mechanism != Mechanism::Landlock {
                let server = "python3 -c 'import socket; s=socket.create_server((\"127.0.0.1\",0)); \
                              socket.create_connection(s.getsockname())'";
                let outcome = confined.run(site.bash(server)).await;
                assert_eq!(outcome.exit, ProcessExit::Code(0), "{mechanism}: {}", outcome.stderr.head);
                let terminal = "python3 -c 'import os,pty; print(os.ttyname(pty.openpty()[1]))'";
                let outcome = confined.run(site.bash(terminal)).await;
                assert_eq!(outcome.stdout.head, "/dev/pts/0\n", "{mechanism}: {}", outcome.stderr.head);
            }
            if mechanism == Mechanism::Bubblewrap {
                // A name that only bubblewrap creates.
                let by_bubblewrap = confined.run(site.bash("[ -L /dev/core ]")).await.exit == ProcessExit::Code(0);
                assert_eq!(by_bubblewrap, way == Way::WithView);
            }
            drop(confined);
            assert!(!temporary.exists());
        });
    }
}

/// The sandbox has no access to other terminals of the machine.
fn a_terminal_that_was_given_has_a_name() {
    for (mechanism, way) in ways() {
        let site = Site::new();
        block_on(async {
            let confined = site.open_way(mechanism, way).await.unwrap();
            let mut command = site.bash("tty; stty size; echo x > /dev/tty; ls /dev/pts; echo x > $TERMINAL");
            command.terminal = Some(TerminalSize::default());
            let outcome = confined.run(command).await;
            let said: Vec<&str> = outcome.stdout.head.lines().map(str::trim_end).collect();
            match mechanism {
                Mechanism::Landlock => assert!(said[0].starts_with("/dev/pts/"), "{said:?}"),
                _ => assert_eq!((said[0], said[3]), ("/dev/console", "ptmx"), "{mechanism}: {said:?}"),
            }
            assert_eq!((said[1], said[2]), ("40 120", "x"), "{mechanism}: {said:?}");
            assert!(said.last().unwrap().contains("denied") || said.last().unwrap().contains("No such"), "{said:?}");
        });
    }
}

fn a_workspace_in_shared_memory_is_writable() {
    for mechanism in mechanisms() {
        let site = Site::in_folder(tempfile::tempdir_in("/dev/shm").unwrap());
        block_on(async {
            // A sandbox with devices of its own hides the rest of shared memory, so its own files are elsewhere.
            let temporary = tempfile::tempdir().unwrap();
            let confined = site.open_with(mechanism, site.policy(), temporary.path()).await.unwrap();
            let outcome = confined.run(site.bash("echo x > new; cat new; rm -f .git/config")).await;
            assert_eq!(outcome.stdout.head, "x\n", "{mechanism}: {}", outcome.stderr.head);
            let is_held = !confined.sandbox.level().holds.protected || site.at("w/.git/config").exists();
            assert!(site.at("w/new").exists() && is_held, "{mechanism}");
            let outcome = confined.run(site.bash("echo x > $OUT/new || cat $HOME/.netrc")).await;
            assert!(outcome.exit != ProcessExit::Code(0) && outcome.stdout.head.is_empty(), "{mechanism}");
        });
    }
}

fn codes_and_signals_come_through() {
    for mechanism in mechanisms() {
        let site = Site::new();
        block_on(async {
            let confined = site.open(mechanism, site.policy()).await.unwrap();
            for code in [0, 1, 42, 125, 126, 127, 255] {
                let outcome = confined.run(site.bash(&format!("exit {code}"))).await;
                assert_eq!(outcome.exit, ProcessExit::Code(code), "{mechanism}");
            }
            // Bubblewrap returns the code that a shell would report.
            let by = |signal| match mechanism {
                Mechanism::Bubblewrap => ProcessExit::Code(128 + signal),
                _ => ProcessExit::Signal(signal),
            };
            for signal in [9, 15] {
                let outcome = confined.run(site.bash(&format!("kill -{signal} $$; sleep 5"))).await;
                assert_eq!(outcome.exit, by(signal), "{mechanism}");
            }
            let mut missing = site.bash("");
            missing.program = "no-such-program".into();
            assert_eq!(confined.run(missing).await.exit, ProcessExit::Code(127));
        });
    }
}

fn what_was_stopped_is_reported() {
    for mechanism in mechanisms() {
        let site = Site::new();
        block_on(async {
            let confined = site.open(mechanism, site.policy()).await.unwrap();
            let outcome = confined.run(site.bash("touch $OUT/new")).await;
            let path = site.at("out/new").display().to_string();
            assert!(outcome.notes[0].contains("sandbox") && outcome.notes[0].contains(&path), "{:?}", outcome.notes);
            let outcome = confined.run(site.bash("mkdir .claude")).await;
            assert!(outcome.notes[0].contains("claude.blocked-1"), "{:?}", outcome.notes);
            assert!(site.at("w/claude.blocked-1").is_dir() && !site.at("w/.claude").exists());
            assert!(confined.run(site.bash("false")).await.notes.is_empty());
        });
    }
}

fn a_time_out_ends_the_tree() {
    for mechanism in mechanisms() {
        let site = Site::new();
        block_on(async {
            let confined = site.open(mechanism, site.policy()).await.unwrap();
            let mut command = site.bash("trap '' TERM; setsid sleep 4321 & sleep 4321 & while :; do sleep 0.1; done");
            command.timeout = Some(Duration::from_millis(300));
            assert_eq!(confined.run(command).await.exit, ProcessExit::TimedOut, "{mechanism}");
            assert_eq!(processes_with("4321"), 0, "{mechanism}");
            // A run that is dropped ends, too.
            let command = site.bash("setsid sleep 4322 & echo x > started; sleep 4322");
            let cancel = Cancel::new();
            let run = confined.process.run(command, &cancel);
            let started = async {
                while !Path::new(&site.at("w/started")).exists() {
                    tokio::task::yield_now().await;
                }
            };
            tokio::select! {
                outcome = run => panic!("{outcome:?}"),
                () = started => {}
            }
            for _ in 0..1000 {
                if processes_with("4322") == 0 {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            assert_eq!(processes_with("4322"), 0, "{mechanism}");
        });
    }
}

fn a_thousand_commands_leave_no_process() {
    for mechanism in mechanisms() {
        let site = Site::new();
        block_on(async {
            let confined = site.open(mechanism, site.policy()).await.unwrap();
            for _ in 0..1000 {
                let outcome = confined.run(site.bash("exit 3")).await;
                assert_eq!(outcome.exit, ProcessExit::Code(3), "{mechanism}");
            }
            assert_eq!(processes_with(windlass_sandbox::HELPER_WORD), 0, "{mechanism}");
        });
    }
}

fn a_program_outside_is_not_confined() {
    let site = Site::new();
    block_on(async {
        let confined = site.open(Mechanism::Namespaces, site.policy()).await.unwrap();
        let mut command = site.bash("echo x > $OUT/new");
        command.outside_sandbox = true;
        assert_eq!(confined.run(command).await.exit, ProcessExit::Code(0));
        assert!(site.at("out/new").exists());
    });
}

fn the_proxy_is_the_only_way_out() {
    use std::io::{Read as _, Write as _};
    for mechanism in mechanisms() {
        let site = Site::new();
        let proxy = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = proxy.local_addr().unwrap();
        let answers = std::thread::spawn(move || {
            for mut program in proxy.incoming().map(Result::unwrap).take(2) {
                let mut asked = [0; 4];
                program.read_exact(&mut asked).unwrap();
                program.write_all(b"pong").unwrap();
            }
        });
        block_on(async {
            let policy = site.policy().with_network(windlass_sandbox::Network::Proxy(address));
            let confined = site.open(mechanism, policy).await.unwrap();
            let port = windlass_sandbox::PROXY_PORT;
            let ask = format!("exec 3<>/dev/tcp/127.0.0.1/{port} && printf ping >&3 && head -c 4 <&3");
            let expected = if mechanism == Mechanism::Landlock { "" } else { "pong" };
            for _ in 0..2 {
                let outcome = confined.run(site.bash(&ask)).await;
                assert_eq!(outcome.stdout.head, expected, "{mechanism}: {}", outcome.stderr.head);
            }
            // Neither the proxy's own address nor another one is reachable directly.
            for port in [address.port(), site.tcp.local_addr().unwrap().port()] {
                let outcome = confined.run(site.bash(&format!("exec 3<>/dev/tcp/127.0.0.1/{port}"))).await;
                assert_ne!(outcome.exit, ProcessExit::Code(0), "{mechanism}");
            }
        });
        if mechanism != Mechanism::Landlock {
            answers.join().unwrap();
        }
    }
}

/// Returns the number of processes with this argument.
fn processes_with(word: &str) -> usize {
    let commands =
        fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    commands.filter(|command| command.split(|byte| *byte == 0).any(|part| part == word.as_bytes())).count()
}
