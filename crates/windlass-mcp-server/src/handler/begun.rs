//! Requests that begin an operation: a call, a prompt, the reading of a resource.

use super::{ClientHandler, HandledResult, HandlerStep};
use crate::client::is_asked_in_rounds;
use crate::content::{contents_of, message, result};
use crate::parked::ParkedCall;
use crate::rounds::QuestionRounds;
use crate::{Client, ClientAbility, LibraryError, McpLibrary, PromptCall, ServedCall, ServedPrompt, ServedRead};
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ErrorData, GetPromptRequestParams, GetPromptResult, InputRequiredResult,
    InputResponses, JsonObject, ReadResourceRequestParams, ReadResourceResult,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use windlass::JsonText;

impl<G: Send + Sync + 'static> ClientHandler<G> {
    pub(super) fn call(&self, params: CallToolRequestParams, context: &RequestContext<RoleServer>) -> BegunOperation {
        let request = json!(["tools/call", params.name, params.arguments]).to_string();
        let task_after = self.offer.tool(&params.name).and_then(|(tool, _)| tool.task_after);
        let begun = self.going(request, params.request_state, params.input_responses, context, |client| {
            let unknown = || ErrorData::invalid_params(format!("there is no tool {:?}", params.name), None);
            let (tool, service) = self.offer.tool(&params.name).ok_or_else(unknown)?;
            let missing: Vec<_> = tool.needs.into_iter().filter(|ability| !client.can(*ability)).collect();
            if !missing.is_empty() {
                let mut needed = ClientCapabilities::default();
                missing.into_iter().for_each(|ability| ability.declare(&mut needed));
                return Err(ErrorData::missing_required_client_capability(needed));
            }
            let input = JsonText::of(&params.arguments.unwrap_or_default())
                .map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
            let (service, call) = (Arc::clone(service), ServedCall::new(params.name.into_owned(), input, client));
            Ok(async move { result(service.call(call).await).map(HandledResult::Call).map_err(broken) })
        });
        begun.map(|running| ParkedCall { task_after, ..running })
    }

    pub(super) fn read(
        &self,
        params: ReadResourceRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> BegunOperation {
        let request = json!(["resources/read", params.uri]).to_string();
        self.going(request, params.request_state, params.input_responses, context, |client| {
            let (libraries, uri) = (self.offer.libraries.clone(), params.uri);
            Ok(async move { read(&libraries, uri, client).await.map(HandledResult::Read) })
        })
    }

    pub(super) fn prompt(
        &self,
        params: GetPromptRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> BegunOperation {
        let request = json!(["prompts/get", params.name, params.arguments]).to_string();
        self.going(request, params.request_state, params.input_responses, context, |client| {
            let unknown = || ErrorData::invalid_params(format!("there is no prompt {:?}", params.name), None);
            let (prompt, library) = self.offer.prompt(&params.name).ok_or_else(unknown)?;
            let arguments = arguments(&prompt, params.arguments.unwrap_or_default())?;
            let (library, call) = (Arc::clone(library), PromptCall::new(params.name, arguments, client));
            Ok(async move { prompted(&*library, call).await.map(HandledResult::Prompt) })
        })
    }

    /// Begins an operation, or continues it with the answers to its questions.
    fn going<F: Future<Output = Result<HandledResult, ErrorData>> + Send + 'static>(
        &self,
        request: String,
        state: Option<String>,
        responses: Option<InputResponses>,
        context: &RequestContext<RoleServer>,
        begin: impl FnOnce(Client) -> Result<F, ErrorData>,
    ) -> BegunOperation {
        let running = match state {
            Some(handle) => {
                let unknown = || ErrorData::invalid_params("the request state is not known, or no longer", None);
                let running = self.offer.parked.take(&handle, &request).ok_or_else(unknown)?;
                running.client.continue_with(context, self.level());
                running
            }
            None => {
                let rounds = Arc::new(QuestionRounds::default());
                let asked = is_asked_in_rounds(context).then(|| Arc::clone(&rounds));
                let client = Client::of(context, self.level(), asked);
                ParkedCall { future: Box::pin(begin(client.clone())?), rounds, client, request, task_after: None }
            }
        };
        running.client.give(responses.unwrap_or_default());
        Ok(running)
    }

    /// Runs an operation until it is done, or has to ask its client.
    pub(super) async fn drive(
        &self,
        running: BegunOperation,
        context: &RequestContext<RoleServer>,
    ) -> Result<HandlerStep, ErrorData> {
        let mut running = running?;
        let takes_tasks = is_asked_in_rounds(context) && running.client.can(ClientAbility::Tasks);
        let task_after = running.task_after.filter(|_| takes_tasks);
        if task_after.is_some_and(|after| after.is_zero()) {
            return self.go_on(running, context).await;
        }
        let rounds = Arc::clone(&running.rounds);
        let questions = tokio::select! {
            biased;
            done = &mut running.future => return done.map(HandlerStep::Done),
            questions = rounds.asked() => Some(questions),
            () = tokio::time::sleep(task_after.unwrap_or_default()), if task_after.is_some() => None,
            // Dropping the call stops it. A client that cancels reads no answer.
            () = context.ct.cancelled() => return Err(ErrorData::internal_error("the request was cancelled", None)),
        };
        let Some(questions) = questions else { return self.go_on(running, context).await };
        let handle = self.offer.parked.park(running);
        Ok(HandlerStep::Asked(InputRequiredResult::new(Some(questions), Some(handle))))
    }

    /// Turns a call into a task. If there are too many tasks, the client waits for the result.
    async fn go_on(&self, running: ParkedCall, context: &RequestContext<RoleServer>) -> Result<HandlerStep, ErrorData> {
        match self.offer.tasks.begin(running) {
            Ok(task) => Ok(HandlerStep::Task(task)),
            Err(call) => Box::pin(self.drive(Ok(ParkedCall { task_after: None, ..call }), context)).await,
        }
    }
}

/// Operation that continues, or the reason why it does not begin.
pub(super) type BegunOperation = Result<ParkedCall, ErrorData>;

async fn read(libraries: &[Arc<dyn McpLibrary>], uri: String, client: Client) -> Result<ReadResourceResult, ErrorData> {
    for library in libraries {
        match library.read(ServedRead::new(uri.clone(), client.clone())).await {
            Ok(contents) => return Ok(ReadResourceResult::new(contents.into_iter().map(contents_of).collect())),
            Err(LibraryError::NotFound) => {}
            Err(error) => return Err(refused(error)),
        }
    }
    Err(ErrorData::resource_not_found("there is no resource at this address", Some(json!({ "uri": uri }))))
}

async fn prompted(library: &dyn McpLibrary, call: PromptCall) -> Result<GetPromptResult, ErrorData> {
    let messages = library.prompt(call).await.map_err(refused)?;
    let messages: Result<Vec<_>, String> = messages.into_iter().map(message).collect();
    Ok(GetPromptResult::new(messages.map_err(broken)?))
}

/// Converts the arguments of a prompt to texts, and checks that the required ones are present.
fn arguments(prompt: &ServedPrompt, given: JsonObject) -> Result<BTreeMap<String, String>, ErrorData> {
    let text = |value: Value| match value {
        Value::String(text) => text,
        other => other.to_string(),
    };
    let given: BTreeMap<String, String> = given.into_iter().map(|(name, value)| (name, text(value))).collect();
    let missing = prompt.arguments.iter().find(|argument| argument.required && !given.contains_key(&argument.name));
    match missing {
        Some(missing) => Err(ErrorData::invalid_params(format!("the argument {:?} is missing", missing.name), None)),
        None => Ok(given),
    }
}

fn refused(error: LibraryError) -> ErrorData {
    match error {
        LibraryError::Failed(why) => ErrorData::internal_error(why, None),
        error => ErrorData::invalid_params(error.to_string(), None),
    }
}

fn broken(why: String) -> ErrorData {
    ErrorData::internal_error(why, None)
}
