//! The start of a program by a thread that confines itself: rights that Landlock and seccomp take from a thread, it
//! cannot pass on.

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use landlock::RulesetCreated;
use seccompiler::BpfProgram;
use windlass_tool::Confine;

use crate::confinement::Confinement;
use crate::helper::failed::{Failed, context};
use crate::helper::stamps::Stamps;
use crate::helper::{filter, give_up_rights, rules};

/// Prepared confinement of threads, kept for as long as it matches the paths on disk.
#[derive(Default)]
pub(crate) struct Threads(Mutex<Option<Prepared>>);

struct Prepared {
    confinement: Confinement,
    stamps: Stamps,
    confine: Arc<Confine>,
}

impl Threads {
    /// Returns a function that confines the calling thread as the helper confines itself, without namespaces. Looks
    /// through directories.
    pub(crate) fn prepare(&self, confinement: Confinement) -> Result<Arc<Confine>, Failed> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = &*kept
            && kept.confinement == confinement
            && kept.stamps.are_current()
        {
            return Ok(Arc::clone(&kept.confine));
        }
        let mut stamps = Stamps::new();
        let ruleset = rules::ruleset(&confinement, Some(&mut stamps))?;
        let filter = filter::filter(&confinement)?;
        let confine = move || confine(&ruleset, &filter).map_err(|failed| io::Error::other(failed.to_string()));
        let confine: Arc<Confine> = Arc::new(confine);
        *kept = Some(Prepared { confinement, stamps, confine: Arc::clone(&confine) });
        Ok(confine)
    }
}

impl fmt::Debug for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Threads").finish_non_exhaustive()
    }
}

fn confine(ruleset: &RulesetCreated, filter: &BpfProgram) -> Result<(), Failed> {
    give_up_rights(ruleset.try_clone().map_err(context("Landlock"))?, filter, false)
}
