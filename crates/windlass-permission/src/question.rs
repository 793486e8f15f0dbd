//! A question about a call that is put to PermissionRequest hooks and the host at the same time.

use windlass_types::PermissionAnswer;

/// Answers of hooks and the host so far, and the result that follows from them.
///
/// A deny of either applies at once, an allow when all hooks have answered. A hook's allow needs no host. If neither
/// decides, the call is denied. Of two denials, the hooks' one is returned.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[must_use]
pub struct Question {
    hooks: Reply,
    host: Reply,
}

/// Answer of one side.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum Reply {
    /// The side has not answered yet.
    #[default]
    Pending,
    /// The side does not decide.
    NoOpinion,
    Answer(PermissionAnswer),
}

impl Reply {
    fn of(answer: Option<PermissionAnswer>) -> Self {
        answer.map_or(Self::NoOpinion, Self::Answer)
    }

    fn deny(&self) -> Option<&PermissionAnswer> {
        match self {
            Self::Answer(answer @ PermissionAnswer::Deny { .. }) => Some(answer),
            _ => None,
        }
    }
}

impl Question {
    /// Creates a question without an answer so far.
    pub fn new() -> Self {
        Self::default()
    }

    /// Records the answer of all hooks; `None` if none of them decides.
    pub fn hooks_answered(&mut self, answer: Option<PermissionAnswer>) {
        self.hooks = Reply::of(answer);
    }

    /// Records the answer of the host; `None` if there is none.
    pub fn host_answered(&mut self, answer: Option<PermissionAnswer>) {
        self.host = Reply::of(answer);
    }

    /// Returns `true` while the hooks have not answered.
    pub fn waits_for_hooks(&self) -> bool {
        self.hooks == Reply::Pending
    }

    /// Returns `true` while the host has not answered.
    pub fn waits_for_host(&self) -> bool {
        self.host == Reply::Pending
    }

    /// Returns `true` if both sides have answered, and neither decides.
    pub fn is_undecided(&self) -> bool {
        self.hooks == Reply::NoOpinion && self.host == Reply::NoOpinion
    }

    /// Returns the answer, once nothing that is still to come can change it.
    pub fn settled(&self) -> Option<PermissionAnswer> {
        if let Some(deny) = self.hooks.deny().or(self.host.deny()) {
            return Some(deny.clone());
        }
        match (&self.hooks, &self.host) {
            (Reply::Pending, _) | (Reply::NoOpinion, Reply::Pending) => None,
            (Reply::Answer(answer), _) | (Reply::NoOpinion, Reply::Answer(answer)) => Some(answer.clone()),
            (Reply::NoOpinion, Reply::NoOpinion) => {
                Some(PermissionAnswer::deny("Nobody is there to approve the call, so it was denied."))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deny_wins_at_once_and_an_allow_waits_for_hooks() {
        let allow = || Reply::Answer(PermissionAnswer::allow());
        let deny = |text: &str| Reply::Answer(PermissionAnswer::deny(text));
        let unanswered = "Nobody is there to approve the call, so it was denied.";
        for (hooks, host, expected) in [
            (Reply::Pending, Reply::Pending, Reply::Pending),
            (Reply::Pending, allow(), Reply::Pending),
            (Reply::Pending, deny("host"), deny("host")),
            (Reply::Pending, Reply::NoOpinion, Reply::Pending),
            (Reply::NoOpinion, Reply::Pending, Reply::Pending),
            (Reply::NoOpinion, allow(), allow()),
            (Reply::NoOpinion, deny("host"), deny("host")),
            (Reply::NoOpinion, Reply::NoOpinion, deny(unanswered)),
            (allow(), Reply::Pending, allow()),
            (allow(), deny("host"), deny("host")),
            (allow(), Reply::NoOpinion, allow()),
            (deny("hook"), Reply::Pending, deny("hook")),
            (deny("hook"), allow(), deny("hook")),
            (deny("hook"), deny("host"), deny("hook")),
        ] {
            let question = Question { hooks, host };
            let got = question.settled().map_or(Reply::Pending, Reply::Answer);
            assert_eq!(got, expected, "{question:?}");
        }
    }

    /// A settled answer is final: an answer that comes later does not turn a deny into an allow.
    #[test]
    fn no_later_answer_turns_a_deny_into_an_allow() {
        let answers = [None, Some(PermissionAnswer::allow()), Some(PermissionAnswer::deny("no"))];
        for hooks in &answers {
            for host in &answers {
                for hooks_first in [true, false] {
                    let mut question = Question::new();
                    let mut seen = Vec::new();
                    for side in [hooks_first, !hooks_first] {
                        if side {
                            question.hooks_answered(hooks.clone());
                        } else {
                            question.host_answered(host.clone());
                        }
                        seen.extend(question.settled());
                    }
                    assert!(!question.waits_for_hooks() && !question.waits_for_host());
                    let is_deny = |answer: &PermissionAnswer| matches!(answer, PermissionAnswer::Deny { .. });
                    let allows = [hooks, host].into_iter().flatten().any(|answer| !is_deny(answer));
                    let denies = [hooks, host].into_iter().flatten().any(is_deny);
                    let settled = seen.last().expect("both have answered");
                    assert_eq!(is_deny(settled), denies || !allows, "{hooks:?} {host:?}");
                    // A hook's allow may come before the host denies; the host is then no longer waited for.
                    let first = seen.first().expect("both have answered");
                    assert!(is_deny(settled) || !is_deny(first), "{hooks:?} {host:?}");
                }
            }
        }
    }
}
