use super::*;

const PLAIN: &str = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n\
    [remote \"origin\"]\n\turl = git@example.org:a/b.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\
    [branch \"feature/x\"]\n\tremote = origin\n\tmerge = refs/heads/feature/x\n[user]\n\temail = a@example.org\n";

#[test]
fn what_clone_and_everyday_commands_write_is_inert() {
    for text in [
        "",
        PLAIN,
        &PLAIN.replace('\n', "\r\n"),
        "# a comment\n; another\n[pull]\n\trebase = true\n[push]\n\tdefault = current\n[init]\n\tdefaultBranch = main\n",
        "[remote \"up\"]\nurl = https://example.org/a.git\npushurl = ssh://git@example.org:22/a.git\n",
        "[remote \"here\"]\nurl = ../other\nurl = /srv/git/a.git\n[submodule \"x\"]\nactive = true\nurl = ../x.git\n",
        "[color]\n\tui = auto\n[color \"diff\"]\n\tmeta = yellow bold\n[advice]\n\tdetachedHead = false\n",
    ] {
        assert!(inert_config(text.as_bytes()).is_some(), "{text}");
    }
}

#[test]
fn the_length_of_names_comes_with_it() {
    assert_eq!(inert_config(PLAIN.as_bytes()).map(|config| config.hash_bytes), Some(20));
    let sha256 = "[core]\nrepositoryformatversion = 1\n[extensions]\nobjectFormat = sha256\n";
    assert_eq!(inert_config(sha256.as_bytes()).map(|config| config.hash_bytes), Some(32));
}

#[test]
fn whatever_may_run_a_program_or_lead_elsewhere_is_not() {
    for key in [
        "core.fsmonitor=x",
        "core.FSMonitor=true",
        "CORE.fsmonitor",
        "core.hookspath=hooks",
        "core.pager=x",
        "core.editor=x",
        "core.sshcommand=x",
        "core.worktree=/",
        "core.attributesfile=a",
        "core.excludesfile=a",
        "core.alternaterefscommand=x",
        "core.gitproxy=x",
        "core.askpass=x",
        "core.bare=true",
        "core.splitindex=true",
        "include.path=/x",
        "includeif.gitdir:/.path=/x",
        "alias.st=!x",
        "diff.external=x",
        "diff.tool=x",
        "diff.ignoresubmodules=none",
        "filter.a.clean=x",
        "diff.a.textconv=x",
        "diff.a.command=x",
        "merge.a.driver=x",
        "mergetool.a.cmd=x",
        "credential.helper=!x",
        "branch.sort=signature",
        "branch.sort=-signature:grade",
        "branch.sort=\"sig\"nature",
        "branch.sort",
        "tag.sort=*signature",
        "gpg.program=x",
        "gpg.ssh.program=x",
        "log.showsignature=true",
        "interactive.difffilter=x",
        "pager.log=x",
        "sequence.editor=x",
        "uploadpack.packobjectshook=x",
        "hook.a.command=x",
        "attr.tree=HEAD",
        "status.submodulesummary=true",
        "submodule.recurse=true",
        "submodule.a.update=!x",
        "extensions.worktreeconfig=true",
        "extensions.partialclone=origin",
        "extensions.unheardof=1",
        "remote.a.url=ext::sh -c x",
        "remote.a.url=--upload-pack=x",
        "remote.a.url=\"ext::x\"",
        "remote.a.url=ext:\":\"x",
        "remote.a.url",
        "remote.a.promisor=true",
        "remote.a.partialclonefilter=blob:none",
        "remote.a.uploadpack=x",
        "remote.a.vcs=x",
        "url.x.insteadof=y",
        "http.proxy=x",
        "protocol.allow=always",
        "unheard.of=1",
    ] {
        let (name, value) = key.split_once('=').map_or((key, None), |(name, value)| (name, Some(value)));
        let (section, rest) = name.split_once('.').unwrap();
        let header = match rest.rsplit_once('.') {
            Some((subsection, _)) => format!("[{section} \"{subsection}\"]"),
            None => format!("[{section}]"),
        };
        let key_name = rest.rsplit('.').next().unwrap();
        let line = value.map_or_else(|| key_name.to_owned(), |value| format!("{key_name} = {value}"));
        assert_eq!(inert_config(format!("{PLAIN}{header}\n\t{line}\n").as_bytes()), None, "{key}");
        assert_eq!(inert_config(format!("{header}\n{line}\n{PLAIN}").as_bytes()), None, "{key} first");
    }
}

#[test]
fn odd_spelling_is_a_doubt() {
    for text in [
        "[core] fsmonitor = x\n",
        "[core]fsmonitor=x",
        "[core]\nignorecase = a\\\nfsmonitor = x\n",
        "[core\n]\nfsmonitor = x\n",
        "[diff.a]\ntextconv = x\n",
        "[branch \"a\\\"]\n[core\"]\nfsmonitor = x\n",
        "[branch \"a\"] [core]\n",
        "filemode = true\n",
        "\u{feff}[core]\n",
        "[core]\nfile\u{0}mode = true\n",
        "[core]\rfsmonitor = x\n",
        "[core]\n= x\n",
        "[core]\n1file = x\n",
        "[core]\nfile mode = x\n",
        "[]\n",
    ] {
        assert_eq!(inert_config(text.as_bytes()), None, "{text:?}");
    }
    assert_eq!(inert_config(b"[core]\n\xff"), None);
    assert_eq!(inert_config(&vec![b'\n'; MAX_CONFIG + 1]), None);
}
