//! Surveys whose futures are dropped.

use super::*;
use std::fs;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};
use windlass_session::{ChangedBy, Survey};

/// Polls a baseline `steps` times, each time when its last step on a thread has ended, and drops it.
async fn stop_after(checkpoints: &FileCheckpoints, survey: &Survey, steps: usize) {
    let mut looking = pin!(checkpoints.survey(survey));
    for _ in 0..steps {
        if looking.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready() {
            return;
        }
        checkpoints.settle().await;
    }
}

#[tokio::test]
async fn a_baseline_that_was_stopped_anywhere_is_made_anew() {
    for steps in [0, 1, 2, 3, 5, 8, 13, 21] {
        let world = World::new();
        for at in 0..600 {
            fs::write(world.path(&format!("{at}")), format!("{at}")).unwrap();
        }
        let checkpoints = at(&world.directory());
        let survey = Survey::new(prompt(1), [world.root()], ChangedBy::Others);
        stop_after(&checkpoints, &survey, steps).await;
        checkpoints.survey(&survey).await.unwrap();
        for at in (0..600).step_by(7) {
            fs::write(world.path(&format!("{at}")), "changed").unwrap();
        }
        let survey = Survey::new(prompt(1), [world.root()], ChangedBy::Session);
        checkpoints.survey(&survey).await.unwrap();
        let done = checkpoints.rewind(&prompt(1), &world.options()).await.unwrap();
        assert_eq!((done.changed().count(), done.left().count()), (86, 0), "stopped after {steps} steps");
        for at in 0..600 {
            assert_eq!(fs::read_to_string(world.path(&format!("{at}"))).unwrap(), format!("{at}"));
        }
    }
}

#[tokio::test]
async fn what_a_dropped_future_left_at_work_can_be_waited_for() {
    for steps in 0..12 {
        let world = World::new();
        fs::write(world.path("a"), vec![b'x'; 1 << 20]).unwrap();
        let checkpoints = at(&world.directory());
        let survey = Survey::new(prompt(1), [world.root()], ChangedBy::Others);
        {
            let mut looking = pin!(checkpoints.survey(&survey));
            for _ in 0..=steps {
                let _ = looking.as_mut().poll(&mut Context::from_waker(Waker::noop()));
                tokio::task::yield_now().await;
            }
        }
        checkpoints.settle().await;
        drop(checkpoints);
        // No part of it holds the lock.
        at(&world.directory()).begin(&prompt(2)).await.unwrap();
    }
}
