//! In-process hooks of windlass: one method and one action type per event
