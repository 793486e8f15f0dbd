//! Built-in tools of windlass: Read, Write, Edit, MultiEdit, Glob, Grep, Bash, TodoWrite
