//! Hooks that run a program.

use crate::definition::{CommandHandler, HookDefinition};
use crate::exit::{Ended, Said, read_exit};
use crate::ports::{HookPorts, HookProgram};
use crate::variables::VariablesFile;
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use windlass_hook::HookError;
use windlass_tool::{Cancel, ProcessCommand, ProcessExit, ProcessOutcome};
use windlass_types::JsonText;

/// Maximum number of bytes kept of each stream, head and tail together.
const MOST_OUTPUT: usize = 1024 * 1024;
/// Maximum number of bytes of a hook's output that its file keeps.
const MOST_KEPT: u64 = 64 << 20;

/// A hook program and the plugin that defines it.
pub(crate) struct Program<'a> {
    pub(crate) definition: &'a HookDefinition,
    pub(crate) handler: &'a CommandHandler,
    /// Directory of the plugin that defines the hook.
    pub(crate) plugin: Option<&'a Path>,
}

impl Program<'_> {
    /// Runs the program with the event on its standard input. Dropping the future ends all its processes.
    pub(crate) async fn run(
        &self,
        ports: &HookPorts,
        cwd: &Path,
        input: &JsonText,
        cancel: &Cancel,
    ) -> Result<Ended, HookError> {
        ports.host.review_program(self.reviewed(cwd)).await?;
        let mut command = self.command(ports, cwd)?;
        command.stdin = Some(Arc::from(input.as_str().as_bytes()));
        let variables = self.definition.row().takes_variables.then(|| VariablesFile::new(&ports.texts)).flatten();
        if let Some(file) = &variables {
            command.env.push(("CLAUDE_ENV_FILE".into(), file.path().into()));
        }
        let outcome = ports.process.run(command, cancel).await?;
        if let Some(said) = variables.and_then(|file| file.read()) {
            ports.host.add_variables(said);
        }
        let mut ended = ended(outcome)?;
        ended.stderr = (ports.mask)(ended.stderr);
        Ok(ended)
    }

    fn reviewed(&self, cwd: &Path) -> HookProgram {
        HookProgram {
            hook: self.definition.to_string(),
            command: self.handler.command.clone(),
            args: self.handler.args.clone(),
            plugin: self.plugin.map(Path::to_path_buf),
            cwd: cwd.to_path_buf(),
        }
    }

    fn command(&self, ports: &HookPorts, cwd: &Path) -> Result<ProcessCommand, HookError> {
        let line = &self.handler.command;
        let (program, args): (OsString, Vec<OsString>) = match &self.handler.args {
            Some(args) => (self.placed(line, ports), args.iter().map(|arg| self.placed(arg, ports)).collect()),
            None => {
                let bash = ports.bash.as_ref().ok_or("no bash was found on this machine")?;
                // The last word is `$0`, by which bash names itself in messages.
                let args = ["--noprofile", "--norc", "-c", "--", line, "bash"];
                (bash.into(), args.map(OsString::from).into())
            }
        };
        let mut command = ProcessCommand::new(program, cwd);
        command.args = args;
        command.env = self.environment(ports, cwd);
        command.timeout = Some(self.definition.time_limit());
        command.inline_bytes = MOST_OUTPUT;
        command.spill = ports.texts.place();
        command.spill_cap = Some(MOST_KEPT);
        // The run waits for this program, so it must not queue behind the programs of other calls.
        command.background = true;
        Ok(command)
    }

    /// Returns a word for a direct start, with the directory variables that a shell would expand replaced.
    fn placed(&self, word: &str, ports: &HookPorts) -> OsString {
        let word = word.replace("${CLAUDE_PROJECT_DIR}", &ports.project.to_string_lossy());
        match self.plugin {
            Some(root) => word.replace("${CLAUDE_PLUGIN_ROOT}", &root.to_string_lossy()).into(),
            None => word.into(),
        }
    }

    fn environment(&self, ports: &HookPorts, cwd: &Path) -> Vec<(OsString, OsString)> {
        let project = ports.project.as_os_str();
        let own = [("CLAUDECODE", "1".as_ref()), ("CLAUDE_PROJECT_DIR", project), ("WINDLASS_PROJECT_DIR", project)];
        let plugin = self.plugin.map(Path::as_os_str);
        let plugin = ["CLAUDE_PLUGIN_ROOT", "WINDLASS_PLUGIN_ROOT"].map(|name| plugin.map(|root| (name, root)));
        let own: Vec<_> =
            own.into_iter().chain(plugin.into_iter().flatten()).chain([("PWD", cwd.as_os_str())]).collect();
        let mut env: Vec<(OsString, OsString)> = ports.env.to_vec();
        env.retain(|(known, _)| !own.iter().any(|(name, _)| known == name));
        env.extend(own.into_iter().map(|(name, value)| (name.into(), value.into())));
        env
    }
}

/// Returns the exit code and output of a program that ended by itself.
fn ended(outcome: ProcessOutcome) -> Result<Ended, HookError> {
    let code = match outcome.exit {
        ProcessExit::Code(code) => code,
        ProcessExit::Signal(signal) => return Err(format!("a signal ended it ({signal})").into()),
        ProcessExit::TimedOut => return Err("its time was up".into()),
        ProcessExit::Cancelled => return Err("it was stopped".into()),
        _ => return Err("it did not end by itself".into()),
    };
    Ok(Ended {
        code,
        is_whole: outcome.stdout.omitted_bytes == 0,
        file: outcome.spilled.filter(|_| outcome.stdout.omitted_bytes > 0).map(|file| file.path),
        stdout: outcome.stdout.head,
        stderr: outcome.stderr.head,
    })
}

/// Runs a program and reads its answer.
pub(crate) async fn answer(
    program: &Program<'_>,
    said: &Said<'_>,
    ports: &HookPorts,
    cwd: &Path,
    input: &JsonText,
    cancel: &Cancel,
) -> Result<windlass_types::HookOutcome, HookError> {
    let ended = program.run(ports, cwd, input, cancel).await?;
    read_exit(said, &ended).map_err(Into::into)
}
