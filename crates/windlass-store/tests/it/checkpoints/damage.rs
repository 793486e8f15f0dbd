use super::*;
use std::fs;
use windlass_session::{CheckpointErrorKind, NotRestoredKind};

/// Writes three prompts that change a file, into an index that is closed.
async fn three(world: &World) -> Vec<u8> {
    let checkpoints = at(&world.directory());
    fs::write(world.path("file"), "0").unwrap();
    for number in 1..=3 {
        checkpoints.begin(&prompt(number)).await.unwrap();
        change(&checkpoints, number, &world.path("file"), number.to_string().as_bytes()).await;
    }
    fs::read(world.directory().join("index.jsonl")).unwrap()
}

#[tokio::test]
async fn an_index_that_was_cut_anywhere_loses_only_its_end() {
    let world = World::new();
    let whole = three(&world).await;
    let index = world.directory().join("index.jsonl");
    for cut in (0..=whole.len()).step_by(7) {
        fs::write(&index, &whole[..cut]).unwrap();
        let checkpoints = at(&world.directory());
        let lines = whole[..cut].iter().filter(|byte| **byte == b'\n').count();
        let listed = checkpoints.list().await.unwrap();
        // A checkpoint begins, a file is kept, a change is recorded.
        assert_eq!(listed.len(), lines.div_ceil(3), "{cut}");
        assert_eq!(listed.iter().map(|one| one.files).sum::<usize>(), (lines + 1) / 3, "{cut}");
        // Later records are intact again.
        checkpoints.begin(&prompt(9)).await.unwrap();
        drop(checkpoints);
        assert!(at(&world.directory()).list().await.unwrap().iter().any(|one| one.id == prompt(9)), "{cut}");
    }
}

#[tokio::test]
async fn behind_damage_only_later_checkpoints_are_used() {
    let world = World::new();
    let whole = three(&world).await;
    let index = world.directory().join("index.jsonl");
    for line in 0..9 {
        let mut bytes = whole.clone();
        let starts: Vec<usize> = std::iter::once(0)
            .chain(whole.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(at, _)| at + 1))
            .collect();
        bytes[starts[line] + 50] ^= 1;
        fs::write(&index, &bytes).unwrap();
        fs::write(world.path("file"), "3").unwrap();
        let checkpoints = at(&world.directory());
        for number in 1..=3 {
            match checkpoints.changes(&prompt(number), &world.options()).await {
                // Each reported state is true.
                Ok(rewind) if !rewind.files.is_empty() => {
                    checkpoints.rewind(&prompt(number), &world.options()).await.unwrap();
                    assert_eq!(
                        fs::read_to_string(world.path("file")).unwrap(),
                        (number - 1).to_string(),
                        "line {line}"
                    );
                    fs::write(world.path("file"), "3").unwrap();
                }
                Ok(_) => {}
                Err(error) => assert!(
                    matches!(error.kind, CheckpointErrorKind::Damaged | CheckpointErrorKind::Unknown),
                    "line {line}: {error}"
                ),
            }
        }
    }
}

#[tokio::test]
async fn contents_that_are_missing_or_damaged_are_not_put_back() {
    for damage in [None, Some("other")] {
        let world = World::new();
        three(&world).await;
        let object = world.directory().join("objects").join(&*blake3::hash(b"0").to_hex());
        match damage {
            None => fs::remove_file(&object).unwrap(),
            Some(other) => fs::write(&object, other).unwrap(),
        }
        let checkpoints = at(&world.directory());
        let done = checkpoints.rewind(&prompt(1), &world.options()).await.unwrap();
        assert_eq!(done.files[0].problem.clone().unwrap().kind, NotRestoredKind::NotKept);
        assert_eq!(fs::read_to_string(world.path("file")).unwrap(), "3");
        let done = checkpoints.rewind(&prompt(2), &world.options()).await.unwrap();
        assert_eq!((done.changed().count(), fs::read_to_string(world.path("file")).unwrap()), (1, "1".to_owned()));
    }
}

#[tokio::test]
async fn leftovers_of_a_crash_are_swept() {
    let world = World::new();
    three(&world).await;
    let objects = world.directory().join("objects");
    fs::write(objects.join("partial-1-1"), "half").unwrap();
    fs::write(objects.join(&*blake3::hash(b"no line names it").to_hex()), "no line names it").unwrap();
    let before = fs::read_dir(&objects).unwrap().count();
    at(&world.directory()).list().await.unwrap();
    assert_eq!(fs::read_dir(&objects).unwrap().count(), before - 2);
}
