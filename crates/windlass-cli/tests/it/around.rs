//! What is around the command: completions, manual pages, misspelt commands, what stays when it is removed.

use crate::place::{Place, text, write};
use serde_json::Value;
use std::process::{Command, Stdio};

#[test]
fn a_word_close_to_a_command_is_no_prompt() {
    let place = Place::with_turns(&[text("ok")]);
    for (args, meant) in [
        (&["modles"][..], "`windlass models`"),
        (&["sesions", "list"], "`windlass sessions`"),
        (&["logn", "openai"], "`windlass login`"),
        (&["help"], "`windlass --help`"),
    ] {
        let ran = place.run(args).with_code(2);
        assert!(ran.stderr.contains(meant) && ran.stderr.contains("windlass -- ") && ran.stdout.is_empty(), "{ran:#?}");
    }
    assert_eq!(place.run(&["-p", "modles"]).with_code(0).stdout, "ok\n");
    assert!(place.logs().len() == 1);
}

/// A shell that is here reads the completions without an error, and knows a command and a flag.
#[test]
fn shells_complete_commands() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = place.run(&["completions", shell]).with_code(0).stdout;
        for word in ["login", "sessions", "output-format", "acceptEdits"] {
            let is_value = word == "acceptEdits";
            assert!(is_value || script.contains(word), "{shell}: {word}");
        }
        let mut command = Command::new(shell);
        let read = command.arg("-n").stdin(Stdio::piped()).stderr(Stdio::piped()).spawn();
        // Not each machine has each shell.
        let Ok(child) = read else { continue };
        let ran = crate::place::finish(child, &script);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{shell}");
    }
    place.run(&["completions", "tcsh"]).with_code(2);
}

#[test]
#[cfg(unix)]
fn bash_completes_a_command_by_its_beginning() {
    let place = Place::new();
    let mut script = place.run(&["completions", "bash"]).with_code(0).stdout;
    script.push_str(
        "\nCOMP_WORDS=(windlass sess); COMP_CWORD=1; _windlass windlass sess windlass; echo \"${COMPREPLY[@]}\"\n",
    );
    let child =
        Command::new("bash").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let ran = crate::place::finish(child, &script).with_code(0);
    assert_eq!(ran.stdout, "sessions\n", "{ran:#?}");
}

#[test]
fn manual_pages_have_each_command() {
    let place = Place::new();
    let page = place.run(&["man"]).with_code(0).stdout;
    assert!(page.contains(".TH windlass 1") && page.contains("login"), "{page}");
    let folder = place.path("man");
    place.run(&["man", folder.to_str().unwrap()]).with_code(0);
    for name in ["windlass.1", "windlass-login.1", "windlass-sessions-gc.1", "windlass-mcp-import.1"] {
        assert!(std::fs::read_to_string(folder.join(name)).unwrap().contains(".SH SYNOPSIS"), "{name}");
    }
    let taken = place.path("file");
    write(&taken, "");
    place.run(&["man", taken.to_str().unwrap()]).with_code(1);
}

#[test]
fn uninstall_names_what_stays_and_removes_nothing() {
    let place = Place::with_turns(&[text("ok")]);
    place.run(&["-p", "x"]).with_code(0);
    write(&place.work().join(".windlass/settings.json"), "{}");
    let ran = place.run(&["uninstall"]).with_code(0);
    let home = place.home().join(".windlass");
    for part in ["Nothing is removed", "the program", &format!("rm -r {}", home.display()), "of this project"] {
        assert!(ran.stdout.contains(part), "{part}: {ran:#?}");
    }
    let listed: Value = serde_json::from_str(&place.run(&["uninstall", "--json"]).with_code(0).stdout).unwrap();
    assert_eq!((listed["removed"].as_bool(), listed["places"].as_array().unwrap().len()), (Some(false), 3));
    assert!(listed["places"][1]["bytes"].as_u64().unwrap() > 0);
    assert_eq!(place.logs().len(), 1);
}
