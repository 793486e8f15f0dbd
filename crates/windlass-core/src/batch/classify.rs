//! Calls that rules leave undecided in auto mode: a classifier is asked before the host.

use super::call::{Call, Cx, Read, Stage};
use crate::Effect;
use windlass_permission::Classified;
use windlass_types::text::sentence;
use windlass_types::{Decision, DecisionReason};

impl Call {
    /// Returns the decision on a call, including the classifier's verdict on this exact call.
    ///
    /// # Errors
    /// The classifier must be asked first: the unchanged decision of the policy.
    pub(super) fn with_classifier(
        &self,
        cx: &Cx<'_>,
        read: &Read,
        mut decision: Decision,
    ) -> Result<Decision, Box<Decision>> {
        let is_left = cx.session.config.listeners.classifies
            && cx.session.rights.policy.leaves_to_classifier(&read.facts, &decision);
        if !is_left {
            return Ok(decision);
        }
        let verdict = self.consent.classified.as_ref().filter(|(digest, _)| *digest == read.facts.digest);
        let Some((_, verdict)) = verdict else { return Err(Box::new(decision)) };
        let explanation = match verdict {
            Classified::Allow(reason) => {
                let message = format!("The classifier allows it: {}", sentence(reason));
                return Ok(Decision::new(windlass_types::Behavior::Allow, DecisionReason::Classifier, message));
            }
            Classified::Ask(reason) => format!("The classifier wants it asked about: {}", sentence(reason)),
            Classified::Failed(reason) => format!("The classifier gave no verdict: {}", sentence(reason)),
        };
        decision.message = format!("{} {explanation}", sentence(&decision.message));
        Ok(decision)
    }

    /// Asks the classifier, once the message of the call is stored.
    pub(super) fn classify(&mut self, cx: &mut Cx<'_>, read: Box<Read>, undecided: &Decision) {
        if !cx.committed {
            self.stage = Stage::Held(read);
            return;
        }
        let why = undecided.message.clone();
        let effect = cx.session.effect(Effect::Classify { facts: Box::new(read.facts.clone()), why });
        self.stage = Stage::Classifying(effect, read);
    }

    /// Handles the verdict of the classifier. A verdict that leads to a question is logged at once; one that allows the
    /// call, with its intent or its result.
    pub(super) fn classified(&mut self, cx: &mut Cx<'_>, read: Box<Read>, verdict: Classified) {
        let allows = matches!(verdict, Classified::Allow(_));
        self.consent.classified = Some((read.facts.digest.clone(), verdict));
        if !allows {
            let (hooks, approved) = (self.consent.hook_verdict.as_ref(), self.consent.approved.as_ref());
            let decision = cx.session.rights.policy.decide(&read.facts, hooks, approved);
            if let Ok(decision) = self.with_classifier(cx, &read, decision) {
                let entry = self.record_verdict(cx, Some(&read), &decision);
                cx.session.append_unawaited(vec![entry]);
            }
        }
        self.judge(cx, read);
    }
}
