//! Tests of the machine alone: simulated worlds, and the sequences that hosts see.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test that cannot continue has failed"
)]

mod agents;
mod attachments;
mod attacks;
mod check;
mod choices;
mod classify;
mod cuts;
mod environment;
mod ids;
mod ladder;
mod lessons;
mod limits;
mod log;
mod made;
mod many;
mod money;
mod origins;
mod pending;
mod properties;
mod render;
mod repetition;
mod replay;
mod rewound;
mod scopes;
mod sequences;
mod sim;
mod steering;
mod tasks;
mod tools;
mod waiting;
mod windows;
mod withheld;
