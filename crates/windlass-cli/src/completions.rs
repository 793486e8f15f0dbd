//! `windlass completions` and `windlass man`: what shells complete and manual pages, from the table that parses the
//! command line.

use crate::command_line::Cli;
use crate::terminal::clean_line;
use anyhow::Context as _;
use clap::{Args, CommandFactory as _};
use clap_complete::Shell;
use std::io::{Write as _, stdout};
use std::path::PathBuf;

/// Name of the command.
const NAME: &str = "windlass";

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  windlass completions bash >~/.local/share/bash-completion/completions/windlass
  windlass completions zsh >~/.zfunc/_windlass       # a folder of $fpath
  windlass completions fish >~/.config/fish/completions/windlass.fish")]
pub(crate) struct CompletionsArgs {
    /// Shell to complete words for
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Write the pages of all commands to this directory, which is created [default: print the page of windlass]
    #[arg(value_name = "DIR")]
    directory: Option<PathBuf>,
}

/// Prints the completions of a shell, and returns the exit code.
pub(crate) fn completions(args: &CompletionsArgs) -> anyhow::Result<i32> {
    // Written at once: the generator panics when a reader closes the pipe.
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), NAME, &mut text);
    stdout().write_all(&text)?;
    Ok(0)
}

/// Prints or writes manual pages, and returns the exit code.
pub(crate) fn man(args: &ManArgs) -> anyhow::Result<i32> {
    let Some(directory) = &args.directory else {
        let mut text = Vec::new();
        clap_mangen::Man::new(Cli::command()).render(&mut text)?;
        stdout().write_all(&text)?;
        return Ok(0);
    };
    let failed = || format!("the pages cannot be written to {}", directory.display());
    std::fs::create_dir_all(directory).with_context(failed)?;
    clap_mangen::generate_to(Cli::command(), directory).with_context(failed)?;
    writeln!(stdout(), "{}", clean_line(&format!("the pages are in {}", directory.display())))?;
    Ok(0)
}
