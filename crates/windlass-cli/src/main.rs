//! The windlass command: run coding agents from the terminal
fn main() {}
