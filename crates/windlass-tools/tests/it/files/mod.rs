//! The file tools and the todo list as a session uses them.

mod edit;
mod local;
mod read;
mod session;
mod todo;
mod write;
