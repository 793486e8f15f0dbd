//! Models: the port [`ModelProvider`], its requests and responses, and the providers of this crate.

#[cfg(feature = "credentials")]
pub use crate::providers::from_lookup_over;
pub use crate::providers::{from_env, from_lookup};
#[cfg(feature = "project")]
pub use crate::stored_keys::StoredKeys;
#[cfg(feature = "anthropic")]
pub use windlass_anthropic::Anthropic;
#[cfg(feature = "bedrock")]
pub use windlass_bedrock::Bedrock;
pub use windlass_context::{EditTools, ReminderStyle};
#[cfg(feature = "gemini")]
pub use windlass_gemini::Gemini;
#[cfg(feature = "credentials")]
pub use windlass_http::Secret;
#[cfg(feature = "aws-chain")]
pub use windlass_http::provider::AwsChainCredentials;
#[cfg(feature = "google-adc")]
pub use windlass_http::provider::GoogleAdcCredentials;
#[cfg(feature = "credentials")]
pub use windlass_http::provider::{
    AwsKeys, AwsProfileCredentials, CommandCredentials, Credential, CredentialKey, Credentials, EnvironmentCredentials,
    FileCredentials, GoogleUserCredentials, RefreshingCredentials,
};
#[cfg(feature = "proxy")]
pub use windlass_http::proxy::{CredentialProxy, ProxyNotice, ProxyOptions};
#[cfg(feature = "credentials")]
pub use windlass_http::{
    Bytes, ForwardProxy, HttpBody, HttpError, HttpErrorKind, HttpOptions, HttpRequest, HttpResponse, HttpTransport,
    NetworkTransport, Roots,
};
pub use windlass_model::SessionFact;
pub use windlass_model::{
    Abilities, Catalogue, KnownModel, ModelError, ModelOverride, ModelProvider, ModelStream, Overridden, Router, framed,
};
#[cfg(feature = "openai")]
pub use windlass_openai::{ChatCompletions, Endpoint, OpenAi};
pub use windlass_runtime::{ModelProfile, UnpricedModels};
pub use windlass_types::{
    Api, BlockStart, CacheTtl, ErrorClass, LongPrompt, MediaLimits, Message, MessageId, ModelErrorKind, ModelEvent,
    ModelInfo, ModelItem, ModelRequest, NanoUsd, Price, Role, SharedMessage, StopReason, StreamDelta, SystemSection,
    ToolChoice, ToolSpec, Usage,
};
