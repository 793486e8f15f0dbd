//! Filter of the searched files, by file type and by glob.

use std::path::Path;

use ignore::overrides::{Override, OverrideBuilder};
use ignore::types::{Types, TypesBuilder};

use super::query::GrepQuery;
use crate::search::glob::literal_brackets;

/// A type or glob that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FilterError {
    #[error("unknown file type `{name}`{hint}")]
    Type { name: String, hint: String },
    #[error("invalid glob `{glob}`: {reason}")]
    Glob { glob: String, reason: String },
}

/// Filter of a walk by type and glob. Files that an ignore file excludes stay excluded.
#[derive(Debug)]
pub(super) struct Filter {
    types: Types,
    globs: Override,
}

impl Filter {
    pub(super) fn new(query: &GrepQuery, root: &Path) -> Result<Self, FilterError> {
        Ok(Self { types: build_types(&query.types)?, globs: build_globs(&query.globs, root)? })
    }

    pub(super) fn accepts(&self, file: &Path) -> bool {
        !self.types.matched(file, false).is_ignore() && !self.globs.matched(file, false).is_ignore()
    }

    pub(super) fn enters(&self, directory: &Path) -> bool {
        !self.globs.matched(directory, true).is_ignore()
    }
}

fn build_types(names: &[String]) -> Result<Types, FilterError> {
    if names.is_empty() {
        return Ok(Types::empty());
    }
    let mut builder = TypesBuilder::new();
    builder.add_defaults();
    for name in names {
        builder.select(name);
    }
    builder.build().map_err(|_| {
        let known = builder.definitions();
        let unknown =
            names.iter().find(|name| !known.iter().any(|def| def.name() == name.as_str())).cloned().unwrap_or_default();
        let extension = format!("*.{unknown}");
        let types_with_extension: Vec<&str> =
            known.iter().filter(|def| def.globs().contains(&extension)).map(ignore::types::FileTypeDef::name).collect();
        let hint = if types_with_extension.is_empty() {
            format!("; use `glob`, as in `*.{unknown}`")
        } else {
            format!("; did you mean `{}`?", types_with_extension.join("` or `"))
        };
        FilterError::Type { name: unknown, hint }
    })
}

fn build_globs(globs: &[String], root: &Path) -> Result<Override, FilterError> {
    if globs.is_empty() {
        return Ok(Override::empty());
    }
    let mut builder = OverrideBuilder::new(root);
    let invalid = |glob: &str, error: &ignore::Error| FilterError::Glob {
        glob: glob.to_owned(),
        reason: match error {
            ignore::Error::Glob { err, .. } => err.clone(),
            other => other.to_string(),
        },
    };
    for glob in globs {
        builder.add(glob).map_err(|error| invalid(glob, &error))?;
        for literal in literal_brackets(glob) {
            // A literal that is no valid glob is skipped, because it matches no name.
            let _ = builder.add(&literal);
        }
    }
    builder.build().map_err(|error| invalid(&globs.join(" "), &error))
}
