//! The server with the driver of conversations and a scripted model.

mod broken;
mod permission;
mod prompts;
mod sessions;
mod settings;
mod world;
