//! The same tests as a user who is not root, whom the system restricts in other ways.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use crate::Test;

pub(crate) const TESTS: &[Test] =
    &[("what_root_is_kept_from_a_user_is_kept_from_too", what_root_is_kept_from_a_user_is_kept_from_too)];

/// Number of a user who owns no files.
const NOBODY: &str = "65534";

fn what_root_is_kept_from_a_user_is_kept_from_too() {
    // Otherwise all tests have already run as such a user.
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let program = folder.path().join("real");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    for test in ["no_attempt_to_escape_succeeds", "what_is_allowed_works", "a_terminal_that_was_given_has_a_name"] {
        let mut command = Command::new("setpriv");
        command.args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"]).arg(&program).args([test, "--exact"]);
        command.current_dir(folder.path()).env("HOME", folder.path()).env("TMPDIR", folder.path());
        // The run as root has listed the skipped tests, in a file that this user cannot write.
        command.env_remove("WINDLASS_SKIPPED");
        let Ok(output) = command.output() else {
            return windlass_testkit::skipped("setpriv, which becomes another user");
        };
        let said = String::from_utf8_lossy(&output.stdout);
        println!("{said}");
        assert!(output.status.success() && said.contains("1 passed"), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
