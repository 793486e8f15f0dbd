//! Permission rules, modes and the pure decision pipeline of windlass
