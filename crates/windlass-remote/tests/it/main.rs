//! The ports over simulated transports: programs of the tests that run the remote shell on this machine, like `ssh` and
//! `docker exec` elsewhere.
#![cfg(target_os = "linux")]
#![allow(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed"
)]

mod by_hand;
mod connections;
mod files;
mod programs;

use std::path::{Path, PathBuf};

use windlass_remote::{Remote, Transport};

/// A program of the folder `fake`.
fn fake(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fake").join(name)
}

fn ssh(host: &str) -> Transport {
    Transport::ssh(host).with_program(fake("ssh")).with_connect_time(std::time::Duration::from_secs(120))
}

fn docker(container: &str) -> Transport {
    Transport::docker(container).with_program(fake("docker")).with_connect_time(std::time::Duration::from_secs(120))
}

async fn remotes() -> [Remote; 2] {
    [Remote::connect(ssh("noisy")).await.unwrap(), Remote::connect(docker("web")).await.unwrap()]
}
