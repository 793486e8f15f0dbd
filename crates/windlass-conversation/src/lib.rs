//! A conversation with an agent, as a machine without I/O: prompts and their order, slash commands, settings of an open
//! session, questions, rewinds, and the end of the input.
//!
//! [`Conversation`] takes [`Input`]s from a person or a host and from a driver that owns the session. It gives
//! [`Update`]s, which a [`Presenter`] turns into frames, lines or a screen, and [`Order`]s, which the driver carries out.
//! Every surface of windlass, such as the host protocol, is a presenter and a driver around one conversation. With the
//! feature `driver`, `LiveConversation` is a conversation with the driver of sessions of `windlass-runtime`.
//!
//! ```
//! use std::sync::Arc;
//! use windlass_conversation::{Conversation, ConversationOptions, Input, Message, Order, Output};
//! # #[derive(Debug)] struct Zeros;
//! # impl windlass_tool::Ids for Zeros { fn bits(&self) -> u128 { 0 } }
//! # let ids = Arc::new(Zeros);
//!
//! let mut conversation = Conversation::new(ConversationOptions::default(), ids);
//! conversation.handle(Input::Message(Box::new(Message::text("Fix the failing test"))));
//! let outputs: Vec<Output> = std::iter::from_fn(|| conversation.poll()).collect();
//! // The first message opens a session.
//! assert!(matches!(outputs.last(), Some(Output::Order(Order::Open(_)))));
//! ```

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "driver")]
mod asking;
mod calls;
mod command;
mod context;
mod conversation;
mod current;
#[cfg(feature = "driver")]
mod driver;
mod input;
mod jobs;
#[cfg(feature = "driver")]
mod live;
mod message;
mod output;
mod questions;
mod queue;
mod receipts;
mod results;
mod settings;
mod spent;
mod task_outputs;
mod turns;

#[cfg(feature = "driver")]
#[cfg_attr(docsrs, doc(cfg(feature = "driver")))]
pub use {
    asking::ConversationAsker,
    driver::{OpenFailure, OpenSession, SessionDriver},
    live::LiveConversation,
};

pub use calls::{Asker, CallReference};
pub use command::{Expanded, Expansion, SlashCommand};
pub use context::{ContextPart, ContextReport, is_of_server};
pub use conversation::{Conversation, ConversationOptions, is_error};
pub use input::{Generation, Input, NotRewound, Outcome, Request, RewindScope, Rewound, SessionFacts, SettingsChange};
pub use message::{Message, Priority};
pub use output::{
    Answer, Job, LocalResult, MessageState, Order, Output, Presenter, Refusal, RefusalKind, SessionOpened,
    SessionOrder, SessionState, TakenMessage, Ticket, Timer, Unanswered, Update,
};
pub use questions::Question;
pub use settings::SessionSettings;
pub use spent::Spent;
