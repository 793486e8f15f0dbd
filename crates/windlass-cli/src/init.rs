//! `windlass init`: a first instruction file for agents, from what the index of the project knows.

use crate::args::SettingsArgs;
use crate::confirmation::confirmed;
use crate::failure::Usage;
use crate::index;
use crate::settings::current_directory;
use crate::terminal::{Terminal, clean, clean_line};
use anyhow::Context as _;
use clap::{Args, ValueEnum};
use std::fs::File;
use std::io::{Write as _, stderr, stdout};
use std::path::Path;
use windlass::project::{Overview, Purpose};

/// Instruction files of a project that agents read.
const INSTRUCTION_FILES: [&str; 4] = ["AGENTS.md", "CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md"];
/// Maximum number of rows of a list in the file.
const MAX_ROWS: usize = 12;

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Name of the file
    #[arg(long, value_enum, value_name = "NAME", default_value_t)]
    name: FileName,
    /// Write the file without a question
    #[arg(short, long)]
    yes: bool,
    #[command(flatten)]
    settings: SettingsArgs,
}

/// Name of an instruction file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum FileName {
    /// Most agents read it.
    #[default]
    #[value(name = "AGENTS.md", alias = "agents")]
    Agents,
    /// Claude Code reads it.
    #[value(name = "CLAUDE.md", alias = "claude")]
    Claude,
}

/// Shows the file, writes it if that is wanted, and returns the exit code: 1 if nothing was written.
pub(crate) fn init(args: &InitArgs, terminal: Terminal) -> anyhow::Result<i32> {
    let cwd = current_directory()?;
    if let Some(name) = INSTRUCTION_FILES.iter().find(|name| cwd.join(name).symlink_metadata().is_ok()) {
        return Err(
            Usage(format!("there is {name} here already, and it stays as it is: edit it, or ask windlass to")).into()
        );
    }
    let Some(index) = index::index(&args.settings)? else { return Ok(1) };
    let overview = index.overview(&|| false)?;
    let folder = cwd.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let text = clean(&instructions(&folder, &overview));
    let name = match args.name {
        FileName::Agents => "AGENTS.md",
        FileName::Claude => "CLAUDE.md",
    };
    writeln!(stdout(), "{text}")?;
    let is_confirmed = args.yes || (terminal.can_ask() && confirmed(&format!("Write this to {name}?"))?);
    if !is_confirmed {
        writeln!(stderr(), "windlass: nothing was written; --yes writes {name}")?;
        return Ok(1);
    }
    write_new(&cwd.join(name), &text)?;
    writeln!(stderr(), "windlass: {name} is written; `windlass context show` shows what sessions read")?;
    Ok(0)
}

/// Writes a file that is not there yet.
pub(crate) fn write_new(path: &Path, text: &str) -> anyhow::Result<()> {
    let written = File::create_new(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.with_context(|| format!("{} cannot be written", path.display()))
}

/// Returns the text of the file: facts alone, and one line that asks for the rest.
fn instructions(folder: &str, overview: &Overview) -> String {
    let mut text = format!("# {}\n", clean_line(overview.packages.first().map_or(folder, |package| &package.name)));
    let languages: Vec<String> =
        overview.languages.iter().take(4).map(|share| format!("{} ({} %)", share.language, share.percent)).collect();
    let frameworks: Vec<&str> = overview.frameworks.iter().take(6).map(|found| found.name.as_str()).collect();
    if !languages.is_empty() {
        text.push_str(&format!("\n{} files: {}.", overview.files, languages.join(", ")));
        if !frameworks.is_empty() {
            text.push_str(&format!(" Uses {}.", frameworks.join(", ")));
        }
        text.push('\n');
    }
    let commands = overview.commands.iter().map(|command| {
        let folder = Path::new(&command.manifest).parent().filter(|folder| !folder.as_os_str().is_empty());
        let location = folder.map(|folder| format!(" (in `{}`)", folder.display())).unwrap_or_default();
        format!("{}: `{}`{location}", purpose(command.purpose), command.command)
    });
    section(&mut text, "Commands", commands);
    let packages = overview.packages.iter().filter(|_| overview.packages.len() > 1);
    section(&mut text, "Packages", packages.map(|package| format!("`{}`: {}", package.manifest, package.name)));
    section(&mut text, "Entry points", overview.entry_points.iter().map(|path| format!("`{path}`")));
    section(&mut text, "Read first", overview.important.iter().map(|path| format!("`{path}`")));
    text.push_str("\n## Rules\n\n<!-- Add what a newcomer cannot see in the code: conventions, what stays untouched, how a change is checked. -->\n");
    text
}

fn purpose(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Test => "Test",
        Purpose::Build => "Build",
        Purpose::Lint => "Check",
        Purpose::Format => "Format",
        _ => "Run",
    }
}

fn section(text: &mut String, title: &str, rows: impl Iterator<Item = String>) {
    let rows: Vec<String> = rows.take(MAX_ROWS).map(|row| format!("- {}\n", clean_line(&row))).collect();
    if !rows.is_empty() {
        text.push_str(&format!("\n## {title}\n\n{}", rows.concat()));
    }
}
