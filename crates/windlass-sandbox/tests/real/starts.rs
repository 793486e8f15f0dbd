//! Ways in which programs start: by the helper, or by a thread that confines itself.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use windlass_local::LocalProcess;
use windlass_sandbox::{Mechanism, Sandbox, SandboxConfig};
use windlass_tool::{Process, ProcessExit};

use crate::Test;
use crate::site::{Confined, SECRET, Site, block_on};

pub(crate) const TESTS: &[Test] = &[
    ("without_namespaces_a_thread_starts_the_program", without_namespaces_a_thread_starts_the_program),
    (
        "what_was_made_since_is_seen_and_what_became_secret_is_not",
        what_was_made_since_is_seen_and_what_became_secret_is_not,
    ),
    ("a_directory_that_was_replaced_is_writable", a_directory_that_was_replaced_is_writable),
    ("programs_that_start_together_are_all_confined", programs_that_start_together_are_all_confined),
];

/// Opens a sandbox whose helper records each start.
async fn counted(site: &Site, mechanism: Mechanism) -> Confined {
    let helper = site.at("helper");
    let own = std::env::current_exe().unwrap();
    let script = format!("#!/bin/sh\necho >>{}\nexec {} \"$@\"\n", site.at("count").display(), own.display());
    fs::write(&helper, script).unwrap();
    fs::set_permissions(&helper, fs::Permissions::from_mode(0o755)).unwrap();
    let config = SandboxConfig::new(site.policy(), site.at("tmp"), "counted").with_helper(&helper);
    let process: Arc<dyn Process> = Arc::new(LocalProcess::new(format!("counted{}-{mechanism:?}", std::process::id())));
    let sandbox = Sandbox::open(config.with_mechanisms([mechanism]), &*process).await.unwrap();
    Confined { process: sandbox.around(process), sandbox }
}

fn without_namespaces_a_thread_starts_the_program() {
    for (mechanism, expected) in [(Mechanism::Namespaces, 1), (Mechanism::Landlock, 0)] {
        let site = Site::new();
        block_on(async {
            let confined = counted(&site, mechanism).await;
            let started = || fs::read_to_string(site.at("count")).unwrap().len();
            let before = started();
            assert!(before > 0, "the helper has shown the level");
            let outcome = confined
                .run(site.bash("echo x >$OUT/new; cat $HOME/.netrc; read -r _ _ _ up _ </proc/$PPID/stat; echo $up"))
                .await;
            assert!(!site.at("out/new").exists() && !outcome.stdout.head.contains(SECRET), "{outcome:?}");
            assert_eq!(started() - before, expected, "{mechanism}");
            // The program is a child of its keeper, which is a child of this process.
            assert_eq!(outcome.stdout.head.trim(), std::process::id().to_string());
        });
    }
}

fn what_was_made_since_is_seen_and_what_became_secret_is_not() {
    let site = Site::new();
    block_on(async {
        let confined = site.open(Mechanism::Landlock, site.policy()).await.unwrap();
        let run = async |script: &str| confined.run(site.bash(script)).await.stdout.head;
        assert_eq!(run("cat $HOME/docs/plain").await, "text\n");
        fs::write(site.at("home/later"), "later").unwrap();
        fs::create_dir_all(site.at("home/.aws")).unwrap();
        fs::write(site.at("home/.aws/credentials"), SECRET).unwrap();
        assert_eq!(run("cat $HOME/later").await, "later");
        assert_eq!(run("cat $HOME/.aws/credentials").await, "");
        // A file that could be read takes the place of one that is hidden.
        fs::write(site.at("home/later"), SECRET).unwrap();
        fs::rename(site.at("home/later"), site.at("home/.netrc")).unwrap();
        assert_eq!(run("cat $HOME/.netrc").await, "");
        fs::remove_dir_all(site.at("home/.aws")).unwrap();
        fs::write(site.at("home/.aws"), "no directory any more").unwrap();
        assert_eq!(run("cat $HOME/.aws $HOME/docs/plain").await, "text\n");
    });
}

fn a_directory_that_was_replaced_is_writable() {
    let site = Site::new();
    block_on(async {
        let confined = site.open(Mechanism::Landlock, site.policy()).await.unwrap();
        let write = site.bash("echo x >new");
        assert_eq!(confined.run(write.clone()).await.exit, ProcessExit::Code(0));
        fs::rename(site.at("w"), site.at("before")).unwrap();
        fs::create_dir(site.at("w")).unwrap();
        assert_eq!(confined.run(write).await.exit, ProcessExit::Code(0));
        assert_eq!(confined.run(site.bash("echo x >$OUT/../before/new")).await.exit, ProcessExit::Code(1));
    });
}

fn programs_that_start_together_are_all_confined() {
    let site = Site::new();
    block_on(async {
        let confined = Arc::new(site.open(Mechanism::Landlock, site.policy()).await.unwrap());
        let runs = (0..40).map(|number| {
            let (confined, command) =
                (Arc::clone(&confined), site.bash(&format!("echo x >$OUT/{number}; echo {number}")));
            tokio::spawn(async move { confined.run(command).await.stdout.head })
        });
        let runs: Vec<_> = runs.collect();
        for (number, run) in runs.into_iter().enumerate() {
            assert_eq!(run.await.unwrap(), format!("{number}\n"));
        }
        assert_eq!(fs::read_dir(site.at("out")).unwrap().count(), 3, "nothing was written");
    });
}
