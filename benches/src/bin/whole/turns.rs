//! Time from a prompt to the first request, and from a tool call to the next request.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use windlass::{Anthropic, EventKind, Home, coding_tools, query, tool::Toolkit};
use windlass_benches::floor::{Appender, Client};
use windlass_benches::nothing::Nothing;
use windlass_benches::stats::{median, micros};
use windlass_testkit::wire::{Message, RecordedRequest, Reply};

use crate::peer::{Peer, done, ready, runtime};
use crate::report::Report;

const ROUNDS: usize = 150;

/// Turns with tools in one run.
const TURNS: usize = 3;

/// Approximate size in the log of an assistant message and of a result, in bytes.
const LOG_LINE: usize = 700;

struct Turn {
    name: &'static str,
    target: &'static str,
    calls: fn(&Path, usize) -> Message,
    work: fn(&Path) -> Result<()>,
}

fn call(turn: usize, tool: &str, input: Value) -> Message {
    Message::new().id(&format!("msg_{turn}")).tool_use(&format!("toolu_{turn}"), tool, input)
}

fn file(folder: &Path, at: usize) -> Value {
    json!({"file_path": folder.join(format!("file-{at}.txt"))})
}

const KINDS: [Turn; 4] = [
    Turn {
        name: "Read turn over model time",
        target: "0.6 ms",
        calls: |folder, turn| call(turn, "Read", file(folder, turn)),
        work: |folder| {
            std::fs::read(folder.join("file-0.txt"))?;
            Ok(())
        },
    },
    Turn {
        name: "in-process tool turn",
        target: "0.4 ms",
        calls: |_, turn| call(turn, "nothing", json!({})),
        work: |_| Ok(()),
    },
    Turn {
        name: "ten parallel Reads",
        target: "1.5 ms",
        calls: |folder, turn| {
            (0..10).fold(Message::new().id(&format!("msg_{turn}")), |message, at| {
                message.tool_use(&format!("toolu_{turn}_{at}"), "Read", file(folder, at))
            })
        },
        work: |folder| {
            for at in 0..10 {
                std::fs::read(folder.join(format!("file-{at}.txt")))?;
            }
            Ok(())
        },
    },
    Turn {
        name: "Bash `true`",
        target: "3 ms",
        calls: |_, turn| call(turn, "Bash", json!({"command": "true"})),
        work: |folder| {
            let output = Command::new("bash").args(["-c", "true"]).current_dir(folder).stdin(Stdio::null()).output()?;
            ensure!(output.status.success(), "bash failed");
            Ok(())
        },
    },
];

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

/// Start of a run, and the arrivals of its requests.
struct Sample {
    began: Instant,
    arrivals: Vec<Instant>,
}

impl Sample {
    fn start(&self) -> Duration {
        self.arrivals.first().map_or_else(Duration::default, |first| first.duration_since(self.began))
    }

    /// Returns the time of a session's first turn, which also pays for one-time setup.
    fn first_turn(&self) -> Duration {
        match self.arrivals.as_slice() {
            [first, second, ..] => second.duration_since(*first),
            _ => Duration::default(),
        }
    }

    /// Returns the time of the last turn with tools.
    fn turn(&self) -> Duration {
        match self.arrivals.as_slice() {
            [.., before, last] => last.duration_since(*before),
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
        ensure!(arrivals.len() == TURNS + 1, "{} requests", arrivals.len());
        Ok(Sample { began, arrivals })
    }

    /// Measures small requests: the model's share of a turn.
    fn model(&self, client: &Client) -> Result<Sample> {
        self.sample(async {
            for _ in 0..=TURNS {
                client.message("{}", |_, _| {}).await?;
            }
            Ok(())
        })
    }

    fn floor(&self, client: &Client, bodies: &[Vec<u8>], work: fn(&Path) -> Result<()>) -> Result<Sample> {
        let log = Appender::create(&self.place.home.path().join("floor.jsonl"))?;
        let sample = self.sample(async {
            for (turn, body) in bodies.iter().enumerate() {
                log.append(vec![b'x'; LOG_LINE]);
                client.message(body.clone(), |_, _| {}).await?;
                log.append(vec![b'x'; LOG_LINE]);
                if turn < TURNS {
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
            while let Some(event) = run.try_next().await? {
                if let EventKind::ToolFinished(done) = &event.kind {
                    ensure!(!done.result.is_error, "the call failed: {done:?}");
                }
            }
            Ok(())
        })
    }
}

/// Returns the bodies of the requests of a run.
fn bodies(place: &Place, replies: &[Reply]) -> Result<Vec<Vec<u8>>> {
    let server = windlass_testkit::wire::WireServer::start_on_thread()?;
    for reply in replies {
        server.push(reply.clone());
    }
    let provider = Anthropic::builder().api_key("k").base_url(server.url()).build()?;
    let result =
        runtime()?.block_on(async { query("Read the file.").provider(provider).tools(place.tools()).await })?;
    ensure!(result.outcome.is_success(), "the run failed");
    Ok(server.requests().iter().map(|request: &RecordedRequest| request.body.to_vec()).collect())
}

pub fn measure(report: &mut Report) -> Result<()> {
    let place = Place::new()?;
    let runtime = runtime()?;
    for turn in KINDS {
        let calls = (0..TURNS).map(|at| ready((turn.calls)(place.work.path(), at)));
        let replies: Vec<Reply> = calls.chain([done()]).collect();
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
        let model = of(&model, Sample::turn);
        let over = |samples, part| micros(of(samples, part).saturating_sub(model)) / 1e3;
        report.row(turn.name, "ms", turn.target, Some(over(&floor, Sample::turn)), over(&ours, Sample::turn));
        let (name, first) = (format!("{}, first of a session", turn.name), Sample::first_turn);
        report.row(&name, "ms", "–", Some(over(&floor, first)), over(&ours, first));
    }
    Ok(())
}
