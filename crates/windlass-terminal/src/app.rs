//! The loop of a terminal: keys, updates of the conversation, and frames.
//!
//! [`run`] owns the terminal until the person leaves. Everything that it needs of the program beside the conversation comes
//! from [`TerminalServices`].

mod actions;
mod choosing;
mod command;
mod elicitations;
mod end;
mod frame;
mod lines;
mod link;
mod local;
mod output;
mod page;
mod paging;
mod plain;
mod program;
mod reader;
mod reply;
mod services;
mod status;
mod status_command;
mod tasks;
mod updates;
mod usage;

pub use end::{TerminalEnd, TerminalError};
pub use link::{ProgramLink, ProgramMessages, program_link};
pub use reply::{CommandCall, CommandChoice, CommandReply};
pub use services::{CommandOutput, SessionChoice, TerminalServices};

use crate::capabilities::{Capabilities, Presentation};
use crate::cell::Cell;
use crate::dialog::{DialogView, Dialogs};
use crate::input::{InputMode, InputModeOptions, RunActivity, TerminalDecoder};
use crate::keys::Keymap;
use crate::presenter::{PresenterOptions, TerminalPresenter};
use crate::prompt_area::{keys_page, prompt_columns};
use crate::raw::{RawMode, window_size};
use crate::screen::Size;
use crate::surface::{SurfaceOptions, TerminalSurface};
use crate::theme::Theme;
use choosing::{Choosing, RewindPoints};
use command::RunningCommand;
use lines::PlainInput;
use link::{OpenElicitation, ProgramMessage};
use output::{OutputState, TerminalOutput};
use page::Page;
use reader::TerminalReader;
use status_command::StatusCommand;
use std::collections::{BTreeMap, HashMap};
use std::io::{self, stdin, stdout};
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinSet;
use tokio::time::Instant;
use windlass_conversation::{Input, LiveConversation, Message, SlashCommand};
use windlass_types::{ContentBlock, EntryId, PermissionMode, QuestionId};

/// Options of [`run`].
#[derive(Debug)]
#[non_exhaustive]
pub struct TerminalOptions {
    /// Abilities of the terminal.
    pub capabilities: Capabilities,
    /// Styles.
    pub theme: Theme,
    /// Keys. Default: [`Keymap::default`].
    pub keymap: Keymap,
    /// `true` if Enter queues behind the run and Tab steers. Default: `false`.
    pub enter_queues: bool,
    /// `true` if the key for the next mode reaches the mode `auto`.
    pub has_auto: bool,
    /// `true` if the key for the next mode reaches `bypassPermissions`.
    pub allows_bypass: bool,
    /// Directory of the project, for the history of prompts.
    pub project: String,
    /// `true` if the list of sessions to resume is open at the start. Default: `false`.
    pub picks_session: bool,
    /// First message, as if the person had sent it.
    pub first_message: Option<String>,
    /// Cells above the conversation, such as those of a session that is resumed.
    pub first_cells: Vec<Cell>,
    /// `true` to ask the terminal for its background, and to choose the theme `dark` or `light` by its answer. Default: `false`.
    pub asks_background: bool,
    /// `true` to show progress in the title bar, where the terminal can (OSC 9;4). Default: `true`.
    pub shows_progress: bool,
    /// `true` if nothing moves by itself. Default: `false`.
    pub reduced_motion: bool,
    /// Secrets that are not shown, and other options of what is shown.
    pub presenter: PresenterOptions,
}

impl TerminalOptions {
    /// Options for a terminal with these abilities and styles.
    #[must_use]
    pub fn new(capabilities: Capabilities, theme: Theme) -> Self {
        Self {
            capabilities,
            theme,
            keymap: Keymap::default(),
            enter_queues: false,
            has_auto: false,
            allows_bypass: false,
            project: String::new(),
            picks_session: false,
            first_message: None,
            first_cells: Vec::new(),
            asks_background: false,
            shows_progress: true,
            reduced_motion: false,
            presenter: PresenterOptions::default(),
        }
    }
}

/// Runs a conversation at the terminal of this process until the person leaves. Messages of the program come through a
/// [`ProgramLink`].
///
/// Not cancel safe: dropping the future restores the terminal and stops the session without waiting for it.
///
/// # Errors
/// The terminal cannot be used, or no session could be opened, or it could not continue.
pub async fn run(
    conversation: LiveConversation,
    ids: Arc<dyn windlass_tool::Ids>,
    services: Arc<dyn TerminalServices>,
    options: TerminalOptions,
    messages: ProgramMessages,
) -> Result<TerminalEnd, TerminalError> {
    let is_plain = options.capabilities.presentation == Presentation::Plain;
    let raw = if is_plain { None } else { Some(RawMode::enter(stdin())?) };
    let mut app = App::new(conversation, ids, services, options, raw)?;
    let end = app.drive(messages).await;
    app.finish();
    end
}

/// Longest wait for the terminal to tell its background, in tenths of a second.
const PROBE_TENTHS: u8 = 2;
/// Longest wait for a terminal that does not read before another program gets it, or the program ends.
const LAST_PATIENCE: Duration = Duration::from_secs(2);

/// Number of a message of the prompt.
type Number = u64;

/// All of a terminal conversation.
struct App {
    conversation: LiveConversation,
    ids: Arc<dyn windlass_tool::Ids>,
    services: Arc<dyn TerminalServices>,
    surface: TerminalSurface<TerminalOutput>,
    output: OutputState,
    /// Question of a frame that the terminal has not read yet.
    unread_question: Option<DialogView>,
    /// `true` until the run that the person interrupts has ended.
    is_interrupting: bool,
    /// Page on the alternate screen, while one is shown.
    page: Option<Page>,
    /// A list in place of the prompt.
    picker: Option<Choosing>,
    rewinds: RewindPoints,
    /// Command that the person runs.
    command: Option<RunningCommand>,
    status_command: StatusCommand,
    /// Questions of MCP servers, by the ids of their dialogs.
    elicitations: HashMap<QuestionId, OpenElicitation>,
    /// Name of the project, for the title of the window.
    project: String,
    shows_progress: bool,
    /// Title for the session that the first message opens.
    title: Option<String>,
    /// `true` for a conversation in lines.
    is_plain: bool,
    plain: PlainInput,
    prompt: InputMode,
    dialogs: Dialogs,
    /// Ids that the conversation has for the questions of dialogs.
    questions: HashMap<QuestionId, String>,
    /// Numbers of the messages that were sent, by the ids that the conversation has for them.
    messages: BTreeMap<String, Number>,
    decoder: TerminalDecoder,
    reader: TerminalReader,
    /// `None` for a conversation in lines.
    raw: Option<RawMode<io::Stdin>>,
    start: Instant,
    jobs: JoinSet<services::Outcome>,
    hint: Option<String>,
    shows_todos: bool,
    requests: u64,
    is_leaving: bool,
    end: Option<TerminalEnd>,
}

/// Something that the loop has waited for.
enum Happened {
    Update(Option<Box<windlass_conversation::Update>>),
    Bytes(io::Result<Vec<u8>>),
    Resized,
    /// The terminal reads again.
    Writable,
    Timer,
    Done(services::Outcome),
    Message(ProgramMessage),
    Ended(i32),
}

impl App {
    #[expect(
        clippy::disallowed_methods,
        reason = "times of a terminal count from its start, by the clock of the runtime"
    )]
    fn new(
        conversation: LiveConversation,
        ids: Arc<dyn windlass_tool::Ids>,
        services: Arc<dyn TerminalServices>,
        options: TerminalOptions,
        raw: Option<RawMode<io::Stdin>>,
    ) -> io::Result<Self> {
        let size = window_size(stdout()).unwrap_or(Size::USUAL);
        let (background, early) = match &raw {
            Some(raw) if options.asks_background => raw.probe(stdout(), PROBE_TENTHS)?,
            _ => (None, Vec::new()),
        };
        let theme = background.map_or_else(|| options.theme.clone(), |found| Theme::for_background(Some(found)));
        let mut surface = SurfaceOptions::new(&options.capabilities, theme);
        surface.live.animates = !options.reduced_motion;
        let presenter = TerminalPresenter::new(options.presenter.clone());
        let prompt = prompt(&options, &conversation, &*services);
        let (writer, output) = TerminalOutput::new(stdout())?;
        let mut app = Self {
            conversation,
            ids,
            services,
            surface: TerminalSurface::new(writer, size, presenter, surface),
            output,
            unread_question: None,
            is_interrupting: false,
            page: None,
            picker: None,
            rewinds: RewindPoints::default(),
            command: None,
            status_command: StatusCommand::default(),
            elicitations: HashMap::new(),
            project: project_name(&options.project),
            shows_progress: options.shows_progress,
            title: None,
            is_plain: options.capabilities.presentation == Presentation::Plain,
            plain: PlainInput::default(),
            prompt,
            dialogs: Dialogs::new(options.keymap),
            questions: HashMap::new(),
            messages: BTreeMap::new(),
            decoder: TerminalDecoder::default(),
            reader: TerminalReader::new(stdin())?,
            raw,
            start: Instant::now(),
            jobs: JoinSet::new(),
            hint: None,
            shows_todos: true,
            requests: 0,
            is_leaving: false,
            end: None,
        };
        app.prompt.set_columns(prompt_columns(size));
        app.prompt.set_page(keys_page(size));
        for cell in options.first_cells {
            app.surface.presenter_mut().push(cell);
        }
        app.begin(options.picks_session, options.first_message);
        if !early.is_empty() {
            app.typed(&early);
        }
        Ok(app)
    }

    /// Opens the list of sessions, or sends the first message, as the program asked.
    fn begin(&mut self, picks_session: bool, first_message: Option<String>) {
        if picks_session {
            self.find_sessions();
        }
        if let Some(text) = first_message {
            for action in self.prompt.record_prompt(&text) {
                self.act(action);
            }
            self.send(Message::text(text));
        }
    }

    /// Time since the start, which the surface is told.
    fn now(&mut self) -> Duration {
        let now = self.start.elapsed();
        self.surface.set_time(now);
        now
    }

    /// Runs until the conversation is closed.
    async fn drive(&mut self, mut messages: ProgramMessages) -> Result<TerminalEnd, TerminalError> {
        let mut signals = Signals::listen()?;
        loop {
            self.draw()?;
            let happened = self.wait(&mut signals, &mut messages).await;
            self.now();
            match happened {
                Happened::Update(Some(update)) => self.updated(*update),
                Happened::Update(None) => return self.outcome(),
                Happened::Bytes(bytes) => self.typed(&bytes?),
                Happened::Resized => self.resize(),
                Happened::Writable => self.writable()?,
                Happened::Timer => self.tick(),
                Happened::Done(outcome) => self.done(outcome),
                Happened::Message(message) => self.told(message),
                Happened::Ended(130) if self.is_plain => self.interrupt_lines(130),
                Happened::Ended(code) => self.leave(TerminalEnd::Signal(code)),
            }
        }
    }

    /// Waits for the next thing to happen.
    async fn wait(&mut self, signals: &mut Signals, messages: &mut ProgramMessages) -> Happened {
        let due = self.due().map(|due| self.start + due);
        let takes_updates = self.takes_updates();
        let timer = async {
            match due {
                Some(due) => tokio::time::sleep_until(due).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            bytes = self.reader.read(), if !self.is_leaving => Happened::Bytes(bytes),
            happened = signals.next() => happened,
            () = self.output.idle() => Happened::Writable,
            () = timer => Happened::Timer,
            Some(done) = self.jobs.join_next() => Happened::Done(done.unwrap_or_else(services::Outcome::of_error)),
            Some(message) = messages.next() => Happened::Message(message),
            update = self.conversation.next(), if takes_updates => Happened::Update(update.map(Box::new)),
        }
    }

    /// Time at which something is to be done without an input: a frame, or the end of a sequence of keys.
    fn due(&self) -> Option<Duration> {
        let frame = self.surface.due().filter(|_| self.page.is_none() && !self.surface.is_blocked());
        [frame, self.decoder.deadline(), self.dialogs.deadline(), self.status_command.due()].into_iter().flatten().min()
    }

    /// `false` while the terminal is so far behind that the run has to wait for it. An end and an interruption do not wait.
    fn takes_updates(&self) -> bool {
        !self.surface.is_congested() || self.is_leaving || self.is_interrupting
    }

    fn tick(&mut self) {
        let now = self.now();
        for input in self.decoder.tick(now) {
            self.input(input);
        }
        self.settle_dialog();
    }

    fn typed(&mut self, bytes: &[u8]) {
        if self.is_plain {
            return self.typed_lines(bytes);
        }
        if bytes.is_empty() {
            // The terminal is gone.
            return self.leave(TerminalEnd::Signal(129));
        }
        let now = self.now();
        for input in self.decoder.feed(bytes, now) {
            self.input(input);
        }
    }

    fn resize(&mut self) {
        let size = window_size(stdout()).unwrap_or(Size::USUAL);
        self.surface.resize(size);
        self.prompt.set_columns(prompt_columns(size));
        self.prompt.set_page(keys_page(size));
        self.renew_page();
    }

    /// Begins the end: texts that were not sent go into the history, the session is closed, and the loop ends with it.
    fn leave(&mut self, end: TerminalEnd) {
        self.end.get_or_insert(end);
        if !self.is_leaving {
            for entry in self.prompt.close() {
                self.services.record(&entry);
            }
            self.is_leaving = true;
            self.conversation.handle(Input::Close);
        }
    }

    fn outcome(&mut self) -> Result<TerminalEnd, TerminalError> {
        if let Some(failure) = self.conversation.take_open_failure() {
            return Err(TerminalError::Open(failure));
        }
        if let Some(failure) = self.conversation.take_session_failure() {
            return Err(TerminalError::Session(failure.to_string()));
        }
        Ok(self.end.take().unwrap_or(TerminalEnd::Left))
    }

    /// Writes what is finished and restores the terminal.
    fn finish(mut self) {
        self.output.set_patience(LAST_PATIENCE);
        self.wait_for_terminal();
        // A terminal that is gone needs nothing.
        let _ = self.surface.close();
        let _ = self.raw.as_ref().map(RawMode::leave);
    }

    /// Stops this program as the shell expects of Ctrl+Z, and continues when it is continued.
    fn suspend(&mut self) {
        self.let_go(|| {
            let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::TSTP);
        });
    }

    /// Lets another program have the terminal while `work` runs.
    fn let_go<T>(&mut self, work: impl FnOnce() -> T) -> T {
        self.reader.let_go();
        // A terminal that refuses shows the other program in a wrong state, no worse.
        let _ = self.surface.suspend();
        self.wait_for_terminal();
        let _ = self.raw.as_ref().map(RawMode::leave);
        let done = work();
        let _ = self.raw.as_ref().map(RawMode::reenter);
        self.resize();
        done
    }

    /// Waits for the terminal to read what was written, for a while.
    fn wait_for_terminal(&mut self) {
        // The frame on its way, and the bytes behind it.
        for _ in 0..2 {
            if self.surface.flush().unwrap_or(true) || !self.output.wait(LAST_PATIENCE) {
                return;
            }
        }
        let _ = self.surface.flush();
    }

    /// Id of a new message, which its entry in the log has too.
    fn new_id(&self) -> String {
        EntryId::from_bits(self.ids.bits()).to_string()
    }

    /// Sends a message. Returns the id that the conversation has for it.
    fn send(&mut self, message: Message) -> String {
        let id = self.new_id();
        let message = message.with_id(id.clone());
        let texts = message.content.iter().flatten().filter_map(ContentBlock::as_text);
        let text = texts.collect::<Vec<_>>().join(" ");
        if !self.calls_builtin(&text) {
            self.rewinds.sent(&id, &text);
        }
        self.surface.presenter_mut().message_sent(&message);
        self.conversation.handle(Input::Message(Box::new(message)));
        self.update_run();
        id
    }

    /// `true` for a command that runs without the model, and has no turn to rewind to.
    fn calls_builtin(&self, text: &str) -> bool {
        let Some((name, _)) = local::called(text) else { return false };
        let is_called =
            |command: &SlashCommand| command.name == name || command.aliases.iter().any(|alias| alias == name);
        self.conversation.conversation().commands().iter().any(|command| command.is_builtin && is_called(command))
    }

    /// Tells the prompt if a run continues.
    fn update_run(&mut self) {
        let is_busy = self.conversation.conversation().is_busy();
        self.prompt.set_run(if is_busy { RunActivity::Running } else { RunActivity::Idle });
    }

    fn set_permission_mode(&mut self, mode: PermissionMode) {
        self.prompt.set_mode(mode);
        self.surface.request_frame();
    }
}

/// Name of the directory of a project.
fn project_name(project: &str) -> String {
    project.rsplit('/').find(|part| !part.is_empty()).unwrap_or_default().to_owned()
}

/// The prompt of a conversation.
fn prompt(options: &TerminalOptions, conversation: &LiveConversation, services: &dyn TerminalServices) -> InputMode {
    let mut input = InputModeOptions::default().with_modes(options.has_auto, options.allows_bypass);
    input.keymap = options.keymap.clone();
    input.enter_queues = options.enter_queues;
    input.project.clone_from(&options.project);
    let mut prompt = InputMode::new(input);
    prompt.history_mut().load(services.history());
    prompt.set_mode(conversation.conversation().permission_mode());
    prompt.set_commands(&local::with_local(conversation.conversation().commands(), services.commands()));
    prompt
}

/// Signals that concern a terminal.
struct Signals {
    resized: Signal,
    terminate: Signal,
    hangup: Signal,
    interrupt: Signal,
    quit: Signal,
}

impl Signals {
    fn listen() -> io::Result<Self> {
        Ok(Self {
            resized: signal(SignalKind::window_change())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            quit: signal(SignalKind::quit())?,
        })
    }

    /// Waits for the next one. Cancel safe.
    async fn next(&mut self) -> Happened {
        tokio::select! {
            _ = self.resized.recv() => Happened::Resized,
            _ = self.terminate.recv() => Happened::Ended(143),
            _ = self.hangup.recv() => Happened::Ended(129),
            _ = self.interrupt.recv() => Happened::Ended(130),
            _ = self.quit.recv() => Happened::Ended(131),
        }
    }
}
