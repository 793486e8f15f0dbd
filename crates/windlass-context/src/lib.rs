//! System prompt sections, token estimates and reminders of windlass; pure
