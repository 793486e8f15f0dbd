//! Calls that rules leave undecided, in the mode auto: a classifier is asked before the host.

use super::call::{Call, Cx, Read, Stage};
use crate::Effect;
use windlass_permission::Classified;
use windlass_types::text::sentence;
use windlass_types::{Decision, DecisionReason};

impl Call {
    /// The verdict on a call, with what the classifier has said of this very call.
    ///
    /// # Errors
    /// The classifier is to be asked first: the verdict of the policy as it was.
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
        let said = match verdict {
            Classified::Allow(reason) => {
                let message = format!("The classifier allows it: {}", sentence(reason));
                return Ok(Decision::new(windlass_types::Behavior::Allow, DecisionReason::Classifier, message));
            }
            Classified::Ask(reason) => format!("The classifier wants it asked about: {}", sentence(reason)),
            Classified::Failed(reason) => format!("The classifier gave no verdict: {}", sentence(reason)),
        };
        decision.message = format!("{} {said}", sentence(&decision.message));
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

    /// The classifier has answered. A verdict that it is to be asked about is logged at once; one that allows the call, with
    /// its intent or its result.
    pub(super) fn classified(&mut self, cx: &mut Cx<'_>, read: Box<Read>, verdict: Classified) {
        let allows = matches!(verdict, Classified::Allow(_));
        self.consent.classified = Some((read.facts.digest.clone(), verdict));
        if !allows {
            let (hooks, approved) = (self.consent.hook_verdict.as_ref(), self.consent.approved.as_ref());
            let asked = cx.session.rights.policy.decide(&read.facts, hooks, approved);
            if let Ok(asked) = self.with_classifier(cx, &read, asked) {
                let entry = self.record_verdict(cx, Some(&read), &asked);
                cx.session.append_unawaited(vec![entry]);
            }
        }
        self.judge(cx, read);
    }
}
