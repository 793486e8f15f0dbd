//! Output styles of a project.

use super::LoadedProject;
use windlass_project::load_output_styles;

impl LoadedProject {
    /// Names of the output styles that `outputStyle` can choose: `default`, those of files, and the bundled ones.
    /// Blocks for as long as the disk takes.
    pub fn output_styles(&self) -> Vec<String> {
        let styles = load_output_styles(self.places(), &self.read.settings).styles;
        std::iter::once("default".to_owned()).chain(styles.into_iter().map(|style| style.name)).collect()
    }
}
