//! Links that are put on the way while a path is used: nothing outside is read, made, changed or removed.
//!
//! `WINDLASS_SWAP_RACES` is the number of uses of a path while another thread swaps; default: 20,000. The test prints
//! the number of uses with a swap between their beginning and their end.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use windlass_local::LocalWorkspace;
use windlass_tool::{JudgedPath, Permit, Workspace, WorkspaceError, WriteOptions};
use windlass_types::CallDigest;

/// Each component of the paths that are used, and a link that leads from its place to the same name outside.
const COMPONENTS: [(&str, &str); 5] = [
    ("top/tree/dir/file", "../../../outside/tree/dir/file"),
    ("top/tree/dir/extra", "../../../outside/tree/dir/extra"),
    ("top/tree/dir", "../../outside/tree/dir"),
    ("top/tree", "../outside/tree"),
    ("top", "outside"),
];

/// Uses of a path, one after the other.
const USES: [&str; 9] = [
    "read",
    "read in a tree",
    "list",
    "write",
    "make with directories",
    "remove what was made",
    "rename",
    "remove what was renamed",
    "make",
];

/// Number of attempts of a use until it succeeds, so that the next one finds its preconditions.
const REPEATS: usize = 8;

/// The other side: it swaps components until `ends` is set.
struct Swapper<'a> {
    at: &'a Path,
    swaps: &'a AtomicU64,
}

impl Swapper<'_> {
    fn run(&self, ends: &AtomicBool) {
        for (round, (name, target)) in COMPONENTS.iter().cycle().enumerate() {
            if ends.load(Ordering::Relaxed) {
                return;
            }
            let place = self.at.join(name);
            if round % 2 == 0 { self.exchange(&place, target) } else { self.rename(&place, target) }
        }
    }

    /// Without a moment in which nothing stands there.
    fn exchange(&self, place: &Path, target: &str) {
        let aside = self.at.join("aside");
        symlink(target, &aside).unwrap();
        if self.swapped(&exchange(&aside, place)) {
            std::thread::yield_now();
            // The replacement of the link is inside, so the earlier state applies.
            if !self.swapped(&exchange(&aside, place)) {
                fs::rename(&aside, place).unwrap();
                return;
            }
        }
        remove(&aside);
    }

    /// With moments in which nothing stands there.
    fn rename(&self, place: &Path, target: &str) {
        let aside = self.at.join("aside");
        if !self.swapped(&fs::rename(place, &aside)) {
            return;
        }
        self.swapped(&symlink(target, place));
        std::thread::yield_now();
        // A use may make files and directories where nothing stands.
        while fs::rename(&aside, place).is_err() {
            remove(place);
        }
        self.swaps.fetch_add(1, Ordering::SeqCst);
    }

    fn swapped(&self, done: &std::io::Result<()>) -> bool {
        self.swaps.fetch_add(1, Ordering::SeqCst);
        done.is_ok()
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn exchange(one: &Path, other: &Path) -> std::io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn exchange(_: &Path, _: &Path) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

/// Removes what stands there. Links are not followed.
fn remove(path: &Path) {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => drop(fs::remove_dir_all(path)),
        _ => drop(fs::remove_file(path)),
    }
}

/// Uses, with the permits of calls that were judged before anything was swapped.
struct Uses {
    workspace: LocalWorkspace,
    dir: PathBuf,
    one: Permit,
    tree: Permit,
}

impl Uses {
    fn new(at: &Path) -> Self {
        let dir = at.join("top/tree/dir");
        let judged = |name: &str| JudgedPath::new(dir.join(name), dir.join(name));
        let permit = || Permit::new(CallDigest::new("00"));
        let one = permit().with_writes(["file", "extra", "moved", "new/deep/file"].map(judged).to_vec());
        let tree = permit().with_reads(vec![JudgedPath::new(at.join("top/tree"), at.join("top/tree"))]);
        Self { workspace: LocalWorkspace::new(), dir, one, tree }
    }

    /// Does one of [`USES`]. What is read must be from inside.
    async fn run(&self, which: usize) -> Result<(), WorkspaceError> {
        let (workspace, one) = (&self.workspace, &self.one);
        let [file, extra, moved, new] = ["file", "extra", "moved", "new/deep/file"].map(|name| self.dir.join(name));
        let options = WriteOptions::default();
        match which {
            0 | 1 => {
                let mut opened = workspace.open(if which == 0 { one } else { &self.tree }, &file).await?;
                assert_ne!(opened.read(64).await?, b"OUTSIDE");
                Ok(())
            }
            2 => {
                let names = workspace.list(&self.tree, &self.dir, 99).await?;
                assert!(!names.iter().any(|name| name == "only-outside"), "{names:?}");
                Ok(())
            }
            3 => workspace.write(one, &file, b"inside", options).await,
            4 => workspace.write(one, &new, b"inside", options.creating_directories().only_new()).await,
            5 => workspace.remove(one, &new).await,
            6 => workspace.rename(one, &extra, &moved, options).await,
            7 => workspace.remove(one, &moved).await,
            _ => workspace.write(one, &extra, b"inside", options.only_new()).await,
        }
    }
}

fn prepared(at: &Path) {
    for (dir, text) in [("top/tree/dir", "inside"), ("outside/tree/dir", "OUTSIDE")] {
        fs::create_dir_all(at.join(dir)).unwrap();
        for file in ["file", "extra"] {
            fs::write(at.join(dir).join(file), text).unwrap();
        }
    }
    fs::write(at.join("outside/tree/dir/only-outside"), "OUTSIDE").unwrap();
}

/// Returns all entries below a directory, without following links.
fn below(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let (mut all, mut left) = (BTreeMap::new(), vec![root.to_path_buf()]);
    while let Some(path) = left.pop() {
        let content = if fs::symlink_metadata(&path).unwrap().is_dir() {
            left.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            Vec::new()
        } else {
            fs::read(&path).unwrap()
        };
        all.insert(path, content);
    }
    all
}

#[test]
fn a_swapped_component_never_leads_outside() {
    let races = std::env::var("WINDLASS_SWAP_RACES").ok().and_then(|races| races.parse().ok()).unwrap_or(20_000_u64);
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().canonicalize().unwrap();
    prepared(&at);
    let (before, uses) = (below(&at.join("outside")), Uses::new(&at));
    let (ends, swaps) = (AtomicBool::new(false), AtomicU64::new(0));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    // For each use: done, refused, and those of both into which a swap fell.
    let mut counts = [[0_u64; 3]; USES.len()];
    std::thread::scope(|scope| {
        scope.spawn(|| Swapper { at: &at, swaps: &swaps }.run(&ends));
        let _ends = EndOnDrop(&ends);
        let (mut tried, mut rounds) = (0_u64, 0_u64);
        while tried < races {
            // A link that was swapped in for `extra` may have been renamed: it would refuse every later use of the name.
            let moved = uses.dir.join("moved");
            if fs::symlink_metadata(&moved).is_ok_and(|found| found.is_symlink()) {
                remove(&moved);
            }
            for (which, [done, refused, met]) in counts.iter_mut().enumerate() {
                for _ in 0..REPEATS {
                    std::thread::yield_now();
                    let start = swaps.load(Ordering::SeqCst);
                    let used = runtime.block_on(uses.run(which));
                    *met += u64::from(swaps.load(Ordering::SeqCst) != start);
                    *if used.is_ok() { &mut *done } else { &mut *refused } += 1;
                    tried += 1;
                    if used.is_ok() {
                        break;
                    }
                }
            }
            rounds += 1;
            if rounds % 1_000 == 0 {
                assert_eq!(below(&at.join("outside")), before, "after {tried} uses");
            }
        }
    });
    assert_eq!(below(&at.join("outside")), before);
    let [all, raced] = [0..2, 2..3].map(|part| counts.iter().flat_map(|counts| &counts[part.clone()]).sum::<u64>());
    let mut shown = format!("{all} uses, {raced} with a swap in them, {} swaps\n", swaps.load(Ordering::SeqCst));
    for (name, [done, refused, met]) in USES.iter().zip(counts) {
        shown.push_str(&format!("{name}: {done} done, {refused} refused, {met} with a swap in them\n"));
    }
    std::io::stdout().write_all(shown.as_bytes()).unwrap();
    assert!(raced > 0 && counts.iter().all(|[done, refused, _]| *done > 0 && *refused > 0), "no race: {shown}");
}

/// Ends the other thread also when an assertion fails.
struct EndOnDrop<'a>(&'a AtomicBool);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
