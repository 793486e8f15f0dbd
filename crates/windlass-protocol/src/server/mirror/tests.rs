use super::*;
use std::io::Write;
use tokio::io::AsyncReadExt;

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

/// Everything that a mirror sends for these lines, by line.
async fn sent(mirror: &Mirror, path: &Path, parts: &[String], mut file: File) -> Vec<String> {
    let (outbox, lane) = Outbox::new();
    let (near, mut far) = tokio::io::duplex(64 * 1024);
    let carried = tokio::spawn(lane.carry(near));
    let reading = tokio::spawn(async move {
        let mut all = String::new();
        far.read_to_string(&mut all).await.unwrap();
        all
    });
    let mut len = 0;
    mirror.opened(path, 0);
    for part in parts {
        file.write_all(part.as_bytes()).unwrap();
        len += part.len() as u64;
        mirror.written(path, len);
        mirror.flush(&outbox, || "id".to_owned()).await.unwrap();
    }
    outbox.finish();
    carried.await.unwrap().unwrap();
    std::fs::remove_file(path).unwrap();
    reading.await.unwrap().lines().map(str::to_owned).collect()
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
    let frames = sent(&Mirror::new(), &path, &parts, file).await;
    assert!(frames.iter().all(|frame| frame.len() < MEBIBYTE && !frame.contains('\u{2028}')));
    assert!(frames.len() > parts.len(), "{} frames", frames.len());
    let all: Vec<_> = frames.iter().flat_map(|frame| entries(frame)).collect();
    let written: Vec<serde_json::Value> =
        parts.concat().split_terminator('\n').map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(all, written);
    assert!(frames[0].contains(&format!("\"filePath\":\"{}\"", path.display())));
}

#[tokio::test]
async fn what_cannot_fit_is_said_once_and_nothing_else_is_lost() {
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
    let frames = sent(&Mirror::new(), &path, &parts, file).await;
    assert!(frames.iter().all(|frame| frame.len() < MEBIBYTE));
    let (said, frames): (Vec<_>, Vec<_>) = frames.iter().partition(|frame| frame.contains("session_writes_lost"));
    assert_eq!(said.len(), 1);
    let session = path.file_stem().unwrap().to_string_lossy();
    let said: serde_json::Value = serde_json::from_str(said[0]).unwrap();
    assert_eq!((&said["session_id"], &said["lost"][0]), (&(*session).into(), &"transcript".into()));
    let all: Vec<_> = frames.iter().flat_map(|frame| entries(frame)).collect();
    let kept: Vec<_> = all.iter().map(|entry| entry["text"].as_str().unwrap()).filter(|text| text.len() == 1).collect();
    assert_eq!((kept.concat().as_str(), all.len()), ("abcde", 6));
}

#[tokio::test]
async fn lines_that_the_host_has_are_not_sent_and_a_host_that_is_gone_ends_it() {
    let (path, mut file) = log();
    let mirror = Mirror::new();
    file.write_all(entry("old").as_bytes()).unwrap();
    mirror.opened(&path, entry("old").len() as u64);
    mirror.written(Path::new("/another"), 100);
    let (outbox, lane) = Outbox::new();
    mirror.flush(&outbox, || "id".to_owned()).await.unwrap();
    file.write_all(entry("new").as_bytes()).unwrap();
    mirror.written(&path, entry("oldnew").len() as u64 + entry("").len() as u64);
    drop(lane);
    assert_eq!(mirror.flush(&outbox, || "id".to_owned()).await, Err(Gone));
    let next = mirror.logs()[0].sent;
    assert_eq!(next, entry("old").len() as u64, "it is not counted as sent");
    std::fs::remove_file(path).unwrap();
}

#[tokio::test]
async fn a_host_that_does_not_read_costs_no_more_than_the_queue() {
    let (path, mut file) = log();
    let mirror = Mirror::new();
    mirror.opened(&path, 0);
    let line = entry(&"w".repeat(100_000));
    let (outbox, lane) = Outbox::new();
    for count in 1..=100_u64 {
        file.write_all(line.as_bytes()).unwrap();
        mirror.written(&path, count * line.len() as u64);
    }
    let waiting = tokio::time::timeout(Duration::from_secs(1), mirror.flush(&outbox, || "id".to_owned())).await;
    assert!(waiting.is_err(), "it waits for room");
    let before = mirror.logs()[0].sent;
    assert!(before < 5 * MEBIBYTE as u64, "{before}");
    // The host reads after all: the rest follows on what was sent.
    let (near, mut far) = tokio::io::duplex(64 * 1024);
    let carried = tokio::spawn(lane.carry(near));
    let reading = tokio::spawn(async move {
        let mut all = String::new();
        far.read_to_string(&mut all).await.unwrap();
        all.lines().map(|frame| entries(frame).len()).sum::<usize>()
    });
    mirror.flush(&outbox, || "id".to_owned()).await.unwrap();
    outbox.finish();
    carried.await.unwrap().unwrap();
    assert_eq!(reading.await.unwrap(), 100);
    std::fs::remove_file(path).unwrap();
}
