//! Cost of hooks per call.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use windlass_hook::{Hook, HookContext, Hooks, PreToolUse, PreToolUseAction, hook_fn};
use windlass_hook_runner::{ConfiguredHook, HookDefinition, HookPorts, configured_hooks};
use windlass_local::LocalProcess;
use windlass_tool::environment::host_environment;
use windlass_tool::search_path::find_bash;
use windlass_tool::{Cancel, Process, ProcessCommand};
use windlass_types::{HookCall, JsonText, PermissionMode};

const CALLS: usize = 2_001;
const PROGRAMS: usize = 201;
/// Reads the event, as every program must whose writer should not fail.
const LINE: &str = "read -r event; exit 0";

pub(crate) async fn report() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let work = folder.path().canonicalize()?;
    let cx = HookContext::new("s1".into(), work.clone()).with_permission_mode(PermissionMode::Default);
    let tool_input = JsonText::parse(r#"{"command":"cargo test --all"}"#)?;
    let call: HookCall = PreToolUse { tool_name: "Bash".into(), tool_input, tool_use_id: "t1".into() }.into();
    let own = |name: &str| -> Arc<dyn Hook> {
        let judge = hook_fn(name).before_tool(["Bash"], |event| async move {
            Ok(match event.tool_input.as_str().contains("--force") {
                true => PreToolUseAction::deny("Force is not for agents."),
                false => PreToolUseAction::Continue,
            })
        });
        Arc::new(judge)
    };
    let hooks = Hooks::new([own("first"), own("second")]);
    let mut times = Vec::new();
    for _ in 0..CALLS {
        times.push(asked(&hooks, &cx, &call).await);
    }
    crate::row("two hooks in the process, a call", "0.1 ms", crate::spread(times));
    programs(&work, &cx, &call).await
}

/// Measures a hook that is a program, beside the start of that program.
async fn programs(work: &Path, cx: &HookContext, call: &HookCall) -> anyhow::Result<()> {
    let process: Arc<dyn Process> = Arc::new(LocalProcess::new(format!("gates{}", std::process::id())));
    let mut ports = HookPorts::new(Arc::clone(&process), work);
    ports.env = host_environment(std::env::vars_os()).into();
    ports.bash = find_bash(&ports.env);
    let Some(bash) = ports.bash.clone() else { anyhow::bail!("there is no bash") };
    let env = ports.env.to_vec();
    let hooks = Hooks::new(configured_hooks(vec![ConfiguredHook::new(HookDefinition::command(LINE))], ports));
    let (mut own, mut bare, mut ported) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..PROGRAMS {
        bare.push(spawned(&bash, work, &env).await?);
        ported.push(ran(&*process, &bash, work, &env).await?);
        own.push(asked(&hooks, cx, call).await);
    }
    let (bare, ported, own) = (crate::spread(bare), crate::spread(ported), crate::spread(own));
    crate::row("the program of a hook, started by itself", "", bare);
    crate::row("– by the port of programs, with its whole tree", "", ported);
    crate::row("– as a hook", "1.3 times", own);
    let times = |of: Duration| own.0.as_secs_f64() / of.as_secs_f64();
    println!("a hook takes {:.2} times its program, {:.2} times the port", times(bare.0), times(ported.0));
    Ok(())
}

async fn asked(hooks: &Hooks, cx: &HookContext, call: &HookCall) -> Duration {
    let start = Instant::now();
    hooks.run_timed(cx, call, tokio::time::sleep).await;
    start.elapsed()
}

type Variables = [(std::ffi::OsString, std::ffi::OsString)];

/// Starts a program with the least it needs: input, output, the end.
async fn spawned(bash: &Path, work: &Path, env: &Variables) -> anyhow::Result<Duration> {
    let (bash, work, env) = (bash.to_owned(), work.to_owned(), env.to_vec());
    let done = tokio::task::spawn_blocking(move || -> std::io::Result<Duration> {
        use std::process::{Command, Stdio};
        let start = Instant::now();
        let mut command = Command::new(bash);
        command.args(["-c", LINE]).current_dir(work).env_clear().envs(env);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        if let Some(mut input) = child.stdin.take() {
            std::io::Write::write_all(&mut input, b"{}\n")?;
        }
        child.wait_with_output()?;
        Ok(start.elapsed())
    });
    Ok(done.await??)
}

async fn ran(process: &dyn Process, bash: &Path, work: &Path, env: &Variables) -> anyhow::Result<Duration> {
    let mut command = ProcessCommand::new(bash, work);
    command.args = ["-c", LINE].map(Into::into).into();
    command.env = env.to_vec();
    command.stdin = Some(b"{}\n".as_slice().into());
    let start = Instant::now();
    process.run(command, &Cancel::new()).await?;
    Ok(start.elapsed())
}
