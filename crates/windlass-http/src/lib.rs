//! HTTP and server-sent event plumbing shared by windlass providers (semver-exempt)
