//! Texts that stand in a line: here-documents, and names that the line gives to commands.

use crate::common::{Rules, World, allow, deny};
use windlass_types::Behavior::{Allow, Ask, Deny};
use windlass_types::PermissionMode::{AcceptEdits, BypassPermissions, Plan};

#[test]
fn a_rule_covers_a_command_with_a_static_here_document() {
    let world = World::new(allow(&["Bash(git commit *)", "Bash(python3 *)"]));
    world.check(
        Allow,
        &[
            "Bash git commit -m \"$(cat <<'EOF'\nfix: x\nEOF\n)\"",
            "Bash git commit -m \"$(cat <<'EOF'\nfix: don't say \"x\" (#2)\n\n$x `y`\nEOF\n)\" --amend",
            "Bash git commit -F - <<'EOF'\nfix: x\nEOF",
            "Bash git commit -F - <<EOF && git status\nfix: x\nEOF",
            "Bash git commit -F - <<< 'fix: x'",
            "Bash python3 - <<'EOF' | head -5\nprint(1)\nEOF",
            "Bash cat <<'EOF'\n$x\nEOF",
            "Bash wc -l <<EOF\nx\nEOF",
        ],
    );
    world.check(
        Ask,
        &[
            "Bash git commit -m \"$(cat <<EOF\nfix: $(id)\nEOF\n)\"",
            "Bash git commit -m \"$(cat <<'EOF'\nfix\nEOF\nid\n)\"",
            "Bash git commit -F - <<EOF\n`id`\nEOF",
            "Bash git commit -F - <<'EOF'\nx\nEOF\nmake",
            "Bash bash <<'EOF'\nmake\nEOF",
            "Bash cat > a.txt <<'EOF'\nx\nEOF",
        ],
    );
    // An exact rule has no lines of a document.
    let exact = World::new(allow(&["Bash(sqlite3 x.db <<'E')"]));
    exact.check(Ask, &["Bash sqlite3 x.db <<'E'\ndrop table t;\nE"]);
    World::in_mode(Plan, Rules::default()).check(Allow, &["Bash cat <<'EOF'\nx\nEOF"]);
}

#[test]
fn what_a_here_document_holds_is_judged() {
    let world = World::in_mode(BypassPermissions, deny(&["Read(secrets/**)", "Bash(rm *)"]));
    world.check(
        Deny,
        &[
            "Bash xargs cat <<'E'\nsecrets/key\nE",
            "Bash xargs rm <<'E'\nx\nE",
            "Bash sh <<'E'\nrm x\nE",
            "Bash at now <<'E'\nrm x\nE",
            "Bash cat <<E\\\nF\n$(rm x)\nEF",
        ],
    );
    world.check(
        Ask,
        &[
            "Bash python3 - <<'E'\nprint(open('secrets/key').read())\nE",
            "Bash python3 <<E\nprint(open(\"secrets/key\").read())\nE",
            "Bash sqlite3 x <<'E'\n.read secrets/key\nE",
            "Bash ed -s x <<-'E'\n\tr secrets/key\n\tE",
            "Bash cat <<'E' | perl\nopen F, 'secrets/key'\nE",
            "Bash node - <<'E'\nrequire('fs').readFileSync('secrets/key')\nE",
        ],
    );
    world.check(
        Allow,
        &[
            "Bash cat <<'E' > notes.md\nsee secrets/key and rm x\nE",
            "Bash python3 - <<'E'\nprint(1)\nE",
            "Bash git commit -F - <<'E'\nmove secrets/key\nE",
        ],
    );
    let editing = World::in_mode(AcceptEdits, Rules::default());
    editing.check(Allow, &["Bash cat > a.txt <<'E'\nx\nE"]);
    editing.check(Ask, &["Bash cat > .git/hooks/pre-commit <<'E'\nx\nE", "Bash cat > /etc/x <<'E'\nx\nE"]);
}

#[test]
fn a_deny_holds_for_names_that_the_line_gives_to_commands() {
    for mode in [BypassPermissions, AcceptEdits] {
        let world = World::in_mode(mode, deny(&["Bash(git push *)", "Bash(cargo publish *)", "Bash(hg push *)"]));
        for call in [
            "Bash git -c alias.p=push p origin",
            "Bash git -c alias.p='push --force' -C . p",
            "Bash git -c alias.a=b -c alias.b=push a origin",
            "Bash git -c alias.p='!git push' p origin",
            "Bash git -c alias.p='!git' p push",
            "Bash env -i git -c alias.p=push p",
            "Bash GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.p GIT_CONFIG_VALUE_0=push git p origin",
            "Bash GIT_CONFIG_GLOBAL=x git p origin",
            "Bash git --config-env=alias.p=P p origin",
            "Bash git -c include.path=x p origin",
            "Bash git -c help.autocorrect=immediate psuh origin",
            "Bash git --exec-path=. p origin",
            "Bash cargo --config 'alias.p=\"publish\"' p",
            "Bash CARGO_ALIAS_P=publish cargo p",
            "Bash hg --config alias.p=push p",
            "Bash alias p='git push'; p origin",
            "Bash p() { git push \"$@\"; }; p origin",
        ] {
            assert_ne!(world.verdict(call), Allow, "{mode:?} {call}");
        }
    }
    let world = World::in_mode(BypassPermissions, deny(&["Bash(git push *)"]));
    world.check(
        Allow,
        &[
            "Bash git -c user.name=x commit -m 'push it'",
            "Bash git -c alias.p=pull p",
            "Bash git -c core.quotepath=off status",
            "Bash GIT_CONFIG_GLOBAL=/dev/null git log",
            "Bash cargo --config net.offline=true build",
        ],
    );
}
