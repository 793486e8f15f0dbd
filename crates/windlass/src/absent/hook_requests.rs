//! Requests of configured hooks over HTTP, in a build without the feature `credentials`, which brings HTTP.

use windlass_hook::HookError;
use windlass_hook_runner::{HookRequest, HookResponse};

pub(super) async fn post(
    _: HookRequest,
    _: &(dyn Fn(&str) -> Option<String> + Send + Sync),
) -> Result<HookResponse, HookError> {
    Err("this program is built without requests of hooks".into())
}
