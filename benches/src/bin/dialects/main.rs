//! Cost of each dialect beside the Messages API: CPU of the session's thread, for a delta and for a turn with a tool.
//! Each round measures all dialects, one after the other. The figures are medians, and so are the ratios.
//!
//! `dialects [ROUNDS] [ROW_PREFIX]`
#![allow(clippy::disallowed_methods, reason = "it measures real time")]

mod measure;
mod wire;

use std::time::Duration;

use anyhow::Result;
use windlass_benches::stats::median;

use crate::measure::{Bench, Side};
use crate::wire::DIALECTS;

fn main() -> Result<()> {
    let rounds = std::env::args().nth(1).map_or(Ok(9), |rounds| rounds.parse())?;
    let row = std::env::args().nth(2).unwrap_or_default();
    println!("{:<22} {:<18} {:>12} {:>7}", "of each", "dialect", "CPU", "ratio");
    for (name, side) in [
        ("delta, decode", Side::Decode),
        ("delta, socket", Side::Socket),
        ("delta, whole path", Side::Whole),
        ("turn with a tool", Side::Turn),
    ] {
        if !name.starts_with(&row) {
            continue;
        }
        let benches = DIALECTS.iter().map(|dialect| Bench::new(*dialect, side)).collect::<Result<Vec<_>>>()?;
        let mut samples = vec![Vec::new(); benches.len()];
        for _ in 0..rounds {
            for (bench, samples) in benches.iter().zip(&mut samples) {
                samples.push(bench.sample()?);
            }
        }
        show(name, &samples);
    }
    Ok(())
}

/// Prints the line of one dialect. The others are compared with the first one, round by round.
fn show(name: &str, samples: &[Vec<Duration>]) {
    let Some(first) = samples.first() else { return };
    for (dialect, own) in DIALECTS.iter().zip(samples) {
        let mut ratios: Vec<f64> =
            own.iter().zip(first).map(|(own, first)| own.as_secs_f64() / first.as_secs_f64()).collect();
        ratios.sort_by(f64::total_cmp);
        let ratio = ratios.get(ratios.len() / 2).copied().unwrap_or_default();
        println!("{name:<22} {:<18} {:>9} ns {ratio:>7.2}", dialect.name(), median(own.clone()).as_nanos());
    }
}
