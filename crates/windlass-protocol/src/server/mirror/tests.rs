use super::*;
use futures_util::FutureExt;
use std::fs::File;
use std::io::Write;

const MEBIBYTE: usize = 1024 * 1024;

fn log() -> (PathBuf, File) {
    let name = format!("windlass-mirror-{}-{:?}", std::process::id(), std::thread::current().id());
    let path = std::env::temp_dir().join(name.replace(['(', ')'], ""));
    let file = File::options().create(true).write(true).truncate(true).open(&path).unwrap();
    (path, file)
}

fn entry(text: &str) -> String {
    format!("{{\"type\":\"user\",\"text\":\"{text}\"}}\n")
}

fn copying(mirror: &Mirror) -> Copying {
    Copying::new(mirror, Arc::new(windlass_runtime::SystemIds::default()))
}

/// All durable lines, frame by frame.
async fn frames(copying: &mut Copying) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    copying.order();
    while let CopyOutcome::Frame(frame) = copying.next().await {
        all.push(frame);
    }
    all
}

fn lines(frames: &[Vec<u8>]) -> Vec<String> {
    String::from_utf8(frames.concat()).unwrap().lines().map(str::to_owned).collect()
}

/// All frames that a mirror sends for these lines, by line; `true` if the file of the log is open at the end.
async fn sent(mirror: &Mirror, path: &Path, parts: &[String], mut file: File) -> (Vec<String>, bool) {
    let (mut len, mut all, mut copying) = (0, Vec::new(), copying(mirror));
    mirror.opened(path, 0);
    for part in parts {
        file.write_all(part.as_bytes()).unwrap();
        len += part.len() as u64;
        mirror.written(path, len);
        all.extend(frames(&mut copying).await);
    }
    std::fs::remove_file(path).unwrap();
    (lines(&all), copying.is_file_open(0))
}

fn entries(frame: &str) -> Vec<serde_json::Value> {
    let frame: serde_json::Value = serde_json::from_str(frame).unwrap();
    assert_eq!(frame["type"], "transcript_mirror");
    frame["entries"].as_array().unwrap().clone()
}

#[tokio::test]
async fn every_line_is_sent_once_in_order_and_in_frames_that_fit() {
    let (path, file) = log();
    let parts: Vec<String> = (0..40)
        .map(|part| (0..20).map(|at| entry(&format!("{part}-{at}-{}", "y\u{2028}".repeat(part * 100)))).collect())
        .collect();
    let (frames, _) = sent(&Mirror::new(), &path, &parts, file).await;
    assert!(frames.iter().all(|frame| frame.len() < MEBIBYTE && !frame.contains('\u{2028}')));
    assert!(frames.len() > parts.len(), "{} frames", frames.len());
    let all: Vec<_> = frames.iter().flat_map(|frame| entries(frame)).collect();
    let written: Vec<serde_json::Value> =
        parts.concat().split_terminator('\n').map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(all, written);
    assert!(frames[0].contains(&format!("\"filePath\":\"{}\"", path.display())));
}

#[tokio::test]
async fn what_cannot_fit_is_reported_once_and_no_other_line_is_lost() {
    let (path, file) = log();
    let line = |size: usize| entry(&"z".repeat(size));
    let parts = [
        entry("a"),
        line(MEBIBYTE) + &entry("b"),
        line(2 * MEBIBYTE),
        line(MEBIBYTE - 100) + &entry("c"),
        line(MEBIBYTE - 300) + &entry("d"),
        "{broken\n\n{\"type\":\"windlass-checksum\",\"lines\":2}\n".to_owned() + &entry("e"),
    ];
    let (frames, _) = sent(&Mirror::new(), &path, &parts, file).await;
    assert!(frames.iter().all(|frame| frame.len() < MEBIBYTE));
    let (lost, frames): (Vec<_>, Vec<_>) = frames.iter().partition(|frame| frame.contains("session_writes_lost"));
    assert_eq!(lost.len(), 1);
    let session = path.file_stem().unwrap().to_string_lossy();
    let lost: serde_json::Value = serde_json::from_str(lost[0]).unwrap();
    assert_eq!((&lost["session_id"], &lost["lost"][0]), (&(*session).into(), &"transcript".into()));
    let all: Vec<_> = frames.iter().flat_map(|frame| entries(frame)).collect();
    let kept: Vec<_> = all.iter().map(|entry| entry["text"].as_str().unwrap()).filter(|text| text.len() == 1).collect();
    assert_eq!((kept.concat().as_str(), all.len()), ("abcde", 6));
}

#[test]
fn lines_that_the_host_has_are_not_sent_and_dropped_frames_are_not_counted() {
    // Files are read by one thread, which the test blocks to keep a read from finishing.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(1).build().unwrap();
    runtime.block_on(async {
        let (path, mut file) = log();
        let mirror = Mirror::new();
        file.write_all(entry("old").as_bytes()).unwrap();
        mirror.opened(&path, entry("old").len() as u64);
        mirror.written(Path::new("/another"), 100);
        let mut copying = copying(&mirror);
        assert!(frames(&mut copying).await.is_empty());
        file.write_all(entry("new").as_bytes()).unwrap();
        mirror.written(&path, entry("oldnew").len() as u64 + entry("").len() as u64);
        copying.order();
        let (release, held) = std::sync::mpsc::channel::<()>();
        let busy = tokio::task::spawn_blocking(move || held.recv());
        // The request does not wait for it.
        assert!(copying.next().now_or_never().is_none());
        assert_eq!(copying.sent(0), entry("old").len() as u64, "it is not counted as sent");
        release.send(()).unwrap();
        busy.await.unwrap().unwrap();
        let CopyOutcome::Frame(frame) = copying.next().await else { panic!("there is no frame") };
        assert_eq!(entries(&lines(&[frame])[0])[0]["text"], "new");
        assert_eq!(copying.next().await, CopyOutcome::UpToDate);
        std::fs::remove_file(path).unwrap();
    });
}

/// Without a request, lines are collected for a moment.
#[tokio::test(start_paused = true)]
async fn lines_come_by_themselves_and_many_at_once() {
    let (path, mut file) = log();
    let mirror = Mirror::new();
    mirror.opened(&path, 0);
    let mut copying = copying(&mirror);
    let mut len = 0;
    for text in ["a", "b", "c"] {
        file.write_all(entry(text).as_bytes()).unwrap();
        len += entry(text).len() as u64;
        mirror.written(&path, len);
    }
    let CopyOutcome::Frame(frame) = copying.next().await else { panic!("there is no frame") };
    assert_eq!(entries(&lines(&[frame])[0]).len(), 3);
    std::fs::remove_file(path).unwrap();
}

#[tokio::test]
async fn a_host_that_does_not_read_costs_no_more_than_a_frame() {
    let (path, mut file) = log();
    let mirror = Mirror::new();
    mirror.opened(&path, 0);
    let line = entry(&"w".repeat(100_000));
    for count in 1..=100_u64 {
        file.write_all(line.as_bytes()).unwrap();
        mirror.written(&path, count * line.len() as u64);
    }
    let mut copying = copying(&mirror);
    copying.order();
    let CopyOutcome::Frame(first) = copying.next().await else { panic!("there is no frame") };
    assert!(first.len() < MEBIBYTE && copying.sent(0) < MEBIBYTE as u64, "{}", copying.sent(0));
    // The host reads after all: the rest follows the sent lines.
    let mut all = vec![first];
    while let CopyOutcome::Frame(frame) = copying.next().await {
        all.push(frame);
    }
    assert_eq!(lines(&all).iter().map(|frame| entries(frame).len()).sum::<usize>(), 100);
    std::fs::remove_file(path).unwrap();
}

/// Log of an agent in a folder of its own, which the test removes.
fn agent_log(session: &str, id: &str) -> (PathBuf, PathBuf, File) {
    let root = std::env::temp_dir().join(format!("windlass-mirror-agent-{session}-{}", std::process::id()));
    let folder = root.join(session).join("subagents");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("agent-{id}.jsonl"));
    let file = File::options().create(true).append(true).open(&path).unwrap();
    (root, path, file)
}

#[tokio::test]
async fn the_host_hears_what_agent_it_is_before_the_first_line_and_once() {
    let (root, path, file) = agent_log("session-1", "a1");
    std::fs::write(path.with_extension("meta.json"), r#"{"agentType":"explore","toolUseId":"t1","type":"x"}"#).unwrap();
    let mirror = Mirror::new();
    let parts = [entry("one"), entry("two") + &entry(&"z".repeat(MEBIBYTE)), entry("three")];
    let (frames, is_open) = sent(&mirror, &path, &parts, file).await;
    let (lost, frames): (Vec<_>, Vec<_>) = frames.iter().partition(|frame| frame.contains("session_writes_lost"));
    let all: Vec<_> = frames.iter().flat_map(|frame| entries(frame)).collect();
    let expected = serde_json::json!({"type": "agent_metadata", "agentType": "explore", "toolUseId": "t1"});
    assert_eq!(all[0], expected);
    let texts: Vec<_> = all[1..].iter().map(|entry| entry["text"].as_str().unwrap()).collect();
    assert_eq!(texts, ["one", "two", "three"]);
    assert!(frames.iter().all(|frame| frame.contains("/session-1/subagents/agent-a1.jsonl")));
    let lost: serde_json::Value = serde_json::from_str(lost[0]).unwrap();
    assert_eq!((&lost["session_id"], &lost["transcript_session_ids"][0]), (&"session-1".into(), &"session-1".into()));
    assert!(!is_open, "the files of agents do not stay open");
    std::fs::remove_dir_all(root).unwrap();
}

#[tokio::test]
async fn an_agent_that_is_not_described_is_mirrored_all_the_same() {
    for (id, meta) in [("none", None), ("broken", Some("{\"agentType\":"))] {
        let (root, path, file) = agent_log(&format!("session-{id}"), id);
        if let Some(meta) = meta {
            std::fs::write(path.with_extension("meta.json"), meta).unwrap();
        }
        let (frames, _) = sent(&Mirror::new(), &path, &[entry("one")], file).await;
        assert_eq!(frames.len(), 1, "{id}");
        assert_eq!(entries(&frames[0])[0]["text"], "one", "{id}");
        std::fs::remove_dir_all(root).unwrap();
    }
}

#[tokio::test]
async fn an_agent_that_the_host_knows_is_not_named_again() {
    let (root, path, mut file) = agent_log("session-2", "a1");
    std::fs::write(path.with_extension("meta.json"), r#"{"agentType":"explore"}"#).unwrap();
    file.write_all(entry("old").as_bytes()).unwrap();
    let mirror = Mirror::new();
    mirror.opened(&path, entry("old").len() as u64);
    file.write_all(entry("new").as_bytes()).unwrap();
    mirror.written(&path, file.metadata().unwrap().len());
    let frames = lines(&frames(&mut copying(&mirror)).await).concat();
    assert!(frames.contains("new") && !frames.contains("old") && !frames.contains("agent_metadata"), "{frames}");
    std::fs::remove_dir_all(root).unwrap();
}

#[test]
fn only_logs_in_the_folder_of_agents_are_theirs() {
    for (path, session) in [
        ("/h/projects/-p/s1.jsonl", None),
        ("/h/projects/-p/agent-x.jsonl", None),
        ("/h/projects/-p/s1/subagents/agent-x.jsonl", Some("s1")),
        ("/h/projects/-p/s1/subagents/workflows/r/agent-x.jsonl", Some("s1")),
        ("/h/projects/-p/s1/subagents/other.jsonl", None),
        ("/subagents/agent-x.jsonl", None),
    ] {
        let found = agent::session(Path::new(path)).and_then(std::ffi::OsStr::to_str);
        assert_eq!(found, session, "{path}");
    }
}
