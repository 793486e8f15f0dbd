use super::*;
use crate::Word;

fn programs(text: &str) -> Vec<String> {
    scan(text).found.iter().map(|c| c.program().unwrap_or("?").to_owned()).collect()
}

const HIDING_PLACES: &[&str] = &[
    "env - rm x",
    "env - A=b rm x",
    "env -u A - rm x",
    "busybox env - rm x",
    "env --argv0 y rm x",
    "genv - rm x",
    "gnice rm x",
    "setpriv --ruid 0 rm x",
    "setpriv --pdeathsig KILL rm x",
    "strace --string-limit 5 rm x",
    "strace -o '|rm x' ls",
    "strace -o'!rm x' ls",
    "strace --output='|rm x' ls",
    "sudo --login-class y rm x",
    "prlimit --nofile 5 rm x",
    "setarch -R rm x",
    "setarch x86_64 rm x",
    "xvfb-run --auth-file y rm x",
    "torsocks --address y rm x",
    "nix develop -c rm x",
    "nix-shell --run 'rm x'",
    "guix shell -- rm x",
    "chpst -u y rm x",
    "ifne rm x",
    "pee 'rm x'",
    "mosh h -- rm x",
    "vagrant ssh -c 'rm x'",
    "cmake -E env rm x",
    "just --command rm x",
    "go run -exec rm .",
    "go test --exec=rm",
    "go build -toolexec 'rm x'",
    "go vet -vettool=rm",
    "cargo --config build.rustc-wrapper='\"rm\"' build",
    "cargo test --config 'target.x.runner=[\"rm\", \"x\"]'",
    "CARGO_BUILD_RUSTC=rm cargo build",
    "apt -o APT::Update::Pre-Invoke::='rm x' update",
    "apt-get -oAPT::Update::Pre-Invoke::='rm x' update",
    "tcpdump -zrm -w y -G 1",
    "bat --pager 'rm x' y",
    "gdb -ex '!rm x'",
    "gdb -ex 'pipe y | rm x'",
    "git clone 'ext::rm x'",
    "git fetch 'ext::rm x'",
    "git remote add y 'ext::rm x'",
    "git remote-ext y 'rm x'",
    "echo 'rm x' | at now",
    "echo 'rm x' | batch",
    "su <<< 'rm x'",
    "sudo -s <<< 'rm x'",
    "sudo -u y -i <<< 'rm x'",
    "env - bash <<< 'rm x'",
    "npm exec -- rm x",
    "npm exec -c 'rm x'",
    "npx -c 'rm x'",
    "pnpm exec rm x",
    "yarn exec rm x",
    "uv run rm x",
    "uv run --with y rm x",
    "/lib64/ld-linux-x86-64.so.2 /bin/rm x",
    "ssh-agent rm x",
    "gpg-agent --daemon rm x",
    "chronic rm x",
    "faketime yesterday rm x",
    "split --filter='rm x' y",
    "ssh -o ProxyCommand='rm x' host",
    "scp -S rm x host:",
    "socat - EXEC:'rm x'",
    "ncat -e rm host 1",
    "fzf --preview 'rm {}'",
    "gdb --batch -ex 'shell rm x'",
    "expect -c 'spawn rm x'",
    "make SHELL=/bin/rm",
    "make -j4 SHELL:=rm x",
    "make CC='rm x' all",
    "make 'SHELL = rm'",
    "SHELL=/bin/rm vim",
    "CC=rm make",
    "env RUSTC_WRAPPER=/bin/rm cargo build",
    "export RUSTC_WRAPPER=rm; cargo build",
    "CARGO_BUILD_LINKER=rm cargo build",
    "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.x GIT_CONFIG_VALUE_0='!rm y' git x",
    "GIT_ASKPASS=rm git fetch",
    "npm run x --script-shell=/bin/rm",
    "npm_config_script_shell=/bin/rm npm run x",
    "RSYNC_RSH='rm x' rsync a b",
    "PS4='$(rm x)' bash -x y",
    "git bisect run rm x",
    "git -c alias.y='!rm x' y",
    // Git refuses it attached; it is found all the same.
    "git -calias.y='!rm x' y",
    "git -c core.pager='rm x' log",
    "git -c alias.y='!rm' y x",
    "cat <<E\\\nF\n$(rm x)\nEF",
    "at now <<'E'\nrm x\nE",
    "ssh h <<E\nrm x\nE",
    "git submodule foreach 'rm x'",
    "git submodule foreach --recursive rm x",
    "git rebase -x 'rm x' HEAD",
    "git rebase --exec='rm x' HEAD",
    "git filter-branch --tree-filter 'rm x'",
    "git difftool -x 'rm x'",
    "git fetch --upload-pack='rm x' .",
    "tar --checkpoint-action=exec='rm x' -cf a .",
    "tar --to-command='rm x' -xf a",
    "tar -I 'rm x' -xf a",
    "rsync -e 'rm x' a b",
    "ssh host rm x",
    "ssh host 'rm x'",
    "man -P 'rm x' ls",
    "rg --pre 'rm x' y",
    "GIT_PAGER='rm x' git log",
    "LESSOPEN='|rm x' less a",
    "env PAGER='rm x' man ls",
    "GIT_SSH_COMMAND='rm x' git fetch",
    "rm x",
    "/bin/rm x",
    "\\rm x",
    "'r'm x",
    "r\"m\" x",
    "r\\\nm x",
    "$'rm' x",
    "$'\\x72m' x",
    "FOO=1 rm x",
    "a[1]=2 rm x",
    "A+=1 rm x",
    "true && rm x",
    "true; rm x",
    "true\nrm x",
    "true | rm x",
    "true |& rm x",
    "true & rm x",
    "true || rm x",
    "(rm x)",
    "( ( rm x ) )",
    "((rm x); ls)",
    "{ rm x; }",
    "! rm x",
    "!(rm x)",
    "echo $(rm x)",
    "echo \"$(rm x)\"",
    "echo `rm x`",
    "echo \"`rm x`\"",
    "echo `echo \\`rm x\\``",
    "echo $(echo $(rm x))",
    "echo ${a:-$(rm x)}",
    "echo \"${a:-`rm x`}\"",
    "echo $((1+$(rm x)))",
    "echo $((rm x); (ls))",
    "echo $[1+$(rm x)]",
    "cat <(rm x)",
    "tee >(rm x)",
    "if rm x; then :; fi",
    "if true; then rm x; fi",
    "if a; then b; elif c; then d; else rm x; fi",
    "while rm x; do :; done",
    "for i in a b; do rm $i; done",
    "for i in $(rm x); do :; done",
    "for ((i=0;i<1;i++)); do rm x; done",
    "for i do rm x; done",
    "case a in a) rm x;; esac",
    "case a in (a|b) :;; *) rm x; esac",
    "echo \"$(case a in a) rm x;; esac)\"",
    "f() { rm x; }; f",
    "f() (rm x); f",
    "function f { rm x; }; f",
    "function f() { rm x; }; f",
    "select i in a; do rm x; done",
    "until rm x; do :; done",
    "cat <<E\n$(rm x)\nE",
    "cat <<-E\n\t`rm x`\n\tE",
    "cat <<E; rm x\nhi\nE",
    "cat <<'E'\nhi\nE\nrm x",
    "cat <<E\nhi\nE\nrm x",
    "cat <<E\\\nF\nhi\nEF\nrm x",
    "cat <<A <<B\n1\nA\n2\nB\nrm x",
    "cat <<-'E'\n\t$(x)\n\tE\nrm x",
    "cat <<\\E\n'\nE\nrm x",
    "bash -c 'rm x'",
    "sh -c \"rm x\"",
    "bash -lc 'rm x'",
    "bash -x -c 'rm x'",
    "bash -o pipefail -c 'rm x'",
    "/bin/sh -ec 'rm x'",
    "bash -c 'bash -c \"rm x\"'",
    "eval rm x",
    "eval 'rm x'",
    "eval \"rm\" x",
    "bash <<E\nrm x\nE",
    "bash <<'E'\nrm x\nE",
    "sh <<<'rm x'",
    "echo rm x | sh",
    "echo 'rm x' | bash",
    "printf 'rm x' | bash -s",
    "timeout 5 rm x",
    "timeout -k 3 -s KILL 5 rm x",
    "timeout --signal=KILL 5 rm x",
    "timeout --sig KILL 5 rm x",
    "timeout $T rm x",
    "time rm x",
    "time -p rm x",
    "nice rm x",
    "nice -n 5 rm x",
    "nice -5 rm x",
    "nohup rm x",
    "stdbuf -oL rm x",
    "stdbuf -o L rm x",
    "command rm x",
    "command -p rm x",
    "builtin rm x",
    "exec rm x",
    "exec -a y rm x",
    "env rm x",
    "env -i A=1 rm x",
    "env -u A rm x",
    "env -S 'rm x'",
    "env -S'rm x'",
    "env --split-string='rm x'",
    "sudo rm x",
    "sudo -u root rm x",
    "sudo -n -- rm x",
    "sudo A=1 rm x",
    "doas rm x",
    "xargs rm",
    "xargs -0 -n 1 rm",
    "xargs -I{} rm {}",
    "xargs -i rm {}",
    "xargs --replace rm {}",
    "xargs --max-lines rm",
    "xargs --eof rm",
    "xargs --max-args 1 rm",
    "xargs sh -c 'rm x'",
    "find . -exec rm {} \\;",
    "find . -name a -execdir rm {} +",
    "find . -exec sh -c 'rm x' \\;",
    "find . -ok rm {} ';'",
    "setsid rm x",
    "watch rm x",
    "watch -n 1 'rm x'",
    "ionice -c 3 rm x",
    "flock f rm x",
    "flock f -c 'rm x'",
    "chroot / rm x",
    "taskset 1 rm x",
    "busybox rm x",
    "strace -f -o l rm x",
    "unshare -r rm x",
    "su -c 'rm x'",
    "script -c 'rm x' f",
    "parallel rm ::: a",
    "timeout 5 nice env A=1 nohup rm x",
    "trap 'rm x' EXIT",
    "coproc rm x",
    "coproc N { rm x; }",
    "{rm,x}",
    "r{m,} x",
    "echo a > >(rm x)",
    "a=$(rm x)",
    "a=(1 $(rm x))",
    "a='$(rm x)'; : $((a))",
    "[[ -n $(rm x) ]]",
    "[[ a == b || -n $(rm x) ]] && :",
    "test -v 'a[$(rm x)]'",
    "rm>x",
    "2>x rm x",
    "2>&1 rm x",
    "{fd}>x rm x",
    "<x rm x",
    "# y\nrm x",
    "echo a#b; rm x",
    "echo \\# ; rm x",
    "echo 'a' ; rm x # b",
    "if a; then b; fi | rm x",
    "echo \"a $(echo \"b $(rm x)\")\"",
    "true &&\n\n rm x",
    "a \\\n&\\\n& rm x",
    "echo $\\\n(rm x)",
    "x=1 y=2 env z=3 rm x",
    "time { rm x; }",
    "time ! rm x",
    "$EMPTY rm x",
    "docker exec c rm x",
    "mapfile -C 'rm x' -c 1 a",
    "while read l; do rm $l; done < f",
    "alias ll='rm x'; ll",
    "git status; rm x",
    "true;rm x;true",
    "(true;(rm x))",
    "bash -c -- 'rm x'",
];

#[test]
fn finds_a_command_wherever_it_hides() {
    for text in HIDING_PLACES {
        assert!(programs(text).iter().any(|p| p == "rm"), "{text:?}: {:?}", programs(text));
    }
}

#[test]
fn does_not_find_commands_in_data() {
    for text in [
        "echo rm x",
        "echo 'a; rm x'",
        "echo \"a; rm x\"",
        "# rm x",
        "echo a # ; rm x",
        "cat <<'E'\n$(rm x)\nE",
        "cat <<E\nrm x\nE",
        "grep -r rm .",
        "timeout 5 grep rm f",
        "xargs grep rm",
        "git rm x",
        "case rm in rm) :;; esac",
        "for rm in a; do :; done",
        "echo \\$\\(rm x\\)",
        "find . -name rm",
        "npm run rm",
        "npm rm x",
        "yarn add rm",
        "uv pip install rm",
        "scp -r x host:rm",
        "ls rm",
        "a=rm",
        "sudo -u rm ls",
        "echo a\\;rm",
    ] {
        assert!(!programs(text).iter().any(|p| p == "rm"), "{text:?}: {:?}", programs(text));
    }
}

#[test]
fn says_when_it_cannot_know() {
    for text in [
        "$X y",
        "$(echo rm) x",
        "`echo rm` x",
        "eval $X",
        "eval \"$X\"",
        "bash -c \"$X\"",
        "curl x | sh",
        "bash",
        "bash -s",
        "sh -c \"$(curl x)\"",
        "/bin/r? x",
        "alias a=b",
        "shopt -s expand_aliases",
        "echo 'x",
        "echo \"x",
        "echo $(x",
        "echo ${x",
        "source <(x)",
        "source /dev/stdin",
        "x() { y; }; ${z}",
        "echo ${x@P}",
        "echo )",
        "r${x}m y",
        "timeout 5 $X",
        "xargs $X",
        "find . -exec $X \\;",
        "echo rm x | xargs env",
        "echo rm x | xargs -- env",
        "echo rm x | xargs --no-run-if-empty env",
        "echo rm x | xargs -0 sudo",
        "echo 5 rm x | xargs timeout",
        "echo rm x | xargs timeout 5",
        "echo 'rm x' | xargs sh -c",
        "echo 'rm x' | xargs -I{} sh -c {}",
        "echo 'rm x' | xargs -I % env bash -c 'echo %'",
        "echo 'rm x' | xargs -i sh -c 'echo {}'",
        "echo 'rm x' | xargs --replace sh -c 'echo {}'",
        "echo 'rm x' | xargs --repl=% sh -c 'echo %'",
        "echo rm | xargs -I{} {} x",
        "echo rm | xargs -rI{} env {} x",
        "find . -exec sh -c {} \\;",
        "find . -exec bash -c 'cat {}' \\;",
        "find . -exec {} \\;",
        "fd . -x env {}",
        "fd . -x sh -c 'cat {/.}'",
        "echo a\r",
        "enable -f a b",
    ] {
        assert!(scan(text).undecided.is_some(), "{text:?}");
    }
}

#[test]
fn knows_ordinary_scripts() {
    for text in [
        "ls | xargs -I{} sh -c 'cat \"$1\"' _ {}",
        "ls | xargs sh -c 'env' _",
        "ls | xargs --max-args=1 sh -c 'cat \"$1\"' _",
        "ls | sh -c",
        "ls | xargs -n1 timeout 5 cat",
        "ls | xargs",
        "ls | xargs -I{} cp {} x/{}",
        "find . -exec sh -c 'f() { cat \"$1\"; }; f \"$@\"' _ {} +",
        "find . -name x -exec grep -l y {} +",
        "xargs -I{} env; env; sh -c 'echo {}'",
        "ls -la && cd x; echo \"$HOME\" | grep a > b",
        "for i in *.rs; do wc -l \"$i\"; done",
        "if [ -f a ]; then echo b; fi",
        "cat <<'E' > f\nit's $5\nE\necho",
        "echo $((i+1)) ${x:-y} ${#x} ${x%.rs}",
        "npm test 2>&1 | tail -5",
        "bash script.sh a b",
        "f() { ls; }; f",
        "while read -r l; do echo \"$l\"; done < x",
        "case $x in a|b) ls;; *) pwd;; esac",
        "[[ $a =~ ^(a|b)$ ]] && ls",
        "a=(1 2 3); echo ${a[0]}",
        "find . -name '*.rs' -exec grep x {} +",
        "git commit -m \"it's (fine)\"",
        "bash -c 'ls; pwd'",
        "echo \"${x:-a b}\"",
    ] {
        assert_eq!(scan(text).undecided, None, "{text:?}");
    }
}

#[test]
fn finds_fork_bombs() {
    for text in [
        ":(){ :|:& };:",
        "f() { f | f & }; f",
        "bomb() { bomb & bomb; }; bomb",
        "f() (f|f); f",
        "function f { f|f; }; f",
    ] {
        assert!(scan(text).fork_bomb, "{text:?}");
    }
    assert!(scan("f() { f & }; f").fork_bomb);
    assert!(!scan("f() { f; }; f").fork_bomb);
    assert!(!scan("f() { g | h & }; f").fork_bomb);
    assert!(!scan("f() { g; }; f & f | f").fork_bomb);
}

#[test]
fn programs_in_other_languages_are_not_decided() {
    let decided: Vec<&str> = OTHER_LANGUAGES.iter().copied().filter(|text| scan(text).undecided.is_none()).collect();
    assert!(decided.is_empty(), "{decided:#?}");
}

const OTHER_LANGUAGES: &[&str] = &[
    "make -f - <<< 'a:; rm x'",
    "echo 'a:; rm x' | make -f-",
    "make --file=/dev/stdin <<< 'a:; rm x'",
    "make -f <(printf 'a:; rm x')",
    "just -f - <<< 'a:; rm x'",
    "sqlite3 x.db <<< '.shell rm x'",
    "sqlite3 <<E\n.system rm x\nE",
    "echo '.shell rm x' | sqlite3 x.db",
    "psql <<< '\\! rm x'",
    "echo '\\! rm x' | psql -d y",
    "mysql y <<< 'system rm x'",
    "sftp h <<< '!rm x'",
    "echo '!rm x' | ftp",
    "gdb -x - <<< 'shell rm x'",
    "git -c core.hooksPath=y status",
    "git -c init.templateDir=y init",
    "git -c url.ext::rm.insteadOf=y fetch",
    "GIT_ALLOW_PROTOCOL=ext git fetch",
    "GIT_TEMPLATE_DIR=y git init",
    "GOFLAGS=-toolexec=rm go build",
    "cargo --config y.toml build",
    "awk 'BEGIN{system(\"rm x\")}'",
    "sed '1e rm x' a",
    "sed 's/a/rm x/e' a",
    "python -c 'import os'",
    "python3.12 -c 'x'",
    "perl -ne 'system(1)' a",
    "perl -pi -e s/a/b/ a",
    "ruby -e 1",
    "node --eval=1",
    "node -p 1",
    "php -r 1",
    "lua -e 1",
    "vim -c '!rm x' a",
    "vim '+!rm x' a",
    "less '+!rm x' a",
    "bind -x '\"a\":rm x'",
];

#[test]
fn arguments_that_are_data_stay_data() {
    for text in [
        "awk '{print $1}' a",
        "sed -n 1,5p a",
        "python script.py",
        "perl script.pl",
        "node server.js",
        "vim a",
        "git commit -m 'rm x; y'",
        "git log --grep='rm x'",
        "less a",
    ] {
        let scan = scan(text);
        assert!(scan.undecided.is_none() && !programs(text).contains(&"rm".to_owned()), "{text}");
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "one list of lines")]
fn variables_that_change_which_programs_run_leave_it_undecided() {
    for text in [
        "PATH=dir ls",
        "PATH=dir",
        "PATH=; ls",
        "PATH=dir:$PATH ls",
        "PATH='$PATH:dir' ls",
        "PATH='$PATH':$HOME ls",
        "PATH=\"$PATH\"dir ls",
        "PATH=/bin:dir ls",
        "PATH+=dir ls",
        "export PATH=dir",
        "export A=1 PATH=dir; ls",
        "export \"$x\"",
        "declare -x PATH=dir",
        "declare -n a=PATH; a=dir; ls",
        "f() { local PATH=dir; ls; }; f",
        "env PATH=dir ls",
        "sudo PATH=dir ls",
        "command export PATH=dir",
        "read PATH < x; ls",
        "read -r a PATH <<< 'a b'; ls",
        "printf -v PATH dir; ls",
        "printf -vPATH dir; ls",
        "x=PATH; read \"$x\" <<< dir; ls",
        "x=PATH; printf -v \"$x\" dir; ls",
        "x=PATH; unset $x; ls",
        "for PATH in dir; do ls; done",
        "mapfile PATH",
        "unset PATH; ls",
        "bash -c 'PATH=dir ls'",
        "(PATH=dir; ls)",
        "BASH_CMDS[ls]=/bin/rm; ls x",
        "BASH_CMDS=([ls]=/bin/rm); ls x",
        "BASH_ALIASES[ls]=rm",
        "BASH_ENV=x bash y",
        "env BASH_ENV=x bash y",
        "LD_PRELOAD=./x ls",
        "DYLD_INSERT_LIBRARIES=x ls",
        "SHELLOPTS=xtrace bash y",
        "env 'BASH_FUNC_ls%%=() { rm x; }' bash -c 'ls x'",
        "MAKEFLAGS=--eval=x make",
        "make --eval='$(shell rm x)'",
        "make --ev x",
        "make .SHELLFLAGS=-x",
        "make MAKEFLAGS=x",
        "PERL5OPT=-Mx perl y",
        "TAR_OPTIONS=--to-command=x tar xf y",
        "NODE_OPTIONS='--import data:x' node y",
        "GIT_EXEC_PATH=x git status",
        "bash -ic 'ls'",
        "LC_ALL=zh_CN.GBK sed p x",
        "LC_ALL=zh_CN.GBK",
        "LC_CTYPE=ja_JP.SJIS; ls",
        "LANG=zh_TW.BIG5 bash -c ls",
        "LC_ALL=zh_CN ls",
        "LC_ALL=$x ls",
        "LC_ALL+=.GBK ls",
        "LC_ALL[0]=C ls",
        "export LANG=ja_JP.eucJP; ls",
        "declare -n a=LC_ALL; a=zh_CN.GBK; ls",
        "env LC_ALL=zh_CN.GBK bash -c ls",
        "sudo LC_ALL=zh_CN.GBK ls",
        "read LC_ALL < x; ls",
        "printf -v LC_CTYPE zh_CN.GBK; ls",
        "for LANG in zh_CN.GBK; do ls; done",
        "bash -c 'LC_ALL=zh_CN.GBK ls'",
        "make LC_ALL=zh_CN.GBK",
        "LOCPATH=. ls",
        "GCONV_PATH=. ls",
        "LOCALE_ARCHIVE=x ls",
    ] {
        assert!(scan(text).undecided.is_some(), "{text}");
    }
    for text in [
        "PATH=$PATH:/opt/x ls",
        "PATH=${PATH}:dir ls",
        "export PATH=\"$PATH:$HOME/bin\"",
        "PATH=/usr/bin:/bin ls",
        "PATH+=:dir ls",
        "NODE_OPTIONS=--max-old-space-size=4096 node x",
        "ENV=production make",
        "IFS= read -r line",
        "RUST_LOG=debug cargo test",
        "make -j8 PREFIX=/usr V=1 install",
        "make SHELL=/bin/bash",
        "SHELL=/bin/sh make",
        "CC=clang make",
        "printf '%s' PATH",
        "printf '%s' \"$x\"",
        "printf -v a '%s' \"$x\"",
        "unset x",
        "echo PATH=dir",
        "make -k -e x",
        "LC_ALL=C sort x",
        "LC_ALL=en_US.UTF-8 sort x",
        "export LC_ALL=C LANG=C.utf8",
        "LANG= ls",
        "unset LC_ALL LANG; ls",
        "LC_TIME=de_DE ls",
        "LANGUAGE=zh_CN:zh ls",
        "echo LC_ALL=zh_CN.GBK",
    ] {
        assert_eq!(scan(text).undecided, None, "{text}");
    }
}

/// Only a number, or a name in braces, directly before a redirection is its descriptor. What else stands there is an
/// argument.
#[test]
fn half_a_brace_before_a_redirection_is_an_argument() {
    let texts = |line: &str| -> Vec<String> {
        scan(line).found.iter().map(|command| format!("{} >{}", command.text(), command.redirects().len())).collect()
    };
    for (line, expected) in [
        ("rm x}>y", "rm x} >1"),
        ("rm {x>y", "rm {x >1"),
        ("rm x}<y", "rm x} >1"),
        ("rm {x}>y", "rm >1"),
        ("rm 2>y", "rm >1"),
        ("rm x2>y", "rm x2 >1"),
    ] {
        assert_eq!(texts(line), [expected], "{line}");
    }
}

/// Commas of a group inside of another one are its own.
#[test]
fn groups_of_braces_may_stand_in_each_other() {
    let scan = scan("{a{b,c},x} {d,{e,f},g}");
    let words: Vec<&str> = scan.found.first().unwrap().words().iter().map(Word::text).collect();
    assert_eq!(words, ["ab", "ac", "x", "d", "e", "f", "g"]);
}

/// A setting of git may be a command, so one that is not known leaves the line undecided.
#[test]
fn settings_of_git_that_are_not_known_leave_it_undecided() {
    for text in [
        "git -c \"core.pager=$X\" log",
        "git -c \"core.pager=less $X\" log",
        "git -c \"alias.y=!$X\" y",
        "git -c $X log",
        "X='!rm y'; git --config-env alias.x=X x",
        "git --config-env=alias.x=X x",
        "git --config-env=http.$X=Y log",
        "git --config-env $X log",
    ] {
        assert!(scan(text).undecided.is_some(), "{text}");
    }
    for text in [
        "git -c core.pager=cat log",
        "git -c color.ui log",
        "git --config-env=http.extraHeader=AUTH fetch",
        "git --config-env http.extraHeader=AUTH fetch",
        "git --config-env",
    ] {
        assert!(scan(text).undecided.is_none(), "{text}");
    }
}

/// A short option may be bundled with others; a long one stands alone.
#[test]
fn programs_in_options_are_told_from_other_options() {
    for (text, expected) in [
        ("python3 -c x", true),
        ("python3 -Bc x", true),
        ("python3 -cx", true),
        ("python3 -B a.py", false),
        ("python3 --check a.py", false),
        ("python3 a.py", false),
        ("node --eval x", true),
        ("node --eval=x", true),
        ("node --evaluate x", false),
        ("vim +x", true),
        ("cat -c x", false),
    ] {
        let scan = scan(text);
        let words = scan.found.first().unwrap().words();
        assert_eq!(has_code(words[0].text(), &words[1..]), expected, "{text}");
    }
}

#[test]
fn each_redirection_is_one_of_its_kind() {
    use crate::RedirectKind::{Append, Duplicate, Read, Write};
    for (text, kind, target) in [
        ("a > b", Write, "b"),
        ("a >> b", Append, "b"),
        ("a >| b", Write, "b"),
        ("a < b", Read, "b"),
        ("a <> b", Write, "b"),
        ("a >&2", Duplicate, "2"),
        ("a >& b", Write, "b"),
    ] {
        let scan = scan(text);
        let redirects: Vec<_> = scan.found[0].redirects().iter().map(|one| (one.kind, one.target.text())).collect();
        assert_eq!(redirects, [(kind, target)], "{text}");
    }
}

#[test]
fn heads_of_loops_are_words_or_arithmetic() {
    assert!(scan("for ((i = 0; i < 3; i++)); do echo a; done").undecided.is_none());
    assert!(scan("for (x); do echo a; done").undecided.is_some());
    assert!(scan("for i in a b; do echo a; done").undecided.is_none());
}

#[test]
fn quotes_and_groups_of_patterns_belong_to_their_word() {
    for (text, expected) in [
        (r#"echo "a\$x""#, "a$x"),
        (r#"echo "a\qx""#, "a\\qx"),
        (r#"echo $"ab""#, "ab"),
        (r"echo $'a\u0041'", "aA"),
        (r"echo $'a\bb'", "a\u{8}b"),
    ] {
        let scan = scan(text);
        let words = scan.found[0].words();
        assert_eq!((words.len(), words[1].as_literal()), (2, Some(expected)), "{text}");
    }
    for text in ["echo $(( (1 + 2) * 3 ))", "echo ${x:-'}'}"] {
        let scan = scan(text);
        assert_eq!((scan.undecided, scan.found.len(), scan.found[0].words().len()), (None, 1, 2), "{text}");
    }
}

#[test]
fn options_before_a_command_do_not_hide_it() {
    let texts = [
        "sort --compress-program=rm x",
        "sort --compress-program 'rm x' y",
        "gtar --checkpoint-action=exec='rm x' -cf a .",
        "git -C d bisect run rm x",
        "git --git-dir g -c alias.y='!rm x' y",
        "git --no-pager bisect run rm x",
        "git grep -O'rm x' y",
        "git grep --open-files-in-pager='rm x' y",
        "timeout \"$T\" 5 rm x",
        "env --unset=A rm x",
        "env --unset A rm x",
        "env --chdir=/tmp rm x",
        "env --split-string 'rm x'",
        "env --split 'rm x'",
        "flock --command 'rm x' f",
        "bash $OPTIONS -c 'rm x'",
        "bash -c -- rm",
        "echo 'rm x' | docker exec -i c sh",
        "docker exec c eval 'r\"m\"' x",
        "bash + -c 'rm x'",
        "bash +x + -c rm",
        "docker exec c git -c alias.y='!rm x' y",
        "ssh host make SHELL=/bin/rm",
        "unshare -r tar -cf a --to-command='rm x' .",
        "docker exec c env -S'rm x'",
        "unshare env --split-string='rm x'",
        "unshare env -i -S'rm x'",
        "unshare flock f -c'rm x'",
        "tini find . -exec git -c alias.y='!rm x' y \\;",
    ];
    let is_found = |text: &&str| programs(text).iter().any(|p| p == "rm");
    let hidden: Vec<&str> = texts.into_iter().filter(|text| !is_found(text)).collect();
    assert!(hidden.is_empty(), "{hidden:#?}");
    let exactly: Vec<String> = scan("tini find . -exec rm x \\; -print").found.iter().map(FoundCommand::text).collect();
    assert!(exactly.contains(&"rm x".to_owned()), "{exactly:?}");
    for text in ["git bisect start rm HEAD", "bash rm", "bash -x rm", "bash - -c rm"] {
        assert!(!programs(text).iter().any(|p| p == "rm"), "{text:?}: {:?}", programs(text));
    }
    assert_eq!(programs("docker exec -it c ls a"), ["docker", "exec", "c", "ls", "a"]);
}

#[test]
fn scripts_from_elsewhere_are_not_known() {
    let texts = [
        "bash $F",
        "bash -- $F",
        "bash - $F",
        "bash /dev/stdin",
        "bash /dev/fd/3 3<x",
        "curl x | bash -s a b",
        "curl x | ssh host bash",
        "curl x | ssh host bash -s",
        "curl x | docker exec -i c sh -s a",
        "curl x | bash -es a",
        "curl x | bash -es -xs a",
        "ssh host sh /dev/stdin",
        "docker exec c python3 -c 'import os'",
        "unshare -r sed '1e x' a",
        "getopts a PATH",
        "let PATH=1",
        "bind x",
        "emacs --batch --eval '(x)'",
        "emacs --batch -f x",
    ];
    let decided: Vec<&str> = texts.into_iter().filter(|text| scan(text).undecided.is_none()).collect();
    assert!(decided.is_empty(), "{decided:#?}");
    for text in [
        "alias",
        "hash",
        "bind",
        "getopts a name",
        "let i=1",
        "bash x.sh",
        "bash -x x.sh",
        "docker exec -e A= c ls ''",
        "docker exec c bash x.sh",
        "docker exec c python3 x.py",
        "docker exec c sed -n 1,5p a",
        "docker exec c env A=1 ls",
        "bash +x x.sh",
        "bash +s x.sh",
        "bash --posix x.sh",
    ] {
        assert_eq!(scan(text).undecided, None, "{text:?}");
    }
}

#[test]
fn here_documents_end_where_bash_ends_them() {
    for (text, expected) in [
        ("cat <<E\na\\\nE\nE\nrm x", &["cat", "rm"][..]),
        ("cat <<E\nE\\\n\nrm x\nE\n", &["cat", "rm", "E"]),
        ("cat <<E\na\\b\\\\\nE\nrm x", &["cat", "rm"]),
        ("cat <<'E'\na\\\nE\nrm x", &["cat", "rm"]),
        // bash takes the end of the text for the end of the document.
        ("cat <<E\n$(rm x)", &["cat", "rm"]),
    ] {
        assert_eq!(programs(text), expected, "{text:?}");
    }
}

#[test]
fn line_ends_and_comments_stand_between_words_of_a_structure() {
    for (text, expected) in [
        ("case a\nin a) ls;; esac", &["ls"][..]),
        ("case a # b\nin a) ls;; esac", &["ls"]),
        ("for i\nin a; do ls; done", &["ls"]),
        ("for i # in b\nin a; do ls; done", &["ls"]),
        ("a=(1 # it's\n2); ls", &["ls"]),
        ("cat <(ls)", &["ls", "cat"]),
        ("function f () { ls; }", &["ls"]),
    ] {
        assert_eq!(
            (programs(text), scan(text).undecided),
            (expected.iter().map(|&p| p.to_owned()).collect(), None),
            "{text:?}"
        );
    }
    let scan = scan("ls &>x");
    assert_eq!((scan.found.len(), scan.found[0].redirects()[0].target.text()), (1, "x"));
}

/// Commands beyond a limit are not followed, and the analysis reports that.
#[test]
fn limits_of_what_is_followed_are_told() {
    let words = |word: &str, count: usize| format!("{word} ").repeat(count);
    for (within, beyond) in [
        // Programs that run another one, in each other.
        (format!("{}ls", words("nice", 24)), format!("{}ls", words("nice", 25))),
        // The words among which a command may begin, and how far inside of others.
        (format!("docker {}", words("a", 24)), format!("docker {}", words("a", 25))),
        (format!("{}docker exec c ls", words("nice", 3)), format!("{}docker exec c ls", words("nice", 4))),
        // Alternatives of a group, and parts of a word.
        (format!("echo {{{}a}}", "a,".repeat(62)), format!("echo {{{}a}}", "a,".repeat(63))),
        (format!("echo {{a,b}}{}", "?".repeat(251)), format!("echo {{a,b}}{}", "?".repeat(252))),
        // Groups in each other.
        (format!("{}ls{}", words("(", 39), ")".repeat(39)), format!("{}ls{}", words("(", 40), ")".repeat(40))),
    ] {
        assert_eq!(scan(&within).undecided, None, "{within}");
        assert_eq!(scan(&beyond).undecided, Some(Undecided::TooLarge), "{beyond}");
    }
    assert_eq!(scan(&"(ls);".repeat(60)).undecided, None);
    assert_eq!(scan(&format!("echo {{{}a}}", "a,".repeat(62))).found[0].words().len(), 64);
}

#[test]
fn what_follows_something_too_deep_is_found() {
    for text in [format!("{}ls; rm x", "nice ".repeat(25)), format!("({}ls); rm x", "eval ".repeat(25))] {
        assert_eq!(scan(&text).undecided, Some(Undecided::TooLarge), "{text}");
        assert!(programs(&text).contains(&"rm".to_owned()), "{text}");
    }
}

/// A name defined in the line itself means its command.
#[test]
fn names_that_the_line_gives_are_followed() {
    for (text, expected) in [
        ("git -c alias.p=push p origin", "git -c alias.p=push push origin"),
        (
            "git -C x -c alias.p='push --force' --no-pager p o",
            "git -C x -c alias.p=push --force --no-pager push --force o",
        ),
        ("git -c ALIAS.P=push p", "git -c ALIAS.P=push push"),
        ("git -c alias.p.command=push p", "git -c alias.p.command=push push"),
        ("git -c alias.a=b -c alias.b=push a x", "git -c alias.a=b -c alias.b=push push x"),
        ("timeout 5 git -c alias.p=push p", "git -c alias.p=push push"),
        ("git -c alias.p='!git' p push x", "git push x"),
        ("cargo --config 'alias.p=\"publish\"' p -q", "cargo --config alias.p=\"publish\" publish -q"),
        ("cargo --config='alias.p=[\"publish\", \"-q\"]' p", "cargo --config=alias.p=[\"publish\", \"-q\"] publish -q"),
        ("hg --config alias.p=push p", "hg --config alias.p=push push"),
        ("jj --config 'aliases.p=[\"git\", \"push\"]' p", "jj --config aliases.p=[\"git\", \"push\"] git push"),
    ] {
        let found: Vec<String> = scan(text).found.iter().map(FoundCommand::text).collect();
        assert!(found.iter().any(|found| found == expected), "{text:?}: {found:?}");
    }
    for text in [
        "git -c alias.a=a a",
        "git -c alias.a=b -c alias.b=a a",
        "git -c include.path=x p",
        "git -c help.autocorrect=1 psuh",
        "git --exec-path=. p",
        "git --config-env=alias.p=P p",
        "GIT_CONFIG_GLOBAL=x git p",
        "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.p GIT_CONFIG_VALUE_0=push git p",
        "CARGO_ALIAS_P=publish cargo p",
        "cargo --config x.toml p",
    ] {
        let scan = scan(text);
        assert!(scan.undecided.is_some() || text.contains("alias.a=a a"), "{text:?}");
    }
    assert_eq!(scan("GIT_CONFIG_GLOBAL=/dev/null git -c user.name=x status").undecided, None);
}

/// The text of a here-document stands with its redirection.
#[test]
fn here_documents_stand_with_their_commands() {
    for (text, expected) in [
        ("python3 - <<'E'\nopen('x')\nE", "open('x')\n"),
        ("a <<A; b <<B\n1\nA\n2\nB", "1\n2\n"),
        ("x=$(a <<A\n1\nA\n)", "1\n"),
        ("(a <<-A\n\t1\n\tA\n) | b", "1\n"),
    ] {
        let scan = scan(text);
        let texts: String =
            scan.found.iter().flat_map(FoundCommand::redirects).map(|redirect| redirect.target.text()).collect();
        assert_eq!(texts, expected, "{text:?}");
    }
}

/// The values of a variable reach the commands behind its assignment.
#[test]
fn values_of_the_text_are_put_into_commands() {
    let texts = |line: &str| -> Vec<String> { scan(line).found.iter().map(FoundCommand::text).collect() };
    for (line, expected) in [
        ("d=/etc; rm \"$d\"", ["rm $d", "rm /etc"].as_slice()),
        ("for d in a b; do rm \"$d\"; done", &["rm $d", "rm a", "rm b"]),
        ("for d in {a,b}c; do rm $d; done", &["rm $d", "rm ac", "rm bc"]),
        ("for d in *; do rm ./$d; done", &["rm ./$d", "rm ./*"]),
        ("a=x b=y; cp $a $b", &["cp $a $b", "cp x y"]),
        ("o='-r x'; rm $o", &["rm $o", "rm -r x"]),
        ("o='-r x'; rm \"$o\"", &["rm $o", "rm -r x"]),
        ("c='rm x'; sh -c \"$c\"", &["sh -c $c", "sh -c rm x", "rm x", "rm x"]),
        ("read d; rm $d", &["read d", "rm $d"]),
        ("rm $d", &["rm $d"]),
        ("d=a; cd $d", &["cd $d"]),
    ] {
        assert_eq!(texts(line), expected, "{line}");
    }
    let many: String = (0..40).map(|number| format!("v=x{number}; ")).collect();
    assert!(scan(&format!("{many} rm $v")).found.len() <= 17);
}
