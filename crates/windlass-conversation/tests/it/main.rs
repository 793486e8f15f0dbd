//! A conversation from outside: with a presenter of lines, with one of the editor protocol, and under any inputs.

mod acp;
mod lines;
mod world;
