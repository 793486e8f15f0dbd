//! Opening sessions.

use crate::assembly::Assembly;
use crate::contributions::CONTRIBUTIONS;
use crate::error::Error;
use crate::options::Options;
use crate::project::ProjectOptions;
use crate::session_tools::SessionTools;
use std::path::PathBuf;
use windlass_runtime::{Prompt, Session, SessionHandle};

/// Opens a session with the handle for changing its tools.
pub(crate) async fn open(options: Options) -> Result<(Session, SessionTools), Error> {
    assemble(Assembly::new(options, None).await?).await
}

/// Opens a session that ends with the runs of its prompts, and sends the first one, if it is there already.
pub(crate) async fn open_for_prompts(
    options: Options,
    first: Option<Prompt>,
) -> Result<(Session, PromptReader), Error> {
    let mut assembly = Assembly::new(options, first).await?;
    assembly.options.project.wait_for_notes();
    let (project, directory) = (assembly.options.project.clone(), assembly.machine.cwd.clone());
    let first = assembly.prompt.take();
    let (session, tools) = assemble(assembly).await?;
    let reader = PromptReader { project, directory, session: session.handle.clone(), tools };
    if let Some(prompt) = first {
        reader.send(prompt).await?;
    }
    Ok((session, reader))
}

async fn assemble(mut assembly: Assembly) -> Result<(Session, SessionTools), Error> {
    for row in CONTRIBUTIONS {
        for contribution in *row {
            contribution.join(&mut assembly).await?;
        }
    }
    assembly.open().await
}

/// Reads the prompts of an open session: commands of the project, or of the program's skills, are expanded in it.
pub(crate) struct PromptReader {
    project: ProjectOptions,
    directory: PathBuf,
    session: SessionHandle,
    tools: SessionTools,
}

impl PromptReader {
    /// Expands a prompt, and sends it.
    pub(crate) async fn read(&mut self, prompt: Prompt) -> Result<(), Error> {
        let prompt = self.project.expand(prompt, &self.directory, self.session.session_id())?;
        self.send(prompt).await
    }

    /// Sends an expanded prompt, or the one of a server that it names.
    async fn send(&self, prompt: Prompt) -> Result<(), Error> {
        let prompt = self.project.server_prompt(prompt, self.tools.servers()).await?;
        Ok(self.session.prompt(prompt)?)
    }

    /// Waits for the end of all runs.
    pub(crate) async fn settled(self) {
        self.session.settled().await;
    }
}
