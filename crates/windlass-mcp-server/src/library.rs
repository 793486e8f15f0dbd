//! Resources and prompts that a server offers beside tools.

use crate::Client;
use async_trait::async_trait;
use std::collections::BTreeMap;
use windlass::ContentBlock;

/// Resources and prompts of a program. Each method has a default: nothing is there.
///
/// ```
/// use windlass::async_trait;
/// use windlass_mcp_server::{LibraryError, McpLibrary, ServedContents, ServedRead, ServedResource};
///
/// /// One note.
/// struct Notes;
///
/// #[async_trait]
/// impl McpLibrary for Notes {
///     fn resources(&self) -> Vec<ServedResource> {
///         vec![ServedResource::new("notes://today", "today").with_media_type("text/plain")]
///     }
///
///     async fn read(&self, read: ServedRead) -> Result<Vec<ServedContents>, LibraryError> {
///         match read.uri.as_str() {
///             "notes://today" => Ok(vec![ServedContents::text(read.uri, "text/plain", "Buy milk.")]),
///             _ => Err(LibraryError::NotFound),
///         }
///     }
/// }
/// ```
#[async_trait]
pub trait McpLibrary: Send + Sync + 'static {
    /// The resources that have an address of their own, each time that a client asks for them.
    fn resources(&self) -> Vec<ServedResource> {
        Vec::new()
    }

    /// The resources whose addresses clients put together.
    fn templates(&self) -> Vec<ServedTemplate> {
        Vec::new()
    }

    /// Reads what stands at an address. The future is dropped when the client cancels or is gone.
    ///
    /// # Errors
    /// There is nothing, or it cannot be read.
    async fn read(&self, read: ServedRead) -> Result<Vec<ServedContents>, LibraryError> {
        let _ = read;
        Err(LibraryError::NotFound)
    }

    /// The prompts.
    fn prompts(&self) -> Vec<ServedPrompt> {
        Vec::new()
    }

    /// The messages of a prompt. Arguments that it requires are there.
    ///
    /// # Errors
    /// There is no such prompt, or its arguments do not fit.
    async fn prompt(&self, call: PromptCall) -> Result<Vec<ServedMessage>, LibraryError> {
        let _ = call;
        Err(LibraryError::NotFound)
    }

    /// Values that begin like what the user has written of an argument, the best first. The first 100 are sent.
    async fn complete(&self, completion: Completion) -> Vec<String> {
        let _ = completion;
        Vec::new()
    }
}

/// Why a library does not give what a client asks for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LibraryError {
    /// There is no resource at this address, or no prompt of this name. The next library is asked.
    #[error("there is no such thing")]
    NotFound,
    /// What the client sent does not fit: why.
    #[error("{0}")]
    Invalid(String),
    /// It failed: why.
    #[error("{0}")]
    Failed(String),
}

/// A resource as clients list it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServedResource {
    /// Its address, with a scheme.
    pub uri: String,
    /// Its name.
    pub name: String,
    /// What it is. Default: no text.
    pub description: Option<String>,
    /// The media type of its contents. Default: not said.
    pub media_type: Option<String>,
}

impl ServedResource {
    /// A resource at this address.
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self { uri: uri.into(), name: name.into(), description: None, media_type: None }
    }

    /// Sets what it is.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Sets the media type of its contents.
    #[must_use]
    pub fn with_media_type(mut self, media_type: impl Into<String>) -> Self {
        self.media_type = Some(media_type.into());
        self
    }
}

/// Resources whose addresses follow a template of RFC 6570, such as `notes://{day}`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServedTemplate {
    /// The template, and what is said of the resources. Its `uri` is the template.
    pub resource: ServedResource,
}

impl ServedTemplate {
    /// The resources of a template.
    #[must_use]
    pub fn new(resource: ServedResource) -> Self {
        Self { resource }
    }
}

/// A resource that a client reads.
#[derive(Debug)]
#[non_exhaustive]
pub struct ServedRead {
    /// The address, as the client sent it.
    pub uri: String,
    /// Who reads.
    pub client: Client,
}

impl ServedRead {
    /// A client that reads an address.
    pub fn new(uri: impl Into<String>, client: Client) -> Self {
        Self { uri: uri.into(), client }
    }
}

/// What stands at an address.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServedContents {
    /// The address.
    pub uri: String,
    /// The media type.
    pub media_type: String,
    /// The data.
    pub data: ServedData,
}

/// The data of a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServedData {
    /// Text.
    Text(String),
    /// Bytes in standard base64.
    Base64(String),
}

impl ServedContents {
    /// Text at an address.
    pub fn text(uri: impl Into<String>, media_type: impl Into<String>, text: impl Into<String>) -> Self {
        Self { uri: uri.into(), media_type: media_type.into(), data: ServedData::Text(text.into()) }
    }

    /// Bytes at an address, in standard base64.
    pub fn base64(uri: impl Into<String>, media_type: impl Into<String>, base64: impl Into<String>) -> Self {
        Self { uri: uri.into(), media_type: media_type.into(), data: ServedData::Base64(base64.into()) }
    }
}

/// A prompt as clients list it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServedPrompt {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Its arguments. Default: none.
    pub arguments: Vec<ServedArgument>,
}

/// An argument of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServedArgument {
    /// Its name.
    pub name: String,
    /// What it is.
    pub description: String,
    /// Whether the prompt needs it.
    pub required: bool,
}

impl ServedPrompt {
    /// A prompt without arguments.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self { name: name.into(), description: description.into(), arguments: Vec::new() }
    }

    /// Adds an argument that it needs.
    #[must_use]
    pub fn with_argument(self, name: impl Into<String>, description: impl Into<String>) -> Self {
        self.argument(name.into(), description.into(), true)
    }

    /// Adds an argument that may be left out.
    #[must_use]
    pub fn with_optional_argument(self, name: impl Into<String>, description: impl Into<String>) -> Self {
        self.argument(name.into(), description.into(), false)
    }

    fn argument(mut self, name: String, description: String, required: bool) -> Self {
        self.arguments.push(ServedArgument { name, description, required });
        self
    }
}

/// A client that asks for the messages of a prompt.
#[derive(Debug)]
#[non_exhaustive]
pub struct PromptCall {
    /// The name of the prompt.
    pub name: String,
    /// The values of its arguments.
    pub arguments: BTreeMap<String, String>,
    /// Who asks.
    pub client: Client,
}

impl PromptCall {
    /// A client that asks for a prompt.
    pub fn new(name: impl Into<String>, arguments: BTreeMap<String, String>, client: Client) -> Self {
        Self { name: name.into(), arguments, client }
    }
}

/// A message of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServedMessage {
    /// Whether it is a message of the user, not of the model.
    pub is_of_user: bool,
    /// What it says. Beside text and images, [`audio_block`](crate::audio_block) and
    /// [`resource_block`](crate::resource_block) make blocks that clients know.
    pub content: ContentBlock,
}

impl ServedMessage {
    /// A message of the user.
    #[must_use]
    pub fn user(content: ContentBlock) -> Self {
        Self { is_of_user: true, content }
    }

    /// A message of the model.
    #[must_use]
    pub fn model(content: ContentBlock) -> Self {
        Self { is_of_user: false, content }
    }
}

/// A value that a user has begun to write.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Completion {
    /// Of what it is an argument.
    pub of: CompletionOf,
    /// The name of the argument.
    pub argument: String,
    /// What is written.
    pub value: String,
    /// The values of other arguments that are known.
    pub others: BTreeMap<String, String>,
}

/// Of what something is an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CompletionOf {
    /// A prompt of this name.
    Prompt(String),
    /// A template of resources.
    Template(String),
}
