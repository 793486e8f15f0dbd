//! Models: the port [`ModelProvider`], what it is sent and gives back, and the providers of this crate.

#[cfg(feature = "anthropic")]
pub use windlass_anthropic::{Anthropic, AnthropicBuilder};
pub use windlass_context::SystemPrompt;
#[cfg(feature = "proxy")]
pub use windlass_http::proxy::{
    CredentialProxy, ProxyCredential, ProxyError, ProxyNotice, ProxyNoticeKind, ProxyOptions,
};
pub use windlass_model::{
    Catalogue, DEFAULT_MODEL, ModelError, ModelOverride, ModelProvider, ModelStream, beta, framed,
};
pub use windlass_runtime::{Limits, ModelProfile, ModelSelection, UnpricedModels};
pub use windlass_types::{
    ApiUsage, BlockStart, CacheTtl, ContentBlock, DocumentSource, Effort, ErrorClass, ImageSource, JsonError, JsonText,
    LongPrompt, Message, MessageId, ModelErrorKind, ModelEvent, ModelInfo, ModelItem, ModelRequest, NanoUsd, Price,
    RateLimit, RateLimitKind, RateLimitStatus, Role, SectionScope, SharedMessage, StopReason, StreamDelta,
    SystemSection, Thinking, ToolResult, ToolResultContent, ToolSpec, ToolUse, ToolUseId, Usage, Utilization,
};
