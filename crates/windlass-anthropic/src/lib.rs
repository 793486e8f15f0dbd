//! Anthropic Messages API provider for windlass
