//! Requests of configured hooks over HTTP.

use std::future::poll_fn;
use windlass_hook::HookError;
use windlass_hook_runner::{HookRequest, HookResponse};
use windlass_http::{HttpOptions, HttpRequest, HttpTransport as _, NetworkTransport};

/// Sends a request. `lookup` gives the variables that name proxies and certificates.
pub(super) async fn post(
    request: HookRequest,
    lookup: &(dyn Fn(&str) -> Option<String> + Send + Sync),
) -> Result<HookResponse, HookError> {
    let mut options = HttpOptions::default();
    options.look_up(&|name| lookup(name));
    let mut sent = HttpRequest::post(&request.url).with_header("content-type", "application/json");
    for (name, value) in &request.headers {
        sent = sent.with_header(name, value);
    }
    let sent = sent.with_body(request.body.as_str().to_owned());
    let response = NetworkTransport::new(&request.url, &options)?.send(sent).await?;
    let (status, mut body, mut bytes) = (response.status(), response.into_body(), Vec::new());
    while let Some(chunk) = poll_fn(|cx| body.as_mut().poll_next(cx)).await {
        bytes.extend_from_slice(&chunk?);
        if bytes.len() > request.most_bytes {
            return Err(format!("the answer is longer than {} bytes", request.most_bytes).into());
        }
    }
    Ok(HookResponse { status, body: String::from_utf8_lossy(&bytes).into_owned() })
}
