//! From a prompt to the first request, and from a tool call to the next request.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::json;
use tokio::runtime::Runtime;
use windlass::{Access, Anthropic, EventKind, Home, Tool, ToolCx, ToolError, Toolkit, coding_tools, query, schemars};
use windlass_benches::floor::{Appender, Client};
use windlass_benches::stats::{median, micros};
use windlass_testkit::wire::{Message, RecordedRequest, Reply};

use crate::peer::{Peer, done, ready, runtime};
use crate::report::Report;

const ROUNDS: usize = 200;

/// About what an assistant message and a result are in the log.
const LOG_LINE: usize = 700;

/// Nothing to do: what is left is the harness.
pub struct Nothing;

/// It takes nothing.
#[derive(serde::Deserialize, schemars::JsonSchema)]
pub struct NoInput {}

impl Tool for Nothing {
    const NAME: &'static str = "nothing";
    const DESCRIPTION: &'static str = "Does nothing.";
    type Input = NoInput;
    type Output = String;

    fn access(&self, _: &NoInput) -> Access {
        Access::NOTHING
    }

    async fn call(&self, _: NoInput, _: &ToolCx) -> Result<String, ToolError> {
        Ok("ok".to_owned())
    }
}

struct Turn {
    name: &'static str,
    target: &'static str,
    calls: Message,
    work: fn(&Path) -> Result<()>,
}

fn read(folder: &Path) -> Result<()> {
    std::fs::read(folder.join("file-0.txt"))?;
    Ok(())
}

fn read_ten(folder: &Path) -> Result<()> {
    for at in 0..10 {
        std::fs::read(folder.join(format!("file-{at}.txt")))?;
    }
    Ok(())
}

fn run_true(folder: &Path) -> Result<()> {
    let output = Command::new("bash").args(["-c", "true"]).current_dir(folder).stdin(Stdio::null()).output()?;
    ensure!(output.status.success(), "bash failed");
    Ok(())
}

fn turns(folder: &Path) -> Vec<Turn> {
    let file = |at: usize| json!({"file_path": folder.join(format!("file-{at}.txt"))});
    let calls = || Message::new().id("msg_calls");
    let ten = (0..10).fold(calls(), |message, at| message.tool_use(&format!("toolu_{at}"), "Read", file(at)));
    let turn = |name, target, calls, work| Turn { name, target, calls, work };
    vec![
        turn("Read turn over model time", "0.6 ms", calls().tool_use("toolu_0", "Read", file(0)), read as fn(&Path) -> _),
        turn("in-process tool turn", "0.4 ms", calls().tool_use("toolu_0", "nothing", json!({})), |_| Ok(())),
        turn("ten parallel Reads", "1.5 ms", ten, read_ten),
        turn("Bash `true`", "3 ms", calls().tool_use("toolu_0", "Bash", json!({"command": "true"})), run_true),
    ]
}

/// A folder to work in, and one to keep logs in.
pub struct Place {
    pub work: tempfile::TempDir,
    pub home: tempfile::TempDir,
}

impl Place {
    pub fn new() -> Result<Self> {
        let place = Self { work: tempfile::tempdir()?, home: tempfile::tempdir()? };
        for at in 0..10 {
            let text = (0..60).map(|line| format!("line {line} of file {at}: some text to read\n")).collect::<String>();
            std::fs::write(place.work.path().join(format!("file-{at}.txt")), text)?;
        }
        Ok(place)
    }

    pub fn tools(&self) -> Toolkit {
        coding_tools(self.work.path()).with(Nothing)
    }
}

/// When a run began, and how its requests came.
struct Sample {
    began: Instant,
    arrivals: Vec<Instant>,
}

impl Sample {
    fn start(&self) -> Duration {
        self.arrivals.first().map_or_else(Duration::default, |first| first.duration_since(self.began))
    }

    fn turn(&self) -> Duration {
        match self.arrivals.as_slice() {
            [first, second, ..] => second.duration_since(*first),
            _ => Duration::default(),
        }
    }
}

struct Sides<'a> {
    runtime: &'a Runtime,
    place: &'a Place,
    peer: &'a Peer,
}

impl Sides<'_> {
    fn sample(&self, run: impl Future<Output = Result<()>>) -> Result<Sample> {
        self.peer.take();
        let began = Instant::now();
        self.runtime.block_on(run)?;
        let arrivals: Vec<Instant> = self.peer.take().into_iter().map(|(at, _)| at).collect();
        ensure!(arrivals.len() == 2, "{} requests instead of two", arrivals.len());
        Ok(Sample { began, arrivals })
    }

    /// Two small requests: what the model's side of a turn takes.
    fn model(&self, client: &Client) -> Result<Sample> {
        self.sample(async {
            client.message("{}", |_, _| {}).await?;
            client.message("{}", |_, _| {}).await
        })
    }

    fn floor(&self, client: &Client, bodies: &[Vec<u8>], work: fn(&Path) -> Result<()>) -> Result<Sample> {
        let log = Appender::create(&self.place.home.path().join("floor.jsonl"))?;
        let sample = self.sample(async {
            for (turn, body) in bodies.iter().enumerate() {
                log.append(vec![b'x'; LOG_LINE]);
                client.message(body.clone(), |_, _| {}).await?;
                log.append(vec![b'x'; LOG_LINE]);
                if turn == 0 {
                    work(self.place.work.path())?;
                }
            }
            Ok(())
        });
        log.finish()?;
        sample
    }

    fn ours(&self, provider: &Anthropic) -> Result<Sample> {
        self.sample(async {
            let mut run = query("Read the file.")
                .provider(provider.clone())
                .tools(self.place.tools())
                .persist(Home::new(self.place.home.path()))
                .stream();
            while let Some(event) = run.next().await? {
                if let EventKind::ToolFinished(done) = &event.kind {
                    ensure!(!done.result.is_error, "the call failed: {done:?}");
                }
            }
            Ok(())
        })
    }
}

/// The bodies of the two requests of a run.
fn bodies(place: &Place, replies: &[Reply]) -> Result<Vec<Vec<u8>>> {
    let server = windlass_testkit::wire::WireServer::start_on_thread()?;
    for reply in replies {
        server.push(reply.clone());
    }
    let provider = Anthropic::builder().api_key("k").base_url(server.url()).build()?;
    runtime()?.block_on(async { query("Read the file.").provider(provider).tools(place.tools()).await })?;
    Ok(server.requests().iter().map(|request: &RecordedRequest| request.body.to_vec()).collect())
}

pub fn measure(report: &mut Report) -> Result<()> {
    let place = Place::new()?;
    let runtime = runtime()?;
    for turn in turns(place.work.path()) {
        let replies = vec![ready(turn.calls), done()];
        let bodies = bodies(&place, &replies)?;
        let peer = Peer::cycle(replies)?;
        let sides = Sides { runtime: &runtime, place: &place, peer: &peer };
        let (client, provider) = (Client::new(&peer.server.url())?, peer.provider()?);
        let (mut model, mut floor, mut ours) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            model.push(sides.model(&client)?);
            floor.push(sides.floor(&client, &bodies, turn.work)?);
            ours.push(sides.ours(&provider)?);
        }
        let of = |samples: &[Sample], part: fn(&Sample) -> Duration| {
            median(samples.iter().skip(ROUNDS / 10).map(part).collect())
        };
        if turn.name.starts_with("Read") {
            let (floor, ours) = (of(&floor, Sample::start), of(&ours, Sample::start));
            report.row("`query()` to first request", "ms", "1 ms", Some(micros(floor) / 1e3), micros(ours) / 1e3);
        }
        let over = |samples: &[Sample]| {
            micros(of(samples, Sample::turn).saturating_sub(of(&model, Sample::turn))) / 1e3
        };
        report.row(turn.name, "ms", turn.target, Some(over(&floor)), over(&ours));
    }
    Ok(())
}
