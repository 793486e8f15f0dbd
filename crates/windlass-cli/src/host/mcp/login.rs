//! Logins to MCP servers that a host begins.

use async_trait::async_trait;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use tokio::sync::{oneshot, watch};
use tokio::task::AbortHandle;
use windlass::mcp::McpServers;
use windlass::mcp::auth::{Browser, LoginPage};

/// The outcome of a login, once there is one.
type Outcome = Option<Result<(), String>>;

/// The logins that a host has begun, by server.
#[derive(Debug, Default)]
pub(super) struct Logins(Mutex<BTreeMap<String, Login>>);

#[derive(Debug)]
struct Login {
    task: AbortHandle,
    returned: Option<oneshot::Sender<String>>,
    ended: watch::Receiver<Outcome>,
}

impl Drop for Login {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Logins {
    /// Begins a login, and returns the address of its page. One that was begun before is ended. `report` is called with its
    /// outcome, unless another login takes its place.
    pub(super) async fn begin(
        &self,
        servers: &McpServers,
        server: &str,
        report: impl FnOnce(&Result<(), String>) + Send + 'static,
    ) -> Result<Option<String>, String> {
        let (shown_in, shown) = oneshot::channel();
        let (returned, returned_out) = oneshot::channel();
        let (ended_in, mut ended) = watch::channel(None);
        let browser = HostBrowser { shown: Mutex::new(Some(shown_in)), returned: Mutex::new(Some(returned_out)) };
        let (servers, name) = (servers.clone(), server.to_owned());
        let task = tokio::spawn(async move {
            let outcome = servers.authenticate(&name, &browser).await.map_err(|error| error.to_string());
            report(&outcome);
            ended_in.send_replace(Some(outcome));
        });
        let login = Login { task: task.abort_handle(), returned: Some(returned), ended: ended.clone() };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(server.to_owned(), login);
        tokio::select! {
            biased;
            Ok(address) = shown => Ok(Some(address)),
            outcome = outcome(&mut ended) => outcome.map(|()| None),
        }
    }

    /// Gives a login the address to which the browser returned, and waits for its end.
    pub(super) async fn finish(&self, server: &str, address: &str) -> Result<(), String> {
        let (returned, mut ended) = {
            let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let login = open.get_mut(server).ok_or_else(|| format!("no login to {server:?} was begun"))?;
            (login.returned.take(), login.ended.clone())
        };
        if let Some(returned) = returned {
            // A login that has ended reports its outcome below.
            let _ = returned.send(address.to_owned());
        }
        outcome(&mut ended).await
    }
}

async fn outcome(ended: &mut watch::Receiver<Outcome>) -> Result<(), String> {
    match ended.wait_for(Option::is_some).await.as_deref() {
        Ok(Some(outcome)) => outcome.clone(),
        _ => Err("another login to this server was begun".to_owned()),
    }
}

/// Shows pages to the user of a host.
#[derive(Debug)]
struct HostBrowser {
    shown: Mutex<Option<oneshot::Sender<String>>>,
    returned: Mutex<Option<oneshot::Receiver<String>>>,
}

#[async_trait]
impl Browser for HostBrowser {
    async fn open(&self, page: &LoginPage) -> Result<Option<String>, String> {
        if let Some(shown) = self.shown.lock().unwrap_or_else(PoisonError::into_inner).take() {
            let _ = shown.send(page.address.clone());
        }
        let returned = self.returned.lock().unwrap_or_else(PoisonError::into_inner).take();
        match returned {
            // A host that does not return it leaves that to the browser.
            Some(returned) => Ok(returned.await.ok()),
            None => Ok(None),
        }
    }
}
