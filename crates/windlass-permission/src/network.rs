//! Network rules of a session: one reading of hosts, patterns and addresses for rules on `WebFetch`, for the tool, and
//! for the proxy of sandboxed programs.
//!
//! All of it is pure. A connecting program asks twice: [`NetworkPolicy::judge`] before a name is resolved, and
//! [`Permission::may_dial`] for each address of the name; it dials only addresses that passed.
//!
//! ```
//! use windlass_permission::network::{NetworkPolicy, Target, Verdict};
//!
//! let policy = NetworkPolicy::default().allow("*.example.com")?.deny("ads.example.com")?;
//! let verdict = |text: &str| Target::parse(text).map(|target| policy.judge(&target));
//! assert!(matches!(verdict("www.example.com:443"), Some(Verdict::Allowed(_))));
//! assert!(matches!(verdict("ads.example.com:443"), Some(Verdict::Denied(_))));
//! assert!(matches!(verdict("example.org:443"), Some(Verdict::Undecided)));
//! assert!(matches!(verdict("169.254.169.254:80"), Some(Verdict::Denied(_))));
//! # Ok::<(), windlass_permission::RuleError>(())
//! ```

mod address;
mod domain;
mod host;
mod policy;
mod url_pattern;

pub use address::AddressKind;
pub(crate) use domain::Domain;
pub use host::{Host, Target, host};
pub use policy::{NetworkPolicy, Permission, Verdict};
pub use url_pattern::UrlPattern;
