//! Messages that the user sends to a run that goes on.
//!
//! Like every prompt they have to pass the UserPromptSubmit hooks. These are
//! asked at once, for one message after the other, beside whatever the run does.
//! The messages join the conversation at a safe point: behind the results of a
//! batch of calls, or when the run would end. It waits there until the hooks
//! have answered for all that came before.

use crate::machine::Phase;
use crate::{Effect, EffectId, Machine, Prompt, PromptKind};
use windlass_context::unusable_media;
use windlass_types::{
    ContentBlock, Continuation, EntryId, EventKind, HookCall, HookEventName, HookOutcome, Outcome, Steered, SteeredFate,
};

/// A message that waits for a safe point.
#[derive(Debug)]
pub(crate) struct Said {
    prompt: Prompt,
    /// Whether whoever sent it wants it back if the run ends first.
    returns: bool,
    gate: Gate,
}

/// What hooks say of a message.
#[derive(Debug)]
enum Gate {
    Unasked,
    Asking(EffectId),
    /// It may join the conversation, and this with it.
    Passed(Vec<String>),
}

impl Said {
    fn has_passed(&self) -> bool {
        matches!(self.gate, Gate::Passed(_))
    }
}

/// A safe point that waits for hooks.
#[derive(Debug)]
pub(crate) struct Halt {
    at: SafePoint,
    /// How many messages join here: those that had come when it was reached.
    awaited: usize,
}

/// Where messages may join the conversation.
#[derive(Debug)]
pub(crate) enum SafePoint {
    /// All calls of a message are answered.
    Tools,
    /// The model is done.
    End,
    /// The hooks have said whether the run may end.
    Stopping(Box<HookOutcome>),
}

impl Machine {
    /// The user's message for the run that goes on.
    pub(crate) fn steer(&mut self, prompt: Prompt, returns: bool) {
        if let Some(reason) = unusable_media(&prompt.content) {
            return self.became(prompt.id, SteeredFate::Blocked { reason }, None);
        }
        let joins = self.run.is_some() && prompt.kind == PromptKind::Query;
        if joins && self.deferred == 0 {
            self.steered.push_back(Said { prompt, returns, gate: Gate::Unasked });
        } else if returns {
            self.became(prompt.id, SteeredFate::Returned, None);
        } else if joins {
            // What was said before it waits for a run of its own.
            self.became(prompt.id.clone(), SteeredFate::Deferred, None);
            self.prompts.insert(self.deferred.min(self.prompts.len()), prompt);
            self.deferred += 1;
        } else {
            self.prompts.push_back(prompt);
        }
    }

    /// Whoever sent a message wants it back.
    pub(crate) fn withdraw_steered(&mut self, id: &EntryId) {
        if let Some(at) = self.steered.iter().position(|said| said.prompt.id.as_ref() == Some(id))
            && let Some(said) = self.take_steered(at)
        {
            self.became(said.prompt.id, SteeredFate::Returned, None);
        }
    }

    /// Takes out a message that will not join the conversation.
    fn take_steered(&mut self, at: usize) -> Option<Said> {
        let said = self.steered.remove(at)?;
        if let Gate::Asking(effect) = said.gate {
            self.effect(Effect::Cancel(effect));
        }
        if let Phase::Halted(halt) = &mut self.phase
            && at < halt.awaited
        {
            halt.awaited -= 1;
        }
        Some(said)
    }

    /// Forgets what was said.
    pub(crate) fn forget_steered(&mut self) {
        while self.take_steered(0).is_some() {}
    }

    /// The run ends: what was said to it is said next, or given back.
    pub(crate) fn defer_steered(&mut self) {
        let mut deferred = Vec::new();
        while let Some(said) = self.take_steered(0) {
            let fate = if said.returns { SteeredFate::Returned } else { SteeredFate::Deferred };
            self.became(said.prompt.id.clone(), fate, None);
            if !said.returns {
                deferred.push(said.prompt);
            }
        }
        self.deferred += deferred.len();
        for prompt in deferred.into_iter().rev() {
            self.prompts.push_front(prompt);
        }
    }

    fn became(&mut self, id: Option<EntryId>, fate: SteeredFate, after: Option<EffectId>) {
        let kind = EventKind::Steered(Steered::new(id, fate));
        if self.run.is_some() {
            self.event(kind, after);
        } else {
            let run = self.last_run.clone().unwrap_or_else(|| self.fresh_run_id());
            self.out.event(run, 0, kind, after);
        }
    }

    /// Asks the hooks about the next message that has come.
    pub(crate) fn ask_about_steered(&mut self) {
        let goes_on = self.run.as_ref().is_some_and(|run| !run.interrupted);
        let begins = matches!(self.phase, Phase::Opening(..) | Phase::Submitting(..));
        if !goes_on || begins || self.steered.iter().any(|said| matches!(said.gate, Gate::Asking(_))) {
            return;
        }
        let listens = self.main_listens(HookEventName::UserPromptSubmit);
        while let Some(at) = self.steered.iter().position(|said| matches!(said.gate, Gate::Unasked)) {
            let Some(said) = self.steered.get(at) else { return };
            let gate = if listens {
                let text: Vec<&str> = said.prompt.content.iter().filter_map(ContentBlock::as_text).collect();
                let call = HookCall::UserPromptSubmit { prompt: text.join("\n") };
                Gate::Asking(self.run_hooks(call))
            } else {
                Gate::Passed(Vec::new())
            };
            if let Some(said) = self.steered.get_mut(at) {
                said.gate = gate;
            }
            if listens {
                return;
            }
        }
    }

    /// Other hooks listen now: they are asked again, about all that has not joined yet.
    pub(crate) fn ask_again_about_steered(&mut self) {
        let mut asking = None;
        for said in &mut self.steered {
            if let Gate::Asking(effect) = std::mem::replace(&mut said.gate, Gate::Unasked) {
                asking = Some(effect);
            }
        }
        if let Some(effect) = asking {
            self.effect(Effect::Cancel(effect));
        }
    }

    /// The message that an effect asks about.
    pub(crate) fn steered_asking(&self, effect: EffectId) -> Option<usize> {
        self.steered.iter().position(|said| matches!(said.gate, Gate::Asking(asking) if asking == effect))
    }

    /// Hooks said whether a message may join the conversation.
    pub(crate) fn steered_hooked(&mut self, at: usize, outcome: HookOutcome) {
        self.hooks_ran(HookEventName::UserPromptSubmit, None, &outcome);
        let block = outcome.block.map(|block| block.reason);
        let refused = block.or_else(|| outcome.stop.clone());
        if let Some(said) = self.steered.get_mut(at) {
            said.gate = Gate::Passed(outcome.additional_context);
        }
        if let (Some(stop), Some(run)) = (outcome.stop, &mut self.run) {
            run.stopped_by.get_or_insert(stop);
        }
        if let Some(reason) = refused
            && let Some(said) = self.take_steered(at)
        {
            self.became(said.prompt.id, SteeredFate::Blocked { reason }, None);
        }
    }

    /// What was said may join the conversation here, when hooks have had their say.
    pub(crate) fn safe_point(&mut self, at: SafePoint) {
        self.ask_about_steered();
        self.phase = Phase::Halted(Box::new(Halt { at, awaited: self.steered.len() }));
        self.leave_safe_point();
    }

    /// Goes on from a safe point, unless hooks have yet to answer.
    pub(crate) fn leave_safe_point(&mut self) {
        let Halt { at, awaited } = match std::mem::replace(&mut self.phase, Phase::Idle) {
            Phase::Halted(halt) if self.steered.iter().take(halt.awaited).all(Said::has_passed) => *halt,
            other => {
                self.phase = other;
                return;
            }
        };
        if let Some(reason) = self.run.as_mut().and_then(|run| run.stopped_by.take()) {
            return self.finish(Outcome::StoppedByHook { reason });
        }
        match at {
            SafePoint::Tools => {
                let steered = self.deliver_steered(awaited, true);
                self.call_model(if steered { Continuation::Steered } else { Continuation::ToolResults });
            }
            SafePoint::End | SafePoint::Stopping(_) if self.deliver_steered(awaited, false) => {
                self.call_model(Continuation::Steered);
            }
            SafePoint::End => self.nothing_more_said(),
            SafePoint::Stopping(outcome) => self.may_stop(*outcome),
        }
    }

    /// Records what the user said during the run, and which background work ended. Returns whether there was
    /// anything that the model has to answer.
    /// What is not worth another model call is left out, unless one follows anyway.
    fn deliver_steered(&mut self, awaited: usize, call_follows: bool) -> bool {
        let news = if call_follows { self.record_news() } else { self.record_urgent_news() };
        let mut entries: Vec<_> = news.into_iter().collect();
        let mut joined = Vec::new();
        for _ in 0..awaited {
            let Some(said) = self.steered.pop_front() else { break };
            if let Gate::Passed(context) = said.gate {
                self.add_context(context);
            }
            let id = said.prompt.id.clone();
            let entry = self.record_prompt(said.prompt);
            joined.push((id, entry.id.clone()));
            entries.push(entry);
        }
        if !joined.is_empty() {
            entries.extend(self.take_context());
        }
        if entries.is_empty() {
            return false;
        }
        let append = self.append(entries, !joined.is_empty());
        for (id, entry) in joined {
            self.became(id, SteeredFate::Joined { entry }, Some(append));
        }
        self.state.transcript().is_ready()
    }
}
