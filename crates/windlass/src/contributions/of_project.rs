//! Parts that come with a project, or with the feature for projects.

#[cfg(feature = "credentials")]
mod hook_requests;
#[cfg(not(feature = "credentials"))]
#[path = "../absent/hook_requests.rs"]
mod hook_requests;
mod hooks;
mod index;
mod instructions;
mod memory;
mod open_project;
mod review;
mod skills;

use crate::assembly::Contribution;
use hooks::ConfiguredHooks;
use index::Index;
use instructions::Instructions;
use memory::Memory;
use open_project::OpenProject;
use review::ProgramReview;
use skills::Skills;

/// Guard of servers that join behind it.
pub(crate) const GUARD: &[&dyn Contribution] = &[&ProgramReview];
/// Texts for the model, then the configured hooks.
pub(crate) const TEXTS_AND_HOOKS: &[&dyn Contribution] = &[&Instructions, &Memory, &Index, &Skills, &ConfiguredHooks];
/// The project itself.
pub(crate) const PROJECT: &[&dyn Contribution] = &[&OpenProject];
