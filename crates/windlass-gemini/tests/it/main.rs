//! The provider over a real socket.
