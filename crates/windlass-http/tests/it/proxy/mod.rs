//! Credential proxy over real sockets: in front a client that writes raw HTTP, behind a server that speaks the wire
//! format of the API.

mod bounds;
mod refusals;
mod secrets;
mod speed;
mod streams;
mod world;
