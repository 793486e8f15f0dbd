//! An OS sandbox for the programs of a session, behind the port [`Process`](windlass_tool::Process).
//!
//! [`SandboxPolicy`] names the limits: where programs may write, which names stay as they are, which paths are hidden,
//! and how much of the network is reachable. [`Sandbox::open`] tries the mechanisms of this machine, best first:
//! bubblewrap; namespaces with Landlock and seccomp; Landlock and seccomp alone. Each runs a probe that tries forbidden
//! actions, and [`Sandbox::level`] is the proven result. [`Sandbox::around`] is then a `Process` that confines each
//! program.
//!
//! All mechanisms but bubblewrap need a helper: a program that confines itself and then becomes another one. Any binary
//! serves whose `main` calls [`become_helper`] first, such as that of the program which uses this crate.
//!
//! ```no_run
//! use std::sync::Arc;
//! use windlass_sandbox::{Sandbox, SandboxConfig, SandboxPolicy, become_helper};
//! use windlass_tool::Process;
//!
//! fn main() {
//!     if let Some(code) = become_helper(std::env::args_os().skip(1)) {
//!         std::process::exit(code);
//!     }
//!     // The program itself.
//! }
//!
//! async fn confined(process: Arc<dyn Process>) -> Result<Arc<dyn Process>, windlass_sandbox::SandboxError> {
//!     let policy = SandboxPolicy::new(["/home/me/project"]).with_protected([".git/hooks"]);
//!     let config = SandboxConfig::new(policy, "/tmp", "4f1c2a9be07d53").with_helper("/usr/bin/my-agent");
//!     let sandbox = Sandbox::open(config, &*process).await?;
//!     println!("in force: {}", sandbox.level());
//!     Ok(sandbox.around(process))
//! }
//! ```
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "unit tests use real folders and clocks"))]

mod bubblewrap;
mod confinement;
mod enter;
mod error;
mod ground;
mod level;
mod parents;
mod policy;
mod process;
mod proof;
mod refused;
mod sandbox;
mod seatbelt;
mod sweep;
mod violations;
mod wrap;

#[cfg(target_os = "linux")]
mod bridge;
#[cfg(target_os = "linux")]
mod helper;
#[cfg(target_os = "linux")]
mod thread;

pub use confinement::HELPER_WORD;
pub use enter::Entered;
pub use error::SandboxError;
pub use ground::{Ground, Watched, nested_projects};
pub use level::{Holds, Level, Mechanism};
pub use policy::{Network, PROXY_PORT, SandboxPolicy};
pub use process::{Confines, Sandboxed};
pub use refused::RefusedHosts;
pub use sandbox::{Sandbox, SandboxConfig};
pub use seatbelt::seatbelt_profile;

/// Becomes the helper if the arguments of the program (without its name) ask for it. Call it first in `main`, while the
/// program has one thread.
///
/// If the helper was asked for and all went well, the function does not return: the process has become the program to
/// run. Otherwise it returns the exit code, with which the caller is to exit. `None` means that the helper was not
/// asked for; so it is on all systems but Linux.
pub fn become_helper(arguments: impl IntoIterator<Item = std::ffi::OsString>) -> Option<i32> {
    #[cfg(target_os = "linux")]
    return helper::become_helper(arguments);
    #[cfg(not(target_os = "linux"))]
    return {
        drop(arguments);
        None
    };
}
