//! The providers over a real socket.

mod chat;
mod responses;
