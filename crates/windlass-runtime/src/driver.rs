//! The loop of one session: its machine, the machine's log, and the queue of its events.
//!
//! Effects of the machine are carried out by the [`Executor`], but for those about the log.

mod commands;
mod deferred_effects;
mod executor;

use crate::SessionError;
use crate::agents::parts::{AgentParts, SessionOpener};
use crate::agents::{ChildAgents, ParentParts};
use crate::budget::{Budget, Journal};
use crate::commands::queue::CommandQueue;
use crate::commands::{ConversationRewind, SessionCommand};
use crate::config::Persistence;
use crate::driver::executor::{Executor, ExecutorParts};
use crate::events::queue::EventQueue;
use crate::files::session_files::SessionFiles;
use crate::hooks::observer::Observer;
use crate::log::rewind;
use crate::log::writer::{AppendReceiver, AppendRequest, Log, LogCommand};
use crate::model::call::ModelCall;
use crate::model::scope::completed;
use crate::ports::Ports;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::mpsc;
use windlass_context::FileInstructions;
use windlass_core::{Effect, EffectId, Input, Machine, Output, StoreFailure, StoreFailureKind};
use windlass_hook::Occasions;
use windlass_session::RewoundMark;
use windlass_types::{Entry, EntryId};

/// Maximum number of items of a model's stream that are taken in a row.
const ROW: usize = 64;

/// The task of one session.
pub(crate) struct Driver {
    machine: Machine,
    commands: CommandQueue,
    /// The answers to effects, and all other inputs for the machine.
    inputs: mpsc::UnboundedReceiver<Input>,
    log: Log,
    queue: Arc<EventQueue>,
    executor: Executor,
    /// A rewind of the conversation that is about to begin.
    rewind: Option<ConversationRewind>,
    /// Result of the session, once it has ended.
    over: Option<Result<(), SessionError>>,
}

/// Parts of a driver.
pub(crate) struct DriverParts {
    pub(crate) machine: Machine,
    pub(crate) ports: Ports,
    pub(crate) commands: mpsc::UnboundedReceiver<SessionCommand>,
    pub(crate) inputs: mpsc::UnboundedReceiver<Input>,
    pub(crate) results: mpsc::UnboundedSender<Input>,
    pub(crate) queue: Arc<EventQueue>,
    pub(crate) log: Log,
    pub(crate) agent: AgentParts,
    /// Opens the sessions of agents below this one.
    pub(crate) opener: SessionOpener,
    /// Persistence of the session, if it is stored.
    pub(crate) kept: Option<Persistence>,
    /// The instructions that the model reads when the first run begins, and hooks are asked about.
    pub(crate) first: Vec<FileInstructions>,
}

impl Driver {
    pub(crate) fn new(parts: DriverParts) -> Self {
        let DriverParts { machine, ports, commands, inputs, results, queue, log, agent, opener, kept, first } = parts;
        let directories = machine.policy().directories().to_vec();
        let mut occasions = Occasions::new(machine.state().cwd(), directories);
        if let Some(todos) = machine.state().todos() {
            occasions.begins_with(todos);
        }
        let observer = Observer::new(occasions, &ports.hooks, first);
        let journal = log.commands().map(|commands| Journal::new(commands, &ports.system));
        let budget = agent.budget.clone().unwrap_or_else(|| Budget::new(machine.state().spent().clone(), journal));
        let account = budget.open(results.clone());
        let (agents, keeper) = ChildAgents::new(agent, kept, account.places(), opener);
        let (files, queue_of_agents) = (SessionFiles::new(keeper), Arc::clone(&queue));
        let parts = ExecutorParts { ports, results, queue: queue_of_agents, observer, account, agents, files };
        let executor = Executor::new(parts, machine.state().todos().cloned());
        let commands = CommandQueue::new(commands);
        Self { machine, commands, inputs, log, queue, executor, rewind: None, over: None }
    }

    /// Drives the session until it is closed or broken, and returns which.
    pub(crate) async fn drive(mut self) -> Result<(), SessionError> {
        let result = loop {
            if let Some(result) = self.over.take() {
                break result;
            }
            self.executor.begin_deferred(&self.machine);
            let input = self.next_input().await;
            let streams = matches!(input, Some(Input::Model(..) | Input::AnsweredBy(..)));
            if let Some(input) = input {
                self.take(input);
            }
            if streams {
                poll_fn(|cx| {
                    self.apply_ready_items(cx);
                    Poll::Ready(())
                })
                .await;
            }
            self.commands.answer(&self.machine);
        };
        self.executor.close().await;
        result
    }

    /// Applies the items of the model's stream that have already arrived, as further rounds would do: as long as no
    /// other input precedes them and their effects have room.
    fn apply_ready_items(&mut self, cx: &mut Context<'_>) {
        for _ in 0..ROW {
            let earlier = !self.inputs.is_empty() || self.executor.agents.has_next() || self.commands.have_next();
            if earlier || self.over.is_some() || self.executor.files.are_rewound() {
                return;
            }
            self.executor.begin_deferred(&self.machine);
            if self.executor.deferred.is_crowded() {
                return;
            }
            let ids = &self.executor.ports.system.ids;
            let polled = self.executor.model.as_mut().map(|call| call.poll_next(cx, || ids.bits() as u32));
            match polled {
                Some(Poll::Ready(Some(item))) => self.take(item),
                // The rest is left to the round.
                _ => return,
            }
        }
    }

    /// Waits for the next input or command. Results come before commands, so that a
    /// command finds the machine as it is.
    async fn next_input(&mut self) -> Option<Input> {
        let crowded = self.executor.deferred.is_crowded();
        // Commands that change the session wait while files are rewound; read-only commands do not.
        let (takes_commands, only_reads) = (self.commands.are_open(), self.executor.files.are_rewound());
        let ids = Arc::clone(&self.executor.ports.system.ids);
        let jitter = move || ids.bits() as u32;
        let Executor { ports, results, agents, files, model, deferred, progress, .. } = &mut self.executor;
        tokio::select! {
            biased;
            input = self.inputs.recv() => input,
            () = files.rewound() => None,
            Some(command) = agents.next() => {
                agents.obey(command, &ParentParts { machine: &self.machine, ports, keeper: files.keeper(), results });
                None
            }
            command = self.commands.next(only_reads), if takes_commands => {
                self.obey(command.unwrap_or(SessionCommand::Input(Input::Close)))
            }
            item = next_item(model, jitter), if !crowded && model.is_some() => {
                if item.is_none() {
                    *model = None;
                }
                item
            }
            () = deferred.room() => None,
            Some(report) = progress.next() => report.into_input(),
        }
    }

    fn take(&mut self, input: Input) {
        if let Input::Prepared(_, Ok(prepared)) = &input {
            self.executor.foresee_changes(&self.machine, &prepared.facts);
        }
        self.executor.note_answer(&input);
        let is_rewound = matches!(input, Input::Rewound(_, Some(_)));
        self.handle(input);
        if is_rewound {
            self.executor.forget_conversation(self.machine.state().todos().cloned());
        }
        if self.machine.is_idle() {
            self.executor.calls.clear();
        }
        self.executor.follow_policy(&self.machine);
    }

    fn handle(&mut self, input: Input) {
        if let Input::AddInstructions(files) = &input {
            self.executor.observe_instructions(&self.machine, files);
        }
        let (input, doubts) = completed(input, &self.executor.ports);
        for doubt in doubts {
            self.give(Input::Notice(doubt));
        }
        let spent = self.executor.account.spent();
        if spent != self.machine.session_spent() {
            self.give(Input::SessionSpent(spent));
        }
        self.give(input);
    }

    fn give(&mut self, input: Input) {
        let now = self.executor.account.latest(self.executor.ports.system.clock.now());
        if let Err(unfit) = self.machine.handle(now, input) {
            // The machine is as it was, and the session can be continued.
            tracing::error!(%unfit, "an answer does not fit");
            debug_assert!(false, "{unfit}");
        }
        while let Some(output) = self.machine.poll() {
            match output {
                Output::Event(event) => {
                    self.executor.observe(&self.machine, &event.kind);
                    self.queue.push(event);
                }
                Output::Effect(id, Effect::Append { entries, durable }) => self.append(id, entries, durable),
                Output::Effect(id, Effect::Rewind(_)) => self.rewind(id),
                Output::Effect(id, effect) => self.executor.carry_out(&self.machine, id, effect),
                Output::Closed => self.over = Some(Ok(())),
                Output::Broken(failure) => {
                    tracing::error!(%failure, "the session log was refused, or does not answer");
                    let message = failure.message;
                    self.over = Some(Err(match failure.kind {
                        StoreFailureKind::Unanswered => SessionError::LogSilent { message },
                        _ => SessionError::Store { message },
                    }));
                }
            }
        }
    }

    fn append(&mut self, effect: EffectId, entries: Vec<Entry>, durable: bool) {
        self.executor.note_append(&self.machine, effect, &entries);
        let failure = match &self.log {
            Log::Nowhere => Ok(()),
            Log::Store(log) => {
                let waiting = AppendReceiver::Effect(effect, self.executor.results.clone());
                match log.send(LogCommand::Append(AppendRequest { waiting, entries, durable })) {
                    // The writer answers.
                    Ok(()) => return,
                    Err(_) => Err(StoreFailure::new("the log writer has ended after an earlier failure")),
                }
            }
        };
        self.executor.answer(Input::Appended(effect, failure));
    }

    /// Rewinds the conversation in the log, for the host that waits.
    fn rewind(&mut self, effect: EffectId) {
        let system = &self.executor.ports.system;
        let mark = RewoundMark::new(EntryId::from_bits(system.ids.bits()), system.clock.now());
        let is_taken = self.rewind.take().is_some_and(|wanted| rewind::carry_out(&self.log, effect, wanted, mark));
        if !is_taken {
            self.executor.answer(Input::Rewound(effect, None));
        }
    }
}

async fn next_item(model: &mut Option<ModelCall>, jitter: impl Fn() -> u32) -> Option<Input> {
    match model {
        Some(call) => call.next(jitter).await,
        None => std::future::pending().await,
    }
}
