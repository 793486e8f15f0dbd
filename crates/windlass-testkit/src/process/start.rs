//! Input, arguments, environment and directory of a program.

use windlass_tool::{Cancel, Process, ProcessCommand, ProcessExit};

use super::Shell;
use super::shell::run;
use crate::Violation;
use crate::violation::{ensure, within};

/// Checks that standard input is at its end: a program that reads it neither waits nor gets any bytes.
///
/// # Errors
/// A program that reads its input waits, or gets bytes.
pub async fn gives_an_empty_input(process: &dyn Process, shell: &Shell) -> Result<(), Violation> {
    let script = "cat; read -r line && echo \"read $line\"; echo end";
    let read = shell.read(process, script).await?;
    ensure(read == "end\n", || format!("a program that reads its input prints {read:?}"))
}

/// Checks that arguments are passed one by one and unchanged, whatever they contain. The environment is exactly the
/// given one, except for variables that the shell adds itself and those that the process declares to add; no variable
/// of the host is inherited.
///
/// # Errors
/// A value is missing, changed, or additional.
pub async fn passes_arguments_and_environment_exactly(process: &dyn Process, shell: &Shell) -> Result<(), Violation> {
    let odd = ["", " ", "a b", "*", "$HOME", "`id`", "'\"\\", "line\nbreak", "-n", "\u{e9}\u{1f600}"];
    let mut command = shell.command("for arg; do printf '<%s>' \"$arg\"; done");
    command.args.extend(["name"].into_iter().chain(odd).map(Into::into));
    let outcome = run(process, command, &Cancel::new(), "print arguments").await?;
    let expected: String = odd.iter().map(|arg| format!("<{arg}>")).collect();
    ensure(outcome.stdout.head == expected, || format!("arguments {odd:?} come as {:?}", outcome.stdout.head))?;

    let mut command = shell.command("printf '<%s>' \"$KIT_ONE\" \"$KIT_TWO\"; echo; env");
    command.env.extend([("KIT_ONE".into(), "a b\t'$x'".into()), ("KIT_TWO".into(), "".into())]);
    let outcome = run(process, command, &Cancel::new(), "print the environment").await?;
    let (values, names) = outcome.stdout.head.split_once('\n').unwrap_or_default();
    ensure(values == "<a b\t'$x'><>", || format!("two variables come as {values:?}"))?;
    // Variables that shells set for themselves.
    let mut known = vec!["PATH", "KIT_ONE", "KIT_TWO", "PWD", "OLDPWD", "SHLVL", "_"];
    known.extend(shell.marks().iter().map(String::as_str));
    let names: Vec<&str> = names.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name).collect();
    let others: Vec<&str> = names.iter().copied().filter(|name| !known.contains(name)).collect();
    ensure(others.is_empty(), || format!("the environment has variables that were not given: {others:?}"))?;
    ensure(names.contains(&"KIT_TWO"), || format!("a variable is missing: {names:?}"))
}

/// Checks that a program starts in its directory, is found by its path or by its name in the given `PATH`, and that one
/// that cannot be started is an error that names it.
///
/// # Errors
/// The program starts elsewhere, is not found, or the error does not name it.
pub async fn starts_in_its_directory(process: &dyn Process, shell: &Shell) -> Result<(), Violation> {
    let folder = shell.cwd().join("start here");
    let make =
        "mkdir 'start here' && cd 'start here' && printf '#!/bin/sh\\npwd -P\\n' >kit-where && chmod +x kit-where";
    shell.read(process, make).await?;
    let by_name = |env: &str| {
        let mut command = ProcessCommand::new("kit-where", &folder);
        command.env = vec![("PATH".into(), env.into())];
        command
    };
    let by_path = ProcessCommand::new(folder.join("kit-where"), &folder);
    for command in [by_name(&folder.display().to_string()), by_path] {
        let outcome = run(process, command, &Cancel::new(), "a program in the given PATH").await?;
        let expected = format!("{}\n", folder.display());
        ensure(outcome.stdout.head == expected && outcome.exit == ProcessExit::Code(0), || {
            format!("a program that prints where it starts, with the directory {expected:?}: {outcome:?}")
        })?;
    }
    let mut nowhere = shell.command("true");
    nowhere.cwd = shell.cwd().join("no-such-folder");
    for (command, missing) in [(by_name("/kit/nowhere"), "kit-where"), (nowhere, "no-such-folder")] {
        let started = within(&format!("start {missing}"), process.run(command, &Cancel::new())).await?;
        match started {
            Ok(outcome) => return Err(Violation::new(format!("{missing} does not exist, but: {outcome:?}"))),
            Err(error) => ensure(error.to_string().contains(missing), || {
                format!("{missing} does not exist, but the error does not say so: {error}")
            })?,
        }
    }
    Ok(())
}
