//! The tool `Program`: small programs of the model that call other tools in loops and conditions.
//!
//! A model that looks through fifty files by fifty calls reads all fifty results, and everyone pays for them in each request that
//! follows. With [`Program`] it writes what to look for as a program, and reads only what that gives.
//!
//! The programs are written in Luau and run in an interpreter that was made for programs of strangers. It is given nothing of the
//! system: no files, no programs, no clock, no chance. [`ProgramLimits`] bounds steps, memory, time, calls and output. Each call of
//! a tool passes the gate of the session: schema, hooks, rules, mode, questions, log.
//!
//! The interpreter is C++, compiled with the crate.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod interpreter;
mod limits;
mod meter;
mod tool;
mod values;

pub use limits::ProgramLimits;
pub use tool::{Program, ProgramInput};
