//! Resources and prompts that a server offers beside tools.

use crate::Client;
use async_trait::async_trait;
use std::collections::BTreeMap;
use windlass::ContentBlock;

/// Resources and prompts of a program. By default each method returns nothing.
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
    /// Returns the resources with an address of their own. Called each time that a client asks for them.
    fn resources(&self) -> Vec<ServedResource> {
        Vec::new()
    }

    /// Returns the templates of resources whose addresses clients compose.
    fn templates(&self) -> Vec<ServedTemplate> {
        Vec::new()
    }

    /// Reads the resource at an address. The future is dropped when the client cancels or disconnects.
    ///
    /// # Errors
    /// Fails if there is no such resource, or it cannot be read.
    async fn read(&self, read: ServedRead) -> Result<Vec<ServedContents>, LibraryError> {
        let _ = read;
        Err(LibraryError::NotFound)
    }

    /// Returns the prompts.
    fn prompts(&self) -> Vec<ServedPrompt> {
        Vec::new()
    }

    /// Returns the messages of a prompt. Its required arguments are present.
    ///
    /// # Errors
    /// Fails if there is no such prompt, or its arguments do not fit.
    async fn prompt(&self, call: PromptCall) -> Result<Vec<ServedMessage>, LibraryError> {
        let _ = call;
        Err(LibraryError::NotFound)
    }

    /// Returns values that complete the user's beginning of an argument, the best first. The first 100 are sent.
    async fn complete(&self, completion: Completion) -> Vec<String> {
        let _ = completion;
        Vec::new()
    }
}

/// Reason why a library does not return the requested item.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LibraryError {
    /// There is no resource at this address, or no prompt of this name. The next library is asked.
    #[error("there is no such thing")]
    NotFound,
    /// The request of the client is invalid, for this reason.
    #[error("{0}")]
    Invalid(String),
    /// The operation failed, for this reason.
    #[error("{0}")]
    Failed(String),
}

/// Resource in the form for lists.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServedResource {
    /// Address of the resource, with a scheme.
    pub uri: String,
    /// Name of the resource.
    pub name: String,
    /// Description of the resource. Default: `None`.
    pub description: Option<String>,
    /// Media type of its contents. Default: `None`.
    pub media_type: Option<String>,
}

impl ServedResource {
    /// Creates a resource at this address.
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self { uri: uri.into(), name: name.into(), description: None, media_type: None }
    }

    /// Sets the description.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Sets the media type of the contents.
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
    /// Template as `uri`, and the description of the resources.
    pub resource: ServedResource,
}

impl ServedTemplate {
    /// Creates a template.
    #[must_use]
    pub fn new(resource: ServedResource) -> Self {
        Self { resource }
    }
}

/// Request to read a resource.
#[derive(Debug)]
#[non_exhaustive]
pub struct ServedRead {
    /// Address, as the client sent it.
    pub uri: String,
    /// Client that reads.
    pub client: Client,
}

impl ServedRead {
    /// Creates a request of a client for an address.
    pub fn new(uri: impl Into<String>, client: Client) -> Self {
        Self { uri: uri.into(), client }
    }
}

/// Contents of a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServedContents {
    /// Address of the resource.
    pub uri: String,
    /// Media type of the data.
    pub media_type: String,
    /// Data of the resource.
    pub data: ServedData,
}

/// Data of a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServedData {
    /// Plain text.
    Text(String),
    /// Bytes in standard base64.
    Base64(String),
}

impl ServedContents {
    /// Creates the contents of a text resource.
    pub fn text(uri: impl Into<String>, media_type: impl Into<String>, text: impl Into<String>) -> Self {
        Self { uri: uri.into(), media_type: media_type.into(), data: ServedData::Text(text.into()) }
    }

    /// Creates the contents of a binary resource, in standard base64.
    pub fn base64(uri: impl Into<String>, media_type: impl Into<String>, base64: impl Into<String>) -> Self {
        Self { uri: uri.into(), media_type: media_type.into(), data: ServedData::Base64(base64.into()) }
    }
}

/// Prompt in the form for lists.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServedPrompt {
    /// Name of the prompt.
    pub name: String,
    /// Purpose of the prompt.
    pub description: String,
    /// Arguments of the prompt. Default: none.
    pub arguments: Vec<ServedArgument>,
}

/// Argument of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServedArgument {
    /// Name of the argument.
    pub name: String,
    /// Description of the argument.
    pub description: String,
    /// `true` if the prompt requires the argument.
    pub required: bool,
}

impl ServedPrompt {
    /// Creates a prompt without arguments.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self { name: name.into(), description: description.into(), arguments: Vec::new() }
    }

    /// Adds a required argument.
    #[must_use]
    pub fn with_argument(self, name: impl Into<String>, description: impl Into<String>) -> Self {
        self.argument(name.into(), description.into(), true)
    }

    /// Adds an optional argument.
    #[must_use]
    pub fn with_optional_argument(self, name: impl Into<String>, description: impl Into<String>) -> Self {
        self.argument(name.into(), description.into(), false)
    }

    fn argument(mut self, name: String, description: String, required: bool) -> Self {
        self.arguments.push(ServedArgument { name, description, required });
        self
    }
}

/// Request for the messages of a prompt.
#[derive(Debug)]
#[non_exhaustive]
pub struct PromptCall {
    /// Name of the prompt.
    pub name: String,
    /// Values of the arguments.
    pub arguments: BTreeMap<String, String>,
    /// Client that asks.
    pub client: Client,
}

impl PromptCall {
    /// Creates a request of a client for a prompt.
    pub fn new(name: impl Into<String>, arguments: BTreeMap<String, String>, client: Client) -> Self {
        Self { name: name.into(), arguments, client }
    }
}

/// Message of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServedMessage {
    /// `true` for a message of the user, `false` for one of the model.
    pub is_of_user: bool,
    /// Content of the message. In addition to text and images, [`audio_block`](crate::audio_block) and
    /// [`resource_block`](crate::resource_block) make blocks that clients support.
    pub content: ContentBlock,
}

impl ServedMessage {
    /// Creates a message of the user.
    #[must_use]
    pub fn user(content: ContentBlock) -> Self {
        Self { is_of_user: true, content }
    }

    /// Creates a message of the model.
    #[must_use]
    pub fn model(content: ContentBlock) -> Self {
        Self { is_of_user: false, content }
    }
}

/// Request to complete a value that a user has begun to write.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Completion {
    /// Prompt or template that has the argument.
    pub of: CompletionOf,
    /// Name of the argument.
    pub argument: String,
    /// Beginning of the value.
    pub value: String,
    /// Known values of other arguments.
    pub others: BTreeMap<String, String>,
}

/// Owner of an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CompletionOf {
    /// Prompt of this name.
    Prompt(String),
    /// Template of resources.
    Template(String),
}
