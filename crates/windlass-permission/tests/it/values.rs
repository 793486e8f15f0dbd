//! Paths and programs that a line names by a detour of its own: variables, links of processes, options that widen.

use crate::common::{World, deny};
use windlass_types::Behavior::{Allow, Ask, Deny};
use windlass_types::PermissionMode::BypassPermissions;

#[test]
fn values_of_variables_are_judged() {
    let world = World::in_mode(BypassPermissions, deny(&["Read(secrets/**)", "Bash(rm *)"]));
    world.check(
        Deny,
        &[
            "Bash f=secrets/key; cat \"$f\"",
            "Bash d=secrets; cat \"$d/key\"",
            "Bash for f in secrets/key; do cat \"$f\"; done",
            "Bash for f in a secrets/key; do cat $f; done",
            "Bash f=secrets/key; cat < \"$f\"",
            "Bash export f=secrets/key; cat $f",
            "Bash c=rm; $c x",
            "Bash for c in ls rm; do $c x; done",
            "Bash c='rm x'; sh -c \"$c\"",
            "Bash for d in /etc; do mv \"$d\" x; done",
        ],
    );
    world.check(
        Ask,
        &["Bash f=.git/config; cp a \"$f\"", "Bash f=.envrc; echo x > \"$f\"", "Bash w=windlass; $w trust -y"],
    );
    world.check(Allow, &["Bash for d in src; do cd \"$d\"; ls; done"]);
}

#[test]
fn directories_of_processes_are_those_of_the_command() {
    let world = World::in_mode(BypassPermissions, deny(&["Read(secrets/**)"]));
    world.check(
        Deny,
        &[
            "Bash cat /proc/self/cwd/secrets/key",
            "Bash cd secrets && cat /proc/self/cwd/key",
            "Bash cd secrets && cat /proc/thread-self/cwd/key",
            "Bash cd secrets && cat /dev/fd/../cwd/key",
            "Bash cat /proc/self/root/w/secrets/key",
        ],
    );
    world.check(Ask, &["Bash echo x > /proc/self/cwd/.git/config"]);
    world.check(Allow, &["Bash cat /proc/self/status", "Bash ls /proc/self/fd", "Bash cat /proc/self/cwd/a"]);
}

#[test]
fn searches_of_trees_and_whole_commits_meet_a_read_deny() {
    let world = World::in_mode(BypassPermissions, deny(&["Read(/secrets/**)"]));
    world.check(
        Ask,
        &[
            "Bash grep -d recurse k .",
            "Bash grep -drecurse k",
            "Bash grep --directories=recurse k .",
            "Bash rgrep k",
            "Bash rgrep k .",
            "Bash ugrep k",
            "Bash ack k",
            "Bash ack k .",
            "Bash zgrep -r k .",
            "Bash pcre2grep -r k .",
            "Bash git log --full-diff -p -- a",
            "Bash git log -p --follow -- a",
            "Bash git grep -- a",
            "Bash git bisect visualize -p",
        ],
    );
    world.check(Allow, &["Bash zgrep k a", "Bash git log -p -- a", "Bash git grep k -- a", "Bash grep -d skip k a"]);
}
