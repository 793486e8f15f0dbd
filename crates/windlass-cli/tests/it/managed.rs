//! Managed settings where they really are: in `/etc`, of a mount namespace of the test's own.

use crate::place::{Place, Ran, call, text, write};
use serde_json::json;
use windlass_testkit::skipped;

/// Runs the command with a directory of the place as `/etc`. `None` if this machine has no namespaces for users.
fn run(place: &Place, args: &[&str]) -> Option<Ran> {
    let command = place.command(args);
    let mut within = std::process::Command::new("unshare");
    within.args(["-rm", "sh", "-c", "mount --bind \"$0\" /etc && exec \"$@\""]).arg(place.path("etc"));
    within.arg(command.get_program()).args(command.get_args()).current_dir(place.work()).env_clear();
    within.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let ran: Ran = within.stdin(std::process::Stdio::null()).output().ok()?.into();
    (!ran.stderr.contains("unshare:") && !ran.stderr.contains("mount:")).then_some(ran)
}

fn can_mount(place: &Place) -> bool {
    write(&place.path("etc/windlass/managed-settings.json"), "{}");
    let can = run(place, &["--version"]).is_some_and(|ran| ran.code == 0);
    if !can {
        skipped("managed settings in /etc: no mount namespaces for users");
    }
    can
}

#[test]
fn settings_of_the_administrator_hold_whatever_others_say() {
    let place = Place::with_turns(&[call("Bash", &json!({"command": "touch made"})), text("Finished.")]);
    if !can_mount(&place) {
        return;
    }
    write(&place.path("home/.windlass/settings.json"), r#"{"permissions":{"allow":["Bash(touch *)"]}}"#);
    let flags = ["-p", "Go.", "--allowedTools", "Bash", "--dangerously-skip-permissions"];
    for (file, text, made) in [
        ("windlass/managed-settings.json", "{}", true),
        ("windlass/managed-settings.json", r#"{"permissions":{"deny":["Bash(touch *)"]}}"#, false),
        ("windlass/managed-settings.d/50-more.json", r#"{"permissions":{"deny":["Bash(touch *)"]}}"#, false),
        ("claude-code/managed-settings.json", r#"{"permissions":{"deny":["Bash(touch *)"]}}"#, false),
        ("claude-code/managed-settings.d/x.json", r#"{"permissions":{"deny":["Bash(touch *)"]}}"#, false),
        (
            "windlass/managed-settings.d/x.json",
            r#"{"allowManagedPermissionRulesOnly":true,"permissions":{"disableBypassPermissionsMode":"disable"}}"#,
            false,
        ),
    ] {
        std::fs::remove_dir_all(place.path("etc")).unwrap();
        std::fs::create_dir(place.path("etc")).unwrap();
        write(&place.path("etc").join(file), text);
        let ran = run(&place, &flags).unwrap().with_code(0);
        assert_eq!(place.path("work/made").exists(), made, "{file}: {ran:#?}");
        let _ = std::fs::remove_file(place.path("work/made"));
    }
    for (file, text, said) in [
        ("windlass/managed-settings.d/9.json", "{", "9.json"),
        ("windlass/managed-settings.json", r#"{"requiredMinimumVersion":"9"}"#, "`requiredMinimumVersion` restricts"),
    ] {
        std::fs::remove_dir_all(place.path("etc")).unwrap();
        write(&place.path("etc").join(file), text);
        let ran = run(&place, &flags).unwrap();
        assert!(ran.code != 0 && ran.stderr.contains(said) && !place.path("work/made").exists(), "{ran:#?}");
    }
}

#[test]
fn what_is_dropped_in_counts_in_order_and_is_shown() {
    let place = Place::new();
    if !can_mount(&place) {
        return;
    }
    write(&place.path("etc/windlass/managed-settings.json"), r#"{"model":"base","env":{"A":"base","B":"base"}}"#);
    write(&place.path("etc/windlass/managed-settings.d/10.json"), r#"{"model":"ten","env":{"A":"ten"}}"#);
    write(&place.path("etc/windlass/managed-settings.d/20.json"), "{\n\"model\":\"twenty\"}");
    let shown = run(&place, &["config", "get", "model", "--origin"]).unwrap().with_code(0).stdout;
    assert!(
        shown.starts_with("twenty\n  /etc/windlass/managed-settings.d/20.json:2 (managed): \"twenty\"\n"),
        "{shown}"
    );
    assert!(shown.contains("10.json:1 (managed, does not count)"), "{shown}");
    assert_eq!(run(&place, &["config", "get", "env.A"]).unwrap().stdout, "ten\n");
    assert_eq!(run(&place, &["config", "get", "env.B"]).unwrap().stdout, "base\n");
    // Beside them, what a host calls managed only restricts.
    let given = r#"{"model":"mine","permissions":{"deny":["Bash"]}}"#;
    let shown = run(&place, &["config", "show", "--managed-settings", given]).unwrap().with_code(0);
    assert!(
        shown.stdout.contains("model = \"twenty\"") && shown.stdout.contains("permissions.deny = [\"Bash\"]"),
        "{shown:#?}"
    );
    assert!(shown.stderr.contains("--managed-settings: this machine has managed settings"), "{shown:#?}");
}
