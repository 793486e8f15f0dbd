//! The model provider port of windlass, with scripted, recording and replaying models
