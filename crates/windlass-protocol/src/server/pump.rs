//! The one task of a server: passes the machine its inputs, in the order of their arrival, carries out its orders, and
//! writes its frames.

use super::asking::PumpMessage;
use super::error::{Served, ServerError};
use super::machine::ServerMachine;
use super::machine::io::{ServerEffect, ServerInput, ServerOutput};
use super::mirror::CopyOutcome;
use super::options::ServerOptions;
use super::orders::EffectExecutor;
use super::outgoing::OutgoingLines;
use super::setup::{HostSetup, Opened};
use crate::input::{Inbound, LineError, LineReader};
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio::time::{Sleep, sleep};
use windlass_conversation::{Input as Turn, OpenFailure, Order as ConversationOrder};

/// Time limit of closing after a request to shut down.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(4);
/// Maximum time without progress of the log when a session is closed early.
const LOG_TIMEOUT: Duration = Duration::from_secs(3);
/// Maximum number of bytes that wait for the host before events wait, too.
const MAX_WAITING_BYTES: usize = 4 * 1024 * 1024;
/// Maximum number of bytes that wait before messages of the host are not read any more. Control requests of a host that
/// does not read are carried out, as long as their answers have space.
const MAX_WAITING_BYTES_WITH_ANSWERS: usize = MAX_WAITING_BYTES + 1024 * 1024;
/// Number of waiting bytes from which writing precedes all other work.
const WRITE_FIRST_BYTES: usize = 64 * 1024;
/// Maximum number of events in a row before other inputs are checked.
const MAX_EVENTS_IN_A_ROW: u32 = 64;

/// The task of one server.
pub(super) struct Pump<'a, F, O, R, W> {
    open: &'a F,
    opening: Option<Pin<Box<O>>>,
    lines: LineReader<R>,
    output: W,
    outgoing: OutgoingLines,
    messages: mpsc::UnboundedReceiver<PumpMessage>,
    machine: ServerMachine,
    orders: EffectExecutor,
    end: ServingEnd,
    /// Number of events taken in a row.
    in_a_row: u32,
}

/// State of the end of serving.
#[derive(Default)]
struct ServingEnd {
    /// Reason why the session could not be opened.
    failure: Option<OpenFailure>,
    /// `true` if `shutdown` is ready.
    is_requested: bool,
    /// Set when closing has begun: `Ok(true)` for a request to shut down, or the error that ends it early.
    began: Option<Result<bool, ServerError>>,
    /// Latest end of closing.
    deadline: Option<Pin<Box<Sleep>>>,
    /// Time at which logs that do not answer are given up.
    log_timer: Option<Pin<Box<Sleep>>>,
    /// `true` if a request to shut down came while it closed, and it could not close in time.
    is_interrupted: bool,
    /// `true` if all sessions are closed and all frames are written.
    is_closed: bool,
    /// Reason why no frame can be written any more.
    write_error: Option<io::Error>,
}

/// Result of the pump's wait.
enum PumpEvent {
    Input(ServerInput),
    /// A message of the host cannot be read.
    Unreadable(ServerError),
    /// The session was opened, or failed to open.
    Opened(Box<Result<Opened, OpenFailure>>),
    /// A request to shut down has come.
    ShutDown,
    /// The wait for logs is over. They are given up, so that the resulting frames are written in time.
    LogTimeout,
    /// Closing takes too long.
    CloseTimeout,
    /// Lines were written.
    Written(io::Result<()>),
    /// Lines of the log.
    Copied(Vec<u8>),
}

impl<'a, F, O, R, W> Pump<'a, F, O, R, W>
where
    F: Fn(HostSetup) -> O,
    O: Future<Output = Result<Opened, OpenFailure>>,
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    pub(super) fn new(open: &'a F, options: ServerOptions, input: R, output: W) -> Self {
        let (pump, messages) = mpsc::unbounded_channel();
        Self {
            open,
            opening: None,
            lines: LineReader::new(input, options.max_line),
            output,
            outgoing: OutgoingLines::default(),
            messages,
            machine: ServerMachine::new(&options),
            orders: EffectExecutor::new(options, pump),
            end: ServingEnd::default(),
            in_a_row: 0,
        }
    }

    pub(super) async fn serve(mut self, shutdown: impl Future<Output = ()>) -> Result<Served, ServerError> {
        let mut shutdown = pin!(shutdown);
        while !self.is_over() {
            let event = poll_fn(|cx| self.poll_next(cx, shutdown.as_mut())).await;
            self.handle_event(event);
            self.settle();
        }
        let ServingEnd { began, is_interrupted, write_error: lost, .. } = self.end;
        let began = began.unwrap_or(Ok(false));
        if let (Ok(false), Some(error)) = (&began, lost) {
            return Err(ServerError::Output(error));
        }
        let shut_down = began? || is_interrupted;
        match self.orders.sessions.take_failure().filter(|_| !is_interrupted) {
            Some(error) => Err(error.into()),
            None => Ok(Served { is_error: self.machine.last_is_error(), shut_down }),
        }
    }

    /// `true` if all frames are written, or the reader is gone.
    fn is_over(&self) -> bool {
        let is_written = self.outgoing.is_done() || self.end.write_error.is_some();
        self.end.is_interrupted || (self.end.is_closed && is_written)
    }

    fn handle_event(&mut self, event: PumpEvent) {
        match event {
            PumpEvent::Input(input) => self.machine.handle(input),
            PumpEvent::Unreadable(error) => self.close(Err(error)),
            PumpEvent::Opened(opened) => {
                let (input, failure) = self.orders.opened(*opened);
                self.end.failure = failure;
                self.machine.handle(input);
            }
            PumpEvent::Copied(frame) => self.write(frame),
            PumpEvent::Written(Ok(())) => {}
            PumpEvent::Written(Err(error)) => {
                self.end.write_error = Some(error);
                self.close(Ok(false));
            }
            PumpEvent::ShutDown if self.end.began.is_some() => self.limit_closing(),
            PumpEvent::ShutDown => self.close(Ok(true)),
            PumpEvent::LogTimeout => self.orders.sessions.give_up_logs(LOG_TIMEOUT),
            PumpEvent::CloseTimeout => {
                self.end.is_interrupted =
                    matches!(self.end.began, Some(Ok(false)) | None) && self.end.write_error.is_none();
                self.end.is_closed = true;
                self.end.write_error.get_or_insert_with(|| io::ErrorKind::TimedOut.into());
            }
        }
    }

    /// Carries out outputs until there is none.
    fn settle(&mut self) {
        loop {
            while let Some(output) = self.machine.poll() {
                match output {
                    ServerOutput::Frames(lines) => self.write(lines),
                    ServerOutput::Order(effect) => self.apply_effect(effect),
                }
            }
            let next_input = |orders: &mut EffectExecutor| orders.sessions.next_input().map(ServerInput::Conversation);
            match self.orders.inputs.pop_front().or_else(|| next_input(&mut self.orders)) {
                Some(input) => self.machine.handle(input),
                None => return,
            }
        }
    }

    fn write(&mut self, lines: Vec<u8>) {
        // A host that is gone gets no frames.
        if self.end.write_error.is_none() {
            self.outgoing.push(lines);
        }
    }

    fn apply_effect(&mut self, effect: ServerEffect) {
        match effect {
            ServerEffect::Open(opening) => {
                let setup = self.orders.setup(*opening);
                self.opening = Some(Box::pin((self.open)(setup)));
            }
            ServerEffect::Conversation(ConversationOrder::FailToOpen) => {
                let failure = self.end.failure.take().unwrap_or_else(|| "no session could be opened".into());
                self.close(Err(ServerError::Open(failure)));
            }
            ServerEffect::Conversation(ConversationOrder::Finish) => {
                self.end.began.get_or_insert(Ok(false));
                self.opening = None;
                self.orders.sessions.carry_out(ConversationOrder::Finish);
                self.orders.keep_alive = None;
            }
            ServerEffect::Conversation(ConversationOrder::Closed) => self.end.is_closed = true,
            effect => self.orders.carry_out(effect),
        }
    }

    /// Closes early, within the time limit.
    fn close(&mut self, outcome: Result<bool, ServerError>) {
        let reason = match &outcome {
            Ok(true) => "The program was told to end, and stopped the run".to_owned(),
            Ok(false) => "The host reads no more, so the run was stopped".to_owned(),
            Err(error) => format!("The run was stopped: {error}"),
        };
        self.end.began.get_or_insert(outcome);
        self.limit_closing();
        self.machine.handle(ServerInput::Close(reason));
    }

    fn limit_closing(&mut self) {
        if self.end.deadline.is_none() {
            self.end.deadline = Some(Box::pin(sleep(CLOSE_TIMEOUT)));
            self.end.log_timer = Some(Box::pin(sleep(LOG_TIMEOUT)));
        }
    }

    fn poll_next(&mut self, cx: &mut Context<'_>, shutdown: Pin<&mut impl Future<Output = ()>>) -> Poll<PumpEvent> {
        if !self.end.is_requested && shutdown.poll(cx).is_ready() {
            self.end.is_requested = true;
            return Poll::Ready(PumpEvent::ShutDown);
        }
        if let Some(deadline) = &mut self.end.deadline
            && deadline.as_mut().poll(cx).is_ready()
        {
            return Poll::Ready(PumpEvent::CloseTimeout);
        }
        if let Some(patience) = &mut self.end.log_timer
            && patience.as_mut().poll(cx).is_ready()
        {
            self.end.log_timer = None;
            return Poll::Ready(PumpEvent::LogTimeout);
        }
        let writes_first = self.outgoing.len() >= WRITE_FIRST_BYTES;
        if writes_first && let Poll::Ready(written) = self.poll_write(cx) {
            return Poll::Ready(PumpEvent::Written(written));
        }
        if let Poll::Ready(input) = self.orders.sessions.poll_outcome(cx) {
            return Poll::Ready(PumpEvent::Input(ServerInput::Conversation(input)));
        }
        while let Poll::Ready(Some(done)) = self.orders.jobs.poll_join_next(cx) {
            match done {
                Ok(input) => return Poll::Ready(PumpEvent::Input(input)),
                Err(error) => tracing::error!(%error, "an order of the host failed"),
            }
        }
        let events_first = self.in_a_row < MAX_EVENTS_IN_A_ROW;
        self.in_a_row = if events_first { self.in_a_row + 1 } else { 0 };
        if events_first && let Poll::Ready(input) = self.poll_events(cx) {
            return Poll::Ready(PumpEvent::Input(input));
        }
        if let Poll::Ready(event) = self.poll_rest(cx) {
            self.in_a_row = 0;
            return Poll::Ready(event);
        }
        if !events_first && let Poll::Ready(input) = self.poll_events(cx) {
            return Poll::Ready(PumpEvent::Input(input));
        }
        self.in_a_row = 0;
        self.poll_write(cx).map(PumpEvent::Written)
    }

    fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.end.write_error.is_some() {
            return Poll::Pending;
        }
        self.outgoing.poll_write(Pin::new(&mut self.output), cx)
    }

    /// Next event of a session. When there is none, the input that waited for that.
    fn poll_events(&mut self, cx: &mut Context<'_>) -> Poll<ServerInput> {
        if !self.machine.takes_events() || self.outgoing.len() >= MAX_WAITING_BYTES {
            return Poll::Pending;
        }
        let Poll::Ready(input) = self.orders.sessions.poll_event(cx) else { return Poll::Pending };
        if let Turn::Event(generation, event) = &input
            && event.agent.is_main()
            && self.machine.lists_next(*generation)
        {
            self.machine.handle(self.orders.listed());
        }
        Poll::Ready(ServerInput::Conversation(input))
    }

    /// All other inputs.
    fn poll_rest(&mut self, cx: &mut Context<'_>) -> Poll<PumpEvent> {
        if let Some(opening) = &mut self.opening
            && let Poll::Ready(opened) = opening.as_mut().poll(cx)
        {
            self.opening = None;
            return Poll::Ready(PumpEvent::Opened(Box::new(opened)));
        }
        if let Poll::Ready(Some(message)) = self.messages.poll_recv(cx) {
            return Poll::Ready(PumpEvent::Input(self.orders.message(message)));
        }
        if self.machine.reads_lines()
            && self.outgoing.len() < MAX_WAITING_BYTES_WITH_ANSWERS
            && let Poll::Ready(happened) = self.poll_line(cx)
        {
            return Poll::Ready(happened);
        }
        if let Some(timer) = &mut self.orders.keep_alive
            && timer.as_mut().poll(cx).is_ready()
        {
            self.orders.keep_alive = None;
            return Poll::Ready(PumpEvent::Input(ServerInput::KeepAlive));
        }
        if let Poll::Ready(due) = self.orders.sessions.poll_timer(cx) {
            return Poll::Ready(PumpEvent::Input(ServerInput::Conversation(due)));
        }
        if let Some(copying) = self.orders.copying.as_mut().filter(|_| self.outgoing.len() < MAX_WAITING_BYTES)
            && let Poll::Ready(copied) = pin!(copying.next()).poll(cx)
        {
            return Poll::Ready(match copied {
                CopyOutcome::Frame(frame) => PumpEvent::Copied(frame),
                CopyOutcome::UpToDate => PumpEvent::Input(ServerInput::Conversation(Turn::LogCopied)),
            });
        }
        Poll::Pending
    }

    fn poll_line(&mut self, cx: &mut Context<'_>) -> Poll<PumpEvent> {
        loop {
            let Poll::Ready(line) = pin!(self.lines.next()).poll(cx) else { return Poll::Pending };
            return Poll::Ready(match line {
                Ok(Some(line)) if line.trim_ascii().is_empty() => continue,
                Ok(Some(line)) => match Inbound::parse(line) {
                    Ok(message) => PumpEvent::Input(ServerInput::Line(message)),
                    Err(error) => PumpEvent::Unreadable(malformed(line, &error)),
                },
                Ok(None) => PumpEvent::Input(ServerInput::HungUp),
                Err(LineError::TooLong { limit }) => PumpEvent::Unreadable(ServerError::TooLong { limit }),
                Err(LineError::Io(error)) => PumpEvent::Unreadable(ServerError::Input(error)),
            });
        }
    }
}

fn malformed(line: &[u8], error: &windlass_types::JsonError) -> ServerError {
    let start: String = String::from_utf8_lossy(line).chars().take(80).collect();
    ServerError::Malformed { problem: error.to_string(), start }
}
