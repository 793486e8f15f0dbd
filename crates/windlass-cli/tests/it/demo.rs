use std::process::{Command, Stdio};

#[test]
fn the_demo_fixes_its_bug_without_a_key() {
    let output = Command::new(env!("CARGO_BIN_EXE_windlass"))
        .arg("demo")
        .env_remove("ANTHROPIC_API_KEY")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{stdout}\n{}", String::from_utf8_lossy(&output.stderr));
    for part in [
        "● Search for page_count",
        "+        total.div_ceil(self.per_page)",
        "? Allow it? yes",
        "denied by the rule `Bash(rm *)`",
        "4 passed; 0 failed",
        "✓ The bug is fixed",
        "$0.0",
    ] {
        assert!(stdout.contains(part), "{part}\n{stdout}");
    }
    assert!(!stdout.contains('\u{1b}'), "colours belong on terminals");
}

#[test]
fn a_live_demo_needs_a_key() {
    let output = Command::new(env!("CARGO_BIN_EXE_windlass"))
        .args(["demo", "--live"])
        .env_remove("ANTHROPIC_API_KEY")
        .env_remove("ANTHROPIC_AUTH_TOKEN")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("ANTHROPIC_API_KEY"));
}
