//! A folder with programs, and the hooks that a settings file would name.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;
use windlass_builtin_tools::unattended_environment;
use windlass_hook::{HookContext, Hooks, PreToolUse};
use windlass_hook_runner::{ConfiguredHook, HookHost, HookPorts, HookTexts, configured_hooks, read_hooks};
use windlass_local::LocalProcess;
use windlass_tool::SystemIds;
use windlass_tool::environment::host_environment;
use windlass_tool::search_path::find_bash;
use windlass_types::{HookCall, HookOutcome, JsonText, PermissionMode};

/// A session that records the requests of hooks.
#[derive(Default)]
pub(crate) struct Kept {
    pub(crate) woken: Mutex<Vec<String>>,
    pub(crate) variables: Mutex<Vec<(String, String)>>,
}

impl HookHost for Kept {
    fn wake(&self, text: String) {
        self.woken.lock().unwrap().push(text);
    }

    fn add_variables(&self, variables: Vec<(String, String)>) {
        self.variables.lock().unwrap().extend(variables);
    }
}

pub(crate) struct Place {
    folder: TempDir,
    pub(crate) host: Arc<Kept>,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("work")).unwrap();
        Self { folder, host: Arc::default() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.path("work")
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    pub(crate) fn cx(&self) -> HookContext {
        HookContext::new("s1".into(), self.work()).with_permission_mode(PermissionMode::Default)
    }

    /// Returns the hooks of a session, of the value of the key `hooks`.
    pub(crate) fn hooks(&self, said: &Value) -> Hooks {
        let read = read_hooks(said);
        assert!(read.broken.is_empty() && read.notes.is_empty(), "{read:?}");
        self.of(read.hooks.into_iter().map(ConfiguredHook::new).collect())
    }

    pub(crate) fn of(&self, hooks: Vec<ConfiguredHook>) -> Hooks {
        let env = host_environment(std::env::vars_os());
        let mut ports = HookPorts::new(Arc::new(LocalProcess::new(format!("{:?}", self.folder.path()))), self.work());
        ports.env = unattended_environment(&env, &[self.work()]).into();
        ports.bash = find_bash(&ports.env);
        ports.transcript = Some(self.path("s1.jsonl"));
        ports.texts = HookTexts::in_files(self.path("results"), Arc::new(SystemIds::default()));
        ports.host = Arc::clone(&self.host) as _;
        Hooks::new(configured_hooks(hooks, ports))
    }

    pub(crate) async fn ask(&self, said: &Value, call: &HookCall) -> HookOutcome {
        run(&self.hooks(said), &self.cx(), call).await
    }
}

pub(crate) async fn run(hooks: &Hooks, cx: &HookContext, call: &HookCall) -> HookOutcome {
    hooks.run_timed(cx, call, tokio::time::sleep).await
}

pub(crate) fn pre(tool: &str, input: &str) -> HookCall {
    let tool_input = JsonText::parse(input).unwrap();
    PreToolUse { tool_name: tool.into(), tool_input, tool_use_id: "t1".into() }.into()
}

/// Returns `true` if a process exists.
pub(crate) fn lives(pid: &str) -> bool {
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid.trim()).join("stat"));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}
