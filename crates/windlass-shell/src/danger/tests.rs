use super::*;
use crate::analyse;

fn is_catastrophic(text: &str) -> bool {
    catastrophic(&analyse(text), Path::new("/home/me/work/proj"), Path::new("/home/me"), &|_| None).is_some()
}

#[test]
fn never_runs() {
    for text in [
        "rm -rf /",
        "rm -rf /*",
        "rm -rf //",
        "rm -rf /.",
        "rm -rf /usr/..",
        "rm -rf --no-preserve-root /",
        "sudo rm -rf /",
        "/bin/rm -r -f /",
        "\\rm -rf /",
        "rm -rf /etc",
        "rm -rf /etc/*",
        "rm -rf /usr/lib",
        "rm -rf '/'",
        "rm -rf /{etc,usr}",
        "rm -rf /u*",
        "rm -rf /home/me",
        "rm -rf ~",
        "rm -rf ~/",
        "rm -rf ~/*",
        "rm -rf $HOME",
        "rm -rf \"$HOME\"",
        "rm -rf ${HOME}/*",
        "rm -rf ~me",
        "rm -rf .",
        "rm -rf ./",
        "rm -rf ..",
        "rm -rf ../..",
        "rm -rf *",
        "rm -rf ./*",
        "rm -r .*",
        "rm -rf $PWD",
        "rm -rf /home/me/work/proj",
        "rm -rf /home/me/work",
        "rmdir /home/me",
        "env - rm -rf /",
        "env - sh -c 'rm -rf /'",
        "rm -rf \"$VAR\"/",
        "rm -rf ${VAR}/",
        "d=; rm -rf \"$d\"/",
        "for d in ''; do rm -rf \"$d\"/; done",
        "rm -rf ${VAR:-/}",
        "rm -rf \"${VAR:-/etc}\"",
        "rm -rf ${VAR-/}usr",
        "rm -rf ${VAR:=/home}/me",
        "chmod -R 777 \"$VAR\"/",
        "mv \"$VAR\"/ x",
        "rm -rf \"$VAR\"/*",
        "rm -rf $VAR/*",
        "rm -rf ${VAR}/*",
        "echo $(rm -rf /)",
        "bash -c 'rm -rf /'",
        "cd / && rm -rf *",
        "cd ~; rm -rf *",
        "cd .. && rm -rf *",
        "mv / x",
        "mv ~ /tmp",
        "mv /usr/bin x",
        "chmod -R 777 /",
        "chmod -R 777 ~",
        "chown -R me /etc",
        "chmod --recursive 0 /usr",
        "find / -delete",
        "find ~ -exec rm {} +",
        "find / -type f -exec rm -f {} \\;",
        "dd if=x of=/dev/sda",
        "dd of=/dev/nvme0n1 if=x",
        "mkfs.ext4 /dev/sda1",
        "mkfs -t ext4 x",
        "echo x > /dev/sda",
        "cat x >/dev/mmcblk0",
        "tee /dev/sda",
        "cp x /dev/sda",
        "shred /dev/sda",
        "wipefs -a /dev/sda",
        ":(){ :|:& };:",
        "if true; then rm -rf /; fi",
        "timeout 5 rm -rf ~",
        "eval 'rm -rf /'",
        "rm -rf a / b",
        "rm -rf -- /",
        "rm / -rf",
        "{rm,-rf,/}",
        "rm -rf /$x",
        "xargs rm -rf /",
        "true && (cd /; rm -rf ./*)",
        "rm --recurs *",
        "echo > //dev/sda",
    ] {
        assert!(is_catastrophic(text), "{text:?}");
    }
}

#[test]
fn never_runs_by_a_detour() {
    for text in [
        "rm -rf /proc/1/root/etc",
        "rm -rf /proc/self/task/7/root/usr",
        "cd /etc && rm -rf /proc/self/cwd/*",
        "cd / && rm -rf /proc/thread-self/cwd/etc",
        "cd ~ && rm -rf /dev/fd/../cwd/",
        "for d in /etc; do rm -rf \"$d\"; done",
        "for d in build ~; do rm -rf $d; done",
        "for d in /{etc,usr}; do sudo rm -rf \"$d\"; done",
        "d=/etc; rm -rf \"$d\"",
        "d=~; rm -rf \"$d\"/*",
        "export root=/; rm -rf \"${root}usr\"",
        "o='-rf /etc'; rm $o",
        "t=/usr && chmod -R 777 $t",
        "disk=/dev/sda; dd if=x of=$disk",
        "disk=/dev/sda; cat x > \"$disk\"",
        "run=rm; $run -rf /etc",
        "rsync -a --delete data/ ~/",
        "rsync -r --delete-after data/ /etc",
        "cd / && find -delete",
        "cd ~; find -type f -delete",
    ] {
        assert!(is_catastrophic(text), "{text}");
    }
}

#[test]
fn may_be_decided_otherwise() {
    for text in [
        "rm -rf target",
        "rm -rf ./target",
        "rm -rf ../other",
        "rm -rf /tmp/x",
        "rm -rf /tmp/*",
        "rm *.o",
        "rm -rf *.o",
        "rm -f *",
        "rm -rf $X",
        "for d in a b; do rm -rf \"$d\"/; done",
        "d=build; rm -rf \"$d\"/",
        "rm -rf ${X:-build}",
        "rm -rf \"${X:-/home/me/work/proj/x}\"",
        "rm -rf \"$X/y\"",
        "rm -rf src/*",
        "cd build && rm -rf *",
        "cd build; rm -rf x",
        "rm -rf ~/work/other",
        "rm -rf ~/.cache/x",
        "mv * ../old",
        "mv a ..",
        "mv a ~",
        "mv a /tmp",
        "chmod -R u+w .",
        "chmod 755 .",
        "chmod -R 755 src",
        "rm -rf /proc/self/cwd/build",
        "for d in build dist; do rm -rf \"$d\"; done",
        "d=build; rm -rf \"$d\"",
        "d=/etc; ls \"$d\"; rm -rf build",
        "rsync -a --delete build/ out/",
        "rsync -a data/ ~/",
        "find -delete",
        "find . -delete",
        "find . -name '*.o' -delete",
        "find / -name x",
        "find ~ -name '*.pyc' -delete",
        "echo rm -rf /",
        "echo 'rm -rf /'",
        "grep -r x /",
        "ls /",
        "dd if=/dev/zero of=x",
        "echo x > /dev/null",
        "echo x > /dev/stderr",
        "dd if=/dev/sda of=x",
        "cp /dev/null x",
        "git rm -r .",
        "f() { g; }; f",
        "tee /dev/stderr",
        "rm -rf node_modules dist",
        "rm -rf /home/me/work/proj/target",
        "rm -rf ./$x",
        "cat > /dev/tcp/h/1",
    ] {
        assert!(!is_catastrophic(text), "{text:?}");
    }
}

#[test]
fn names_of_homes_and_of_the_start_are_told_apart() {
    for (text, expected) in [
        ("rm -rf ~/work/proj", true),
        ("rm -rf ~/Downloads", false),
        ("rm -rf ~bob/work", false),
        ("chmod -R 777 ~bob", true),
        ("chmod -R u+w ~+", false),
        ("rm -rf ~+/target", false),
        ("rm -rf ~+", true),
    ] {
        assert_eq!(is_catastrophic(text), expected, "{text:?}");
    }
}

/// Behind a `cd` that must succeed the start directory does not matter, unless it is the target of the `cd`.
#[test]
fn what_follows_a_change_of_the_directory_is_judged_there() {
    for (text, expected) in [
        ("cd . && rm -rf *", true),
        ("cd /home/me/work/proj && rm -rf *", true),
        ("cd /home/me/work/proj/build && rm -rf *", false),
        ("cd /srv/www/cache && rm -rf .", false),
        ("cd /srv/www/cache; rm -rf .", true),
    ] {
        assert_eq!(is_catastrophic(text), expected, "{text:?}");
    }
}

#[test]
fn options_for_whole_trees_are_told_from_other_words() {
    for (text, expected) in [
        ("rm -f notes *", false),
        ("rm -f -- *", false),
        ("rm --force *", false),
        ("rm --re *", true),
        ("rm --r *", true),
        ("chmod 755 ~", false),
        ("chown me /home/me", false),
        ("chmod -R 755 ~", true),
    ] {
        assert_eq!(is_catastrophic(text), expected, "{text:?}");
    }
}

/// Whoever goes to many directories first does not get to empty the last one.
#[test]
fn more_directories_than_are_followed_may_be_any() {
    let many = |count: usize| (0..count).map(|at| format!("cd d{at}; ")).collect::<String>();
    for (text, expected) in [
        (format!("{}cd /; rm -rf *", many(14)), true),
        (format!("{}cd /; rm -rf *", many(40)), true),
        (format!("{}rm -rf ./*", many(15)), false),
        // A path that leads out of one of them leads out of the start too.
        (format!("{}rm -rf ./*", many(40)), false),
        (format!("{}cd ..; rm -rf ./*", many(40)), true),
        (format!("{}rm -rf ./*", "cd ../a; ".repeat(40)), true),
        (format!("{}rm -rf build", many(40)), false),
        (format!("{}rm -rf d/*", many(40)), false),
        // The same directory is counted once.
        (format!("{}rm -rf *", "cd d; ".repeat(40)), false),
        (format!("{}rm -rf *", "cd $X; ".repeat(40)), false),
    ] {
        assert_eq!(is_catastrophic(&text), expected, "{text:?}");
    }
}
