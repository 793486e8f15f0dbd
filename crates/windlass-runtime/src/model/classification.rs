//! The classifier's verdict on a call, paid from the budget of the session.

use crate::budget::Claim;
use crate::model::billing::Bill;
use crate::ports::classifier::Classification;
use tokio::sync::mpsc;
use windlass_core::Input;
use windlass_permission::Classified;

/// Asks the classifier's model, within its time limit. `claim`: the payment; without one the budget does not suffice.
pub(crate) async fn classify(
    request: &Classification,
    claim: Option<Claim>,
    results: &mpsc::UnboundedSender<Input>,
) -> Classified {
    let Some(mut claim) = claim else {
        return Classified::Failed("the budget does not buy its call".to_owned());
    };
    if let Err(failure) = claim.noted().await {
        return Classified::Failed(failure.message);
    }
    let mut bill = Bill::new(claim, request.model.clone(), results);
    request.verdict(&mut bill.usage).await
}
