//! Reviewers of elicitations, beside the person who answers them.

use crate::{Elicitation, ElicitationAnswer, ElicitationRequest};
use async_trait::async_trait;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Reviews elicitations before a person sees them, and the answers before the servers receive them. The hooks of a
/// session are a reviewer.
///
/// ```
/// use windlass_mcp::{ElicitationAnswer, ElicitationKind, ElicitationRequest, ElicitationReview};
///
/// /// Declines pages of other hosts.
/// struct OwnPages;
///
/// #[async_trait::async_trait]
/// impl ElicitationReview for OwnPages {
///     async fn asked(&self, request: &ElicitationRequest) -> Option<ElicitationAnswer> {
///         match &request.kind {
///             ElicitationKind::Url { url, .. } if !url.starts_with("https://example.com/") => Some(ElicitationAnswer::Decline),
///             _ => None,
///         }
///     }
/// }
/// ```
#[async_trait]
pub trait ElicitationReview: Send + Sync + 'static {
    /// Reviews a question. `Some` is the final answer, and no person is asked. The future is dropped when the server
    /// withdraws the question.
    async fn asked(&self, request: &ElicitationRequest) -> Option<ElicitationAnswer> {
        let _ = request;
        None
    }

    /// Returns the answer that the server receives in place of this one. Default: this answer.
    async fn answered(&self, request: &ElicitationRequest, answer: ElicitationAnswer) -> ElicitationAnswer {
        let _ = request;
        answer
    }

    /// `true` once the reviewer is finished and is to be dropped. Default: `false`.
    fn has_ended(&self) -> bool {
        false
    }
}

/// Reviewers of a set of servers, in the order in which they were added.
#[derive(Clone, Default)]
pub(crate) struct Reviews(Arc<Mutex<Vec<Arc<dyn ElicitationReview>>>>);

impl Reviews {
    pub(crate) fn add(&self, review: Arc<dyn ElicitationReview>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|review| !review.has_ended());
        all.push(review);
    }

    fn all(&self) -> Vec<Arc<dyn ElicitationReview>> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().filter(|review| !review.has_ended()).cloned().collect()
    }
}

impl fmt::Debug for Reviews {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reviews").finish_non_exhaustive()
    }
}

/// Elicitation handler with the reviews before and after.
pub(crate) struct Reviewed {
    pub(crate) inner: Arc<dyn Elicitation>,
    pub(crate) reviews: Reviews,
}

#[async_trait]
impl Elicitation for Reviewed {
    async fn elicit(&self, request: ElicitationRequest) -> ElicitationAnswer {
        let reviews = self.reviews.all();
        let mut given = None;
        for review in &reviews {
            given = review.asked(&request).await;
            if given.is_some() {
                break;
            }
        }
        let mut answer = match given {
            Some(answer) => answer,
            None => self.inner.elicit(request.clone()).await,
        };
        for review in &reviews {
            answer = review.answered(&request, answer).await;
        }
        answer
    }
}
