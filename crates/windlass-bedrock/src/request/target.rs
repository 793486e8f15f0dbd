//! The receiver of a request body.

use crate::models::ConverseFamily;
use windlass_types::ModelInfo;

/// Model that a body is for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ConverseTarget<'a> {
    pub(crate) family: ConverseFamily,
    pub(crate) info: &'a ModelInfo,
}
