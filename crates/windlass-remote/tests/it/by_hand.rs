//! The same over real connections, by hand:
//!
//! ```sh
//! WINDLASS_REMOTE='ssh -T -o BatchMode=yes -p 2222 root@127.0.0.1 --' cargo test -p windlass-remote --test it by_hand -- --ignored --nocapture
//! ```
//!
//! The words precede those of the command; a transport that joins them for a login shell has `ssh` as its first word.
//! The remote side must see the files of this machine under the same paths.

use std::time::Instant;

use windlass_local::LocalProcess;
use windlass_remote::{Remote, Transport};
use windlass_testkit::process::{self, Shell};
use windlass_testkit::workspace::{self, LocalFiles};
use windlass_tool::{Cancel, Process as _, ProcessCommand, Workspace as _};

fn transport() -> Transport {
    let words = std::env::var("WINDLASS_REMOTE").unwrap();
    let words: Vec<&str> = words.split_whitespace().collect();
    match words.as_slice() {
        ["ssh", options @ .., host] => Transport::ssh(*host).with_options(options.iter().copied()),
        [program, words @ ..] => Transport::program(*program, words.iter().copied()),
        [] => panic!("no words"),
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a connection, see above"]
async fn a_real_connection_keeps_every_promise() {
    let folder = tempfile::tempdir().unwrap();
    let began = Instant::now();
    let far = Remote::connect(transport()).await.unwrap();
    println!("connected in {:?}", began.elapsed());
    let began = Instant::now();
    for _ in 0..100 {
        far.workspace().resolve(folder.path()).await.unwrap();
    }
    println!("a path is resolved in {:?}", began.elapsed() / 100);
    let began = Instant::now();
    for _ in 0..10 {
        let mut command = ProcessCommand::new("true", "/");
        command.env = vec![("PATH".into(), "/usr/bin:/bin".into())];
        far.process().run(command, &Cancel::new()).await.unwrap();
    }
    println!("a program has run in {:?}", began.elapsed() / 10);
    workspace::all(&*far.workspace(), &LocalFiles::new(folder.path()).unwrap()).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let shell = Shell::new(folder.path().canonicalize().unwrap()).with_mark(LocalProcess::MARK);
    process::all(&*far.process(), &shell).await.unwrap();
}
