//! Output of programs.

use windlass_tool::{Cancel, CapturedOutput, Process, ProcessExit};

use super::Shell;
use super::shell::run;
use crate::Violation;
use crate::violation::ensure;

/// Checks that both streams are separate, or merged in the order of writing, that bytes that are not UTF-8 are
/// replaced, and that simultaneous runs do not mix.
///
/// # Errors
/// Output is missing or in the wrong place.
pub async fn keeps_the_streams(process: &dyn Process, shell: &Shell) -> Result<(), Violation> {
    let script = "echo one; echo two >&2; echo three; echo four >&2; printf '\\377end'";
    let apart = shell.run(process, script).await?;
    let both = (apart.stdout.head.as_str(), apart.stderr.head.as_str());
    ensure(both == ("one\nthree\n\u{fffd}end", "two\nfour\n"), || format!("{script}: apart they are {both:?}"))?;
    let mut command = shell.command(script);
    command.merge_streams = true;
    let merged = run(process, command, &Cancel::new(), script).await?;
    let both = (merged.stdout.head.as_str(), merged.stderr.head.as_str());
    ensure(both == ("one\ntwo\nthree\nfour\n\u{fffd}end", ""), || format!("{script}: merged they are {both:?}"))?;

    let scripts: Vec<String> = (0..4).map(|at| format!("for n in 1 2 3 4 5; do echo {at}; done")).collect();
    let runs = scripts.iter().map(|script| shell.read(process, script));
    let printed = futures_util::future::try_join_all(runs).await?;
    let expected: Vec<String> = (0..4).map(|at| format!("{at}\n").repeat(5)).collect();
    ensure(printed == expected, || format!("four runs side by side print {printed:?}"))
}

/// Checks that output beyond the limit keeps its beginning and its end, within the limit, and reports exactly the
/// number of missing bytes, and that up to the limit no byte is missing. Each stream has its own limit. A character is
/// not cut in two.
///
/// # Errors
/// The sum is wrong, a part is from the wrong place, or a character was cut.
pub async fn bounds_its_output(process: &dyn Process, shell: &Shell) -> Result<(), Violation> {
    // 1000 lines of 10 bytes each, and 5000 characters of two.
    let numbers: String = (10_000..11_000).map(|number| format!("kit {number}\n")).collect();
    let count = "n=10000; while [ $n -lt 11000 ]; do echo \"kit $n\"; n=$((n+1)); done";
    let letters = "\u{e9}".repeat(5_000);
    let wide = "n=0; while [ $n -lt 500 ]; do printf '\\303\\251\\303\\251\\303\\251\\303\\251\\303\\251\\303\\251\\303\\251\\303\\251\\303\\251\\303\\251'; n=$((n+1)); done";
    for (script, whole, limits) in [
        (count, numbers.as_str(), [0, 1, 7, 1_000, 9_999, 10_000, 10_001].as_slice()),
        (wide, letters.as_str(), [1, 2, 3, 4, 5, 501, 1_003, 9_999].as_slice()),
    ] {
        for limit in limits {
            let mut command = shell.command(&format!("({script}) >&2; {script}"));
            command.inline_bytes = *limit;
            let outcome = run(process, command, &Cancel::new(), script).await?;
            ensure(outcome.spilled.is_none(), || format!("no file was asked for, but: {:?}", outcome.spilled))?;
            for output in [&outcome.stdout, &outcome.stderr] {
                is_bounded(output, whole, *limit)?;
            }
        }
    }
    Ok(())
}

fn is_bounded(output: &CapturedOutput, whole: &str, limit: usize) -> Result<(), Violation> {
    let CapturedOutput { head, tail, omitted_bytes, .. } = output;
    let kept = head.len().saturating_add(tail.len());
    let shown = || {
        let ends = (head.get(..20).unwrap_or(head), tail.get(tail.len().saturating_sub(20)..).unwrap_or(tail));
        format!("{} bytes with a limit of {limit}: {kept} kept ({ends:?}), {omitted_bytes} omitted", whole.len())
    };
    if whole.len() <= limit {
        return ensure(head == whole && tail.is_empty() && *omitted_bytes == 0, || format!("not whole: {}", shown()));
    }
    ensure(kept <= limit, || format!("more than the limit: {}", shown()))?;
    ensure(!head.contains('\u{fffd}') && !tail.contains('\u{fffd}'), || format!("a cut character: {}", shown()))?;
    ensure(whole.starts_with(head.as_str()), || format!("the head is not the beginning: {}", shown()))?;
    ensure(whole.ends_with(tail.as_str()), || format!("the tail is not the end: {}", shown()))?;
    let sum = (kept as u64).saturating_add(*omitted_bytes);
    ensure(sum == whole.len() as u64, || format!("the sum is wrong: {}", shown()))?;
    // At most one character is lost on either side of the gap.
    ensure(kept.saturating_add(6) >= limit, || format!("much less than the limit: {}", shown()))
}

/// Checks that output beyond the threshold of a spill file is in the file in full, and that the file is named; below
/// the threshold, no file exists.
///
/// # Errors
/// The file is missing, incomplete, or exists without need.
pub async fn spills_what_is_too_large(process: &dyn Process, shell: &Shell) -> Result<(), Violation> {
    let script = "n=0; while [ $n -lt 1000 ]; do echo \"$n\"; n=$((n+1)); done";
    let whole: String = (0..1000).map(|number| format!("{number}\n")).collect();
    for (name, above, expected) in
        [("spill-1", Some(100), true), ("spill-2", None, true), ("spill-3", Some(whole.len()), false)]
    {
        let path = shell.cwd().join(name);
        let mut command = shell.command(script);
        command.inline_bytes = if above.is_none() { 100 } else { 64 * 1024 };
        (command.spill, command.spill_above) = (Some(path.clone()), above);
        let outcome = run(process, command, &Cancel::new(), script).await?;
        let spilled = outcome.spilled.as_ref().is_some_and(|file| file.path == path);
        ensure(spilled == expected, || {
            format!("{} bytes, a file above {above:?} of them: {:?}", whole.len(), outcome.spilled)
        })?;
        if expected {
            let kept = shell.read(process, &format!("cat {name}")).await?;
            ensure(kept == whole, || format!("{name} holds {} bytes of {}", kept.len(), whole.len()))?;
        } else {
            shell.read(process, &format!("test ! -e {name}")).await?;
        }
    }
    Ok(())
}

/// Checks that megabytes on one stream while the other is silent neither block a program nor lose the end of its
/// output.
///
/// # Errors
/// The rule is broken.
pub async fn survives_a_flood(process: &dyn Process, shell: &Shell) -> Result<(), Violation> {
    let flood = "head -c 4000000 /dev/zero | tr '\\0' x";
    let script = format!("{flood} >&2; {flood}; printf end; printf end >&2; exit 3");
    let outcome = shell.run(process, &script).await?;
    ensure(outcome.exit == ProcessExit::Code(3), || format!("a flood on both streams: {:?}", outcome.exit))?;
    for output in [&outcome.stdout, &outcome.stderr] {
        let total = (output.head.len() + output.tail.len()) as u64 + output.omitted_bytes;
        ensure(total == 4_000_003, || format!("a flood of 4000003 bytes counts as {total}"))?;
        ensure(output.tail.ends_with("xend"), || "a flood lost its end".to_owned())?;
    }
    Ok(())
}
