//! Models: the port [`ModelProvider`], its requests and responses, and the providers of this crate.

#[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai"))]
pub use crate::providers::from_lookup_over;
pub use crate::providers::{from_env, from_lookup};
#[cfg(feature = "project")]
pub use crate::stored_keys::{StoredKeys, StoredKeysError};
#[cfg(feature = "anthropic")]
pub use windlass_anthropic::{Anthropic, AnthropicBuilder};
#[cfg(feature = "bedrock")]
pub use windlass_bedrock::{Bedrock, BedrockBuilder};
pub use windlass_context::SystemPrompt;
#[cfg(feature = "gemini")]
pub use windlass_gemini::{Gemini, GeminiBuilder};
#[cfg(feature = "aws-chain")]
pub use windlass_http::provider::AwsChainCredentials;
#[cfg(feature = "google-adc")]
pub use windlass_http::provider::GoogleAdcCredentials;
#[cfg(feature = "proxy")]
pub use windlass_http::proxy::{
    CredentialProxy, ProxyCredential, ProxyError, ProxyNotice, ProxyNoticeKind, ProxyOptions,
};
#[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai"))]
pub use windlass_http::{
    Bytes, ForwardProxy, HttpBody, HttpError, HttpErrorKind, HttpOptions, HttpRequest, HttpResponse, HttpTransport,
    NetworkTransport, Roots,
};
#[cfg(feature = "credentials")]
pub use windlass_http::{
    Secret,
    provider::{
        AwsKeys, AwsProfileCredentials, CommandCredentials, Credential, CredentialKey, Credentials,
        EnvironmentCredentials, FileCredentials, GoogleUserCredentials, RefreshingCredentials,
    },
};
pub use windlass_model::{
    Abilities, BareName, Catalogue, DEFAULT_MODEL, KnownModel, ModelError, ModelOverride, ModelOverrides,
    ModelProvider, ModelRow, ModelSource, ModelStream, Overridden, Rates, Router, beta, framed, is_priced_otherwise,
};
#[cfg(feature = "openai")]
pub use windlass_openai::{
    AnswerCompat, AnswerFormat, Auth, BodyCompat, CacheCompat, ChatCompletions, ChatCompletionsBuilder, Compat,
    EmptyContent, Endpoint, Finish, IdRule, InstructionRole, MessageCompat, OpenAi, OpenAiBuilder, OutputLimit,
    Protocol, ReasoningBack, ReasoningCompat, ReasoningField, ReportedCost, Strict, ThinkingSwitch, ToolCompat,
    ToolImages, ToolSupport, TransportCompat,
};
pub use windlass_runtime::{Limits, ModelProfile, ModelSelection, UnpricedModels};
pub use windlass_types::{
    AddedTools, Api, ApiUsage, BlockStart, CacheTtl, ContentBlock, DocumentSource, Effort, ErrorClass, ImageSource,
    JsonError, JsonText, LongPrompt, MediaLimits, Message, MessageId, ModelErrorKind, ModelEvent, ModelInfo, ModelItem,
    ModelRequest, NanoUsd, Origin, Price, RateLimit, RateLimitKind, RateLimitStatus, ResponseFormat, Role,
    SectionScope, ServerTool, ServerWebSearch, SharedMessage, StopReason, StreamDelta, SystemSection, Thinking,
    ToolChoice, ToolResult, ToolResultContent, ToolSpec, ToolUse, ToolUseId, Usage, Utilization, WebPage, WebSearched,
    WholeNumber,
};
