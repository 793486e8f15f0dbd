//! Models behind the Gemini API.
