//! What is answered to the requests of a client.

use crate::content::{listed, result};
use crate::{Client, McpService, ServedCall};
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorData, Implementation, InitializeResult, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use std::collections::BTreeSet;
use std::sync::Arc;
use windlass::JsonText;

/// What a server is called, and what it offers.
pub(crate) struct Offer {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) instructions: Option<String>,
    pub(crate) services: Vec<Arc<dyn McpService>>,
}

impl Offer {
    fn tools(&self) -> Vec<Tool> {
        let mut seen = BTreeSet::new();
        let tools = self.services.iter().flat_map(|service| service.tools());
        let mut tools: Vec<Tool> = tools.filter(|tool| seen.insert(tool.name.clone())).filter_map(listed).collect();
        tools.sort_by(|a, b| a.name.cmp(&b.name));
        tools
    }

    fn service_of(&self, tool: &str) -> Option<&Arc<dyn McpService>> {
        self.services.iter().find(|service| service.tools().iter().any(|known| known.name == tool))
    }
}

/// The side of one client. `guard` is held as long as the client is there.
#[derive(Clone)]
pub(crate) struct Handler<G> {
    pub(crate) offer: Arc<Offer>,
    pub(crate) _guard: G,
}

impl<G: Send + Sync + 'static> ServerHandler for Handler<G> {
    fn get_info(&self) -> ServerConfig {
        let offer = &self.offer;
        let info = InitializeResult::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new(offer.name.clone(), offer.version.clone()));
        match &offer.instructions {
            Some(text) => info.with_instructions(text.clone()),
            None => info,
        }
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.offer.tools()))
    }

    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let unknown = || ErrorData::invalid_params(format!("there is no tool {:?}", params.name), None);
        let service = Arc::clone(self.offer.service_of(&params.name).ok_or_else(unknown)?);
        let input = JsonText::of(&params.arguments.unwrap_or_default())
            .map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
        let call = ServedCall::new(params.name.into_owned(), input, Client::of(&context));
        let output = tokio::select! {
            output = service.call(call) => output,
            // Dropping the call stops it. A client that cancels reads no answer.
            () = context.ct.cancelled() => return Err(ErrorData::internal_error("the call was cancelled", None)),
        };
        result(output).map(CallToolResponse::from).map_err(|problem| ErrorData::internal_error(problem, None))
    }
}
