//! Default session store of windlass: crash-safe JSONL files
