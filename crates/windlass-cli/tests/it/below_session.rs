//! The command itself, started by a program of a session: whatever its file is called, it writes no trust and no settings there.

use crate::place::{Place, call, text, write};
use serde_json::json;

/// Ways to start the command, `@` for its file, below a session whose rules allow all of Bash.
const WAYS: &[&str] = &[
    "ln -s @ w && ./w trust -y",
    "cp @ w && ./w trust -y",
    "ln -s @ w && env -i HOME=\"$HOME\" PATH=\"$PATH\" ./w trust -y",
    "ln -s @ w && env -u WINDLASS_CALL ./w config set permissions.allow '[\"Bash\"]'",
    "ln -s @ w && (env -i HOME=\"$HOME\" setsid sh -c './w trust -y > ../out 2>&1; echo $? >> ../out' &) ; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do [ -s ../out ] && break; sleep 0.1; done; cat ../out",
    "sh ./script.sh",
    "ln -s @ w && HOME=/tmp ./w trust -y",
    "ln -s @ w && cd / && \"$OLDPWD/w\" config set model x",
    "python3 -c 'import os; os.environ.pop(\"WINDLASS_CALL\", 0); os.execv(\"@\", [\"x\", \"trust\", \"-y\"])'",
    "ln -s @ w && ./w mcp add evil -- sh -c true",
    "ln -s @ w && ./w -p x --dangerously-skip-permissions",
    "ln -s @ w && ./w -p --dangerously-skip-permissions -- --help",
    "ln -s @ w && ./w mcp add evil -- node --version",
];

#[test]
fn a_session_gets_no_rights_from_a_copy_of_the_command() {
    for way in WAYS {
        let line = way.replace('@', env!("CARGO_BIN_EXE_windlass"));
        let place = Place::with_turns(&[call("Bash", &json!({ "command": line })), text("done")]);
        write(&place.work().join(".claude/settings.json"), "{}");
        write(&place.work().join("script.sh"), &format!("exec {} trust -y\n", env!("CARGO_BIN_EXE_windlass")));
        let ran = place.run(&["-p", "x", "--allowedTools", "Bash", "--output-format", "stream-json", "--verbose"]);
        assert!(ran.stdout.contains("in a terminal of your own"), "{line}: {ran:#?}");
        for file in [".windlass/windlass-trust.json", ".windlass/settings.json", ".claude/settings.json"] {
            assert!(!place.home().join(file).exists(), "{line}: {file}");
        }
    }
}

#[test]
fn commands_that_read_run_below_a_session_and_all_run_beside_one() {
    let line = format!("{} config show; {0} trust --show; {0} sessions list", env!("CARGO_BIN_EXE_windlass"));
    let place = Place::with_turns(&[call("Bash", &json!({ "command": line })), text("done")]);
    let ran = place.run(&["-p", "x", "--allowedTools", "Bash", "--output-format", "stream-json", "--verbose"]);
    assert!(!ran.stdout.contains("in a terminal of your own"), "{ran:#?}");
    assert!(place.run(&["trust", "-y"]).with_code(0).stdout.contains("trusted"));
}
