//! Real programs in real sandboxes.
//!
//! This program is its own helper, so it has a `main` and a runner of its own. `BWRAP` names a bubblewrap outside of
//! the usual places.
#![allow(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests"
)]

#[cfg(target_os = "linux")]
mod escapes;
#[cfg(target_os = "linux")]
mod levels;
#[cfg(target_os = "linux")]
mod programs;
#[cfg(target_os = "linux")]
mod site;
#[cfg(target_os = "linux")]
mod speed;
#[cfg(target_os = "linux")]
mod starts;
#[cfg(target_os = "linux")]
mod user;

fn main() {
    if let Some(code) = windlass_sandbox::become_helper(std::env::args_os().skip(1)) {
        std::process::exit(code);
    }
    #[cfg(target_os = "linux")]
    std::process::exit(site::become_bubblewrap(std::env::args_os().skip(1)).unwrap_or_else(run));
}

#[cfg(target_os = "linux")]
type Test = (&'static str, fn());

/// Runs the tests whose names contain the first argument that is no option.
#[cfg(target_os = "linux")]
fn run() -> i32 {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let all: Vec<Test> = [escapes::TESTS, levels::TESTS, programs::TESTS, starts::TESTS, user::TESTS].concat();
    if arguments.iter().any(|word| word == "--list") {
        all.iter().for_each(|(name, _)| println!("{name}: test"));
        return 0;
    }
    if arguments.iter().any(|word| word == "--speed") {
        speed::report();
        return 0;
    }
    let exact = arguments.iter().any(|word| word == "--exact");
    let filter = arguments.iter().find(|word| !word.starts_with('-'));
    let wanted = |name: &str| filter.is_none_or(|filter| if exact { name == filter } else { name.contains(&**filter) });
    let (mut passed, mut failed) = (0, 0);
    for (name, test) in all.into_iter().filter(|(name, _)| wanted(name)) {
        let ok = std::panic::catch_unwind(test).is_ok();
        println!("test {name} ... {}", if ok { "ok" } else { "FAILED" });
        if ok { passed += 1 } else { failed += 1 }
    }
    let result = if failed == 0 { "ok" } else { "FAILED" };
    println!("\ntest result: {result}. {passed} passed; {failed} failed; 0 ignored; 0 measured; 0 filtered out");
    i32::from(failed > 0)
}
