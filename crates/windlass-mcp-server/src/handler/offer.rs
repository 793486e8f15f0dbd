//! Name of a server, and its tools, prompts and resources.

use crate::changes::ServedChanges;
use crate::content::{listed, prompt, resource, template};
use crate::parked::Parked;
use crate::tasks::ServerTasks;
use crate::{McpLibrary, McpService, ServedPrompt, ServedTool};
use rmcp::model::{
    Implementation, InitializeResult, JsonObject, Prompt, PromptsCapability, Resource, ResourceTemplate,
    ResourcesCapability, ServerCapabilities, ServerConfig, TASKS_EXTENSION_ID, Tool, ToolsCapability,
};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Name of a server, and the services that it offers to all clients.
pub(crate) struct ServerOffer {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) instructions: Option<String>,
    pub(crate) services: Vec<Arc<dyn McpService>>,
    pub(crate) libraries: Vec<Arc<dyn McpLibrary>>,
    pub(crate) changes: Option<ServedChanges>,
    /// Calls that wait for answers of their clients.
    pub(super) parked: Arc<Parked>,
    /// Calls that continue without a waiting client.
    pub(super) tasks: Arc<ServerTasks>,
}

impl ServerOffer {
    pub(crate) fn new(name: String, version: String) -> Self {
        Self {
            name,
            version,
            instructions: None,
            services: Vec::new(),
            libraries: Vec::new(),
            changes: None,
            parked: Arc::default(),
            tasks: Arc::default(),
        }
    }

    /// Returns the description of the server for the greeting.
    pub(super) fn info(&self) -> ServerConfig {
        let info = InitializeResult::new(self.capabilities())
            .with_server_info(Implementation::new(self.name.clone(), self.version.clone()));
        match &self.instructions {
            Some(text) => info.with_instructions(text.clone()),
            None => info,
        }
    }

    fn capabilities(&self) -> ServerCapabilities {
        let changes = self.changes.is_some().then_some(true);
        let mut capabilities = ServerCapabilities::default();
        let mut tools = ToolsCapability::default();
        tools.list_changed = changes;
        capabilities.tools = Some(tools);
        capabilities.logging = Some(JsonObject::new());
        if self.services.iter().any(|service| service.tools().iter().any(|tool| tool.task_after.is_some())) {
            capabilities.extensions.get_or_insert_default().insert(TASKS_EXTENSION_ID.to_owned(), JsonObject::new());
        }
        if !self.libraries.is_empty() {
            let mut resources = ResourcesCapability::default();
            (resources.subscribe, resources.list_changed) = (changes, changes);
            let mut prompts = PromptsCapability::default();
            prompts.list_changed = changes;
            (capabilities.resources, capabilities.prompts) = (Some(resources), Some(prompts));
            capabilities.completions = Some(JsonObject::new());
        }
        capabilities
    }

    pub(super) fn tools(&self) -> Vec<Tool> {
        let mut seen = BTreeSet::new();
        let tools = self.services.iter().flat_map(|service| service.tools());
        let mut tools: Vec<Tool> = tools.filter(|tool| seen.insert(tool.name.clone())).filter_map(listed).collect();
        tools.sort_by(|a, b| a.name.cmp(&b.name));
        tools
    }

    /// Returns a tool, and the service that has it.
    pub(super) fn tool(&self, name: &str) -> Option<(ServedTool, &Arc<dyn McpService>)> {
        let of = |service: &McpServiceRef| service.tools().into_iter().find(|tool| tool.name == name);
        self.services.iter().find_map(|service| Some((of(service)?, service)))
    }

    pub(super) fn resources(&self) -> Vec<Resource> {
        let mut seen = BTreeSet::new();
        let resources = self.libraries.iter().flat_map(|library| library.resources());
        resources.filter(|one| seen.insert(one.uri.clone())).map(resource).collect()
    }

    pub(super) fn templates(&self) -> Vec<ResourceTemplate> {
        let mut seen = BTreeSet::new();
        let templates = self.libraries.iter().flat_map(|library| library.templates());
        templates.map(|one| one.resource).filter(|one| seen.insert(one.uri.clone())).map(template).collect()
    }

    pub(super) fn prompts(&self) -> Vec<Prompt> {
        let mut seen = BTreeSet::new();
        let prompts = self.libraries.iter().flat_map(|library| library.prompts());
        prompts.filter(|one| seen.insert(one.name.clone())).map(prompt).collect()
    }

    pub(super) fn prompt(&self, name: &str) -> Option<(ServedPrompt, &Arc<dyn McpLibrary>)> {
        let of = |library: &McpLibraryRef| library.prompts().into_iter().find(|prompt| prompt.name == name);
        self.libraries.iter().find_map(|library| Some((of(library)?, library)))
    }
}

type McpServiceRef = Arc<dyn McpService>;
type McpLibraryRef = Arc<dyn McpLibrary>;
