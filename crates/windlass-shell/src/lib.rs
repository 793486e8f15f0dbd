//! Shell text to parsed commands with a conservative classification; pure, no processes
