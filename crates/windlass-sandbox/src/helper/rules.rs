//! Rules of Landlock about the file system, the network and other processes.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, Ruleset, RulesetAttr as _, RulesetCreated,
    RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};

use super::stamps::Stamps;
use super::{Failed, context, devices};
use crate::confinement::Confinement;

/// Confines this thread, the program that it becomes, and the processes that it starts. Rules that the kernel does not
/// know are left out: the level is found by trying, not by assumption.
pub(super) fn restrict(ruleset: RulesetCreated, has_own_view: bool) -> Result<(), Failed> {
    let status = ruleset.restrict_self().map_err(context("Landlock"))?.ruleset;
    // With a separate view, other limits remain; without one there would be no limit at all.
    if status == RulesetStatus::NotEnforced && !has_own_view {
        return Err(context("Landlock")("this kernel does not have it"));
    }
    Ok(())
}

/// Returns the rules for the paths that exist now. `stamps` collects the directories by which the rules can later be
/// checked; a caller that does not keep the rules needs none.
pub(crate) fn ruleset(confinement: &Confinement, stamps: Option<&mut Stamps>) -> Result<RulesetCreated, Failed> {
    created(confinement, stamps).map_err(context("Landlock"))
}

fn created(confinement: &Confinement, mut stamps: Option<&mut Stamps>) -> Result<RulesetCreated, RulesetError> {
    let all = AccessFs::from_all(ABI::V5);
    let mut ruleset = Ruleset::default().handle_access(all)?.scope(Scope::from_all(ABI::V6))?;
    if !confinement.network && !confinement.has_own_view() {
        ruleset = ruleset.handle_access(AccessNet::from_all(ABI::V4))?;
    }
    let read: BitFlags<AccessFs> = AccessFs::ReadFile | AccessFs::Execute;
    let device: BitFlags<AccessFs> =
        AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev | AccessFs::ReadDir;
    // A separate `/dev` has no other devices. Those of the machine include terminals, where one can read what is typed,
    // and cameras.
    let (devices, others) = match confinement.has_own_view() {
        true => (vec![PathBuf::from("/dev")], None),
        false => (devices::NAMES.iter().map(|name| Path::new("/dev").join(name)).collect(), Some(Path::new("/dev"))),
    };
    let created = ruleset
        .create()?
        // Names may be listed everywhere: only the content of files is hidden.
        .add_rules(path_beneath_rules(["/"], AccessFs::ReadDir))?
        .add_rules(path_beneath_rules(seen(Path::new("/"), confinement, others, stamps.as_deref_mut()), read))?
        .add_rules(path_beneath_rules(devices, device))?;
    let shared = confinement.has_own_view().then_some("/dev/shm");
    let writable = confinement.writable.iter().flat_map(|root| seen(root, confinement, None, stamps.as_deref_mut()));
    created.add_rules(path_beneath_rules(writable.chain(shared.map(PathBuf::from)), all))
}

/// Returns the paths that together form a directory without its hidden parts and without `others`. If mounts hide
/// those, that is the directory itself.
fn seen(
    root: &Path,
    confinement: &Confinement,
    others: Option<&Path>,
    mut stamps: Option<&mut Stamps>,
) -> Vec<PathBuf> {
    let hidden: BTreeSet<&Path> = match confinement.has_own_view() {
        true => BTreeSet::new(),
        false => {
            let both = confinement.hidden_directories.iter().chain(&confinement.hidden_files);
            both.map(PathBuf::as_path).chain(others).collect()
        }
    };
    if let Some(stamps) = &mut stamps {
        stamps.add_place(root);
    }
    let (mut seen, mut open) = (Vec::new(), vec![root.to_owned()]);
    while let Some(path) = open.pop() {
        if hidden.iter().any(|hidden| path.starts_with(hidden)) {
            continue;
        }
        if !hidden.iter().any(|hidden| hidden.starts_with(&path)) {
            seen.push(path);
            continue;
        }
        if let Some(stamps) = &mut stamps {
            stamps.add_names(&path);
        }
        for entry in fs::read_dir(&path).into_iter().flatten().flatten() {
            // A link would be followed to a target that may be hidden. The target has a name of its own.
            if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
                open.push(entry.path());
            }
        }
    }
    seen
}
