//! The local server, with the times at which requests came.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use anyhow::Result;
use windlass::Anthropic;
use windlass_testkit::wire::{Message, RecordedRequest, Reply, WireServer};

type Arrivals = Arc<Mutex<Vec<(Instant, usize)>>>;

/// A server on a thread of its own.
pub struct Peer {
    pub server: WireServer,
    arrivals: Arrivals,
}

impl Peer {
    /// Answers request `n` with reply `n`, over and over.
    pub fn cycle(replies: Vec<Reply>) -> Result<Self> {
        Self::start(move |request| {
            let at = request.index % replies.len();
            replies.get(at).cloned().unwrap_or_else(Reply::close)
        })
    }

    /// Starts a server that answers with the closure's replies.
    pub fn start(answer: impl Fn(&RecordedRequest) -> Reply + Send + Sync + 'static) -> Result<Self> {
        let server = WireServer::start_on_thread()?;
        server.forget_requests();
        let arrivals = Arrivals::default();
        let seen = Arc::clone(&arrivals);
        server.on_request(move |request| {
            seen.lock().unwrap_or_else(PoisonError::into_inner).push((Instant::now(), request.body.len()));
            answer(request)
        });
        Ok(Self { server, arrivals })
    }

    /// Takes the arrival times of the requests since the last call, and the lengths of their bodies.
    pub fn take(&self) -> Vec<(Instant, usize)> {
        std::mem::take(&mut self.arrivals.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub fn provider(&self) -> Result<Anthropic> {
        Ok(Anthropic::builder().api_key("k").base_url(self.server.url()).build()?)
    }
}

/// Returns a reply whose bytes are ready, so that the server does little between two requests.
pub fn ready(message: Message) -> Reply {
    Reply::stream_bytes(Reply::message(message).body())
}

/// Returns the reply that ends a run.
pub fn done() -> Reply {
    ready(Message::new().id("msg_done").text("Done."))
}

pub fn runtime() -> Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?)
}
