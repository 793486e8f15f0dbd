//! Directories in which programs of a project's configuration start.

use super::LoadedProject;
use super::read::Read;
use std::ffi::OsString;
use std::path::PathBuf;
use windlass_hook_runner::{ConfiguredHook, HookHandler, HookStart};
use windlass_project::{
    ProgramAuthor, ProgramLine, ProgramPlace, ProgramStarts, StartRefusal, is_trusted, neutral_directory,
};

/// Variable that is replaced in the words of a hook without a shell.
const PROJECT_IN_WORDS: &str = "${CLAUDE_PROJECT_DIR}";
/// Variable for the directory of the hook's plugin.
const PLUGIN_IN_WORDS: &str = "${CLAUDE_PLUGIN_ROOT}";

impl Read {
    /// Rule by which programs start, with the present records of trust.
    pub(super) fn starts(&self) -> ProgramStarts {
        let directories = self.resolved.permissions.additional_directories.iter().map(|found| found.value.clone());
        ProgramStarts::new(&self.places, is_trusted(&self.places, &self.settings)).with_directories(directories)
    }

    /// Place where a program with this environment starts.
    pub(super) fn place(
        &self,
        starts: &ProgramStarts,
        author: &ProgramAuthor,
        line: &ProgramLine<'_>,
        env: &[(OsString, OsString)],
    ) -> Result<ProgramPlace, StartRefusal> {
        let neutral = || neutral_directory(&self.places, starts.workspace(), |name| self.request.variable(name));
        starts.place(author, line, env, neutral)
    }

    /// Environment given by the program, else that of this process.
    #[expect(clippy::disallowed_methods, reason = "the default where the program that uses the library gives none")]
    pub(super) fn usual_environment(&self) -> Vec<(OsString, OsString)> {
        match &self.request.environment {
            Some(own) => own.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
            None => std::env::vars_os().collect(),
        }
    }
}

impl LoadedProject {
    /// Directories from which configured programs are never taken; `None` in a trusted project.
    pub(crate) fn untrusted_workspace(&self) -> Option<Vec<PathBuf>> {
        let starts = self.starts();
        (!starts.are_in_project(&ProgramAuthor::User)).then(|| starts.workspace().to_vec())
    }

    /// Rule by which programs start, with the directories added by the program that uses the library.
    pub(super) fn starts(&self) -> ProgramStarts {
        self.read.starts().with_directories(self.choice.directories.iter().cloned())
    }
}

/// Rule for the hooks of a session.
pub(super) struct HookStarts<'a> {
    read: &'a Read,
    starts: ProgramStarts,
    env: Vec<(OsString, OsString)>,
}

impl<'a> HookStarts<'a> {
    pub(super) fn of(project: &'a LoadedProject) -> Self {
        Self { read: &project.read, starts: project.starts(), env: project.usual_environment() }
    }

    /// Hook with the place where its program starts.
    pub(super) fn placed(&self, hook: ConfiguredHook, author: &ProgramAuthor) -> ConfiguredHook {
        let HookHandler::Command(handler) = &hook.definition.handler else { return hook };
        let plugin = hook.plugin.clone().map(ProgramAuthor::Plugin);
        let author = plugin.as_ref().unwrap_or(author);
        let place = match &handler.args {
            None => self.place(author, &ProgramLine::Shell(&handler.command)),
            Some(args) => {
                let args: Vec<String> = args.iter().map(|arg| self.word(arg, author)).collect();
                self.place(author, &ProgramLine::Words(&self.word(&handler.command, author), &args))
            }
        };
        hook.starting(match place {
            Ok(place) if place.is_neutral => HookStart::Directory(place.directory),
            Ok(_) => HookStart::Call,
            Err(refusal) => HookStart::Never(refusal.to_string()),
        })
    }

    fn place(&self, author: &ProgramAuthor, line: &ProgramLine<'_>) -> Result<ProgramPlace, StartRefusal> {
        self.read.place(&self.starts, author, line, &self.env)
    }

    /// A word with its variables replaced.
    fn word(&self, word: &str, author: &ProgramAuthor) -> String {
        let [(_, project), _] = self.starts.project_variables();
        let word = word.replace(PROJECT_IN_WORDS, &project.to_string_lossy());
        match author {
            ProgramAuthor::Plugin(root) => word.replace(PLUGIN_IN_WORDS, &root.to_string_lossy()),
            _ => word,
        }
    }
}
