//! Router: several providers behind one, selected by the name of a model.

use crate::{KnownModel, ModelError, ModelInfo, ModelProvider, ModelStream, SessionFact};
use async_trait::async_trait;
use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, OnceLock};
use windlass_types::near::nearest;
use windlass_types::{Api, ModelErrorKind, ModelRequest};

/// Several providers behind one. `openai/gpt-5.5` is the model `gpt-5.5` of the provider with the prefix `openai`; a
/// name without such a prefix goes to the first provider, unless [`bare_names`](Self::bare_names) decides otherwise.
///
/// Ids of models keep their prefix, so that logs, costs and switches in the middle of a session name the provider. A
/// provider that is added with [`lazy`](Self::lazy) is set up when one of its models is first named: an unused one
/// costs nothing and needs no key.
///
/// ```
/// use windlass_model::{ModelProvider, Router, Script, ScriptedModel};
///
/// let model = |text: &str| ScriptedModel::new(Script::new().turn(|turn| turn.text(text)));
/// let router = Router::new("first", model("Hello.")).with("second", model("Hi."));
/// assert_eq!(router.resolve_model("second/m"), "second/m");
/// assert_eq!(router.resolve_model("m"), "m");
/// ```
#[derive(Clone)]
pub struct Router {
    routes: Arc<[ProviderRoute]>,
    bare_names: Option<Arc<JudgeBareName>>,
}

/// Function that classifies a name without the prefix of a provider.
type JudgeBareName = dyn Fn(&str) -> BareName + Send + Sync;

/// Class of a model name without the prefix of a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "programs make one for each name")]
pub enum BareName {
    /// A model of the first provider.
    Own,
    /// Any name: the user has set the address of a gateway, which gets the name unchanged. A session names the host
    /// once.
    Gateway {
        /// Address, without credentials.
        address: String,
    },
    /// A model that the first provider is not known to have.
    Foreign,
}

#[derive(Clone)]
struct ProviderRoute {
    prefix: Arc<str>,
    source: ProviderSource,
}

#[derive(Clone)]
enum ProviderSource {
    Ready(Arc<dyn ModelProvider>),
    Lazy(Arc<Lazy>),
    /// A provider that this program lacks, with the reason.
    Missing(Arc<str>),
}

/// Function that sets a provider up.
type ProviderSetup = dyn Fn() -> Result<Arc<dyn ModelProvider>, ModelError> + Send + Sync;

/// Function that lists models of a provider that is not set up.
type ListedModels = dyn Fn() -> Vec<KnownModel> + Send + Sync;

struct Lazy {
    setup: Box<ProviderSetup>,
    known: Option<Box<ListedModels>>,
    provider: OnceLock<Arc<dyn ModelProvider>>,
}

impl Lazy {
    /// Returns the provider. A failed set-up is tried again the next time: a key may have been added meanwhile.
    fn get(&self) -> Result<Arc<dyn ModelProvider>, ModelError> {
        if let Some(provider) = self.provider.get() {
            return Ok(Arc::clone(provider));
        }
        let provider = (self.setup)()?;
        Ok(Arc::clone(self.provider.get_or_init(|| provider)))
    }
}

impl ProviderRoute {
    fn get(&self) -> Result<Arc<dyn ModelProvider>, ModelError> {
        match &self.source {
            ProviderSource::Ready(provider) => Ok(Arc::clone(provider)),
            ProviderSource::Lazy(lazy) => lazy.get(),
            ProviderSource::Missing(reason) => {
                Err(ModelError::new(ModelErrorKind::Configuration, reason.to_string()).unbilled())
            }
        }
    }

    fn is_missing(&self) -> bool {
        matches!(self.source, ProviderSource::Missing(_))
    }

    /// `true` if the provider lists a model of this name without its server.
    fn knows(&self, name: &str) -> bool {
        let is_same =
            |known: &str| known.strip_prefix(&*self.prefix).and_then(|known| known.strip_prefix('/')) == Some(name);
        self.known_models().iter().any(|model| is_same(&model.id) || model.aliases.iter().any(|alias| is_same(alias)))
    }

    /// Returns the models of the provider, with its prefix. The provider need not be set up.
    fn known_models(&self) -> Vec<KnownModel> {
        let mut models = match &self.source {
            ProviderSource::Ready(provider) => provider.known_models(),
            ProviderSource::Lazy(lazy) => match (lazy.provider.get(), &lazy.known) {
                (Some(provider), _) => provider.known_models(),
                (None, Some(known)) => known(),
                (None, None) => Vec::new(),
            },
            ProviderSource::Missing(_) => Vec::new(),
        };
        for model in &mut models {
            model.id = format!("{}/{}", self.prefix, model.id);
            for alias in &mut model.aliases {
                *alias = format!("{}/{alias}", self.prefix);
            }
        }
        models
    }
}

impl fmt::Debug for Router {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.prefixes()).finish()
    }
}

impl Router {
    /// Returns a router whose first provider, under this prefix, also gets the names without one.
    pub fn new(prefix: impl Into<Arc<str>>, provider: impl ModelProvider) -> Self {
        Self::empty().with(prefix, provider)
    }

    /// Returns a router without providers. The first one that is added also gets the names without a prefix.
    pub fn empty() -> Self {
        Self { routes: Arc::from([]), bare_names: None }
    }

    /// Adds a provider. One with the same prefix is replaced, in its place.
    #[must_use]
    pub fn with(self, prefix: impl Into<Arc<str>>, provider: impl ModelProvider) -> Self {
        self.add(prefix.into(), ProviderSource::Ready(Arc::new(provider)))
    }

    /// Adds a provider that is set up when one of its models is first named. The error of a failed set-up is that of
    /// each request, and of [`ready`](ModelProvider::ready).
    #[must_use]
    pub fn lazy(
        self,
        prefix: impl Into<Arc<str>>,
        setup: impl Fn() -> Result<Arc<dyn ModelProvider>, ModelError> + Send + Sync + 'static,
    ) -> Self {
        let lazy = Lazy { setup: Box::new(setup), known: None, provider: OnceLock::new() };
        self.add(prefix.into(), ProviderSource::Lazy(Arc::new(lazy)))
    }

    /// Adds a [`lazy`](Self::lazy) provider with a function that lists its models while it is not set up, so that they
    /// are [listed](ModelProvider::known_models) without its key.
    #[must_use]
    pub fn lazy_with_models(
        self,
        prefix: impl Into<Arc<str>>,
        setup: impl Fn() -> Result<Arc<dyn ModelProvider>, ModelError> + Send + Sync + 'static,
        known: impl Fn() -> Vec<KnownModel> + Send + Sync + 'static,
    ) -> Self {
        let lazy = Lazy { setup: Box::new(setup), known: Some(Box::new(known)), provider: OnceLock::new() };
        self.add(prefix.into(), ProviderSource::Lazy(Arc::new(lazy)))
    }

    /// Reserves the prefix of a provider that this program lacks: names with it end in an error with this reason,
    /// instead of going to another provider.
    #[must_use]
    pub fn missing(self, prefix: impl Into<Arc<str>>, reason: impl Into<Arc<str>>) -> Self {
        self.add(prefix.into(), ProviderSource::Missing(reason.into()))
    }

    /// Sets the classification of names without the prefix of a provider, before they go to the first provider. A
    /// [foreign](BareName::Foreign) name goes to the provider that lists a model of that name, if there is one;
    /// otherwise its requests end in an error that lists the prefixes. Default: all names are those of the first
    /// provider.
    ///
    /// ```
    /// use windlass_model::{BareName, ModelProvider, Router, Script, ScriptedModel};
    ///
    /// let model = || ScriptedModel::new(Script::new());
    /// let router = Router::new("first", model()).with("second", model()).bare_names(|name| match name {
    ///     "m" => BareName::Own,
    ///     _ => BareName::Foreign,
    /// });
    /// assert!(router.ready("m").is_ok() && router.ready("second/n").is_ok());
    /// assert!(router.ready("n").is_err() && router.ready("third/n").is_err());
    /// ```
    #[must_use]
    pub fn bare_names(mut self, judge: impl Fn(&str) -> BareName + Send + Sync + 'static) -> Self {
        self.bare_names = Some(Arc::new(judge));
        self
    }

    fn add(self, prefix: Arc<str>, source: ProviderSource) -> Self {
        let mut routes = self.routes.to_vec();
        let route = ProviderRoute { prefix, source };
        match routes.iter_mut().find(|known| known.prefix == route.prefix) {
            Some(known) => *known = route,
            None => routes.push(route),
        }
        Self { routes: routes.into(), bare_names: self.bare_names }
    }

    /// Returns the prefixes of the available providers, that of the first provider first.
    pub fn prefixes(&self) -> impl Iterator<Item = &str> {
        self.routes.iter().filter(|route| !route.is_missing()).map(|route| &*route.prefix)
    }

    /// Returns the route of a name, with the prefix of the model's id.
    fn route<'a>(&'a self, name: &'a str) -> Result<Routed<'a>, ModelError> {
        let name = name.trim();
        let named = name.split_once('/').and_then(|(prefix, model)| {
            let route = self.routes.iter().find(|route| &*route.prefix == prefix)?;
            let (with_slash, _) = name.split_at_checked(prefix.len() + 1)?;
            Some(Routed { route, prefix: with_slash.into(), model })
        });
        if let Some(named) = named {
            return Ok(named);
        }
        let first = self.routes.first().ok_or_else(no_provider)?;
        if self.judge(name) != BareName::Foreign {
            return Ok(Routed { route: first, prefix: "".into(), model: name });
        }
        let own = self.routes.iter().find(|route| route.knows(name));
        own.map(|route| Routed { route, prefix: format!("{}/", route.prefix).into(), model: name })
            .ok_or_else(|| self.unknown(name))
    }

    fn judge(&self, name: &str) -> BareName {
        self.bare_names.as_ref().map_or(BareName::Own, |judge| judge(name))
    }

    /// Returns the error of a name that no available provider is known to have.
    fn unknown(&self, name: &str) -> ModelError {
        let prefixes = self.prefixes().collect::<Vec<_>>().join(", ");
        let text = match (&*self.with_near_prefix(name), name.split_once('/')) {
            (near @ [_, ..], _) => {
                format!("there is no provider for the model {name:?}: did you mean {}?", near.join(" or "))
            }
            ([], Some((prefix, _))) => {
                format!("there is no provider {prefix:?} for the model {name:?}: use one of the prefixes {prefixes}")
            }
            ([], None) => format!(
                "no provider is known to have the model {name:?}: put the prefix of a provider and a slash before it, one of \
                 {prefixes}"
            ),
        };
        ModelError::new(ModelErrorKind::Configuration, text).unbilled()
    }

    /// Returns the provider of a name, and the name as both know it.
    fn provider<'a>(&'a self, name: &'a str) -> Result<(Arc<dyn ModelProvider>, Routed<'a>), ModelError> {
        let routed = self.route(name)?;
        Ok((routed.route.get()?, routed))
    }

    /// Returns corrections of a name with a misspelt prefix. Empty for any other name.
    fn with_near_prefix(&self, name: &str) -> Vec<String> {
        let Some((before, after)) = name.trim().split_once('/') else { return Vec::new() };
        if self.routes.iter().any(|route| &*route.prefix == before) {
            return Vec::new();
        }
        nearest(before, self.prefixes()).into_iter().map(|near| format!("{near}/{after}")).collect()
    }

    /// Returns the provider of a request, and the request as it knows it.
    fn routed(&self, request: Arc<ModelRequest>) -> Result<(Arc<dyn ModelProvider>, Arc<ModelRequest>), ModelError> {
        let (provider, Routed { model, .. }) = self.provider(&request.model)?;
        if model == request.model {
            return Ok((provider, request));
        }
        let model = model.to_owned();
        let mut own = (*request).clone();
        own.model = model;
        Ok((provider, Arc::new(own)))
    }
}

/// Route of a model.
struct Routed<'a> {
    route: &'a ProviderRoute,
    /// Prefix of the model's id, with its slash; empty for names of the first provider.
    prefix: Cow<'a, str>,
    /// Name by which the provider knows the model.
    model: &'a str,
}

fn no_provider() -> ModelError {
    ModelError::new(ModelErrorKind::Configuration, "the router has no provider: add one").unbilled()
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl ModelProvider for Router {
    fn name(&self) -> &str {
        "router"
    }

    fn resolve_model(&self, name: &str) -> String {
        match self.provider(name) {
            Ok((provider, Routed { prefix, model, .. })) => format!("{prefix}{}", provider.resolve_model(model)),
            Err(_) => name.trim().to_owned(),
        }
    }

    fn similar_models(&self, name: &str) -> Vec<String> {
        let near = self.with_near_prefix(name);
        if !near.is_empty() {
            return near;
        }
        let Ok((provider, Routed { prefix, model, .. })) = self.provider(name) else { return Vec::new() };
        provider.similar_models(model).into_iter().map(|similar| format!("{prefix}{similar}")).collect()
    }

    fn model_info(&self, model: &str) -> ModelInfo {
        match self.provider(model) {
            Ok((provider, Routed { prefix, model, .. })) => {
                let mut info = provider.model_info(model);
                if info.api.provider().is_empty() {
                    info.api = Api::new(prefix.trim_end_matches('/'), info.api.dialect());
                }
                info
            }
            // Requests fail with the error of the set-up; until then limits are conservative.
            Err(_) => ModelInfo::new(128_000, 8_192),
        }
    }

    /// Returns the models of all providers, each with the prefix of its own.
    fn known_models(&self) -> Vec<KnownModel> {
        self.routes.iter().flat_map(ProviderRoute::known_models).collect()
    }

    fn answering_model(&self, asked: &str, answered: &str) -> Option<String> {
        let (provider, Routed { prefix, model, .. }) = self.provider(asked).ok()?;
        Some(format!("{prefix}{}", provider.answering_model(model, answered)?))
    }

    fn ready(&self, model: &str) -> Result<(), ModelError> {
        if !self.with_near_prefix(model).is_empty() && !matches!(self.judge(model), BareName::Gateway { .. }) {
            return Err(self.unknown(model));
        }
        let (provider, Routed { model, .. }) = self.provider(model)?;
        provider.ready(model)
    }

    async fn prepare(&self, model: &str) {
        if let Ok(Routed { route, model, .. }) = self.route(model)
            && let Ok(provider) = route.get()
        {
            provider.prepare(model).await;
        }
    }

    fn opening_notice(&self, model: &str) -> Option<String> {
        let Routed { route, prefix, model } = self.route(model).ok()?;
        match self.judge(model) {
            BareName::Gateway { address } if prefix.is_empty() => Some(format!(
                "The model {model:?} is asked at {address}, the address that is set for {}.",
                route.prefix
            )),
            _ => route.get().ok()?.opening_notice(model),
        }
    }

    fn recorded_fact(&self, fact: SessionFact, current: &str) -> Option<String> {
        let ready = |route: &ProviderRoute| match &route.source {
            ProviderSource::Ready(provider) => provider.recorded_fact(fact, current),
            ProviderSource::Lazy(_) | ProviderSource::Missing(_) => None,
        };
        self.routes.iter().find_map(ready)
    }

    async fn stream(&self, request: Arc<ModelRequest>) -> Result<ModelStream, ModelError> {
        let (provider, request) = self.routed(request)?;
        provider.stream(request).await
    }

    async fn count_tokens(&self, request: Arc<ModelRequest>) -> Result<u64, ModelError> {
        let (provider, request) = self.routed(request)?;
        provider.count_tokens(request).await
    }
}

#[cfg(test)]
mod tests;
