//! Permission requests that stay open: a run that waits for answers ends without the results of their calls, and of
//! calls whose agents wait. A later run continues with them.

use super::Batch;
use super::call::{Call, Cx, EarlierAnswer, Kept, Read, Stage, Step};
use super::gate::with_what_can_wait;
use crate::Unanswered;
use crate::session::Session;
use windlass_context::runtime_text;
use windlass_session::{PendingQuestions, TokenSecret, token_hash};
use windlass_types::text::{clause, sentence};
use windlass_types::{
    AgentIdentity, Behavior, Decision, DecisionReason, EntryId, EntryKind, PendingQuestion, PermissionRequest, ToolUse,
    WaitingAgent,
};

impl Call {
    /// Returns a call that an earlier run left open: its request is open, or its agent waits, or both. `None` for any
    /// other.
    fn continued(call: &ToolUse, open: &PendingQuestions) -> Option<Self> {
        let (question, waiting) = (open.about(&call.id), open.waiting(&call.id));
        let line = question.map(|question| &question.assistant).or(waiting.map(|waiting| &waiting.assistant))?;
        let mut continued = Self::new(call.clone(), None);
        continued.line = Some(line.clone());
        continued.is_continued = true;
        continued.consent.question =
            question.map(|question| Box::new(Kept { question: question.clone(), token: None, request: None }));
        continued.waiting = waiting.map(|waiting| {
            let identity = AgentIdentity::new(waiting.agent.clone(), waiting.agent_type.clone());
            Box::new(WaitingAgent::new(identity, Vec::new()))
        });
        continued.recorded_waiting = waiting.map(|waiting| waiting.agent.clone());
        Some(continued)
    }

    /// Returns the source of tokens, if a permission request about the call may stay open. A call that a prompt needs,
    /// or that another call made, is not part of the conversation, so it could not be continued.
    pub(super) fn waits<'a>(&self, cx: &'a Cx<'_>) -> Option<&'a TokenSecret> {
        cx.session.config.waits().filter(|_| !self.of_prompt && self.made.is_none())
    }

    /// Defers the call at the request of a hook: its permission request stays open, if the run waits for answers.
    pub(super) fn defer(&mut self, cx: &mut Cx<'_>, read: Box<Read>, mut decision: Decision) {
        if self.waits(cx).is_some() {
            return self.ask_host(cx, read, decision);
        }
        decision.behavior = Behavior::Deny;
        let denied = format!("{} {}", sentence(&decision.message), runtime_text::NOT_DEFERRED);
        decision.message = with_what_can_wait(cx, denied);
        self.deny(cx, &read, decision);
    }

    /// Makes a permission request durable before it is sent. A logged request about this exact call is reused, so that
    /// an answer to it counts.
    pub(super) fn keep_question(
        &mut self,
        cx: &mut Cx<'_>,
        read: Box<Read>,
        mut request: PermissionRequest,
        secret: &TokenSecret,
    ) {
        if let Some(kept) = &mut self.consent.question {
            if kept.question.digest == request.digest {
                request.id = kept.question.id.clone();
                if kept.token.is_none() {
                    return self.take_up_question(cx, read, request, secret);
                }
                request.token.clone_from(&kept.token);
                kept.request = Some(request.clone());
                let question = kept.question.clone();
                return self.put_question(cx, read, request, Some(question));
            }
            cx.session.notice(format!(
                "The question {} was about another call than the one that would run now ({}), so it is asked anew: \
                 an answer to it does not count.",
                kept.question.id,
                clause(&kept.question.title)
            ));
        }
        let token = secret.token(&request.id);
        let line = self.line.clone().unwrap_or_else(|| EntryId::from(""));
        let cwd = cx.session.state.cwd().to_string_lossy().into_owned();
        let mut question = PendingQuestion::new(&request, line, cwd, token_hash(&token));
        question.denied.clone_from(&cx.session.run.scope.denied);
        question.skills = cx.session.skills().into_iter().collect();
        request.token = Some(token.clone());
        let entry = cx.session.record(None, EntryKind::Question(question.clone()));
        let append = cx.session.append(vec![entry]);
        self.consent.question = Some(Box::new(Kept { question, token: Some(token), request: Some(request) }));
        self.stage = Stage::Keeping(append, read);
    }

    /// Takes up a permission request of an earlier opening: an existing answer applies at once. Otherwise it gets a
    /// token of this opening, beside earlier tokens that may be lost.
    fn take_up_question(
        &mut self,
        cx: &mut Cx<'_>,
        read: Box<Read>,
        mut request: PermissionRequest,
        secret: &TokenSecret,
    ) {
        let Some(kept) = &mut self.consent.question else { return self.judge(cx, read) };
        if self.consent.earlier_answer == EarlierAnswer::Unknown {
            self.consent.earlier_answer = EarlierAnswer::Sought;
            let question = kept.question.clone();
            return self.seek_answer(cx, read, request, question);
        }
        let token = secret.token(&request.id);
        kept.question.renew_token(token_hash(&token));
        request.token = Some(token.clone());
        (kept.token, kept.request) = (Some(token), Some(request));
        let entry = cx.session.record(None, EntryKind::Question(kept.question.clone()));
        self.stage = Stage::Keeping(cx.session.append(vec![entry]), read);
    }

    /// Handles a durable append that the call waits for.
    pub(super) fn durable(&mut self, cx: &mut Cx<'_>) {
        let read = match std::mem::take(&mut self.stage) {
            Stage::Keeping(_, read) => read,
            stage => {
                self.stage = stage;
                return self.intent_durable(cx);
            }
        };
        let open_question =
            self.consent.question.as_ref().and_then(|kept| Some((kept.request.clone()?, kept.question.clone())));
        match open_question {
            Some((request, question)) => self.put_question(cx, read, request, Some(question)),
            None => self.judge(cx, read),
        }
    }

    /// Handles a permission request without a valid answer.
    pub(super) fn unanswered(&mut self, cx: &mut Cx<'_>, read: Box<Read>, why: Unanswered) {
        match why {
            Unanswered::Yet if self.consent.earlier_answer == EarlierAnswer::Sought => {
                self.consent.earlier_answer = EarlierAnswer::Absent;
                self.judge(cx, read);
            }
            Unanswered::Yet if self.consent.question.is_some() => self.stage = Stage::Pending(Some(read)),
            Unanswered::Yet => {
                let denied = with_what_can_wait(cx, "No one is there to approve the call.".to_owned());
                let decision = Decision::new(Behavior::Deny, DecisionReason::NobodyToAsk, denied);
                self.deny(cx, &read, decision);
            }
            Unanswered::Unusable(why) => {
                (self.consent.question, self.consent.earlier_answer) = (None, EarlierAnswer::Absent);
                cx.session.notice(format!("The question is asked anew: {}.", clause(&why)));
                self.judge(cx, read);
            }
        }
    }

    /// `true` if the permission request stays open when the run ends.
    pub(super) fn is_pending(&self) -> bool {
        matches!(self.stage, Stage::Pending(_))
    }

    /// `true` if the call can stay open when the user stops the run: its request is not answered yet, or its waiting
    /// agent is not continued yet.
    pub(super) fn may_stay_open(&self, cx: &Cx<'_>) -> bool {
        let is_allowed = matches!(self.stage, Stage::Allowed(..));
        let is_early = matches!(
            self.stage,
            Stage::New
                | Stage::Preparing(..)
                | Stage::Held(_)
                | Stage::Hooking(..)
                | Stage::Classifying(..)
                | Stage::Keeping(..)
                | Stage::Asking(..)
                | Stage::Pending(_)
        );
        let is_asked = is_early && self.consent.approved.is_none() && self.consent.question.is_some();
        let is_waiting = (is_early || is_allowed) && self.waiting.is_some();
        cx.committed && !self.stopping && (is_asked || is_waiting)
    }

    /// Leaves the permission request open, or the agent waiting.
    pub(super) fn stay_open(&mut self, cx: &mut Cx<'_>) {
        self.forget(cx.session);
        self.stage = Stage::Pending(None);
    }

    /// Returns the requests that stay open: the call's own, or else those of its agent.
    fn open_questions(&self) -> Vec<PermissionRequest> {
        let own_request = self.own_question().map(|question| vec![question]);
        own_request.or_else(|| Some(self.waiting.as_ref()?.questions.clone())).unwrap_or_default()
    }

    /// Returns the open request about the call, with all that is known of it.
    fn own_question(&self) -> Option<PermissionRequest> {
        let Kept { question, token, request } = self.consent.question.as_deref()?;
        let request = request.clone().unwrap_or_else(|| {
            let decision = Decision::new(Behavior::Ask, DecisionReason::Default, "It was asked before.");
            let mut request =
                PermissionRequest::new(self.current(), question.title.clone(), decision, question.digest.clone());
            (request.id, request.token) = (question.id.clone(), token.clone());
            request.impact.clone_from(&question.impact);
            request
        });
        Some(request)
    }
}

impl Batch {
    /// Returns the calls that an earlier run left open, to be decided anew.
    pub(crate) fn continued(session: &Session) -> Self {
        let open = session.state.pending_questions();
        let calls = session.state.transcript().open_calls();
        let calls = calls.filter_map(|call| Call::continued(call, open));
        Self { calls: calls.collect(), committed: true, ..Self::default() }
    }

    /// Answers the calls that an earlier run left open: none of them was approved.
    pub(crate) fn withdraw(&mut self, session: &mut Session) {
        self.each(session, |call, cx| match call.waiting {
            Some(_) => call.give_up_agent(cx, runtime_text::AGENT_WITHDRAWN),
            None => call.stop_unrun(cx, runtime_text::QUESTION_WITHDRAWN),
        });
    }

    /// `true` if only calls with open requests are left. Calls that would have to wait for them are answered then.
    pub(crate) fn suspend(&mut self, session: &mut Session) -> bool {
        let is_left = |call: &Call| call.is_pending() || matches!(call.stage, Stage::Allowed(Step::Ready, _));
        let waits_for_log = session.out.is_behind();
        let only_pending_left = self.committed
            && self.next >= self.calls.len()
            && self.open_calls().all(|(_, call)| is_left(call) && (call.is_pending() || !waits_for_log))
            && self.open_calls().any(|(_, call)| call.is_pending());
        if only_pending_left {
            for index in self.open.clone() {
                if self.calls.get(index).is_some_and(|call| !call.is_pending()) {
                    self.with(session, index, |call, cx| match call.waiting {
                        Some(_) => call.stay_open(cx),
                        None => call.stop_unrun(cx, runtime_text::BEHIND_QUESTION),
                    });
                }
            }
            // Changes of answered calls apply even if an earlier call is open.
            for index in self.applied..self.calls.len() {
                if let Some(Stage::Settled(settled)) = self.calls.get_mut(index).map(|call| &mut call.stage) {
                    for change in std::mem::take(&mut settled.changes) {
                        self.apply_change(session, change);
                    }
                }
            }
        }
        // After a change of the directory, open calls are prepared again.
        only_pending_left && self.open_calls().all(|(_, call)| call.is_pending())
    }

    /// Returns the requests that stay open, in call order.
    pub(crate) fn open_questions(&self) -> Vec<PermissionRequest> {
        self.calls.iter().filter(|call| call.is_pending()).flat_map(Call::open_questions).collect()
    }
}
