//! Host protocol of windlass: events mapped to stream-json frames
