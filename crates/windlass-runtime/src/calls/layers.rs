//! The layers around a call, and their order.
//!
//! A call that writes files has two steps. First the machine requests a snapshot by an effect of its own
//! ([`Effect::Snapshot`](windlass_core::Effect::Snapshot)), and decides on the call again when the files are saved. A
//! stop during the snapshot is answered at once, as for a call that has not begun. All other layers belong to the run
//! of the call.

pub(crate) mod diagnostics;
pub(crate) mod file_snapshot;
pub(crate) mod foreign_text;
pub(crate) mod instructions;
pub(crate) mod programmatic_calls;
pub(crate) mod progress;
pub(crate) mod result_budget;
pub(crate) mod survey;
pub(crate) mod written_files;

use crate::calls::layer::{CallLayers, LayeredCall};
use crate::calls::layers::diagnostics::DiagnosticsLayer;
use crate::calls::layers::file_snapshot::FileSnapshotLayer;
use crate::calls::layers::foreign_text::ForeignTextLayer;
use crate::calls::layers::instructions::InstructionsLayer;
use crate::calls::layers::programmatic_calls::ProgrammaticCallsLayer;
use crate::calls::layers::progress::ProgressLayer;
use crate::calls::layers::result_budget::ResultBudgetLayer;
use crate::calls::layers::survey::SurveyLayer;
use crate::calls::layers::written_files::WrittenFilesLayer;

/// Returns the layers that are entered before the machine gives the verdict for the last time.
pub(crate) fn before_verdict(call: LayeredCall, snapshot: Option<FileSnapshotLayer>) -> CallLayers {
    CallLayers::new(call).with(snapshot)
}

/// The layers around the run of a call. `None`: the call or the session has no use for the layer.
pub(crate) struct RunLayers {
    pub(crate) progress: Option<ProgressLayer>,
    pub(crate) programmatic_calls: Option<ProgrammaticCallsLayer>,
    pub(crate) diagnostics: Option<DiagnosticsLayer>,
    pub(crate) instructions: Option<InstructionsLayer>,
    pub(crate) written_files: Option<WrittenFilesLayer>,
    pub(crate) survey: Option<SurveyLayer>,
    pub(crate) foreign_text: ForeignTextLayer,
    pub(crate) result_budget: ResultBudgetLayer,
}

impl RunLayers {
    /// Returns the layers in their order, the outermost first.
    ///
    /// | layer | before the call | after it |
    /// |---|---|---|
    /// | progress | | its last message, in front of the outcome |
    /// | programmatic calls | | calls that it has left open are dropped |
    /// | diagnostics | those of the files that it names | those that it has introduced |
    /// | instructions | | those of the files that it has used |
    /// | written files | | their state is recorded, and the outcome names them |
    /// | survey | the workspace is kept | its changes are found, beside the model's next answer |
    /// | foreign text | | imitations of the runtime's texts are marked |
    /// | result budget | | what is too long is cut, and kept as an artifact |
    ///
    /// A result is cut before it is marked, so that marks are whole. Instructions and diagnostics see the files in the
    /// state that the call left.
    pub(crate) fn around(self, call: LayeredCall) -> CallLayers {
        CallLayers::new(call)
            .with(self.progress)
            .with(self.programmatic_calls)
            .with(self.diagnostics)
            .with(self.instructions)
            .with(self.written_files)
            .with(self.survey)
            .with(Some(self.foreign_text))
            .with(Some(self.result_budget))
    }

    /// Returns the layers of a call that only reads for the runtime itself.
    pub(crate) fn of_reader(foreign_text: ForeignTextLayer, result_budget: ResultBudgetLayer) -> Self {
        Self {
            progress: None,
            programmatic_calls: None,
            diagnostics: None,
            instructions: None,
            written_files: None,
            survey: None,
            foreign_text,
            result_budget,
        }
    }
}
