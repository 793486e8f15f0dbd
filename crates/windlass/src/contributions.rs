//! The parts of a session, in the order in which they join it.
//!
//! 1. [`LocalMachine`], [`RemoteMachine`]: files and programs, which all other parts use. The remote ones replace the
//!    local ones.
//! 2. `Sandbox`: confines programs. It joins behind the machines, whose programs it takes, and before everything that
//!    starts one.
//! 3. `McpServers`: gets the sandbox, then waits for the servers, so that their tools are there when tools are offered.
//! 4. `ProgramReview`: guards servers that join later. The MCP servers of a project have its review already, since they
//!    may have started before.
//! 5. [`LanguageServers`]: gets the sandbox behind the review.
//! 6. [`Programs`]: the environment of programs, with the temporary directory of the sandbox.
//! 7. [`Checkpoints`]: the store of files before calls change them.
//! 8. `Instructions`, `Memory`, `Index`, `Skills`: texts, which the model reads in this order. The texts of the program
//!    stand behind those of `Instructions`.
//! 9. `ConfiguredHooks`: in front of the hooks of the program and of `Memory`. They need the environment of programs.
//! 10. [`Mentions`]: the agents and servers that a prompt can name.
//! 11. [`Surroundings`]: directories, platform and repository, for the model. It runs a program, with the rights and the
//!     environment that all parts before have settled.
//! 12. `OpenProject`: registers the open session with its project, behind the work of all other parts.
//!
//! A feature brings its `mod` line and its row.

mod checkpoints;
mod languages;
mod machine;
#[cfg(feature = "mcp")]
mod mcp_servers;
mod mentions;
#[cfg(feature = "project")]
mod of_project;
#[cfg(not(feature = "project"))]
#[path = "absent/of_project.rs"]
mod of_project;
mod programs;
mod remote;
#[cfg(feature = "sandbox")]
mod sandbox;
mod surroundings;

use crate::assembly::Contribution;
use checkpoints::Checkpoints;
use languages::LanguageServers;
use machine::LocalMachine;
use mentions::Mentions;
use programs::Programs;
use remote::RemoteMachine;
use surroundings::Surroundings;

/// The parts in their order. Those of a feature have rows of their own.
pub(crate) const CONTRIBUTIONS: &[&[&dyn Contribution]] = &[
    &[&LocalMachine, &RemoteMachine],
    #[cfg(feature = "sandbox")]
    &[&sandbox::Sandbox],
    #[cfg(feature = "mcp")]
    &[&mcp_servers::McpServers],
    of_project::GUARD,
    &[&LanguageServers, &Programs, &Checkpoints],
    of_project::TEXTS_AND_HOOKS,
    &[&Mentions, &Surroundings],
    of_project::PROJECT,
];

#[cfg(test)]
mod tests;
