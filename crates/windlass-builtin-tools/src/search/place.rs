//! Start of a search, and display of its paths.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use windlass_tool::{EntryKind, ToolCx, ToolError, WalkInterrupt, WalkScope, WorkspaceError};
use windlass_types::text::visible_path;

use crate::files::suggest::{other_places, similar_names};

/// Time limit of a search, after which it returns its results so far.
pub(super) const TIME_LIMIT: Duration = Duration::from_secs(30);

/// Maximum number of names of a folder that are compared for a similar one.
const MAX_NAMES: usize = 10_000;

/// Path given by a call; the current directory without one, or with an empty one.
pub(super) fn given(path: Option<&str>) -> &Path {
    Path::new(path.filter(|path| !path.is_empty()).unwrap_or("."))
}

/// The judged place of a search.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// Absolute path as the call named it.
    pub(super) requested: PathBuf,
    /// Path without links.
    pub(super) resolved: PathBuf,
    pub(super) kind: EntryKind,
    cwd: PathBuf,
}

impl Place {
    /// Finds the place of `path` within the call's permit.
    pub(super) async fn find(cx: &ToolCx, path: &Path) -> Result<Self, ToolError> {
        let requested = cx.absolute(path);
        let outside =
            || ToolError::rejected(format!("{} is outside of what this call may touch.", visible_path(&requested)));
        let judged = cx.permit().readable(&requested).ok_or_else(outside)?;
        let current = match cx.workspace().resolve(&requested).await {
            Ok(current) => current,
            Err(error) => return Err(ToolError::rejected(error.message.clone()).with_source(error)),
        };
        // A link may have been changed since; only the judged place is searched.
        let inside = if requested == judged.requested {
            current.path == judged.resolved
        } else {
            current.path.starts_with(&judged.resolved)
        };
        if !inside {
            return Err(outside());
        }
        if !cx.permit().allows(&current.path) {
            return Err(ToolError::rejected(format!("{} may not be read.", visible_path(&requested))));
        }
        Ok(Self { requested, resolved: current.path, kind: current.kind, cwd: cx.cwd().to_owned() })
    }

    /// Found path for the model: relative to the current directory when it is below it, else absolute.
    pub(super) fn show(&self, found: &Path) -> String {
        let full = match found.strip_prefix(&self.resolved) {
            Ok(below) if below.as_os_str().is_empty() => self.requested.clone(),
            Ok(below) => self.requested.join(below),
            Err(_) => found.to_owned(),
        };
        match full.strip_prefix(&self.cwd) {
            Ok(below) if !below.as_os_str().is_empty() => visible_path(below),
            _ => visible_path(&full),
        }
    }

    /// Error for a missing place, with suggestions.
    pub(super) async fn missing(&self, cx: &ToolCx) -> ToolError {
        let mut text = format!("{} does not exist.", visible_path(&self.requested));
        let inside = |path: &Path| cx.directories().iter().any(|root| path.starts_with(root));
        for place in other_places(&self.requested, &self.cwd) {
            // Outside of the workspace even the existence of a file is not revealed.
            if inside(&place)
                && let Ok(target) = cx.workspace().resolve(&place).await
                && target.kind != EntryKind::Missing
                && inside(&target.path)
                && cx.permit().allows(&place)
                && cx.permit().allows(&target.path)
            {
                text.push_str(&format!(" Did you mean {}?", visible_path(&place)));
                return ToolError::rejected(text);
            }
        }
        let (folder, name) = (self.requested.parent(), self.requested.file_name().and_then(|name| name.to_str()));
        if let (Some(folder), Some(name)) = (folder, name)
            && let Ok(names) = cx.workspace().list(cx.permit(), folder, MAX_NAMES).await
        {
            let near = similar_names(name, names.iter().map(String::as_str));
            let near: Vec<String> = near.into_iter().map(|near| visible_path(folder.join(near))).collect();
            if !near.is_empty() {
                text.push_str(&format!(" Did you mean {}?", near.join(" or ")));
                return ToolError::rejected(text);
            }
        }
        text.push_str(&format!(" The current directory is {}.", visible_path(&self.cwd)));
        ToolError::rejected(text)
    }
}

/// Scope of a walk over a place, until the call is stopped or out of time.
#[expect(clippy::disallowed_methods, reason = "measures how long a search takes on a real disk")]
pub(super) fn scope(cx: &ToolCx, place: &Place, limit: Duration) -> WalkScope {
    let mut scope = WalkScope::new(&place.resolved);
    scope.workspace = cx.directories().into();
    scope.filter = cx.permit().filter();
    let (cx, deadline, started) = (cx.clone(), cx.clock().now().after(limit), Instant::now());
    scope.interrupt = Arc::new(move || {
        if cx.cancel().is_cancelled() {
            Some(WalkInterrupt::Cancelled)
        } else if cx.clock().now() > deadline || started.elapsed() > limit {
            // The time of day may be set back meanwhile.
            Some(WalkInterrupt::TimedOut)
        } else {
            None
        }
    });
    scope
}

/// Error of a walk that could not begin.
pub(super) fn failed(error: WorkspaceError) -> ToolError {
    ToolError::rejected(error.message.clone()).with_source(error)
}
