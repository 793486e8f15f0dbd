//! A provider that is not in this build.

use super::http::Connection;
use super::route::{Route, Setup};

pub(super) fn routes(_: &Connection) -> Vec<Route> {
    Vec::new()
}

pub(super) fn vertex(_: &Connection) -> Option<Setup> {
    None
}
