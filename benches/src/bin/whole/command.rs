//! The command line as a process.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::json;
use windlass_benches::floor::Client;
use windlass_benches::stats::{median, micros};
use windlass_testkit::wire::{Message, Reply, WireServer};

use crate::deltas::{FEW, MANY, message};
use crate::peer::{Peer, done, ready, runtime};
use crate::report::Report;

const STARTS: usize = 60;
const RUNS: usize = 9;

/// The programs, their server and their folder.
struct Programs {
    peer: Peer,
    folder: tempfile::TempDir,
    windlass: PathBuf,
    floor: PathBuf,
    measure: PathBuf,
    body: PathBuf,
}

/// Returns the path of another program of this build.
fn sibling(name: &str) -> Result<PathBuf> {
    Ok(std::env::current_exe()?.with_file_name(name))
}

impl Programs {
    /// Returns nothing if the command line has not been built or makes no request.
    fn new(reply: Reply, report: &mut Report) -> Result<Option<Self>> {
        let windlass = sibling("windlass")?;
        if !windlass.exists() {
            report.note(
                "The rows of the command line are missing: build it first, `cargo build --release -p windlass-cli`.",
            );
            return Ok(None);
        }
        let folder = tempfile::tempdir()?;
        let server = WireServer::start_on_thread()?;
        server.push(ready(Message::new().text("ok")));
        let body = folder.path().join("body.json");
        let mut first = ours(&windlass, &server.url(), folder.path(), &["--output-format", "text"]);
        let output = first.output()?;
        let Some(request) = server.requests().into_iter().next() else {
            report.note(format!("The command line made no request: {}", String::from_utf8_lossy(&output.stderr)));
            return Ok(None);
        };
        std::fs::write(&body, &request.body)?;
        let (floor, measure) = (sibling("floor")?, sibling("measure")?);
        Ok(Some(Self { peer: Peer::cycle(vec![reply])?, folder, windlass, floor, measure, body }))
    }

    fn floor(&self, program: &Path, more: &[&str]) -> Command {
        let mut command = Command::new(program);
        if program != self.floor {
            command.arg(&self.floor);
        }
        command.arg(self.peer.server.url()).arg(&self.body).arg(self.folder.path().join("floor.jsonl")).args(more);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command
    }

    fn ours(&self, more: &[&str]) -> Command {
        ours(&self.windlass, &self.peer.server.url(), self.folder.path(), more)
    }

    /// Runs the same command under the program that measures it.
    fn measured(&self, command: &Command) -> Result<(Duration, u64)> {
        let mut measured = Command::new(&self.measure);
        measured.arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            if let Some(value) = value {
                measured.env(name, value);
            }
        }
        if let Some(folder) = command.get_current_dir() {
            measured.current_dir(folder);
        }
        let output = measured.stdin(Stdio::null()).output()?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let last = said.lines().last().unwrap_or_default();
        let mut words = last.split(' ');
        ensure!(words.next() == Some("true"), "the program failed: {said}");
        let mut number = || words.next().and_then(|word| word.parse::<u64>().ok()).context("no figures");
        Ok((Duration::from_micros(number()?), number()?))
    }

    /// Measures the time from the first request to the second.
    fn turn(&self, run: impl FnOnce() -> Result<()>) -> Result<Duration> {
        self.peer.take();
        run()?;
        match self.peer.take().as_slice() {
            [(first, _), (second, _)] => Ok(second.duration_since(*first)),
            other => anyhow::bail!("{} requests", other.len()),
        }
    }

    fn first_request(&self, mut command: Command) -> Result<Duration> {
        self.peer.take();
        let began = Instant::now();
        let mut child = command.spawn()?;
        let status = child.wait()?;
        let arrivals = self.peer.take();
        let (at, _) = arrivals.first().with_context(|| format!("no request, {status}"))?;
        Ok(at.duration_since(began))
    }
}

fn ours(program: &Path, url: &str, folder: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(["-p", "hello"]).args(more).current_dir(folder);
    command.env("ANTHROPIC_BASE_URL", url).env("ANTHROPIC_API_KEY", "k").env("WINDLASS_HOME", folder.join("home"));
    command.env("HOME", folder).stdin(Stdio::null()).stdout(Stdio::null());
    command
}

/// Measures the time from starting the process to its first request.
pub fn start(report: &mut Report) -> Result<()> {
    let Some(programs) = Programs::new(ready(Message::new().text("ok")), report)? else { return Ok(()) };
    let (mut floors, mut own) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        floors.push(programs.first_request(programs.floor(&programs.floor, &[]))?);
        own.push(programs.first_request(programs.ours(&[]))?);
    }
    let shown = |samples| micros(median(samples)) / 1e3;
    report.row("CLI start to first request", "ms", "8 ms", Some(shown(floors)), shown(own));
    Ok(())
}

/// Measures the CPU of one streamed delta with its line, of the whole process.
pub fn deltas(report: &mut Report) -> Result<()> {
    let (mut floors, mut own) = (Vec::new(), Vec::new());
    let lines = ["--output-format", "stream-json", "--include-partial-messages", "--verbose"];
    let few = Programs::new(message(FEW), report)?;
    let many = Programs::new(message(MANY), report)?;
    let (Some(few), Some(many)) = (few, many) else { return Ok(()) };
    for _ in 0..RUNS {
        let floor = |of: &Programs| of.measured(&of.floor(&of.floor, &["lines"])).map(|(cpu, _)| cpu);
        let ours = |of: &Programs| of.measured(&of.ours(&lines)).map(|(cpu, _)| cpu);
        floors.push(floor(&many)?.saturating_sub(floor(&few)?));
        own.push(ours(&many)?.saturating_sub(ours(&few)?));
    }
    let each = |samples: Vec<Duration>| micros(median(samples)) / (MANY - FEW) as f64;
    report.row("CPU per streamed delta, a line out, CLI process", "µs", "4 µs", Some(each(floors)), each(own));
    Ok(())
}

/// Measures the first turn of a run, with ten calls of Read at once. One figure is the time from the first request to
/// the second, without the model's share. The other is the CPU beyond that of a process whose model answers at once.
pub fn reads(report: &mut Report) -> Result<()> {
    let Some(hello) = Programs::new(ready(Message::new().text("ok")), report)? else { return Ok(()) };
    let Some(mut programs) = Programs::new(ready(Message::new().text("ok")), report)? else { return Ok(()) };
    let files = programs.folder.path().join("files");
    std::fs::create_dir(&files)?;
    let calls = (0..10).try_fold(Message::new(), |message, at| -> Result<Message> {
        let file = files.join(format!("file-{at}.txt"));
        let text = (0..60).map(|line| format!("line {line} of file {at}: some text to read\n")).collect::<String>();
        std::fs::write(&file, text)?;
        Ok(message.tool_use(&format!("toolu_{at}"), "Read", json!({"file_path": file})))
    })?;
    let replies = vec![ready(calls), done()];
    let recording = WireServer::start_on_thread()?;
    replies.iter().for_each(|reply| recording.push(reply.clone()));
    let mut first = ours(&programs.windlass, &recording.url(), programs.folder.path(), &[]);
    ensure!(first.status()?.success(), "the run failed");
    let requests = recording.requests();
    let last = requests.get(1).context("no second request")?;
    programs.peer = Peer::cycle(replies)?;
    let next = programs.folder.path().join("next.json");
    ensure!(!String::from_utf8_lossy(&last.body).contains("\"is_error\":true"), "a call failed");
    std::fs::write(&next, &last.body)?;
    let (files, next) = (files.to_string_lossy().into_owned(), next.to_string_lossy().into_owned());
    let more = ["reads", files.as_str(), next.as_str()];
    let (mut floors, mut own) = (Vec::new(), Vec::new());
    let (mut floors_cpu, mut own_cpu) = (Vec::new(), Vec::new());
    let mut model = Vec::new();
    let (runtime, client) = (runtime()?, Client::new(&programs.peer.server.url())?);
    for _ in 0..STARTS {
        model.push(programs.turn(|| runtime.block_on(two_requests(&client)))?);
        let run = |mut command: Command| {
            move || {
                ensure!(command.status()?.success(), "the program failed");
                Ok(())
            }
        };
        floors.push(programs.turn(run(programs.floor(&programs.floor, &more)))?);
        own.push(programs.turn(run(programs.ours(&[])))?);
        let cpu = |of: &Programs, command: &Command| of.measured(command).map(|(cpu, _)| cpu);
        let floor = cpu(&programs, &programs.floor(&programs.floor, &more))?;
        floors_cpu.push(floor.saturating_sub(cpu(&hello, &hello.floor(&hello.floor, &[]))?));
        own_cpu.push(cpu(&programs, &programs.ours(&[]))?.saturating_sub(cpu(&hello, &hello.ours(&[]))?));
    }
    let model = median(model);
    let shown = |samples| micros(median(samples).saturating_sub(model)) / 1e3;
    let name = "ten parallel Reads, first turn of a process";
    report.row(name, "ms", "4×", Some(shown(floors)), shown(own));
    let used = |samples| micros(median(samples)) / 1e3;
    report.row(&format!("{name}, CPU"), "ms", "4×", Some(used(floors_cpu)), used(own_cpu));
    Ok(())
}

async fn two_requests(client: &Client) -> Result<()> {
    client.message("{}", |_, _| {}).await?;
    client.message("{}", |_, _| {}).await
}

/// Measures the maximum resident size of a short run.
pub fn memory(report: &mut Report) -> Result<()> {
    let Some(programs) = Programs::new(ready(Message::new().text("ok")), report)? else { return Ok(()) };
    let (mut floors, mut own) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        floors.push(programs.measured(&programs.floor(&programs.floor, &[]))?.1);
        own.push(programs.measured(&programs.ours(&[]))?.1);
    }
    let shown = |mut samples: Vec<u64>| {
        samples.sort_unstable();
        samples.get(samples.len() / 2).copied().unwrap_or_default() as f64 / 1024.0
    };
    report.row("peak RSS of a hello run", "MB", "12 MB", Some(shown(floors)), shown(own));
    Ok(())
}
