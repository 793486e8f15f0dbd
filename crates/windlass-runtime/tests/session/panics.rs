//! Panics in code of users.

use crate::world::{Ran, act, calls, interest, look, soon, world};
use async_trait::async_trait;
use std::path::Path;
use std::sync::Arc;
use windlass_hook::{Hook, HookContext, HookError, Interest, PreToolUse, PreToolUseAction};
use windlass_model::{ModelError, ModelProvider, ModelStream};
use windlass_permission::can_use_tool_fn;
use windlass_session::{
    AgentSummary, Durability, Lease, Loaded, LogHeader, MemoryStore, Owner, ProjectKey, SessionKey, SessionStore,
};
use windlass_session::{SessionSummary, StoreError};
use windlass_testkit::fake::MemoryWorkspace;
use windlass_tool::{
    Annotations, BoxFuture, DynTool, OpenFile, Permit, PreparedCall, ResolvedPath, ToolCx, ToolError, ToolOutput,
    Workspace, WorkspaceError, WriteOptions,
};
use windlass_types::{
    Access, Entry, EventKind, HookEventName, JsonText, ModelInfo, ModelRequest, Outcome, RunFailureKind, ToolSpec,
};

/// A tool that panics at one point of its life.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Panics {
    Prepare,
    Access,
    Annotations,
    Call,
    Future,
}

impl Panics {
    fn at(self, point: Self) {
        assert!(self != point, "it panics at {point:?}");
    }
}

struct Prepared(Panics);

impl DynTool for Panics {
    fn spec(&self) -> ToolSpec {
        ToolSpec::new("act", "Panics.", JsonText::parse(r#"{"type":"object"}"#).unwrap())
    }

    fn annotations(&self) -> Annotations {
        self.at(Self::Annotations);
        Annotations::default()
    }

    fn is_enabled(&self) -> bool {
        true
    }

    fn prepare(self: Arc<Self>, _: &JsonText) -> Result<Box<dyn PreparedCall>, ToolError> {
        self.at(Self::Prepare);
        Ok(Box::new(Prepared(*self)))
    }
}

impl PreparedCall for Prepared {
    fn access(&self) -> Access {
        self.0.at(Panics::Access);
        Access::Unknown
    }

    fn title(&self) -> String {
        "act".to_owned()
    }

    fn call(self: Box<Self>, _: ToolCx) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
        self.0.at(Panics::Call);
        Box::pin(async move {
            self.0.at(Panics::Future);
            Err(ToolError::rejected("it did not panic"))
        })
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_panics_anywhere_answers_with_an_error_and_the_run_continues() {
    for point in [Panics::Prepare, Panics::Access, Panics::Annotations, Panics::Call, Panics::Future] {
        let model = calls("act", 1);
        let mut open = world(model.clone(), [Arc::new(point) as Arc<dyn DynTool>]).open().await;
        soon(open.succeed("go")).await;
        let request = &model.requests()[1];
        let result = request.messages[2].content[0].as_tool_result().unwrap();
        assert!(result.is_error && !result.content.text().contains("did not panic"), "{point:?}: {result:?}");
        open.succeed("go on").await;
    }
}

#[derive(Debug)]
struct PanickingFiles(MemoryWorkspace);

#[async_trait]
impl Workspace for PanickingFiles {
    async fn resolve(&self, _: &Path) -> Result<ResolvedPath, WorkspaceError> {
        panic!("no files today")
    }

    async fn open(&self, permit: &Permit, path: &Path) -> Result<Box<dyn OpenFile>, WorkspaceError> {
        self.0.open(permit, path).await
    }

    async fn write(&self, p: &Permit, path: &Path, b: &[u8], o: WriteOptions) -> Result<(), WorkspaceError> {
        self.0.write(p, path, b, o).await
    }

    async fn list(&self, permit: &Permit, path: &Path, limit: usize) -> Result<Vec<String>, WorkspaceError> {
        self.0.list(permit, path, limit).await
    }

    fn is_local(&self) -> bool {
        false
    }
}

#[tokio::test(start_paused = true)]
async fn files_that_panic_while_a_call_is_read_refuse_it() {
    let tool = windlass_tool::tool_fn("look", "Looks at a file.", |_: crate::world::In, _| async { Ok("seen") });
    let model = calls("look", 1);
    let mut world = world(model.clone(), [Arc::new(tool.with_access(Access::reads("/w/a"))) as Arc<dyn DynTool>]);
    world.workspace = Arc::new(PanickingFiles(MemoryWorkspace::new()));
    let mut open = world.open().await;
    soon(open.succeed("go")).await;
    assert!(model.requests()[1].messages[2].content[0].as_tool_result().unwrap().is_error);
}

struct PanickingHook;

#[async_trait]
impl Hook for PanickingHook {
    fn name(&self) -> &str {
        "panics"
    }

    fn interests(&self) -> Vec<Interest> {
        interest(HookEventName::PreToolUse)
    }

    async fn pre_tool_use(&self, _: &HookContext, _: &PreToolUse) -> Result<PreToolUseAction, HookError> {
        panic!("the hook is broken")
    }
}

#[tokio::test(start_paused = true)]
async fn a_gating_hook_that_panics_denies() {
    let ran = Ran::default();
    let mut open = world(calls("act", 1), [ran.act()]).hook(PanickingHook).open().await;
    let result = open.run("go").await;
    assert_eq!((result.outcome, result.permission_denials.len()), (Outcome::Success, 1));
    assert_eq!(ran.ids().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_host_that_panics_denies() {
    let tool = windlass_tool::tool_fn("risky", "Asks.", |_: crate::world::In, _| async { Ok("ran") });
    let mut world = world(calls("risky", 1), [Arc::new(tool) as Arc<dyn DynTool>]);
    world.host = Some(Arc::new(can_use_tool_fn(|_| async { panic!("the host is broken") })));
    let mut open = world.open().await;
    let result = open.run("go").await;
    assert_eq!((result.outcome, result.permission_denials.len()), (Outcome::Success, 1));
}

/// A provider that panics: at once, or while it streams.
#[derive(Debug)]
struct PanickingModel {
    streaming: bool,
}

struct PanickingStream;

impl futures_core::Stream for PanickingStream {
    type Item = Result<windlass_types::ModelItem, ModelError>;

    fn poll_next(
        self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        panic!("the stream is broken")
    }
}

#[async_trait]
impl ModelProvider for PanickingModel {
    fn name(&self) -> &str {
        "panics"
    }

    fn resolve_model(&self, name: &str) -> String {
        name.to_owned()
    }

    fn model_info(&self, _: &str) -> ModelInfo {
        ModelInfo::new(1_000, 1_000)
    }

    async fn stream(&self, _: Arc<ModelRequest>) -> Result<ModelStream, ModelError> {
        assert!(self.streaming, "the provider is broken");
        Ok(Box::pin(PanickingStream))
    }

    async fn count_tokens(&self, _: Arc<ModelRequest>) -> Result<u64, ModelError> {
        Ok(0)
    }
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_panics_fails_the_run_and_nothing_else() {
    for streaming in [false, true] {
        let mut open = world(PanickingModel { streaming }, []).open().await;
        for _ in 0..2 {
            let Outcome::Failed(failure) = soon(open.run("go")).await.outcome else { panic!() };
            assert!(failure.message.contains("panicked"), "{failure:?}");
        }
    }
}

/// A store that panics when it is to append.
#[derive(Debug)]
struct PanickingStore(MemoryStore);

#[async_trait]
impl SessionStore for PanickingStore {
    async fn open(&self, key: &SessionKey, owner: &Owner, header: LogHeader) -> Result<Lease, StoreError> {
        self.0.open(key, owner, header).await
    }

    async fn append(&self, _: &Lease, _: u64, _: Vec<Entry>, _: Durability) -> Result<u64, StoreError> {
        panic!("the store is broken")
    }

    async fn load(&self, key: &SessionKey) -> Result<Loaded, StoreError> {
        self.0.load(key).await
    }

    async fn list(&self, project: &ProjectKey) -> Result<Vec<SessionSummary>, StoreError> {
        self.0.list(project).await
    }

    async fn delete(&self, key: &SessionKey) -> Result<(), StoreError> {
        self.0.delete(key).await
    }

    async fn agents(&self, key: &SessionKey) -> Result<Vec<AgentSummary>, StoreError> {
        self.0.agents(key).await
    }

    async fn close(&self, lease: Lease) -> Result<(), StoreError> {
        self.0.close(lease).await
    }
}

#[tokio::test(start_paused = true)]
async fn a_store_that_panics_is_a_store_that_refuses() {
    let ran = Ran::default();
    let mut world = world(calls("act", 1), [ran.act(), look(|_, _| async { Ok(String::new()) })]);
    world.store = Some(Arc::new(PanickingStore(MemoryStore::new())));
    let mut open = world.open().await;
    open.say("go");
    let (events, error) = soon(open.rest()).await;
    let Some(EventKind::RunFinished(result)) = events.last().map(|event| &event.kind) else { panic!("{events:?}") };
    let Outcome::Failed(failure) = &result.outcome else { panic!() };
    assert_eq!(failure.kind, RunFailureKind::Store);
    assert!(error.is_some());
    assert_eq!(soon(open.handle.close()).await.err(), error);
    let _ = act(|_, _| async { Ok(String::new()) });
    assert_eq!(ran.ids().len(), 0);
}
