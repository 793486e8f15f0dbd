//! Cost of a sandbox per command.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use windlass_local::LocalProcess;
use windlass_permission::protected_names;
use windlass_sandbox::{Mechanism, Sandbox, SandboxConfig, SandboxPolicy};
use windlass_tool::{Cancel, Process, ProcessCommand};
use windlass_types::secret::HOME_PLACES;

/// Number of rounds; odd, so that there is one in the middle.
const ROUNDS: usize = 201;

pub(crate) async fn report() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let root = folder.path().canonicalize()?;
    for name in ["work/.git/hooks", "work/src", "tmp", "home/.ssh"] {
        std::fs::create_dir_all(root.join(name))?;
    }
    let bare: Arc<dyn Process> = Arc::new(LocalProcess::new(format!("bare{}", std::process::id())));
    let mut runs = vec![("none".to_owned(), bare, Vec::new())];
    // Opened sandboxes are kept, because dropping one removes its folder.
    let mut opened = Vec::new();
    for (number, mechanism) in
        [Mechanism::Bubblewrap, Mechanism::Namespaces, Mechanism::Landlock].into_iter().enumerate()
    {
        let process: Arc<dyn Process> = Arc::new(LocalProcess::new(format!("gates{}-{number}", std::process::id())));
        match open(&root, mechanism, number, &*process).await {
            Ok(sandbox) => {
                runs.push((mechanism.to_string(), sandbox.around(process), Vec::new()));
                opened.push(sandbox);
            }
            Err(error) => println!("{mechanism}: left out: {error}"),
        }
    }
    for _ in 0..ROUNDS {
        for (_, process, times) in &mut runs {
            times.push(timed(&**process, &root.join("work")).await?);
        }
    }
    let mut floor = None;
    for (name, _, times) in runs {
        let (median, least) = crate::spread(times);
        let (middle, low) = *floor.get_or_insert((median, least));
        crate::row(&format!("`true` in bash, sandbox {name}"), "", (median, least));
        println!("    more: median {:.1?}, least {:.1?}", median.saturating_sub(middle), least.saturating_sub(low));
    }
    Ok(())
}

async fn open(root: &Path, mechanism: Mechanism, number: usize, process: &dyn Process) -> anyhow::Result<Sandbox> {
    let home = root.join("home");
    let policy = SandboxPolicy::new([root.join("work")])
        .with_protected(protected_names())
        .with_not_made([".git"])
        .with_hidden(HOME_PLACES.iter().map(|name| home.join(name)));
    let config = SandboxConfig::new(policy, root.join("tmp"), format!("{number}"));
    let mut config = config.with_helper(std::env::current_exe()?).with_mechanisms([mechanism]);
    if let Some(program) = std::env::var_os("BWRAP") {
        config = config.with_bubblewrap(program);
    }
    Ok(Sandbox::open(config, process).await?)
}

async fn timed(process: &dyn Process, work: &Path) -> anyhow::Result<Duration> {
    let mut command = ProcessCommand::new("/bin/bash", work);
    command.args = ["-c", "true"].map(Into::into).into();
    command.env.push(("PATH".into(), "/usr/bin:/bin".into()));
    let start = Instant::now();
    process.run(command, &Cancel::new()).await?;
    Ok(start.elapsed())
}
