//! Edits of one file by several agents and processes: an acknowledged edit is in the file.
//!
//! `WINDLASS_LOST_EDITS` is the number of rounds of each test; default: 3. The published figure is of 100.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::json;
use windlass_local::LocalWorkspace;

use crate::files::session::Session;

/// Names the file, the agent and the number of edits to the process that edits.
const FILE: &str = "WINDLASS_LOST_EDITS_FILE";
const AGENT: &str = "WINDLASS_LOST_EDITS_AGENT";

/// Attempted edits of one agent in a round.
const ATTEMPTS: usize = 12;

fn rounds() -> usize {
    std::env::var("WINDLASS_LOST_EDITS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(3)
}

fn token(agent: &str, attempt: usize) -> String {
    format!("<{agent}:{attempt}>")
}

/// The tools that change a file, taken in turns.
async fn change(session: &Session, path: &str, agent: &str, attempt: usize) -> Result<(), String> {
    let seen = session.read(path).await;
    let token = token(agent, attempt);
    let done = match attempt % 4 {
        0 => session.edit(path, "begin\n", &format!("begin\n{token}\n")).await,
        1 => {
            let edits = json!([{ "old_string": "end\n", "new_string": format!("{token}\nend\n") }]);
            let input = json!({ "file_path": path, "edits": edits });
            session.call("MultiEdit", input).await.map(|output| output.content.text())
        }
        2 => session.patch(&format!("*** Update File: {path}\n@@\n begin\n+{token}")).await,
        _ => {
            let lines = seen.lines().map(|line| line.split_once('\t').map_or(line, |(_, text)| text));
            let whole: String = lines.chain([token.as_str()]).map(|line| format!("{line}\n")).collect();
            session.write(path, &whole).await
        }
    };
    done.map(drop)
}

/// The acknowledged edits of an agent, and the refusals of the others.
async fn agent(workspace: LocalWorkspace, path: &Path, agent: &str) -> (Vec<String>, Vec<String>) {
    let session = Session::over(workspace, path.parent().unwrap());
    let (mut acknowledged, mut refusals) = (Vec::new(), Vec::new());
    for attempt in 0..ATTEMPTS {
        match change(&session, path.to_str().unwrap(), agent, attempt).await {
            Ok(()) => acknowledged.push(token(agent, attempt)),
            Err(refusal) => refusals.push(refusal),
        }
    }
    (acknowledged, refusals)
}

/// Sums over the rounds of a test.
#[derive(Default)]
struct Tally {
    acknowledged: usize,
    refusals: BTreeMap<String, usize>,
    lost: Vec<String>,
}

impl Tally {
    fn check(&mut self, path: &Path, acknowledged: Vec<String>, refusals: Vec<String>) {
        let text = std::fs::read_to_string(path).unwrap();
        self.acknowledged += acknowledged.len();
        self.lost.extend(acknowledged.into_iter().filter(|token| text.matches(token.as_str()).count() != 1));
        for refusal in refusals {
            let kind = ["changed on disk", "changed meanwhile"].into_iter().find(|kind| refusal.contains(kind));
            *self.refusals.entry(kind.map_or(refusal, str::to_owned)).or_default() += 1;
        }
        let folder = std::fs::read_dir(path.parent().unwrap()).unwrap();
        assert_eq!(folder.count(), 1, "no litter");
    }

    #[expect(clippy::print_stdout, reason = "the figures are what the test is for")]
    fn finish(self, test: &str) {
        println!("{test}: {} acknowledged, {} lost; refused: {:?}", self.acknowledged, self.lost.len(), self.refusals);
        assert!(self.acknowledged >= rounds(), "{test}: {} edits were made", self.acknowledged);
        assert!(self.lost.is_empty(), "{test}: {} of {} lost: {:?}", self.lost.len(), self.acknowledged, self.lost);
        let other: Vec<_> = self.refusals.keys().filter(|kind| !kind.starts_with("changed ")).collect();
        assert!(other.is_empty(), "{test}: refused for another reason: {other:?}");
    }
}

fn fresh(folder: &Path) -> PathBuf {
    let path = folder.canonicalize().unwrap().join("shared.txt");
    std::fs::write(&path, "begin\nend\n").unwrap();
    path
}

/// Agents with one workspace each round, or each with its own.
async fn agents(number: usize, shared: bool) {
    let mut tally = Tally::default();
    for _ in 0..rounds() {
        let folder = tempfile::tempdir().unwrap();
        let path = fresh(folder.path());
        let workspace = LocalWorkspace::new();
        let running: Vec<_> = (0..number)
            .map(|at| {
                let workspace = if shared { workspace.clone() } else { LocalWorkspace::new() };
                let path = path.clone();
                tokio::spawn(async move { agent(workspace, &path, &at.to_string()).await })
            })
            .collect();
        let (mut acknowledged, mut refusals) = (Vec::new(), Vec::new());
        for done in running {
            let (these, refused) = done.await.unwrap();
            acknowledged.extend(these);
            refusals.extend(refused);
        }
        tally.check(&path, acknowledged, refusals);
    }
    tally.finish(&format!("{number} agents, {}", if shared { "one workspace" } else { "a workspace each" }));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn agents_of_one_session_lose_no_edit() {
    agents(2, true).await;
    agents(4, true).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sessions_of_one_process_lose_no_edit() {
    agents(2, false).await;
    agents(4, false).await;
}

/// Not a test: a process that edits. Prints one line for each attempt.
#[tokio::test]
#[ignore = "run by the test below"]
async fn editor() {
    let (Some(file), Ok(name)) = (std::env::var_os(FILE), std::env::var(AGENT)) else { return };
    let (acknowledged, refusals) = agent(LocalWorkspace::new(), Path::new(&file), &name).await;
    acknowledged.iter().for_each(|token| println!("acknowledged {token}"));
    refusals.iter().for_each(|refusal| println!("refused {}", refusal.replace('\n', " ")));
}

fn processes(number: usize) {
    let mut tally = Tally::default();
    for _ in 0..rounds() {
        let folder = tempfile::tempdir().unwrap();
        let path = fresh(folder.path());
        let running: Vec<_> = (0..number)
            .map(|at| {
                Command::new(std::env::current_exe().unwrap())
                    .args(["files::lost_edits::editor", "--exact", "--ignored", "--nocapture"])
                    .env(FILE, &path)
                    .env(AGENT, at.to_string())
                    .stdout(Stdio::piped())
                    .stderr(Stdio::null())
                    .spawn()
                    .unwrap()
            })
            .collect();
        let (mut acknowledged, mut refusals) = (Vec::new(), Vec::new());
        for child in running {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
            for line in String::from_utf8_lossy(&output.stdout).lines() {
                acknowledged.extend(line.strip_prefix("acknowledged ").map(str::to_owned));
                refusals.extend(line.strip_prefix("refused ").map(str::to_owned));
            }
        }
        assert_eq!(acknowledged.len() + refusals.len(), number * ATTEMPTS);
        tally.check(&path, acknowledged, refusals);
    }
    tally.finish(&format!("{number} processes"));
}

#[test]
fn processes_lose_no_edit() {
    processes(2);
    processes(6);
}
