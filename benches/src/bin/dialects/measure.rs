//! One figure of one dialect.

use std::sync::Arc;
use std::time::Duration;
use windlass::options::HostOptions;

use anyhow::{Result, ensure};
use nix::time::{ClockId, clock_gettime};
use tokio::runtime::{Builder, Runtime};
use windlass::provider::{Message, ModelEvent, ModelProvider, ModelRequest};
use windlass::{EventKind, query, tool::Toolkit};
use windlass_benches::nothing::Nothing;
use windlass_testkit::wire::{Reply, WireServer};

use crate::wire::Dialect;

/// Lengths of the short and the long message; the figure is their difference. `TURNS` does the same for runs.
const DELTAS: [usize; 2] = [1_000, 21_000];
const TURNS: [usize; 2] = [5, 45];
/// Repeats of a run of turns, because one run is short.
const REPEATS: u32 = 5;

/// Part of the way from the socket to the events that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The provider alone, with an answer that is in memory.
    Decode,
    /// The provider with its HTTP client and a socket.
    Socket,
    /// A run, from the socket to its events.
    Whole,
    /// A turn with one call of a tool that does nothing.
    Turn,
}

pub struct Bench {
    dialect: Dialect,
    side: Side,
    runtime: Runtime,
    server: WireServer,
}

impl Bench {
    pub fn new(dialect: Dialect, side: Side) -> Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let server = WireServer::start_on_thread()?;
        server.forget_requests();
        Ok(Self { dialect, side, runtime, server })
    }

    /// Measures the CPU of one delta or one turn.
    pub fn sample(&self) -> Result<Duration> {
        let [few, many] = if self.side == Side::Turn { TURNS } else { DELTAS };
        let repeats = if self.side == Side::Turn { REPEATS } else { 1 };
        let mut sum = Duration::ZERO;
        for _ in 0..repeats {
            let short = self.once(few)?;
            sum += self.once(many)?.saturating_sub(short);
        }
        Ok(sum / u32::try_from(many - few)? / repeats)
    }

    fn once(&self, count: usize) -> Result<Duration> {
        let provider = match self.side {
            Side::Decode => self.dialect.provider_over_memory(self.dialect.text(count))?,
            Side::Socket | Side::Whole => {
                // The reply comes in pieces of the size in which a socket gives them.
                let reply = self.dialect.reply(self.dialect.text(count)).chunks_of(1400);
                self.answer(move |_| reply.clone());
                self.dialect.provider(&self.server.url())?
            }
            Side::Turn => {
                let dialect = self.dialect;
                let replies: Vec<Reply> = (0..count)
                    .map(|turn| dialect.call(turn))
                    .chain([dialect.text(1)])
                    .map(|body| dialect.reply(body))
                    .collect();
                self.answer(move |at| replies.get(at % replies.len()).cloned().unwrap_or_else(Reply::close));
                self.dialect.provider(&self.server.url())?
            }
        };
        let before = used()?;
        match self.side {
            Side::Decode | Side::Socket => self.runtime.block_on(decode(&*provider, self.dialect.model()))?,
            Side::Whole => self.runtime.block_on(run(provider, self.dialect.model(), 0))?,
            Side::Turn => self.runtime.block_on(run(provider, self.dialect.model(), count))?,
        }
        Ok(used()? - before)
    }

    fn answer(&self, reply: impl Fn(usize) -> Reply + Send + Sync + 'static) {
        let first = self.server.request_count();
        self.server.on_request(move |request| reply(request.index - first));
    }
}

fn used() -> Result<Duration> {
    Ok(clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)?.into())
}

async fn decode(provider: &dyn ModelProvider, model: &str) -> Result<()> {
    let request = Arc::new(ModelRequest::new(model, vec![Message::user_text("hi").into()], 100));
    let mut stream = provider.stream(request).await?;
    while let Some(item) = std::future::poll_fn(|cx| stream.as_mut().poll_next(cx)).await {
        if item?.event == ModelEvent::MessageStop {
            break;
        }
    }
    Ok(())
}

/// Makes a run with `calls` calls.
async fn run(provider: Arc<dyn ModelProvider>, model: &str, calls: usize) -> Result<()> {
    let mut run = query("go")
        .provider(provider)
        .model(model)
        .tools(Toolkit::new().with(Nothing))
        .host(HostOptions::new().partial_messages(true))
        .stream();
    let mut finished = 0;
    while let Some(event) = run.try_next().await? {
        if let EventKind::ToolFinished(done) = &event.kind {
            ensure!(!done.result.is_error, "the call failed: {done:?}");
            finished += 1;
        }
    }
    ensure!(finished == calls, "{finished} calls of {calls}");
    Ok(())
}
