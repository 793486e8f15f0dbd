//! The level that is found, and its description.

use std::sync::Arc;

use windlass_sandbox::{Mechanism, Network, Sandbox, SandboxConfig, SandboxError, SandboxPolicy};
use windlass_tool::{Cancel, Process};

use crate::Test;
use crate::site::{SECRET, Site, block_on, mechanisms};

pub(crate) const TESTS: &[Test] = &[
    ("each_level_says_what_it_holds", each_level_says_what_it_holds),
    ("a_policy_that_cannot_hold_is_refused", a_policy_that_cannot_hold_is_refused),
    ("a_helper_that_is_none_is_found_out", a_helper_that_is_none_is_found_out),
    ("without_a_helper_the_reason_names_it", without_a_helper_the_reason_names_it),
    ("without_bubblewrap_the_next_one_is_taken", without_bubblewrap_the_next_one_is_taken),
];

fn each_level_says_what_it_holds() {
    for mechanism in mechanisms() {
        let site = Site::new();
        let level = block_on(site.open(mechanism, site.policy())).unwrap().sandbox.level();
        let missing: &[&str] =
            if mechanism == Mechanism::Landlock { &["modes and times outside", "protected names"] } else { &[] };
        assert_eq!((level.mechanism, level.holds.missing()), (mechanism, missing.to_vec()), "{level}");
        // Limits that the policy lifts are not missing.
        let open = site.policy().with_network(Network::On).with_unix_sockets(true);
        let level = block_on(site.open(mechanism, open)).unwrap().sandbox.level();
        assert_eq!(level.holds.missing(), missing, "{level}");
    }
}

fn a_policy_that_cannot_hold_is_refused() {
    let site = Site::new();
    for directory in ["/".into(), site.at("not/there")] {
        let refused = block_on(site.open(Mechanism::Namespaces, SandboxPolicy::new([&directory])));
        assert!(matches!(refused, Err(SandboxError::Directory { .. })), "{}", directory.display());
    }
}

/// A helper that runs the program without any limit is the worst case.
fn a_helper_that_is_none_is_found_out() {
    let site = Site::new();
    let fake = site.at("fake");
    let script = "#!/bin/bash\nif [ $1 = __windlass_probe ]; then exec \"$REAL\" \"$@\"; fi\n\
                  while [ \"$1\" != -- ]; do shift; done; shift; exec \"$@\"\n";
    let own = std::env::current_exe().unwrap();
    std::fs::write(&fake, script.replace("$REAL", own.to_str().unwrap())).unwrap();
    std::fs::set_permissions(&fake, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    for helper in [fake.as_path(), std::path::Path::new("/bin/true"), &site.at("not/there")] {
        let config = SandboxConfig::new(site.policy(), site.at("tmp"), "fake").with_helper(helper);
        let process = windlass_local::LocalProcess::new(format!("fake{}", std::process::id()));
        let config = config.with_mechanisms([Mechanism::Namespaces, Mechanism::Landlock]);
        let found = block_on(Sandbox::open(config, &process));
        assert!(matches!(found, Err(SandboxError::Unavailable { .. })), "{}: {found:?}", helper.display());
        assert_eq!(std::fs::read_dir(site.at("tmp")).unwrap().count(), 0, "its folder is gone");
    }
    if !mechanisms().contains(&Mechanism::Bubblewrap) {
        return;
    }
    // Bubblewrap does not leave the view of the file system to such a helper.
    let mut config = SandboxConfig::new(site.policy(), site.at("tmp"), "view").with_helper(&fake);
    if let Some(program) = std::env::var_os("BWRAP") {
        config = config.with_bubblewrap(program);
    }
    let process: Arc<dyn Process> = Arc::new(windlass_local::LocalProcess::new(format!("view{}", std::process::id())));
    let sandbox = block_on(Sandbox::open(config, &*process)).unwrap();
    let level = sandbox.level();
    assert!(level.mechanism == Mechanism::Bubblewrap && level.holds.writes && level.holds.hidden, "{level}");
    let before = site.outside();
    let command = site.bash("echo x > $OUT/new; cat $HOME/.ssh/id");
    let outcome = block_on(sandbox.around(process).run(command, &Cancel::new())).unwrap();
    assert!(site.outside() == before && !outcome.stdout.head.contains(SECRET), "{}", outcome.stdout.head);
}

fn without_a_helper_the_reason_names_it() {
    let site = Site::new();
    let config = SandboxConfig::new(site.policy(), site.at("tmp"), "bare");
    let process = windlass_local::LocalProcess::new(format!("bare{}", std::process::id()));
    let config = config.with_mechanisms([Mechanism::Namespaces, Mechanism::Landlock]);
    let refused = block_on(Sandbox::open(config, &process)).unwrap_err().to_string();
    let expected = "no sandbox holds on this machine: namespaces, Landlock and seccomp: the program names no helper; \
                    Landlock and seccomp: the program names no helper";
    assert_eq!(refused, expected);
}

fn without_bubblewrap_the_next_one_is_taken() {
    let site = Site::new();
    let config = SandboxConfig::new(site.policy(), site.at("tmp"), "next")
        .with_helper(std::env::current_exe().unwrap())
        .with_bubblewrap(site.at("not/there"));
    let process = windlass_local::LocalProcess::new(format!("next{}", std::process::id()));
    let sandbox = block_on(Sandbox::open(config, &process)).unwrap();
    assert_eq!(sandbox.level().mechanism, Mechanism::Namespaces);
}
