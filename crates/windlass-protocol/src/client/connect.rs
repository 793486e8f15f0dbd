//! Start of a client.

use super::answers::{CallbackTasks, HostCallbacks};
use super::error::ClientError;
use super::handle::{ClientHandle, ClientState};
use super::hooks::Matcher;
use super::inbox::LineInbox;
use super::options::ClientOptions;
use super::outbox::LineOutbox;
use super::process::ClientProcess;
use super::program::Program;
use super::{Client, reader};
use crate::channel::task::AbortOnDrop;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use windlass_types::JsonText;

/// The first request of a client.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct InitializeRequest {
    hooks: Option<BTreeMap<&'static str, [Matcher; 1]>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_prompt: Option<[String; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    append_system_prompt: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    json_schema: Option<JsonText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agents: Option<JsonText>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    forward_subagent_text: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sdk_mcp_servers: Vec<String>,
}

impl Client {
    /// Starts a program and waits until it is ready.
    ///
    /// Dropping the future kills the program.
    ///
    /// # Errors
    /// The program does not exist, cannot be run, ends at once, or violates the protocol.
    pub async fn spawn(program: Program, options: ClientOptions) -> Result<Self, ClientError> {
        let (process, stdin, stdout) = ClientProcess::start(&program, flags(&options), options.limits.patience)?;
        Self::open(stdout, stdin, Some(process), options).await
    }

    /// Connects to the other side over a pair of streams, such as the halves of a socket, and waits until it is ready.
    ///
    /// The other side goes away, does not answer in time, or violates the protocol.
    pub async fn connect<R, W>(reader: R, writer: W, options: ClientOptions) -> Result<Self, ClientError>
    where
        R: AsyncRead + Unpin + Send + 'static,
        W: AsyncWrite + Unpin + Send + 'static,
    {
        Self::open(reader, writer, None, options).await
    }

    async fn open<R, W>(
        reader: R,
        mut writer: W,
        process: Option<ClientProcess>,
        options: ClientOptions,
    ) -> Result<Self, ClientError>
    where
        R: AsyncRead + Unpin + Send + 'static,
        W: AsyncWrite + Unpin + Send + 'static,
    {
        let (outbox, lane) = LineOutbox::new();
        let state = Arc::new(ClientState::new(&options, outbox.clone()));
        let (inbox, outlet) = LineInbox::new(options.limits.max_waiting, &state.switches);
        let callbacks = Arc::new(HostCallbacks::new(&options));
        callbacks.hooks.check()?;
        let answers = CallbackTasks::new(Arc::clone(&callbacks), outbox, options.limits.max_line);
        let write_task = tokio::spawn(async move {
            // If writing fails, reading reports the reason.
            let _ = lane.carry(&mut writer).await;
            let _ = writer.shutdown().await;
        });
        let read_task = tokio::spawn(reader::read(reader, Arc::clone(&state), answers, inbox));
        let mut client = Self {
            handle: ClientHandle(state),
            outlet,
            process,
            initialized: JsonText::empty_object(),
            patience: options.limits.patience,
            is_over: false,
            _tasks: [AbortOnDrop(read_task), AbortOnDrop(write_task)],
        };
        client.initialize(&callbacks, options).await?;
        Ok(client)
    }

    async fn initialize(&mut self, callbacks: &HostCallbacks, options: ClientOptions) -> Result<(), ClientError> {
        #[derive(Deserialize)]
        struct InitializeAnswer {
            #[serde(default)]
            hook_on_failure_supported: bool,
        }
        let request = InitializeRequest {
            hooks: callbacks.hooks.registration(),
            system_prompt: options.session.system_prompt.map(|text| [text]),
            append_system_prompt: options.session.append_system_prompt,
            json_schema: options.session.json_schema,
            agents: options.session.agents,
            forward_subagent_text: options.session.forward_subagent_text,
            sdk_mcp_servers: callbacks.tools.names(),
        };
        let answered = self.handle.order_within("initialize", &request, options.limits.initialize_timeout).await;
        self.initialized = match answered {
            Ok(answer) => answer,
            Err(ClientError::Closed) => return Err(self.ended_early().await),
            Err(error) => return Err(error),
        };
        if callbacks.hooks.has_gate() && !self.initialized.to::<InitializeAnswer>()?.hook_on_failure_supported {
            return Err(ClientError::Unsupported("hooks that close a gate when they fail".to_owned()));
        }
        Ok(())
    }
}

/// Arguments that make a program speak the protocol.
fn flags(options: &ClientOptions) -> Vec<OsString> {
    let protocol = ["--output-format", "stream-json", "--verbose", "--input-format", "stream-json"];
    let mut flags: Vec<OsString> = protocol.map(OsString::from).to_vec();
    if options.can_use_tool.is_some() {
        flags.extend(["--permission-prompt-tool", "stdio"].map(OsString::from));
    }
    if let Some(schema) = &options.session.json_schema {
        flags.push(format!("--json-schema={schema}").into());
    }
    flags
}
