use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs;

/// Event in the files of a session.
#[derive(Debug, Clone)]
enum Step {
    Prompt,
    /// A tool gives a file a content, or removes it.
    Tool(u8, Option<Vec<u8>>),
    Mode(u8, bool),
    /// Rewind to one of the points seen so far, a prompt or a rewind.
    Rewind(u8),
    /// Another process continues the session.
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    let content = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..40),
        prop::collection::vec(prop::sample::select(&b"ab\n\r"[..]), 0..12),
    ];
    prop_oneof![
        3 => Just(Step::Prompt),
        8 => (0..6_u8, prop::option::weighted(0.8, content)).prop_map(|(file, content)| Step::Tool(file, content)),
        1 => (0..6_u8, any::<bool>()).prop_map(|(file, executable)| Step::Mode(file, executable)),
        2 => any::<u8>().prop_map(Step::Rewind),
        1 => Just(Step::Reopen),
    ]
}

/// Every file with its content and mode, and every directory.
type Tree = BTreeMap<PathBuf, Option<(Vec<u8>, u32)>>;

fn tree(root: &Path) -> Tree {
    use std::os::unix::fs::PermissionsExt;
    let (mut found, mut todo) = (Tree::new(), vec![root.to_owned()]);
    while let Some(directory) = todo.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                found.insert(path.clone(), None);
                todo.push(path);
            } else {
                let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
                found.insert(path.clone(), Some((fs::read(path).unwrap(), mode)));
            }
        }
    }
    found
}

/// Returns the path of a file; some are in directories that are created for them.
fn name(file: u8) -> &'static str {
    ["a", "b", "dir/c", "dir/d", "deep/er/e", "dir/more/f"][usize::from(file)]
}

async fn play(steps: Vec<Step>) {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    fs::write(world.path("a"), "at first\n").unwrap();
    fs::create_dir(world.path("dir")).unwrap();
    fs::write(world.path("dir/mine"), "not tracked").unwrap();
    let mut checkpoints = at(&world.directory());
    let mut points = vec![(prompt(1), tree(&world.root()))];
    let mut prompts = 1;
    checkpoints.begin(&prompt(1)).await.unwrap();
    let id = ToolUseId::from("call");
    for step in steps {
        match step {
            Step::Prompt => {
                prompts += 1;
                checkpoints.begin(&prompt(prompts)).await.unwrap();
                points.push((prompt(prompts), tree(&world.root())));
            }
            Step::Tool(file, content) => {
                let path = world.path(name(file));
                checkpoints.keep(&prompt(prompts), &id, std::slice::from_ref(&path)).await.unwrap();
                match content {
                    Some(content) => {
                        fs::create_dir_all(path.parent().unwrap()).unwrap();
                        fs::write(&path, content).unwrap();
                    }
                    None => drop(fs::remove_file(&path)),
                }
                checkpoints.changed(&id, &[path]).await.unwrap();
            }
            Step::Mode(file, executable) => {
                let path = world.path(name(file));
                checkpoints.keep(&prompt(prompts), &id, std::slice::from_ref(&path)).await.unwrap();
                let mode = if executable { 0o755 } else { 0o640 };
                drop(fs::set_permissions(&path, fs::Permissions::from_mode(mode)));
                checkpoints.changed(&id, &[path]).await.unwrap();
            }
            Step::Rewind(to) => {
                let (id, expected) = points[usize::from(to) % points.len()].clone();
                let before = tree(&world.root());
                let preview = checkpoints.changes(&id, &world.options()).await.unwrap();
                assert_eq!(tree(&world.root()), before);
                let done = checkpoints.rewind(&id, &world.options()).await.unwrap();
                assert_eq!(preview.files, done.files);
                assert!(done.files.iter().all(|file| file.problem.is_none() && !file.conflict), "{done:?}");
                assert_eq!(files(tree(&world.root())), files(expected));
                assert_eq!(done.undo.is_some(), files(before.clone()) != files(tree(&world.root())));
                let again = checkpoints.rewind(&id, &world.options()).await.unwrap();
                assert!(again.files.is_empty() && again.undo.is_none(), "{again:?}");
                points.extend(done.undo.map(|undo| (undo, before)));
            }
            Step::Reopen => {
                drop(checkpoints);
                checkpoints = at(&world.directory());
            }
        }
    }
    // In the end, back to the very first: directories that were created for files are gone too.
    let (first, expected) = points.swap_remove(0);
    checkpoints.rewind(&first, &world.options()).await.unwrap();
    assert_eq!(files(tree(&world.root())), files(expected));
}

/// Removes the directories: an empty one left by a tool that removed a file may stay.
fn files(mut tree: Tree) -> Tree {
    tree.retain(|_, file| file.is_some());
    tree
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_checkpoint_gives_back_the_tree_of_its_time(steps in prop::collection::vec(step(), 1..40)) {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(play(steps));
    }
}
