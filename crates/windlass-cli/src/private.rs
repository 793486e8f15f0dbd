//! Keeps the memory and the environment of this process from other programs.

/// Keeps programs of the same user from reading the memory and environment of this process, which contain keys, and the
/// system from writing them to a file when it crashes. Programs that this one starts do not inherit this protection.
/// The administrator can read all of it nevertheless.
pub(crate) fn keep_memory_private() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        // If the system refuses that, this process is as private as any other.
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}
