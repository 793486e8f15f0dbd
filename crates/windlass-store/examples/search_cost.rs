//! Cost of searches and lists over many sessions.
//!
//! `cargo run -p windlass-store --features index --profile dist --example search_cost -- [SESSIONS]`
//!
//! The sessions are generated: prompts, answers, tool calls and their results, of a realistic size. The output is times
//! in milliseconds, the median of several.

#![allow(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program that measures on this machine"
)]

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::time::Instant;
use windlass_session::slug;
use windlass_store::{JsonlStore, PageSource, SessionSearch};
use windlass_types::SessionId;

/// Number of repetitions of each measurement.
const TIMES: usize = 15;

/// Number of words, in the order of their frequency.
const WORDS: usize = 20_000;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    /// Returns a word: a few are frequent, most are rare.
    fn word(&mut self) -> String {
        let part = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        let number = (WORDS as f64).powf(part) as usize;
        let syllables = ["ka", "lo", "mi", "re", "su", "ta", "ne", "po", "vi", "zu"];
        let digits = number.to_string();
        digits.bytes().map(|digit| syllables[usize::from(digit - b'0')]).collect()
    }

    fn text(&mut self, words: usize) -> String {
        (0..words).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }
}

/// Returns a log of random length.
fn log(number: usize, cwd: &str, random: &mut Random) -> String {
    let turns = 1 + random.below(12);
    let mut out = String::new();
    let rest = format!(
        "\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"cwd\":{cwd:?},\"sessionId\":\"{}\",\"version\":\"0.1.0\",\
         \"gitBranch\":\"main\",\"userType\":\"external\",\"uuid\":\"11111111-1111-4111-8111-111111111111\"",
        SessionId::from_bits(number as u128)
    );
    for turn in 0..turns {
        let prompt = match turn {
            0 => format!("session{number} {}", random.text(30)),
            _ => random.text(25),
        };
        out += &format!(
            "{{\"isSidechain\":false,\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":{prompt:?}}},{rest}}}\n"
        );
        for call in 0..random.below(6) {
            let (path, result) = (random.word(), random.text(250));
            let usage = "\"usage\":{\"input_tokens\":900,\"output_tokens\":200}";
            out += &format!(
                "{{\"type\":\"assistant\",\"message\":{{\"id\":\"m{turn}{call}\",\"model\":\"m\",\"content\":[{{\"type\":\
                 \"tool_use\",\"id\":\"t\",\"name\":\"Read\",\"input\":{{\"file_path\":{path:?}}}}}],{usage}}},{rest}}}\n\
                 {{\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":[{{\"type\":\"tool_result\",\
                 \"tool_use_id\":\"t\",\"content\":{result:?}}}]}},{rest}}}\n"
            );
        }
        let answer = random.text(120);
        out += &format!(
            "{{\"type\":\"assistant\",\"message\":{{\"id\":\"m{turn}\",\"model\":\"m\",\"content\":[{{\"type\":\"text\",\
             \"text\":{answer:?}}}]}},{rest}}}\n"
        );
    }
    out
}

fn generate(home: &Path, sessions: usize) -> u64 {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut bytes = 0;
    for number in 0..sessions {
        let cwd = format!("/work/project{}", number % 25);
        let folder = home.join("projects").join(slug(&cwd));
        fs::create_dir_all(&folder).unwrap();
        let log = log(number, &cwd, &mut random);
        bytes += log.len() as u64;
        fs::write(folder.join(format!("{}.jsonl", SessionId::from_bits(number as u128))), log).unwrap();
    }
    bytes
}

fn resident(name: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name).map(str::to_owned)).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse().unwrap_or(0) / 1024
}

/// Returns the CPU time of this process in milliseconds, in steps of 10 ms.
fn cpu_ms() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
    fields.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() * 10.0
}

fn run(search: &SessionSearch) -> (f64, usize, bool) {
    let begun = Instant::now();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let page = runtime.block_on(search.page()).unwrap();
    (begun.elapsed().as_secs_f64() * 1000.0, page.sessions.len(), page.source == PageSource::Index)
}

fn measure(what: &str, search: &SessionSearch, mut before: impl FnMut()) {
    let mut times = Vec::new();
    let (mut found, mut by_index) = (0, false);
    let cpu = cpu_ms();
    for _ in 0..TIMES {
        before();
        let (time, count, index) = run(search);
        times.push(time);
        (found, by_index) = (count, index);
    }
    times.sort_by(f64::total_cmp);
    let (middle, last) = (times[TIMES / 2], times[TIMES - 1]);
    let cpu = (cpu_ms() - cpu) / TIMES as f64;
    println!("{what:<46} {middle:>8.1} ms (at most {last:.1}), {cpu:.1} of the CPU, {found} found, index: {by_index}");
}

fn main() {
    let sessions: usize = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(5_000);
    let home = tempfile::tempdir().unwrap();
    let bytes = generate(home.path(), sessions);
    let store = JsonlStore::new(home.path());
    let mb = |bytes: u64| bytes as f64 / 1e6;
    println!("{sessions} sessions, {:.0} MB of logs, {} MB resident", mb(bytes), resident("VmRSS:"));
    measure("list, a page of 20, of the logs", &store.sessions_by_time().limit(20), || {});
    println!("{:<46} {:>8} MB", "most that was resident so far", resident("VmHWM:"));
    let rare = store.search("session4321").limit(20);
    let (time, ..) = run(&rare);
    println!("{:<46} {time:>8.1} ms", "first search, makes the index");
    println!("{:<46} {:>8} MB", "most that was resident so far", resident("VmHWM:"));
    let size: u64 = fs::read_dir(home.path().join("windlass-index"))
        .unwrap()
        .map(|entry| entry.unwrap().metadata().unwrap().len())
        .sum();
    println!("{:<46} {:>8.1} MB, {:.0} % of the logs", "the index", mb(size), 100.0 * size as f64 / bytes as f64);
    measure("search, a word of one session", &rare, || {});
    measure("search, two words", &store.search("lore lomi").limit(20), || {});
    measure("search, a word of all sessions", &store.search("lo").limit(20), || {});
    measure("search, a letter, which all sessions have", &store.search("l").limit(20), || {});
    measure("search, a word of none", &store.search("missing").limit(20), || {});
    measure("list by a tag of none", &store.sessions_by_time().tagged("x").limit(20), || {});
    let project = home.path().join("projects").join(slug("/work/project1"));
    let log = fs::read_dir(project).unwrap().next().unwrap().unwrap().path();
    measure("search after one log has grown by a prompt", &rare, || {
        let mut log = OpenOptions::new().append(true).open(&log).unwrap();
        log.write_all(b"{\"type\":\"user\",\"message\":{\"content\":\"more\"}}\n").unwrap();
    });
    let (time, count, _) = run(&rare.clone().from_logs());
    println!("{:<46} {time:>8.1} ms, {count} sessions", "search of the logs alone, its first page");
    println!("{:<46} {:>8} MB", "most that was resident", resident("VmHWM:"));
}
