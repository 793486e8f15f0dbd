//! The sans-IO agent loop of windlass: inputs in, effects and events out
