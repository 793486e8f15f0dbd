//! Servers that fail, lie, or do not answer.

use std::time::Duration;

use std::sync::Arc;
use windlass_lsp::{CodeError, CodeIntelligence, CodeOperation, ConfinedUntilEnd, ServerConfig, ServerConfinement};
use windlass_tool::ProcessCommand;

use crate::support::{Project, at};

#[tokio::test]
async fn a_server_that_ends_is_started_again_as_often_as_it_may() {
    for (mode, part) in [("crash", "the toy has broken"), ("garbage", "no JSON"), ("huge", "1000000000 bytes")] {
        let project = Project::new(&[("a.toy", "def one\n")]);
        let mut config = project.config(mode);
        config.max_restarts = 2;
        let (path, servers) = (project.root().join("a.toy"), project.servers_of(config));
        for question in 0..5 {
            let error = servers.ask(at(CodeOperation::Hover, &path, 1, 5)).await.unwrap_err();
            assert!(matches!(error, CodeError::Unusable { .. }), "{error}");
            if question < 3 && mode != "crash" {
                assert!(error.to_string().contains(part), "{error}");
            }
        }
        assert_eq!(project.count("start"), 3, "{mode}");
        let last = servers.ask(at(CodeOperation::Hover, &path, 1, 5)).await.unwrap_err().to_string();
        assert!(last.contains("started 3 times"), "{last}");
    }
}

#[tokio::test]
async fn a_server_that_cannot_start_says_why() {
    let project = Project::new(&[("a.toy", "x")]);
    let path = project.root().join("a.toy");
    for (command, part) in [("no-such-server", "no program"), ("./server", "neither an absolute path")] {
        let servers = project.servers_of(ServerConfig::new("toy", command, [("toy", "toy")]));
        let error = servers.ask(at(CodeOperation::Hover, &path, 1, 1)).await.unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
    let mut config = project.config("mute");
    config.startup_timeout = Duration::from_millis(300);
    let error = project.servers_of(config).ask(at(CodeOperation::Hover, &path, 1, 1)).await.unwrap_err();
    assert!(matches!(error, CodeError::TimedOut { .. }), "{error}");
}

/// Confinement that lets only servers of this name start, with an additional variable.
#[derive(Debug)]
struct Only(&'static str);

#[async_trait::async_trait]
impl ServerConfinement for Only {
    async fn confine(
        &self,
        server: &str,
        mut program: ProcessCommand,
    ) -> Result<(ProcessCommand, ConfinedUntilEnd), String> {
        if server != self.0 {
            return Err("it may not".to_owned());
        }
        program.env.retain(|(name, _)| name != "MODE");
        program.env.push(("MODE".into(), "crash".into()));
        Ok((program, Box::new(())))
    }
}

#[tokio::test]
async fn what_confines_a_server_has_the_last_word_on_its_program() {
    for (name, part, starts) in [("other", "it may not", 0), ("toy", "the toy has broken", 1)] {
        let project = Project::new(&[("a.toy", "def one\n")]);
        let (path, servers) = (project.root().join("a.toy"), project.servers(""));
        servers.confine(Arc::new(Only(name)));
        servers.confine(Arc::new(Only("later")));
        let error = servers.ask(at(CodeOperation::Hover, &path, 1, 5)).await.unwrap_err().to_string();
        assert!(error.contains(part) && project.count("start") == starts, "{error}");
    }
}

#[tokio::test]
async fn a_dropped_question_harms_no_later_one() {
    let project = Project::new(&[("a.toy", "def one\n")]);
    let (path, servers) = (project.root().join("a.toy"), project.servers(""));
    // Dropped while the server starts, which continues.
    let dropped = tokio::time::timeout(Duration::from_millis(1), servers.ask(at(CodeOperation::Hover, &path, 1, 5)));
    let _ = dropped.await;
    assert!(servers.ask(at(CodeOperation::Hover, &path, 1, 5)).await.is_ok());
    assert_eq!(project.count("start"), 1);
}

/// `true` if a process of this number lives, other than as a zombie.
fn lives(process: &str) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    status.lines().any(|line| line.starts_with("State:") && !line.contains("Z (zombie)"))
}

#[tokio::test]
async fn what_a_server_has_started_ends_with_it() {
    let project = Project::new(&[("a.toy", "def one\n")]);
    let (path, servers) = (project.root().join("a.toy"), project.servers("child"));
    servers.ask(at(CodeOperation::Hover, &path, 1, 5)).await.unwrap();
    let child = project.marks().iter().find_map(|line| line.strip_prefix("child ").map(str::to_owned)).unwrap();
    assert!(lives(&child));
    drop(servers);
    let gone = async {
        while lives(&child) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), gone).await.expect("the child of the server has ended");
}
