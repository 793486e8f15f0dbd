//! Tools, commands and people change files in any order: changes of the session are reverted, those of people are not.

use super::*;
use proptest::prelude::*;
use std::fs;
use windlass_session::{ChangedBy, Survey};

/// A change: the file, and `true` if it is removed.
type Edit = (u8, bool);

#[derive(Debug, Clone)]
enum Step {
    Prompt,
    Tool(Edit),
    Command(Vec<Edit>),
    People(Edit),
    /// Rewind to one of the checkpoints so far.
    Rewind(u8),
}

fn step() -> impl Strategy<Value = Step> {
    let edit = || (0..5_u8, prop::bool::weighted(0.2));
    prop_oneof![
        2 => Just(Step::Prompt),
        3 => edit().prop_map(Step::Tool),
        5 => prop::collection::vec(edit(), 0..4).prop_map(Step::Command),
        4 => edit().prop_map(Step::People),
        1 => any::<u8>().prop_map(Step::Rewind),
    ]
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Who {
    Session,
    People,
}

/// A change: the file, its author, and the contents before and after.
type Changed = (u8, Who, Option<String>, Option<String>);

struct Play {
    world: World,
    checkpoints: FileCheckpoints,
    events: Vec<Changed>,
    /// Checkpoints, each with the number of events before it.
    points: Vec<(EntryId, usize)>,
    prompts: u128,
    number: usize,
}

impl Play {
    fn path(&self, file: u8) -> PathBuf {
        self.world.path(["a", "b", "dir/c", "dir/deep/d", "other/e"][usize::from(file)])
    }

    fn now(&self, file: u8) -> Option<String> {
        fs::read_to_string(self.path(file)).ok()
    }

    fn edit(&mut self, who: Who, (file, removed): Edit) {
        let (before, path) = (self.now(file), self.path(file));
        if removed && before.is_none() {
            return;
        }
        if removed {
            fs::remove_file(path).unwrap();
        } else {
            // All have the same length, so that only their times differ.
            self.number += 1;
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, format!("{:05}", self.number)).unwrap();
        }
        self.events.push((file, who, before, self.now(file)));
    }

    async fn look(&self, by: ChangedBy) {
        self.checkpoints.survey(&Survey::new(prompt(self.prompts), [self.world.root()], by)).await.unwrap();
    }

    async fn prompt(&mut self) {
        self.prompts += 1;
        self.checkpoints.begin(&prompt(self.prompts)).await.unwrap();
        self.points.push((prompt(self.prompts), self.events.len()));
    }

    async fn step(&mut self, step: Step) {
        match step {
            Step::Prompt => self.prompt().await,
            // Removing a missing file changes nothing.
            Step::Tool((file, true)) if self.now(file).is_none() => {}
            Step::Tool(edit) => {
                let (id, path) = (ToolUseId::from("call"), [self.path(edit.0)]);
                self.checkpoints.keep(&prompt(self.prompts), &id, &path).await.unwrap();
                self.edit(Who::Session, edit);
                self.checkpoints.changed(&id, &path).await.unwrap();
            }
            Step::Command(edits) => {
                self.look(ChangedBy::Others).await;
                let (before, known) = (self.all(), self.events.len());
                for edit in edits {
                    self.edit(Who::Session, edit);
                }
                // A file created and removed again by a command leaves no trace.
                self.events.truncate(known);
                self.session_changed(before);
                self.look(ChangedBy::Session).await;
            }
            Step::People(edit) => self.edit(Who::People, edit),
            Step::Rewind(to) => {
                let (id, since) = self.points[usize::from(to) % self.points.len()].clone();
                self.rewind(&id, since).await;
            }
        }
    }

    /// Returns the possible states of a file after a rewind: its state before the session's first change, unless people
    /// have changed it since the session did. Then it is left as it is; if no trace of their change is left, either is
    /// possible.
    fn expected(&self, file: u8, since: usize) -> Vec<Option<String>> {
        let now = self.now(file);
        let changes: Vec<&Changed> = self.events[since..].iter().filter(|event| event.0 == file).collect();
        let Some(first) = changes.iter().position(|event| event.1 == Who::Session) else { return vec![now] };
        let was = changes[first].2.clone();
        if !changes[first..].iter().any(|event| event.1 == Who::People) {
            return vec![was];
        }
        let own = changes.iter().filter(|event| event.1 == Who::Session);
        let befores = own.clone().skip(1).map(|event| &event.2).chain([&now]);
        let is_lost = own.map(|event| &event.3).zip(befores).any(|(after, before)| after != before);
        if is_lost { vec![now] } else { vec![now, was] }
    }

    fn all(&self) -> Vec<Option<String>> {
        (0..5).map(|file| self.now(file)).collect()
    }

    async fn rewind(&mut self, to: &EntryId, since: usize) {
        let (before, expected) = (self.all(), (0..5).map(|file| self.expected(file, since)));
        let expected: Vec<_> = expected.collect();
        let options = self.world.options().leaving_conflicts();
        let done = self.checkpoints.rewind(to, &options).await.unwrap();
        let after = self.all();
        for (file, (now, expected)) in after.iter().zip(expected).enumerate() {
            assert!(expected.contains(now), "{file}: {now:?}, not {expected:?}: {done:?}");
        }
        if let Some(undo) = done.undo {
            self.checkpoints.rewind(&undo, &options).await.unwrap();
            assert_eq!(self.all(), before, "undone");
            self.checkpoints.rewind(to, &options).await.unwrap();
            assert_eq!(self.all(), after, "done again");
        }
        self.session_changed(before);
    }

    /// Records the session's changes since the states `before`.
    fn session_changed(&mut self, before: Vec<Option<String>>) {
        for (file, (was, now)) in (0..).zip(before.into_iter().zip(self.all())) {
            if was != now {
                self.events.push((file, Who::Session, was, now));
            }
        }
    }
}

async fn play(steps: Vec<Step>) {
    let world = World::new();
    fs::write(world.path("a"), "00000").unwrap();
    fs::create_dir(world.path("dir")).unwrap();
    fs::write(world.path("dir/c"), "00000").unwrap();
    let checkpoints = at(&world.directory());
    let mut play = Play { world, checkpoints, events: Vec::new(), points: Vec::new(), prompts: 0, number: 0 };
    play.prompt().await;
    for step in steps {
        play.step(step).await;
    }
    play.rewind(&prompt(1), 0).await;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_session_is_taken_back_and_people_are_not(steps in prop::collection::vec(step(), 1..30)) {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(play(steps));
    }
}
