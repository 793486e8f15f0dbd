//! A program that starts in a sandbox, and the resources that it needs while it runs.

use std::fmt;
use std::sync::Arc;

use windlass_blocking::run_blocking;
use windlass_tool::{Confine, ProcessCommand, ProcessError, SandboxViolation};

#[cfg(target_os = "linux")]
use crate::bridge::Bridge;
use crate::sandbox::Inner;
use crate::sweep::{Made, sweep};
use crate::{Ground, SandboxError};

/// Command that starts a program inside the sandbox. Keep it until the program has ended: dropping it removes the
/// program's way into the network, and checks the [protected names](crate::SandboxPolicy::protected) that the program
/// may have created.
#[must_use = "a program whose way in is dropped reaches no proxy"]
pub struct Entered {
    /// Command to start instead: a program that confines itself and then becomes the original one. Its variables
    /// include those of the sandbox.
    pub command: ProcessCommand,
    pub(crate) held: Held,
}

impl fmt::Debug for Entered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entered").field("command", &self.command).finish_non_exhaustive()
    }
}

/// Resources of a program that runs inside.
pub(crate) struct Held {
    ground: Option<Ground>,
    /// `true` if protected names that the program created are moved aside.
    restore: bool,
    #[cfg(target_os = "linux")]
    pub(crate) bridge: Option<Bridge>,
}

impl Held {
    /// Returns the protected names that the program created or changed; called once it has ended.
    pub(crate) async fn sweep(&mut self) -> Vec<Made> {
        let Some(ground) = self.ground.take() else { return Vec::new() };
        let (ground, restore) = (Arc::new(ground), self.restore);
        let apart = Arc::clone(&ground);
        // Protected names are checked all the same where no thread is left.
        run_blocking(move || sweep(&apart.watched, restore)).await.unwrap_or_else(|_| sweep(&ground.watched, restore))
    }

    /// Returns the hosts that the proxy has refused to the program; these are certain, because the proxy reports them.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(clippy::unused_self, reason = "programs have a way to a proxy on Linux alone")
    )]
    pub(crate) fn refused(&self, sandbox: &Inner) -> Vec<SandboxViolation> {
        #[cfg(target_os = "linux")]
        let hosts = self.bridge.as_ref().map(|bridge| sandbox.refused.on(&bridge.connections())).unwrap_or_default();
        #[cfg(not(target_os = "linux"))]
        let hosts: Vec<String> = sandbox.refused.on(&[]);
        hosts.into_iter().map(SandboxViolation::host).collect()
    }
}

impl Drop for Held {
    /// Also covers a program that is dropped half-way.
    fn drop(&mut self) {
        if let Some(ground) = self.ground.take() {
            for made in sweep(&ground.watched, self.restore) {
                tracing::warn!(path = %made.path.display(), "a program that was stopped had made a protected name");
            }
        }
    }
}

impl Inner {
    /// Looks up the paths of the policy that exist now, and prepares the confinement of a thread for them.
    async fn look(self: &Arc<Self>) -> Result<(Ground, Option<Arc<Confine>>), ProcessError> {
        let inner = Arc::clone(self);
        let not_run = |reason: String| ProcessError::new(format!("The program was not started: {reason}."));
        let look = run_blocking(move || {
            let ground = Ground::look(&inner.policy, &inner.nested)?;
            #[cfg(target_os = "linux")]
            let thread = inner.wrap.thread(&inner.policy, &ground, &inner.threads);
            #[cfg(not(target_os = "linux"))]
            let thread = None;
            Ok::<_, SandboxError>((ground, thread))
        });
        let ground = look.await.map_err(|error| not_run(error.to_string()))?;
        ground.map_err(|error| not_run(error.to_string()))
    }

    pub(crate) async fn enter(self: &Arc<Self>, mut command: ProcessCommand) -> Result<Entered, ProcessError> {
        let own = &self.environment;
        command.env.retain(|(name, _)| !own.iter().any(|(own, _)| own == name));
        command.env.extend(own.iter().cloned());
        let (ground, thread) = self.look().await?;
        // Files that appear while a program runs in the background may be the user's.
        let restore = !command.background;
        #[cfg(target_os = "linux")]
        let bridge = self.bridge().map_err(|error| {
            ProcessError::new("The program was not started: it would not reach the proxy.").with_source(error)
        })?;
        #[cfg(target_os = "linux")]
        let proxy = bridge.as_ref().map(Bridge::socket);
        #[cfg(not(target_os = "linux"))]
        let proxy = None;
        let command = self.wrap.command(&self.policy, &ground, command, proxy, thread).ok_or_else(|| {
            ProcessError::new("The program was not started: the sandbox cannot express what it is to hold.")
        })?;
        let held = Held {
            ground: Some(ground),
            restore,
            #[cfg(target_os = "linux")]
            bridge,
        };
        Ok(Entered { command, held })
    }
}
