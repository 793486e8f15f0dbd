//! Handler of a client's requests.

mod begun;
mod offer;

pub(crate) use offer::ServerOffer;

use crate::changes::{LegacyWatches, OfferChange, forward, tell};
use crate::content::listed;
use crate::{Completion, CompletionOf, LogLevel};
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams, CompleteRequestParams, CompleteResult,
    CompletionInfo, CreateTaskResult, ErrorData, GetPromptRequestParams, GetPromptResponse, GetPromptResult,
    GetTaskParams, GetTaskResult, InputRequiredResult, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, Reference, ServerConfig, SubscribeRequestParams, SubscriptionFilter, Tool,
    UnsubscribeRequestParams, UpdateTaskParams,
};
#[expect(deprecated, reason = "revisions that have logs stay in use")]
use rmcp::model::{SetLevelRequestMethod, SetLevelRequestParams};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, SubscriptionContext};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::broadcast::Receiver;
use tokio::task::AbortHandle;

/// Result of a request.
pub(crate) enum HandledResult {
    Call(CallToolResult),
    Prompt(GetPromptResult),
    Read(ReadResourceResult),
}

/// Answer to a request.
enum HandlerStep {
    Done(HandledResult),
    Asked(InputRequiredResult),
    Task(CreateTaskResult),
}

/// Handler of one client. `guard` is held while the client is connected.
pub(crate) struct ClientHandler<G> {
    offer: Arc<ServerOffer>,
    link: Mutex<ConnectionLink>,
    watched: Arc<LegacyWatches>,
    _guard: G,
}

/// State of one connection.
struct ConnectionLink {
    /// Lowest level of log lines that the client has asked for.
    level: Option<LogLevel>,
    /// Receiver of changes since the client began to greet.
    early: Option<Receiver<OfferChange>>,
    /// Receivers of subscriptions whose acknowledgement is being sent, so that no change is lost after it.
    listening: VecDeque<Receiver<OfferChange>>,
    forwarding: Option<AbortHandle>,
}

impl Drop for ConnectionLink {
    fn drop(&mut self) {
        if let Some(forwarding) = &self.forwarding {
            forwarding.abort();
        }
    }
}

impl<G> ClientHandler<G> {
    pub(crate) fn new(offer: Arc<ServerOffer>, guard: G) -> Self {
        let early = offer.changes.as_ref().map(|changes| changes.listen());
        let link = ConnectionLink { level: None, early, listening: VecDeque::new(), forwarding: None };
        Self { offer, link: Mutex::new(link), watched: Arc::default(), _guard: guard }
    }

    fn link(&self) -> MutexGuard<'_, ConnectionLink> {
        self.link.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn level(&self) -> LogLevel {
        self.link().level.unwrap_or(LogLevel::Info)
    }

    /// Checks that the client can be informed of changes of resources.
    fn reports_changes(&self) -> Result<(), ErrorData> {
        match self.offer.changes {
            Some(_) => Ok(()),
            None => Err(ErrorData::invalid_params("this server reports no changes", None)),
        }
    }
}

fn unexpected() -> ErrorData {
    ErrorData::invalid_params("the request state belongs to another kind of request", None)
}

#[expect(deprecated, reason = "revisions that have logs and subscriptions of this kind stay in use")]
impl<G: Send + Sync + 'static> ServerHandler for ClientHandler<G> {
    fn get_info(&self) -> ServerConfig {
        self.offer.info()
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.offer.tools()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.offer.tool(name).and_then(|(tool, _)| listed(tool))
    }

    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let begun = self.call(params, &context);
        match self.drive(begun, &context).await? {
            HandlerStep::Done(HandledResult::Call(result)) => Ok(result.into()),
            HandlerStep::Asked(questions) => Ok(questions.into()),
            HandlerStep::Task(task) => Ok(CallToolResponse::Task(task)),
            HandlerStep::Done(_) => Err(unexpected()),
        }
    }

    async fn get_task(&self, params: GetTaskParams, _: RequestContext<RoleServer>) -> Result<GetTaskResult, ErrorData> {
        self.offer.tasks.get(&params.task_id)
    }

    async fn update_task(&self, params: UpdateTaskParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        self.offer.tasks.answer(&params.task_id, params.input_responses)
    }

    async fn cancel_task(&self, params: CancelTaskParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        self.offer.tasks.cancel(&params.task_id)
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(self.offer.resources()))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(self.offer.templates()))
    }

    async fn read_resource(
        &self,
        params: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let begun = self.read(params, &context);
        match self.drive(begun, &context).await? {
            HandlerStep::Done(HandledResult::Read(result)) => Ok(result.into()),
            HandlerStep::Asked(questions) => Ok(questions.into()),
            HandlerStep::Done(_) | HandlerStep::Task(_) => Err(unexpected()),
        }
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(self.offer.prompts()))
    }

    async fn get_prompt(
        &self,
        params: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let begun = self.prompt(params, &context);
        match self.drive(begun, &context).await? {
            HandlerStep::Done(HandledResult::Prompt(result)) => Ok(result.into()),
            HandlerStep::Asked(questions) => Ok(questions.into()),
            HandlerStep::Done(_) | HandlerStep::Task(_) => Err(unexpected()),
        }
    }

    async fn complete(
        &self,
        params: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let of = match params.r#ref {
            Reference::Prompt(prompt) => CompletionOf::Prompt(prompt.name),
            Reference::Resource(template) => CompletionOf::Template(template.uri),
            _ => return Err(ErrorData::invalid_params("this has no arguments to complete", None)),
        };
        let others = params.context.and_then(|context| context.arguments).unwrap_or_default();
        let completion = Completion {
            of,
            argument: params.argument.name,
            value: params.argument.value,
            others: others.into_iter().collect(),
        };
        let mut values = Vec::new();
        for library in &self.offer.libraries {
            values.extend(library.complete(completion.clone()).await);
        }
        let total = u32::try_from(values.len()).unwrap_or(u32::MAX);
        let has_more = values.len() > CompletionInfo::MAX_VALUES;
        values.truncate(CompletionInfo::MAX_VALUES);
        let info = CompletionInfo::with_pagination(values, Some(total), has_more);
        info.map(CompleteResult::new).map_err(|problem| ErrorData::internal_error(problem, None))
    }

    async fn set_level(
        &self,
        params: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if crate::client::is_asked_in_rounds(&context) {
            return Err(ErrorData::method_not_found::<SetLevelRequestMethod>());
        }
        self.link().level = Some(LogLevel::of(params.level));
        Ok(())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let mut link = self.link();
        // A client that greets twice is informed once.
        if let Some(changes) = link.early.take() {
            let task = tokio::spawn(forward(changes, context.peer, Arc::clone(&self.watched)));
            link.forwarding = Some(task.abort_handle());
        }
    }

    async fn subscribe(&self, params: SubscribeRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        self.reports_changes()?;
        self.watched.add(params.uri)
    }

    async fn unsubscribe(
        &self,
        params: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.reports_changes()?;
        self.watched.remove(&params.uri);
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let changes = self.offer.changes.as_ref()?;
        self.link().listening.push_back(changes.listen());
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let listening = self.link().listening.pop_front();
        if let Some(changes) = listening {
            tell(changes, context).await;
        }
        Ok(())
    }
}
