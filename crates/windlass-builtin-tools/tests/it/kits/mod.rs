//! The built-in tools against the kit of their contract.

mod tools;
