//! Testing without a model: scripts, recordings and stores in memory.

pub use windlass_model::{
    CassetteError, Gate, Recorder, Replayer, Script, ScriptError, ScriptedModel, ScriptedTurn, Scrub,
};
pub use windlass_session::MemoryStore;
