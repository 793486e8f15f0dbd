//! Requests of a session to its client.

use crate::buffers::BufferedFiles;
use crate::client_request::ClientRequest;
use crate::elicitation::{AcpElicitation, AcpElicitationAnswer, AcpElicitationKind};
use crate::error::AcpError;
use crate::session::SessionInput;
use crate::v1::client::ClientAbilities;
use crate::v1::{buffer, elicitation as form};
use serde_json::Value;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::{mpsc, oneshot};
use windlass_tool::Workspace;

/// Client of one session, for requests of the owner of the sessions: questions of MCP servers, and buffers of an editor.
/// Clones reach the same client.
///
/// A request waits until the session has begun. Dropping its future withdraws it.
#[derive(Clone)]
pub struct AcpClient {
    session: String,
    inbox: mpsc::WeakSender<SessionInput>,
    next: Arc<AtomicU64>,
    abilities: ClientAbilities,
}

impl AcpClient {
    pub(crate) fn new(session: String, inbox: mpsc::WeakSender<SessionInput>, abilities: ClientAbilities) -> Self {
        Self { session, inbox, next: Arc::default(), abilities }
    }

    /// `true` if the client shows forms.
    pub fn shows_forms(&self) -> bool {
        self.abilities.forms
    }

    /// `true` if the client opens pages that a question names.
    pub fn opens_pages(&self) -> bool {
        self.abilities.pages
    }

    /// `true` if the client reads files for the session, with changes that are not saved.
    pub fn reads_files(&self) -> bool {
        self.abilities.reads_files
    }

    /// Files of the session, read with the changes that the client has not saved; these files where the client reads none.
    ///
    /// The client is told only paths below these directories, given with links followed, that a call may read and has
    /// opened, and never those of hidden files. A file with changes that are not saved is not written, removed or renamed:
    /// the call fails and says why. What passes by the workspace, such as a search of this machine, sees the disk.
    pub fn over_files(&self, files: Arc<dyn Workspace>, directories: Vec<PathBuf>) -> Arc<dyn Workspace> {
        if self.reads_files() { Arc::new(BufferedFiles::new(files, self.clone(), directories)) } else { files }
    }

    /// Puts a question to the person and waits for the answer. Declined at once where the client cannot ask.
    pub async fn elicit(&self, question: AcpElicitation) -> AcpElicitationAnswer {
        let can_ask = match question.kind {
            AcpElicitationKind::Form { .. } => self.shows_forms(),
            AcpElicitationKind::Url { .. } => self.opens_pages(),
        };
        let Some(params) = form::params(&self.session, &question).filter(|_| can_ask) else {
            return AcpElicitationAnswer::Decline;
        };
        let answer = self.ask(form::METHOD, params).await;
        form::answer(&question.kind, &answer)
    }

    /// Content of a file as the client has it: that of an open buffer with its changes, else that of the disk.
    ///
    /// The client is told the path, so it has to be one that the session may read.
    ///
    /// # Errors
    /// The client has no such ability, refuses, or is gone.
    pub async fn read_text_file(&self, path: &Path) -> Result<String, AcpError> {
        if !self.reads_files() {
            return Err(AcpError::internal("the client does not read files for sessions"));
        }
        let answer = self.ask(buffer::METHOD, buffer::params(&self.session, path)).await;
        buffer::content(answer)
    }

    /// Sends a request and waits for its answer.
    async fn ask(&self, method: &'static str, params: Value) -> Result<Value, String> {
        let gone = || "the session is closed".to_owned();
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let (answer, answered) = oneshot::channel();
        let inbox = self.inbox.upgrade().ok_or_else(gone)?;
        let request = ClientRequest { number, method, params, answer };
        inbox.send(SessionInput::Ask(request)).await.map_err(|_| gone())?;
        // A sender that stays would keep the session open.
        drop(inbox);
        let mut withdrawal = Withdrawal { inbox: &self.inbox, number, is_open: true };
        let result = answered.await.unwrap_or_else(|_| Err(gone()));
        withdrawal.is_open = false;
        result
    }
}

impl fmt::Debug for AcpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AcpClient").field("abilities", &self.abilities).finish_non_exhaustive()
    }
}

/// Guard that withdraws a request whose requester does not wait any more.
struct Withdrawal<'a> {
    inbox: &'a mpsc::WeakSender<SessionInput>,
    number: u64,
    is_open: bool,
}

impl Drop for Withdrawal<'_> {
    fn drop(&mut self) {
        if self.is_open
            && let Some(inbox) = self.inbox.upgrade()
        {
            // Without room the request stays open, and its answer has no effect.
            let _ = inbox.try_send(SessionInput::Withdraw(self.number));
        }
    }
}
