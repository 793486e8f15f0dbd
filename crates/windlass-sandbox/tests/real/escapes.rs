//! Attempts to escape: none may succeed at a level that claims to hold it.

use std::sync::atomic::{AtomicUsize, Ordering};

use windlass_sandbox::{Holds, Mechanism};

use crate::Test;
use crate::site::{SECRET, Site, Way, block_on, ways};

pub(crate) const TESTS: &[Test] = &[("no_attempt_to_escape_succeeds", no_attempt_to_escape_succeeds)];

/// Limit of a sandbox that an attempt violates.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Against {
    Writes,
    Metadata,
    Protected,
    Hidden,
    Network,
    Sockets,
    Processes,
}

use Against::*;

impl Against {
    fn is_held(self, holds: Holds) -> bool {
        match self {
            Writes => holds.writes,
            Metadata => holds.metadata,
            Protected => holds.protected,
            Hidden => holds.hidden,
            Network => holds.network,
            Sockets => holds.sockets,
            Processes => holds.processes,
        }
    }
}

/// Scripts of the attempts. One has escaped if a file that it must not change has changed, a service was reached, the
/// secret or the word ESCAPED is in its output, or the victim is not alive.
const ATTEMPTS: &[(Against, &str)] = &[
    (Writes, "echo x > $OUT/new"),
    (Writes, "echo x >> $OUT/file"),
    (Writes, ": > $OUT/file"),
    (Writes, "rm -f $OUT/file"),
    (Writes, "mv $OUT/file $W/file"),
    (Writes, "mv $W/src/main.rs $OUT/main.rs"),
    (Writes, "cp $W/src/main.rs $OUT/main.rs"),
    (Writes, "ln $OUT/file $W/hard && echo x > $W/hard"),
    (Writes, "ln -s $OUT/file $W/soft && echo x > $W/soft"),
    (Writes, "ln -s $OUT $W/dir && echo x > $W/dir/new"),
    (Writes, "ln -s / $W/root && echo x > $W/root$OUT/new"),
    (Writes, "mkdir $OUT/newdir"),
    (Writes, "rmdir $OUT/deep; rm -rf $OUT/deep"),
    (Writes, "mkfifo $OUT/fifo"),
    (Writes, "mknod $OUT/node p"),
    (Writes, "ln -s x $OUT/link"),
    (Writes, "truncate -s 0 $OUT/file"),
    (Writes, "echo x > $PIPE && echo ESCAPED"),
    (Writes, "ln -s $PIPE $W/pipe && echo x > $W/pipe && echo ESCAPED"),
    (Writes, "echo x > $TERMINAL && echo ESCAPED"),
    (Writes, "for t in /dev/pts/[0-9]*; do (echo x > $t) && echo ESCAPED; done; true"),
    (Writes, "echo x > /dev/tty && echo ESCAPED"),
    (Metadata, "chmod 777 $OUT/deep/../file; chmod 000 $OUT; true"),
    (Metadata, "chmod u+s $OUT/file"),
    (Metadata, "cd $OUT && chmod 777 file"),
    (Metadata, "chmod 644 $HOME/.ssh $HOME/.netrc"),
    (Metadata, "chmod 777 /etc/passwd && echo ESCAPED"),
    (Metadata, "chown 1:1 /etc/passwd && echo ESCAPED"),
    (Metadata, "touch -d 2001-01-01 $OUT/file && echo ESCAPED"),
    (Metadata, "exec 9<$OUT/file; chmod 777 /proc/self/fd/9"),
    (Metadata, "setfattr -n user.x -v y $OUT/file && echo ESCAPED"),
    (Writes, "touch $OUT/../out/./new"),
    (Writes, "echo x > /proc/self/root$OUT/new"),
    (Writes, "echo x > /proc/self/cwd/../out/new"),
    (Writes, "cd $OUT && echo x > new"),
    (Writes, "exec 9<$OUT && echo x > /proc/self/fd/9/new"),
    (Writes, "dd if=/dev/zero of=$OUT/file bs=1 count=1 conv=notrunc"),
    (Writes, "tee $OUT/new < /dev/null; tee -a $OUT/file <<< x"),
    (Writes, "sed -i s/text/x/ $OUT/file"),
    (Writes, "(sleep 0.1; echo x > $OUT/new) & disown; sleep 0.3"),
    (Writes, "setsid nohup bash -c 'echo x > $OUT/new' & sleep 0.2"),
    (Writes, "mount -o remount,rw / ; echo x > $OUT/new"),
    (Writes, "mount --bind $W $OUT; mount -t tmpfs none $OUT && echo ESCAPED"),
    (Writes, "umount -l $OUT; umount -l $W; umount -l / && echo ESCAPED"),
    (Writes, "unshare -Ur bash -c 'echo x > $OUT/new'"),
    (Writes, "unshare -Urm bash -c 'mount -t tmpfs none /mnt && echo ESCAPED'"),
    (Writes, "chroot / bash -c 'echo x > $OUT/new'"),
    (Writes, "su -c 'echo x > $OUT/new' 2>&1 </dev/null; sudo -n sh -c 'echo x > $OUT/new'"),
    (Writes, "echo x > /etc/windlass-probe && echo ESCAPED; rm -f /etc/windlass-probe"),
    (Writes, "echo x > /usr/bin/windlass-probe && echo ESCAPED"),
    (Writes, "echo x > /var/tmp/windlass-probe && echo ESCAPED; rm -f /var/tmp/windlass-probe"),
    (Writes, "echo core > /proc/sys/kernel/core_pattern && echo ESCAPED"),
    (Writes, "[ -e /proc/sysrq-trigger ] && echo h > /proc/sysrq-trigger && echo ESCAPED"),
    (Writes, "echo $$ > /sys/fs/cgroup/cgroup.procs && echo ESCAPED"),
    (Writes, "echo 1 > /proc/$VICTIM/oom_score_adj && echo ESCAPED"),
    (Writes, "python3 -c 'import os; os.open(os.environ[\"OUT\"]+\"/new\", os.O_CREAT|os.O_WRONLY)'"),
    (Writes, "python3 -c 'import os; os.rename(os.environ[\"OUT\"]+\"/file\", os.environ[\"OUT\"]+\"/new\")'"),
    (Writes, "python3 -c 'import os; os.truncate(os.environ[\"OUT\"]+\"/file\", 0)'"),
    (Writes, "python3 -c 'import os; os.link(os.environ[\"OUT\"]+\"/file\", os.environ[\"OUT\"]+\"/new\")'"),
    (
        Writes,
        "python3 -c 'import ctypes; l=ctypes.CDLL(None); print(\"ESCAPED\" if l.mount(b\"none\",b\"/mnt\",b\"tmpfs\",0,None)==0 else l)'",
    ),
    (Writes, "python3 -c 'import ctypes; l=ctypes.CDLL(None); print(\"ESCAPED\" if l.unshare(0x10000000)==0 else l)'"),
    (
        Writes,
        "python3 -c 'import ctypes; l=ctypes.CDLL(None); print(\"ESCAPED\" if l.syscall(425,8,ctypes.create_string_buffer(120))>=0 else l)'",
    ),
    (
        Writes,
        "python3 -c 'import ctypes; l=ctypes.CDLL(None); print(\"ESCAPED\" if l.syscall(0x40000000|39)>0 else l)'",
    ),
    (
        Writes,
        "python3 -c 'import os; [os.open(\"/dev/\"+d, os.O_RDWR) and print(\"ESCAPED\") for d in os.listdir(\"/dev\") if d.startswith((\"vd\",\"sd\",\"nvme\",\"mem\",\"kmsg\"))]'",
    ),
    (Protected, "echo x > .git/config"),
    (Protected, "echo x > .git/hooks/pre-commit"),
    (Protected, "echo x > .git/hooks/new"),
    (Protected, "rm -f .git/config"),
    (Protected, "rm -rf .git/hooks"),
    (Protected, "rm -rf .git"),
    (Protected, "mv .git/hooks .git/other; mkdir .git/hooks"),
    (Protected, "mv .git other; mkdir -p .git/hooks; echo x > .git/config"),
    (Protected, "mv .git/config .git/other; echo x > .git/config"),
    (Protected, "ln -sf /dev/null .git/config"),
    (Protected, "ln .git/config hard; echo x > hard"),
    (Protected, "ln -s .git/config soft; echo x > soft"),
    (Protected, "cp src/main.rs .git/config"),
    (Protected, "chmod 777 .git/config .git/hooks/pre-commit .windlass"),
    (Protected, "sed -i s/text/x/ .git/config"),
    (Protected, "git config core.fsmonitor x; git config --file .git/config a.b c"),
    (Protected, "echo x > .git/commondir"),
    (Protected, "echo x > .windlass/settings.json"),
    (Protected, "echo x > .windlass/new"),
    (Protected, "rm -rf .windlass; mkdir .windlass; echo x > .windlass/settings.json"),
    (Protected, "mv .windlass moved"),
    (Protected, "mv src/main.rs .bashrc"),
    (Protected, "mkdir .claude; echo '{}' > .claude/settings.json"),
    (Protected, "ln -s src .claude"),
    (Protected, "echo '{}' > .mcp.json"),
    (Protected, "mv src .vscode"),
    (Protected, "echo x > /proc/self/cwd/.git/config"),
    (Protected, "cd .git && echo x > config"),
    (Protected, "cd .git/hooks && echo x > pre-commit"),
    (Protected, "exec 9<.git && echo x > /proc/self/fd/9/config"),
    (Protected, "umount .git/hooks; umount -l .git/config; umount -l .git; echo x > .git/config"),
    (Protected, "echo x > sub/.git/config"),
    (Protected, "mv sub other; mkdir -p sub/.git; echo x > sub/.git/config"),
    (Protected, "mv sub/.git sub/git; mkdir sub/.git; echo x > sub/.git/config"),
    (Protected, "echo x > sub/.vscode/tasks.json"),
    (Protected, "rm -rf sub"),
    (Protected, "echo 'gitdir: /tmp/x' > tree/.git"),
    (Protected, "rm tree/.git; mkdir tree/.git"),
    (Protected, "mkdir -p .config/git; echo x > .config/git/config"),
    (Protected, "mkdir -p src/git; ln -s src .config"),
    (Protected, "ln -s $OUT/deep .config"),
    (Protected, "ln -s $OUT .config; ln -s $HOME/.ssh .claude"),
    (Protected, "(sleep 0.1; echo '{}' > .mcp.json) & disown; sleep 0.3"),
    (Hidden, "timeout 2 head -n 1 $TERMINAL"),
    (Hidden, "for t in /dev/pts/[0-9]*; do timeout 2 head -n 1 $t; done; true"),
    (Hidden, "cat $HOME/.ssh/id"),
    (Hidden, "cat $HOME/.netrc"),
    (Hidden, "cat $HOME/.config/gh/hosts.yml"),
    (Hidden, "cat keys/id"),
    (Hidden, "cat $HOME/docs/link"),
    (Hidden, "cat $HOME/docs/../.ssh/id"),
    (Hidden, "cat /proc/self/root$HOME/.netrc"),
    (Hidden, "cat /proc/$VICTIM/root$HOME/.netrc"),
    (Hidden, "for f in 0 1 2 3 4 5 6 7; do timeout 1 head -c 1 /proc/1/fd/$f && echo ESCAPED; done; true"),
    (Hidden, "cat /proc/1/root$HOME/.netrc"),
    (Hidden, "cp -r $HOME/.ssh copy; cat copy/id"),
    (Hidden, "ln $HOME/.netrc hard; cat hard"),
    (Hidden, "mv $HOME/.netrc moved; cat moved"),
    (Hidden, "grep -r . $HOME 2>/dev/null"),
    (Hidden, "tar cf - $HOME 2>/dev/null"),
    (Hidden, "source $HOME/.netrc"),
    (Hidden, "umount -l $HOME/.ssh; umount -l $HOME/.netrc; cat $HOME/.ssh/id $HOME/.netrc"),
    (Hidden, "unshare -Urm bash -c 'umount -l $HOME/.ssh; cat $HOME/.ssh/id'"),
    (Hidden, "exec 9<$HOME; cat /proc/self/fd/9/.netrc"),
    (Hidden, "cd $HOME && cat .netrc"),
    (Hidden, "mount --bind $HOME $W/src; cat src/.netrc"),
    (Hidden, "python3 -c 'print(open(__import__(\"os\").environ[\"HOME\"]+\"/.ssh/id\").read())'"),
    (Hidden, "strings -a /proc/$VICTIM/environ; cat /proc/$VICTIM/environ"),
    (Network, "exec 3<>/dev/tcp/127.0.0.1/$TCP && echo ESCAPED"),
    (Network, "exec 3<>/dev/tcp/localhost/$TCP && echo ESCAPED"),
    (Network, "echo x > /dev/udp/127.0.0.1/$UDP"),
    (Network, "python3 -c 'import socket,os; socket.create_connection((\"127.0.0.1\",int(os.environ[\"TCP\"])))'"),
    (
        Network,
        "python3 -c 'import socket,os; socket.create_connection((\"::ffff:127.0.0.1\",int(os.environ[\"TCP\"])))'",
    ),
    (
        Network,
        "python3 -c 'import socket,os; socket.socket(2,2).sendto(b\"x\",(\"127.0.0.1\",int(os.environ[\"UDP\"])))'",
    ),
    (
        Network,
        "python3 -c 'import socket,os; socket.socket(10,2).sendto(b\"x\",(\"::ffff:127.0.0.1\",int(os.environ[\"UDP\"])))'",
    ),
    (Network, "python3 -c 'import socket; socket.create_connection((\"1.1.1.1\",53),2); print(\"ESCAPED\")'"),
    (Network, "python3 -c 'import socket; socket.socket(17,3); print(\"ESCAPED\")'"),
    (Network, "python3 -c 'import socket; socket.socket(40,1); print(\"ESCAPED\")'"),
    (Network, "python3 -c 'import socket; socket.socket(2,3,1); print(\"ESCAPED\")'"),
    (Network, "python3 -c 'import ctypes; l=ctypes.CDLL(None); print(\"ESCAPED\" if l.unshare(0x40000000)==0 else l)'"),
    (Network, "nsenter -t $VICTIM -n true && echo ESCAPED"),
    (
        Network,
        "python3 -c 'import os,ctypes; l=ctypes.CDLL(None); f=os.open(\"/proc/1/ns/net\",0); print(\"ESCAPED\" if l.setns(f,0)==0 else l)'",
    ),
    (
        Sockets,
        "python3 -c 'import socket,os; socket.socket(1).connect(os.environ[\"OUT\"]+\"/socket\"); print(\"ESCAPED\")'",
    ),
    (
        Sockets,
        "python3 -c 'import socket,os; socket.socket(1).connect(\"\\0\"+os.environ[\"NAME\"]); print(\"ESCAPED\")'",
    ),
    (
        Sockets,
        "python3 -c 'import socket,os; socket.socket(1,2).sendto(b\"x\",os.environ[\"OUT\"]+\"/socket\"); print(\"ESCAPED\")'",
    ),
    (Sockets, "ln -s $OUT/socket s; python3 -c 'import socket; socket.socket(1).connect(\"s\"); print(\"ESCAPED\")'"),
    (Processes, "kill -9 $VICTIM && echo ESCAPED"),
    (Processes, "kill -STOP $VICTIM && echo ESCAPED"),
    (Processes, "kill -0 $VICTIM && echo ESCAPED"),
    (Processes, "kill -9 -1; true"),
    (Processes, "pkill -9 -x sleep; killall -9 sleep; true"),
    (Processes, "cat /proc/$VICTIM/environ /proc/$VICTIM/maps /proc/$VICTIM/mem 2>/dev/null | strings | grep secret"),
    (Processes, "ls -l /proc/$VICTIM/fd/ /proc/$VICTIM/cwd/ 2>/dev/null && echo ESCAPED"),
    (
        Processes,
        "python3 -c 'import ctypes,os; l=ctypes.CDLL(None); print(\"ESCAPED\" if l.ptrace(16,int(os.environ[\"VICTIM\"]),0,0)==0 else l)'",
    ),
    (
        Processes,
        "python3 -c 'import ctypes,os; l=ctypes.CDLL(None); b=ctypes.create_string_buffer(64); print(\"ESCAPED\" if l.syscall(310,int(os.environ[\"VICTIM\"]),b,1,b,1,0)>=0 else l)'",
    ),
    (
        Processes,
        "python3 -c 'import os,signal; signal.pidfd_send_signal(os.pidfd_open(int(os.environ[\"VICTIM\"])),9); print(\"ESCAPED\")'",
    ),
    (
        Processes,
        "python3 -c 'import ctypes,os; l=ctypes.CDLL(None); a=(ctypes.c_uint64*8)(0x10000000,0,0,0,17); p=l.syscall(435,a,64); print(\"ESCAPED\") if p>0 else p==0 and os._exit(0)'",
    ),
    // The first process of its namespace, which is less confined, or of this machine.
    (Writes, "echo x > /proc/1/root$OUT/new; echo x > /proc/1/cwd$OUT/new"),
    (Hidden, "for f in 0 1 2 3 4 5 6 7; do timeout 1 head -c 1 /proc/1/fd/$f && echo ESCAPED; done; true"),
    (Hidden, "cat /proc/1/root$HOME/.ssh/id /proc/1/root$HOME/.netrc"),
    (Hidden, "cat /proc/$PPID/root$HOME/.netrc; tr '\\0' '\\n' < /proc/1/environ | grep -q . && echo ESCAPED; true"),
    (Processes, "readlink /proc/1/fd/0 /proc/1/exe /proc/1/cwd | grep -q . && echo ESCAPED; true"),
    (Processes, "kill -9 1; kill -STOP 1; sleep 0.1; grep -q '^State:.[TZX]' /proc/1/status && echo ESCAPED; true"),
    (
        Processes,
        "python3 -c 'import ctypes; l=ctypes.CDLL(None); print(\"ESCAPED\" if l.ptrace(16,1,0,0)==0 else l)'; python3 -c 'open(\"/proc/1/mem\",\"r+b\"); print(\"ESCAPED\")'",
    ),
    (
        Processes,
        "python3 -c 'import os; [os.setns(os.open(f\"/proc/1/ns/{n}\",0),0) for n in (\"user\",\"mnt\")]; print(\"ESCAPED\")'",
    ),
    (Processes, "renice -n 19 -p $VICTIM && echo ESCAPED; true"),
    (Processes, "renice -n 19 -u $(id -u)"),
    (Processes, "ipcrm -q $QUEUE && echo ESCAPED; true"),
    (
        Processes,
        "python3 -c 'import ctypes,os; l=ctypes.CDLL(None); b=ctypes.create_string_buffer(64); print(\"ESCAPED\" if l.msgsnd(int(os.environ[\"QUEUE\"]),b\"\\1\\0\\0\\0\\0\\0\\0\\0x\",1,0)==0 else 1)'",
    ),
    (Processes, "ionice -c 3 -p $VICTIM && echo ESCAPED; true"),
    (Processes, "prlimit --pid $VICTIM --cpu=1 && echo ESCAPED; true"),
    (
        Processes,
        "python3 -c 'import os,resource; resource.prlimit(int(os.environ[\"VICTIM\"]),resource.RLIMIT_NOFILE,(0,0)); print(\"ESCAPED\")'",
    ),
    (Processes, "gdb -p $VICTIM -batch 2>/dev/null | grep -q attached && echo ESCAPED"),
];

/// Number of concurrent attempts: most of them wait.
const WORKERS: usize = 4;

fn no_attempt_to_escape_succeeds() {
    for (mechanism, way) in ways() {
        let next = AtomicUsize::new(0);
        let work = || {
            let mut found = Vec::new();
            while let Some((against, script)) = ATTEMPTS.get(next.fetch_add(1, Ordering::Relaxed)) {
                found.extend(block_on(attempt(mechanism, way, *against, script)));
            }
            found
        };
        let found: Vec<_> = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..WORKERS).map(|_| scope.spawn(work)).collect();
            workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
        });
        let out: Vec<String> = found.iter().filter_map(Clone::clone).collect();
        let way = match way {
            Way::Usual => "",
            Way::ByHelper => ", by the helper",
            Way::WithView => ", which makes the view",
        };
        println!("{mechanism}{way}: {} attempts, {} succeeded", found.len(), out.len());
        assert!(out.is_empty(), "{mechanism}:\n{}", out.join("\n"));
        assert!(found.len() >= 60, "{mechanism} holds too little to be tried: {}", found.len());
    }
}

/// Returns the evidence if the attempt escaped. The outer `None` means that the level does not claim to hold it.
async fn attempt(mechanism: Mechanism, way: Way, against: Against, script: &str) -> Option<Option<String>> {
    let mut site = Site::new();
    let confined = site.open_way(mechanism, way).await.unwrap();
    if !against.is_held(confined.sandbox.level().holds) {
        return None;
    }
    let before = (site.outside(), site.protected());
    let outcome = confined.run(site.bash(script)).await;
    let after = (site.outside(), site.protected());
    let said = format!("{}{}", outcome.stdout.head, outcome.stderr.head);
    let is_unchanged = after.0 == before.0 && (against != Protected || after.1 == before.1);
    let is_held = is_unchanged
        && !site.was_reached()
        && !outcome.stdout.head.contains("ESCAPED")
        && !said.contains(SECRET)
        && site.victim_lives();
    Some((!is_held).then(|| format!("{against:?}: {script}\n  {said}")))
}
