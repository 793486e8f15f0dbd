//! Parts that come with a project, in a build without the feature `project`: there are none.

use crate::assembly::Contribution;

pub(crate) const GUARD: &[&dyn Contribution] = &[];
pub(crate) const TEXTS_AND_HOOKS: &[&dyn Contribution] = &[];
pub(crate) const PROJECT: &[&dyn Contribution] = &[];
