//! The memory of a session.

use crate::assembly::{Assembly, Contribution};
use crate::error::Error;
use crate::memory::{Extraction, Memory as Notes, ModelRanking, RankMemories, Ranking, Recall};
use crate::options::Options;
use async_trait::async_trait;
use std::sync::Arc;
use windlass_project::MEMORY_TOOL;

/// Joins the memory: its index as a text, if the model is offered the tool, and its hooks. Notes that do not fit into
/// the index are searched at each prompt. An unreadable memory is a notice.
pub(crate) struct Memory;

#[async_trait]
impl Contribution for Memory {
    async fn join(&self, assembly: &mut Assembly) -> Result<(), Error> {
        let Some(memory) = assembly.options.project.memory.clone() else { return Ok(()) };
        // A session that is recorded or replayed judges the ages of notes by the recording.
        let recorded = memory.recorded_by(&*assembly.ports.provider);
        if let Some(recorded) = recorded.clone() {
            assembly.options.remember(recorded);
        }
        let memory = recorded.unwrap_or(memory);
        if assembly.is_offered(MEMORY_TOOL) {
            recall(assembly, memory).await;
        }
        Ok(())
    }
}

async fn recall(assembly: &mut Assembly, memory: Notes) {
    let shown_memory = match memory.shown().await {
        Ok(shown_memory) => shown_memory,
        Err(error) => return assembly.notices.push(format!("the memory cannot be read: {error}")),
    };
    let directory = memory.directory().path().display().to_string();
    assembly.texts.extend(shown_memory.for_model(MEMORY_TOOL, &directory));
    let extraction = memory.extraction();
    if !shown_memory.hidden.is_empty() {
        let ranking = memory.ranking.map(|ranking| match ranking {
            Ranking::Program(ranking) => ranking,
            Ranking::Model(name) => {
                let model = Arc::new(ModelRanking::new(name));
                let ranking = Arc::clone(&model) as Arc<dyn RankMemories>;
                assembly.on_open(move |session, _| model.follow(&session.handle));
                ranking
            }
        });
        assembly.hooks.push(Arc::new(Recall::new(shown_memory, ranking)));
    }
    if let Some(waits) = extraction {
        let extraction = Arc::new(Extraction::new(waits));
        assembly.hooks.push(Arc::clone(&extraction) as _);
        assembly.on_open(move |session, _| extraction.follow(&session.handle));
    }
}

impl Options {
    /// Gives the session a memory, in place of an existing one.
    pub(crate) fn remember(&mut self, memory: Notes) {
        let tools = &mut self.tools.toolkit.tools;
        if self.project.memory.is_some() {
            tools.retain(|tool| tool.name() != MEMORY_TOOL);
        }
        tools.push(memory.tool());
        self.project.memory = Some(memory);
    }
}
