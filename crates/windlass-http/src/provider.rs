//! Parts that all model providers share: sources of credentials, and the conversion of failures to an error kind on
//! which the loop decides, a text without credentials, and the time to wait. Also the parts of a tool's schema that
//! many of them refuse.

mod body;
mod classify;
mod composition;
mod credentials;
mod headers;
mod ids;
mod listing;
mod members;
mod path;
mod refusal;
mod retry_after;
mod window;

pub use body::JsonBody;
pub use classify::{Failure, classify, hinted_wait, refuses_images};
pub use composition::{COMPOSITIONS, flatten, without_compositions};
#[cfg(feature = "aws-chain")]
pub use credentials::AwsChainCredentials;
#[cfg(feature = "google-adc")]
pub use credentials::GoogleAdcCredentials;
pub use credentials::{
    AwsAccess, AwsKeys, AwsProfileCredentials, Clock, CommandCredentials, Credential, CredentialKey, Credentials,
    EnvironmentCredentials, FileCredentials, GoogleUserCredentials, RefreshingCredentials, google_credentials,
    other_credential,
};
pub use headers::custom_header;
pub use ids::{call_id, stable_hash};
pub use listing::{ListedModel, MAX_MODEL_LIST, ServerWindows, listed_models};
pub use members::with_members;
pub use path::escape_segment;
pub use refusal::{Secrets, Vendor, from_http, readable};
pub use retry_after::{retry_after, should_retry};
pub use window::{named_window, with_window};
