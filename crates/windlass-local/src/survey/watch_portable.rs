//! Placeholder for systems without change reports: everything is surveyed.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use windlass_tool::FolderSurvey;

use crate::workspace::dir::Dir;

/// Uninhabited: there is no watch.
#[derive(Debug)]
pub(super) enum Watch {}

/// Reports of changes.
#[derive(Debug)]
pub(super) struct News {
    pub(super) from: u64,
    pub(super) upto: u64,
    pub(super) touched: HashSet<PathBuf>,
    pub(super) moved: HashSet<PathBuf>,
    pub(super) has_rules: bool,
}

impl Watch {
    pub(super) fn begin() -> Option<Self> {
        None
    }

    pub(super) fn add(&self, _: &Path, _: &Dir) {
        match *self {}
    }

    pub(super) fn keep(&self, _: &HashMap<PathBuf, Arc<FolderSurvey>>) {
        match *self {}
    }

    pub(super) fn is_whole(&self) -> bool {
        match *self {}
    }

    pub(super) fn is_at(&self, _: &Path, _: &Dir) -> bool {
        match *self {}
    }

    pub(super) fn news(&self) -> Option<News> {
        match *self {}
    }
}
