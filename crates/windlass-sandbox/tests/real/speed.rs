//! The time that a sandbox adds to a command: `cargo test -p windlass-sandbox --test real -- --speed`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use windlass_local::LocalProcess;
use windlass_tool::{Cancel, Process, ProcessCommand};

use crate::site::{Site, block_on, mechanisms};

/// Number of rounds. It is odd, so that there is a median.
const ROUNDS: usize = 201;

/// Prints the median time of a command without a sandbox, and the time that each level adds. The rounds alternate, so
/// that other load affects all.
pub(crate) fn report() {
    let site = Site::new();
    block_on(async {
        let bare: Arc<dyn Process> = Arc::new(LocalProcess::new(format!("speed{}", std::process::id())));
        let mut runs = vec![("none".to_owned(), bare, Vec::new())];
        let mut opened = Vec::new();
        for mechanism in mechanisms() {
            let confined = site.open(mechanism, site.policy()).await.unwrap();
            runs.push((mechanism.to_string(), Arc::clone(&confined.process), Vec::new()));
            opened.push(confined);
        }
        for _ in 0..ROUNDS {
            for (_, process, times) in &mut runs {
                times.push(timed(&**process, site.bash("true")).await);
            }
        }
        let medians: Vec<(String, Duration)> = runs.into_iter().map(|(name, _, times)| (name, median(times))).collect();
        for (name, time) in &medians {
            println!("{name}: {time:?}, {:?} more than without", time.saturating_sub(medians[0].1));
        }
    });
}

async fn timed(process: &dyn Process, command: ProcessCommand) -> Duration {
    let start = Instant::now();
    process.run(command, &Cancel::new()).await.unwrap();
    start.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
