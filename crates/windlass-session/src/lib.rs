//! Session store port, JSONL log format and transcript repair of windlass
