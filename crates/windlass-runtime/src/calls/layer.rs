//! Layers around a call: work before it, and work on its outcome.

use crate::calls::run::{RunningCall, run};
use async_trait::async_trait;
use windlass_tool::{Annotations, Cancel};
use windlass_types::{ToolOutcome, ToolUseId};

/// One concern around a call.
///
/// A layer lives for one call. Layers nest: the `before` of an outer layer runs earlier, its `after` later.
#[async_trait]
pub(crate) trait CallLayer: Send {
    /// Works before the call. The error answers the call, which does not run then.
    async fn before(&mut self, _call: &LayeredCall) -> Result<(), String> {
        Ok(())
    }

    /// Works on the outcome. Called for each layer whose `before` was called, also if the call did not run.
    async fn after(&mut self, _call: &LayeredCall, _end: &mut CallEnd) {}
}

/// A call as its layers see it.
#[derive(Debug)]
pub(crate) struct LayeredCall {
    pub(crate) id: ToolUseId,
    pub(crate) cancel: Cancel,
}

/// The end of a call, on its way out through the layers.
#[derive(Debug)]
pub(crate) struct CallEnd {
    pub(crate) outcome: ToolOutcome,
    pub(crate) source: TextSource,
    /// Statements of the tool about all its calls.
    pub(crate) annotations: Annotations,
}

/// Author of an outcome's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextSource {
    /// The tool, as its result.
    Result,
    /// The tool, as the error of a call.
    Error,
    /// The runtime, about a call that was stopped, panicked or did not run.
    Runtime,
}

impl CallEnd {
    /// An error in words of the runtime.
    pub(crate) fn of_runtime(text: impl Into<String>) -> Self {
        let outcome = ToolOutcome::error(text.into());
        Self { outcome, source: TextSource::Runtime, annotations: Annotations::default() }
    }
}

/// The layers of one call, the outermost first.
pub(crate) struct CallLayers {
    call: LayeredCall,
    layers: Vec<Box<dyn CallLayer>>,
    /// Number of layers whose `before` was called.
    entered: usize,
}

impl CallLayers {
    /// No layers yet.
    pub(crate) fn new(call: LayeredCall) -> Self {
        Self { call, layers: Vec::with_capacity(8), entered: 0 }
    }

    /// Adds a layer inside of those before, if there is one.
    #[must_use]
    pub(crate) fn with<L: CallLayer + 'static>(mut self, layer: Option<L>) -> Self {
        if let Some(layer) = layer {
            self.layers.push(Box::new(layer));
        }
        self
    }

    /// Runs the `before` of the layers, from the outside inwards. The error answers the call.
    pub(crate) async fn enter(&mut self) -> Result<(), String> {
        for layer in self.layers.iter_mut().skip(self.entered) {
            self.entered += 1;
            layer.before(&self.call).await?;
        }
        Ok(())
    }

    /// Runs the call within its layers.
    pub(crate) async fn run(mut self, running: RunningCall) -> ToolOutcome {
        let mut end = match self.enter().await {
            Ok(()) => run(running, &self.call.cancel).await,
            Err(text) => CallEnd::of_runtime(text),
        };
        for layer in self.layers.iter_mut().take(self.entered).rev() {
            layer.after(&self.call, &mut end).await;
        }
        end.outcome
    }
}
