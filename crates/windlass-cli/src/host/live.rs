//! Changes by a host while its session is open.

use async_trait::async_trait;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use windlass::SessionHandle;
use windlass::provider::ModelRequest;
use windlass::{
    ModelError,
    provider::{KnownModel, ModelInfo, ModelStream, SessionFact},
};
use windlass::{ModelProvider, project::LoadedProject, tool::environment::given_environment};

/// Prefixes of variables that configure a provider.
const OF_PROVIDERS: [&str; 10] = [
    "ANTHROPIC_",
    "AWS_",
    "AZURE_OPENAI_",
    "CLAUDE_CODE_",
    "CLOUDSDK_CONFIG",
    "CLOUD_ML_REGION",
    "GCLOUD_PROJECT",
    "GOOGLE_",
    "OLLAMA_",
    "OPENAI_",
];
/// Suffixes of the variables of other vendors, and those of proxies and certificate authorities.
const OF_VENDORS: [&str; 7] =
    ["_API_KEY", "_BASE_URL", "_ENDPOINT", "_PROXY", "_proxy", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"];

/// A provider that can be replaced: later calls go to the new one.
#[derive(Debug)]
pub(super) struct Renewable {
    name: String,
    current: RwLock<Arc<dyn ModelProvider>>,
}

impl Renewable {
    pub(super) fn new(provider: Arc<dyn ModelProvider>) -> Self {
        Self { name: provider.name().to_owned(), current: RwLock::new(provider) }
    }

    fn current(&self) -> Arc<dyn ModelProvider> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn renew(&self, provider: Arc<dyn ModelProvider>) {
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = provider;
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl ModelProvider for Renewable {
    fn name(&self) -> &str {
        &self.name
    }

    fn resolve_model(&self, name: &str) -> String {
        self.current().resolve_model(name)
    }

    fn similar_models(&self, name: &str) -> Vec<String> {
        self.current().similar_models(name)
    }

    fn model_info(&self, model: &str) -> ModelInfo {
        self.current().model_info(model)
    }

    fn known_models(&self) -> Vec<KnownModel> {
        self.current().known_models()
    }

    fn answering_model(&self, asked: &str, answered: &str) -> Option<String> {
        self.current().answering_model(asked, answered)
    }

    fn ready(&self, model: &str) -> Result<(), ModelError> {
        self.current().ready(model)
    }

    async fn prepare(&self, model: &str) {
        self.current().prepare(model).await;
    }

    fn opening_notice(&self, model: &str) -> Option<String> {
        self.current().opening_notice(model)
    }

    fn recorded_fact(&self, fact: SessionFact, current: &str) -> Option<String> {
        self.current().recorded_fact(fact, current)
    }

    async fn stream(&self, request: Arc<ModelRequest>) -> Result<ModelStream, ModelError> {
        self.current().stream(request).await
    }

    async fn count_tokens(&self, request: Arc<ModelRequest>) -> Result<u64, ModelError> {
        self.current().count_tokens(request).await
    }
}

/// The environment of an open session, which the host may add to.
pub(super) struct Environment {
    pub(super) project: LoadedProject,
    pub(super) provider: Arc<Renewable>,
    pub(super) handle: SessionHandle,
    /// Variables that the host has added since the session was opened.
    pub(super) added: Mutex<BTreeMap<String, String>>,
}

impl Environment {
    /// Hands new variables on to the programs of later calls, and to the provider if it is set up from them. Unusable
    /// variables are reported.
    pub(super) fn take(&self, variables: &BTreeMap<String, String>) -> Result<(), String> {
        let added = {
            let mut added = self.added.lock().unwrap_or_else(PoisonError::into_inner);
            added.extend(variables.clone());
            added.clone()
        };
        let project = self.project.clone().variables(added);
        let new = variables.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let new = given_environment(new).passed.into_iter().map(|(name, value)| (name, Some(value)));
        // The change fails only when the session is closed, and then no program runs any more.
        let _ = self.handle.change_environment(new.collect());
        let concerns = |name: &String| {
            OF_PROVIDERS.iter().any(|prefix| name.starts_with(prefix))
                || OF_VENDORS.iter().any(|ending| name.ends_with(ending))
        };
        if self.provider.name() == "router" && variables.keys().any(concerns) {
            let provider: Arc<dyn ModelProvider> = Arc::new(project.provider());
            // A provider that was ready must stay so: other vendors need no key of the first one.
            let was_ready = self.provider.current().ready("default").is_ok();
            let ready = if was_ready { provider.ready("default") } else { Ok(()) };
            ready.map_err(|error| format!("the new variables cannot be used for the model provider: {error}"))?;
            self.provider.renew(provider);
        }
        Ok(())
    }
}
