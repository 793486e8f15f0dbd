//! File changes of calls: previews before they run, and diagnostics of a host afterwards.

use crate::world::{In, Open, calls, model, soon, world};
use async_trait::async_trait;
use serde_json::json;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use windlass_model::{ScriptedModel, ScriptedTurn};
use windlass_permission::can_use_tool_fn;
use windlass_runtime::{Diagnostic, Diagnostics};
use windlass_testkit::fake::MemoryWorkspace;
use windlass_tool::{Tool, ToolCx, ToolError, WriteOptions};
use windlass_types::{
    Access, ContentBlock, EditPreview, EventKind, Outcome, PermissionAnswer, PermissionGroup, PermissionRequest,
};

/// Writes a file, and says beforehand what it would write.
#[derive(Debug, Clone, Copy)]
enum Change {
    Says,
    Hangs,
    Panics,
    /// Writes while it is only to look.
    Cheats,
}

impl Tool for Change {
    const NAME: &'static str = "change";
    const DESCRIPTION: &'static str = "Changes a file.";
    type Input = In;
    type Output = String;

    fn access(&self, _: &In) -> Access {
        Access::writes("/w/a")
    }

    async fn preview(&self, _: &In, cx: &ToolCx) -> Option<String> {
        let path = PathBuf::from("/w/a");
        match self {
            Self::Says => Some("+new\n".to_owned()),
            Self::Hangs => std::future::pending().await,
            Self::Panics => panic!("as the test wants it"),
            Self::Cheats => {
                let written = cx.workspace().write(cx.permit(), &path, b"cheated", WriteOptions::default()).await;
                Some(format!("{:?}", written.is_err()))
            }
        }
    }

    async fn call(&self, _: In, _: &ToolCx) -> Result<String, ToolError> {
        Ok("changed".to_owned())
    }
}

type Asked = Arc<Mutex<Vec<PermissionRequest>>>;

/// A session with that tool, and the questions that its host is asked.
async fn opened(change: Change, previews: bool) -> (Open, Asked, MemoryWorkspace) {
    let files = MemoryWorkspace::new().with_directory("/w");
    let mut world = world(calls("change", 1), [Arc::new(change) as _]);
    let asked = Asked::default();
    let seen = Arc::clone(&asked);
    world.host = Some(Arc::new(can_use_tool_fn(move |request: PermissionRequest| {
        seen.lock().unwrap().push(request);
        async { PermissionAnswer::allow() }
    })));
    (world.workspace, world.previews_edits) = (Arc::new(files.clone()), previews);
    (world.open().await, asked, files)
}

/// The preview in the question and in the event before the call, and the files in the event after it.
async fn shown(change: Change, previews: bool) -> (Option<EditPreview>, Option<EditPreview>, Vec<PathBuf>) {
    let (mut open, asked, files) = opened(change, previews).await;
    open.say("go");
    let events = soon(open.until(|kind| matches!(kind, EventKind::RunFinished(_)))).await;
    open.handle.close().await.unwrap();
    let started = events.iter().find_map(|event| match &event.kind {
        EventKind::ToolStarted(started) => Some(started.edits.clone()),
        _ => None,
    });
    let written = events.iter().find_map(|event| match &event.kind {
        EventKind::ToolFinished(finished) => Some(finished.written.clone()),
        _ => None,
    });
    let request = asked.lock().unwrap().first().cloned().expect("the host was not asked");
    assert_eq!(request.group, PermissionGroup::Edit);
    assert!(files.content("/w/a").is_none(), "the file was written");
    (request.edits, started.unwrap(), written.unwrap())
}

#[tokio::test(start_paused = true)]
async fn what_a_call_would_change_is_in_the_question_and_in_its_events() {
    let preview = EditPreview::new(vec!["/w/a".into()], "+new\n".to_owned());
    let (asked, started, written) = shown(Change::Says, true).await;
    assert_eq!((asked.as_ref(), started.as_ref()), (Some(&preview), Some(&preview)));
    assert_eq!(written, [PathBuf::from("/w/a")]);
    let (asked, started, written) = shown(Change::Says, false).await;
    assert_eq!((asked, started, written.len()), (None, None, 1));
}

#[tokio::test(start_paused = true)]
async fn a_preview_that_fails_is_none_and_can_write_nothing() {
    assert_eq!(shown(Change::Hangs, true).await.0, None);
    assert_eq!(shown(Change::Panics, true).await.0, None);
    assert_eq!(shown(Change::Cheats, true).await.0.unwrap().diff, "true");
}

/// A host that says this of the file at each look, one after the other.
#[derive(Debug)]
struct Looks(Vec<Option<Vec<Diagnostic>>>, AtomicU32);

#[async_trait]
impl Diagnostics for Looks {
    async fn of_files(&self, paths: &[PathBuf]) -> Option<Vec<Diagnostic>> {
        assert_eq!(paths, [PathBuf::from("/w/a")]);
        let at = self.1.fetch_add(1, Ordering::Relaxed) as usize;
        match self.0.get(at) {
            Some(Some(said)) => Some(said.clone()),
            _ => std::future::pending().await,
        }
    }
}

/// The diagnostics that the model reads with its second turn. A look that is `None`, or missing, takes too long.
async fn read_of(looks: Vec<Option<Vec<Diagnostic>>>) -> Vec<String> {
    let asked: ScriptedModel = model(|_, number| match number {
        0 => ScriptedTurn::new().tool_use("change", json!({})),
        _ => ScriptedTurn::new().text("Done."),
    });
    let mut world = world(asked.clone(), [Arc::new(Change::Says) as _]);
    world.host = Some(Arc::new(can_use_tool_fn(|_| async { PermissionAnswer::allow() })));
    world.diagnostics = Some(Arc::new(Looks(looks, AtomicU32::new(0))));
    let mut open = world.open().await;
    assert_eq!(soon(open.run("go")).await.outcome, Outcome::Success);
    open.handle.close().await.unwrap();
    let requests = asked.requests();
    let blocks = requests[1].messages.iter().flat_map(|message| &message.content);
    let texts = blocks.filter_map(ContentBlock::as_text).filter(|text| text.contains("diagnostics"));
    texts.map(str::to_owned).collect()
}

async fn read(looks: Vec<Vec<Diagnostic>>) -> Vec<String> {
    read_of(looks.into_iter().map(Some).collect()).await
}

#[tokio::test(start_paused = true)]
async fn what_was_not_known_before_an_edit_is_not_blamed_on_it() {
    let old = vec![Diagnostic::error("/w/a", 1, "old")];
    assert!(read_of(vec![None, Some(old)]).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn the_model_reads_what_an_edit_has_brought_and_no_more() {
    let error = |line, message: &str| Diagnostic::error("/w/a", line, message);
    let brought = read(vec![vec![error(1, "old")], vec![error(3, "old"), error(4, "mismatched types")]]).await;
    assert_eq!(brought.len(), 1, "{brought:?}");
    assert!(brought[0].contains("/w/a:4: error: mismatched types") && !brought[0].contains("old"), "{brought:?}");
    assert!(read(vec![vec![error(1, "old")], vec![error(1, "old")]]).await.is_empty());
    // A host that is slow behind the call says nothing; one that is slow before it has said nothing.
    assert!(read(vec![vec![]]).await.is_empty());
    assert!(read(vec![]).await.is_empty());
}
