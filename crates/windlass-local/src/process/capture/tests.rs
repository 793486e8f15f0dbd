use proptest::prelude::*;

use super::*;

fn limits(memory: usize, spill: Option<PathBuf>, spill_cap: u64) -> CaptureLimits {
    CaptureLimits { memory, spill, spill_above: memory, spill_cap, space: KeptSpace::default() }
}

fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

async fn collect(limits: CaptureLimits, chunks: &[Vec<u8>]) -> Captured {
    let mut capture = Capture::new(limits);
    for chunk in chunks {
        capture.push(chunk).await;
    }
    capture.finish().await
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn keeps_the_ends_and_spills_the_whole(
        chunks in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 0..12),
        memory in 0usize..120,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sub").join("out.txt");
        let whole: Vec<u8> = chunks.concat();
        let captured = block_on(collect(limits(memory, Some(path.clone()), u64::MAX), &chunks));

        prop_assert_eq!(captured.total, whole.len() as u64);
        prop_assert!(captured.head.len() + captured.tail.len() <= memory);
        prop_assert!(whole.starts_with(&captured.head));
        prop_assert!(whole.ends_with(&captured.tail));
        prop_assert_eq!(captured.is_whole(), whole.len() <= memory);
        if whole.len() > memory {
            prop_assert_eq!(captured.head.len() + captured.tail.len(), memory);
            let spill = captured.spill.unwrap();
            prop_assert!(spill.complete);
            prop_assert_eq!(spill.bytes, whole.len() as u64);
            prop_assert_eq!(std::fs::read(&path).unwrap(), whole);
        } else {
            prop_assert_eq!(captured.spill, None);
            prop_assert!(!path.exists());
        }
    }

    #[test]
    fn recent_is_a_suffix(
        chunks in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 0..12),
        memory in 2usize..120,
        limit in 0usize..60,
    ) {
        let whole: Vec<u8> = chunks.concat();
        let recent = block_on(async {
            let mut capture = Capture::new(limits(memory, None, 0));
            for chunk in &chunks {
                capture.push(chunk).await;
            }
            capture.recent(limit)
        });
        prop_assert!(recent.len() <= limit);
        prop_assert!(whole.ends_with(&recent));
        prop_assert_eq!(recent.is_empty(), whole.is_empty() || limit == 0);
    }
}

#[test]
fn the_copy_stops_at_its_cap() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("out");
    let chunks = vec![b"0123456789".to_vec(); 4];
    let captured = block_on(collect(limits(8, Some(path.clone()), 25), &chunks));
    let spill = captured.spill.unwrap();
    assert_eq!((spill.bytes, spill.complete), (25, false));
    assert_eq!(std::fs::read(path).unwrap(), b"0123456789012345678901234");
    assert_eq!(captured.total, 40);
}

#[test]
fn an_unwritable_copy_does_not_lose_the_ends() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("taken");
    std::fs::write(&path, "mine").unwrap();
    let captured = block_on(collect(limits(4, Some(path.clone()), 100), &[b"abcdefgh".to_vec()]));
    assert_eq!(captured.spill, None);
    assert_eq!((captured.head.as_slice(), captured.tail.as_slice()), (&b"ab"[..], &b"gh"[..]));
    assert_eq!(std::fs::read(path).unwrap(), b"mine");
}

#[cfg(unix)]
#[test]
fn the_copy_is_private_and_may_start_early() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sub").join("out");
    let limits = CaptureLimits { spill_above: 3, ..limits(100, Some(path.clone()), 100) };
    let captured = block_on(collect(limits, &[b"sec".to_vec(), b"ret".to_vec()]));
    assert!(captured.is_whole());
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(std::fs::metadata(path.parent().unwrap()).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(std::fs::read(&path).unwrap(), b"secret");
}
