//! A process that is killed at any time, and disks that are full.

use super::*;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs};
use windlass_session::CheckpointErrorKind;

const WORLD: &str = "WINDLASS_CHECKPOINT_TEST";

/// Not a test: the process that is killed. It reports its changes.
#[tokio::test]
#[ignore = "run by the test below"]
async fn changer() {
    let Some(world) = env::var_os(WORLD).map(PathBuf::from) else { return };
    let checkpoints = at(&world.join("history"));
    let first: u128 = env::var("WINDLASS_CHECKPOINT_FIRST").unwrap().parse().unwrap();
    for number in first.. {
        checkpoints.begin(&prompt(number)).await.unwrap();
        println!("begun {number}");
        for file in 0..3 {
            let path = world.join(format!("work/{}", (number + file) % 5));
            let id = ToolUseId::from("call");
            checkpoints.keep(&prompt(number), &id, std::slice::from_ref(&path)).await.unwrap();
            // Written as a whole, like the tools do.
            let (tree, _, _) = ports();
            tree.put_whole(&path, format!("{number} {file}").as_bytes(), Some(0o644)).await.unwrap();
            checkpoints.changed(&id, &[path]).await.unwrap();
        }
    }
}

fn contents(work: &Path) -> Vec<Option<String>> {
    (0..5).map(|file| fs::read_to_string(work.join(file.to_string())).ok()).collect()
}

#[tokio::test]
async fn after_a_kill_at_any_time_every_prompt_gives_back_its_files() {
    let world = tempfile::tempdir().unwrap();
    let root = world.path().canonicalize().unwrap();
    let work = root.join("work");
    fs::create_dir(&work).unwrap();
    let mut first = 1;
    for round in 0..15_u64 {
        let before = contents(&work);
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["checkpoints::kill::changer", "--exact", "--ignored", "--nocapture"])
            .env(WORLD, &root)
            .env("WINDLASS_CHECKPOINT_FIRST", first.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let begun = |line: &str| line.strip_prefix("begun ").and_then(|number| number.parse::<u128>().ok());
        let (mut last, mut until) = (None, None);
        for line in lines.by_ref() {
            last = begun(&line.unwrap()).or(last);
            if last.is_some()
                && Instant::now()
                    >= *until.get_or_insert_with(|| Instant::now() + Duration::from_micros(round * 1_733 % 20_000))
            {
                break;
            }
        }
        child.kill().unwrap();
        last = lines.map_while(Result::ok).filter_map(|line| begun(&line)).last().or(last);
        child.wait().unwrap();
        let last = last.expect("the child began");
        let checkpoints = at(&root.join("history"));
        let options = RewindOptions::within([work.clone()]);
        let (killed, mut undo) = (contents(&work), None);
        // To the first prompt of this process: all of it, whatever it was about to do.
        let done = checkpoints.rewind(&prompt(first), &options).await.unwrap();
        assert!(done.left().next().is_none(), "{done:?}");
        assert_eq!(contents(&work), before, "round {round}");
        undo = done.undo.or(undo);
        if let Some(undo) = undo {
            checkpoints.rewind(&undo, &options).await.unwrap();
        }
        assert_eq!(contents(&work), killed, "round {round}");
        assert!(fs::read_dir(&work).unwrap().count() <= 5 + 1, "a killed write leaves at most its own temporary file");
        for entry in fs::read_dir(&work).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.extension().is_some() {
                fs::remove_file(entry).unwrap();
            }
        }
        first = last + 1;
    }
}

/// Limits the file size of this process: writing fails then as on a full disk.
#[tokio::test]
#[ignore = "run by the test below"]
async fn on_a_full_disk() {
    let Some(world) = env::var_os(WORLD).map(PathBuf::from) else { return };
    let checkpoints = at(&world.join("history"));
    let file = world.join("work/file");
    let keep =
        async |number| checkpoints.keep(&prompt(number), &ToolUseId::from("call"), std::slice::from_ref(&file)).await;
    let mut number = 0;
    let error = loop {
        number += 1;
        fs::write(&file, format!("{number} {}", "x".repeat(700))).unwrap();
        match keep(number).await {
            Ok(()) => {}
            Err(error) => break error,
        }
    };
    assert_eq!(error.kind, CheckpointErrorKind::Full, "{error}");
    let kept = checkpoints.list().await.unwrap().len();
    // With free space, the failed writes succeed now.
    fs::remove_file(world.join("work/ballast")).unwrap();
    keep(number).await.unwrap();
    drop(checkpoints);
    let again = at(&world.join("history"));
    assert_eq!(again.list().await.unwrap().len(), kept);
    fs::write(&file, "changed").unwrap();
    let done = again.rewind(&prompt(number), &RewindOptions::within([world.join("work")])).await.unwrap();
    assert_eq!(done.changed().count(), 1);
    assert!(fs::read_to_string(&file).unwrap().starts_with(&format!("{number} x")));
    println!("done");
}

#[test]
fn a_full_disk_is_reported_and_room_is_used_again() {
    // A small file system of our own needs rights that not everybody has.
    let mounted = |script: &str| Command::new("unshare").args(["-rm", "sh", "-c", script]).output();
    if !mounted("mount -t tmpfs none /mnt").is_ok_and(|output| output.status.success()) {
        windlass_testkit::skipped("unshare, and the right to mount a file system in a namespace of its own");
        return;
    }
    let script = format!(
        "mount -t tmpfs -o size=400k none /mnt && mkdir /mnt/work /mnt/history && \
         dd if=/dev/zero of=/mnt/work/ballast bs=1k count=300 2>/dev/null && \
         {WORLD}=/mnt exec {:?} checkpoints::kill::on_a_full_disk --exact --ignored --nocapture",
        env::current_exe().unwrap()
    );
    let output = mounted(&script).unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("done"), "{text}{}", String::from_utf8_lossy(&output.stderr));
}
