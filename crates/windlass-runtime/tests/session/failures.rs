//! Failures of tools, as hosts see them.

use crate::world::{In, calls, soon, world};
use std::sync::Arc;
use windlass_tool::{DynTool, ToolCx, ToolError, tool_fn};
use windlass_types::{Access, EventKind, ToolFailure, ToolFailureKind, ToolFinished};

#[derive(Debug, thiserror::Error)]
#[error("cannot read the index")]
struct Outer(#[source] std::io::Error);

async fn failing(how: &'static str) -> Result<String, ToolError> {
    match how {
        "rejected" => Err(ToolError::rejected("no")),
        "internal" => Err(Outer(std::io::Error::other("the disk is on fire")).into()),
        "panicked" => panic!("index {} is out of range", 7),
        _ => Ok("done".to_owned()),
    }
}

async fn finished(how: &'static str) -> ToolFinished {
    let tool = tool_fn("look", "Fails.", move |_: In, _: ToolCx| failing(how)).with_access(Access::NOTHING);
    let mut open = world(calls("look", 1), [Arc::new(tool) as Arc<dyn DynTool>]).open().await;
    open.say("go");
    let events = soon(open.until(|kind| matches!(kind, EventKind::ToolFinished(_)))).await;
    match events.into_iter().last().map(|event| event.kind) {
        Some(EventKind::ToolFinished(finished)) => finished,
        _ => panic!(),
    }
}

#[tokio::test]
async fn a_failure_names_its_kind_and_its_causes_and_the_model_reads_neither() {
    assert_eq!(finished("succeeds").await.error, None);
    let rejected = finished("rejected").await.error;
    assert_eq!(rejected, Some(ToolFailure::new(ToolFailureKind::Rejected)));
    let internal = finished("internal").await;
    let source = Some("cannot read the index: the disk is on fire".to_owned());
    assert_eq!(internal.error, Some(ToolFailure::new(ToolFailureKind::Internal).with_source(source)));
    assert!(!format!("{:?}", internal.result).contains("fire"));
    let panicked = finished("panicked").await;
    let source = Some("index 7 is out of range".to_owned());
    assert_eq!(panicked.error, Some(ToolFailure::new(ToolFailureKind::Panicked).with_source(source)));
    assert!(!format!("{:?}", panicked.result).contains("out of range"));
}
