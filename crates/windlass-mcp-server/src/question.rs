//! Permission requests, put to the user of a client.

use crate::{Client, ClientAnswer};
use serde::Deserialize;
use windlass::{JsonText, PermissionAnswer, PermissionRequest};

/// Form with one checkbox.
const FORM: &str = r#"{"type":"object","properties":{"allow":{"type":"boolean","title":"Allow this call","description":"It runs once if this is set."}},"required":["allow"]}"#;

#[derive(Deserialize)]
struct FilledForm {
    #[serde(default)]
    allow: bool,
}

/// Asks for permission to run a call.
pub(crate) async fn ask(client: &Client, request: &PermissionRequest) -> PermissionAnswer {
    let reason = &request.decision.message;
    let Ok(form) = JsonText::parse(FORM) else { return PermissionAnswer::deny("It could not be asked about.") };
    let effect = request.impact.as_ref().map(|impact| format!("{} Risk: {}\n", impact.summary, impact.risk.as_str()));
    let message = format!("{} wants to run: {}\n{}{reason}", request.tool, request.title, effect.unwrap_or_default());
    match client.ask(&message, &form).await {
        ClientAnswer::Accepted(content) if content.to::<FilledForm>().is_ok_and(|filled| filled.allow) => {
            PermissionAnswer::allow()
        }
        ClientAnswer::Unsupported => PermissionAnswer::deny(format!(
            "{reason} The client cannot ask its user (it knows no elicitation), so it was denied: a rule of the server has to allow it."
        )),
        _ => PermissionAnswer::deny(format!("{reason} The user did not allow it.")),
    }
}
