//! The tool `Program`: small programs of the model that call other tools in loops and conditions.
//!
//! A model that reads fifty files by fifty calls reads all fifty results, and every following request pays for them.
//! With [`Program`] it writes the search as a program, and reads only the output.
//!
//! The programs are written in Luau and run in an interpreter that was made for untrusted programs. It has no access to
//! the system: no files, no programs, no clock, no random numbers. [`ProgramLimits`] bounds steps, memory, time, calls
//! and output. Each call of a tool passes the gate of the session: schema, hooks, rules, mode, permission requests,
//! log.
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
