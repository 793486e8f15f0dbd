//! Address of this machine to which a browser returns.

use crate::page::{BrowserLogin, RedirectVerdict};
use crate::{AuthError, SecretText};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// Maximum length of the head of a request, in bytes.
const LONGEST_HEAD: usize = 16 * 1024;
/// Maximum time of a request. Any program of this machine may open a connection and be silent.
const PATIENCE: Duration = Duration::from_secs(10);
/// Pause after a failed accept.
const BETWEEN_TRIES: Duration = Duration::from_millis(50);
/// Maximum number of concurrent requests.
const MOST_AT_ONCE: usize = 16;

/// Listener for a browser, on loopback addresses only.
#[derive(Debug)]
pub(crate) struct Loopback {
    listeners: Vec<TcpListener>,
    port: u16,
}

impl Loopback {
    /// Opens a port; 0 is any free one.
    ///
    /// # Errors
    /// Fails if the port is taken.
    pub(crate) async fn open(port: u16) -> Result<Self, AuthError> {
        let bind = |address: SocketAddr| TcpListener::bind(address);
        let refused = |error: std::io::Error| {
            AuthError::Browser(format!("the port {port} for the answer of the browser cannot be opened: {error}"))
        };
        let first = bind((Ipv4Addr::LOCALHOST, port).into()).await.map_err(refused)?;
        let port = first.local_addr().map_err(refused)?.port();
        // Browsers may resolve `localhost` to either address.
        let second = bind((Ipv6Addr::LOCALHOST, port).into()).await.ok();
        Ok(Self { listeners: [Some(first), second].into_iter().flatten().collect(), port })
    }

    /// Returns the address to which the browser is to return.
    pub(crate) fn redirect_uri(&self) -> String {
        format!("http://localhost:{}/callback", self.port)
    }

    /// Waits for the answer of a page. Cancel safe: dropping the future closes the port.
    pub(crate) async fn answer(self, page: &BrowserLogin) -> Result<SecretText, AuthError> {
        let mut requests = JoinSet::new();
        loop {
            tokio::select! {
                Some(Ok(verdict)) = requests.join_next(), if !requests.is_empty() => {
                    if let RedirectVerdict::Done(outcome) = verdict {
                        return outcome;
                    }
                }
                stream = accept(&self.listeners), if requests.len() < MOST_AT_ONCE => {
                    match stream {
                        Ok(stream) => drop(requests.spawn(serve(stream, page.clone()))),
                        // The system has temporarily run out of files or memory.
                        Err(_) => sleep(BETWEEN_TRIES).await,
                    }
                }
            }
        }
    }
}

async fn accept(listeners: &[TcpListener]) -> std::io::Result<TcpStream> {
    let accepts = listeners.iter().map(|listener| Box::pin(listener.accept()));
    let (accepted, ..) = futures_util::future::select_all(accepts).await;
    accepted.map(|(stream, _)| stream)
}

/// Answers a request, and returns its meaning.
async fn serve(mut stream: TcpStream, page: BrowserLogin) -> RedirectVerdict {
    let exchange = async {
        let target = target(&mut stream).await?;
        let verdict = page.judge(&target);
        let (status, text) = match &verdict {
            RedirectVerdict::Done(Ok(_)) => ("200 OK", "You are logged in. This window can be closed."),
            RedirectVerdict::Done(Err(_)) => {
                ("200 OK", "The login did not succeed. The program that asked for it says why.")
            }
            RedirectVerdict::Unrelated => ("404 Not Found", "This is not the answer of a login."),
        };
        let length = text.len();
        let answer = format!(
            "HTTP/1.1 {status}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {length}\r\n\
             cache-control: no-store\r\nreferrer-policy: no-referrer\r\nx-content-type-options: nosniff\r\n\
             connection: close\r\n\r\n{text}"
        );
        // The code has arrived already: a disconnected browser does not undo the login.
        let _ = stream.write_all(answer.as_bytes()).await;
        let _ = stream.shutdown().await;
        Some(verdict)
    };
    timeout(PATIENCE, exchange).await.ok().flatten().unwrap_or(RedirectVerdict::Unrelated)
}

/// Returns the target of a `GET` request.
async fn target(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    let mut chunk = [0; 4096];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let count = stream.read(&mut chunk).await.ok().filter(|count| *count > 0)?;
        head.extend_from_slice(chunk.get(..count)?);
        if head.len() > LONGEST_HEAD {
            return None;
        }
    }
    let text = String::from_utf8(head).ok()?;
    let mut words = text.lines().next()?.split(' ');
    words.next().filter(|method| *method == "GET")?;
    words.next().map(str::to_owned)
}
