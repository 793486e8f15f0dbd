//! Data types of the windlass agent SDK: messages, events, log entries, permissions
