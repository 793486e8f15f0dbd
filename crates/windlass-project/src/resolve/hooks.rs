//! Resolves the hooks of settings files.

use super::SettingsResolution;
use crate::resolved::Resolved;
use crate::settings_file::SettingsFile;
use crate::sources::Layer;
use crate::trust::TrustKind;
use windlass_hook_runner::RequestRules;

impl SettingsResolution<'_> {
    /// Adds the hooks of files in effect. Unusable hooks of such a file keep a session from starting.
    pub(super) fn hooks(&mut self) {
        let file = self.file;
        let hooks = &file.settings.hooks;
        if hooks.is_empty() {
            return;
        }
        if !file.covers(TrustKind::Hooks, "hooks", hooks.content()) {
            return self.note(format!("`hooks` do not count {}", file.standing.condition()));
        }
        for hook in &hooks.hooks {
            let hook = self.setting(hook.clone());
            self.resolved.hooks.all.push(hook);
        }
        for hook in &hooks.broken {
            let hook = self.setting(hook.clone());
            self.resolved.hooks.broken.push(hook);
        }
        for note in &hooks.notes {
            self.note(note.clone());
        }
    }
}

impl Resolved {
    /// Removes the hooks that are switched off. Only managed settings can switch off managed hooks. Shared files of a
    /// project can switch off only hooks of the project.
    pub(super) fn pass_over_hooks(&mut self, files: &[SettingsFile]) {
        let disables_hooks = |file: &&SettingsFile| {
            file.settings.hooks.disabled && file.covers(TrustKind::Setting, "disableAllHooks", "true")
        };
        let is_managed = |file: &SettingsFile| file.layer == Layer::Managed;
        let managed = files.iter().any(|file| is_managed(file) && file.settings.hooks.disabled);
        let managed_only = files.iter().any(|file| is_managed(file) && file.settings.hooks.managed_only);
        let by_user = files.iter().filter(disables_hooks).any(|file| !is_managed(file) && !file.is_shared());
        let by_project = files.iter().filter(disables_hooks).any(SettingsFile::is_shared);
        let is_active = |layer: Layer| {
            let passed_over = layer != Layer::Managed && (by_user || managed_only);
            !(managed || passed_over || (layer.lies_in_project() && by_project))
        };
        self.hooks.all.retain(|hook| is_active(hook.layer));
        self.hooks.broken.retain(|hook| is_active(hook.layer));
        self.hooks.others_count = is_active(Layer::User);
        self.hooks.requests = requests(files);
    }
}

/// Returns the request rules of hooks: the lists of managed settings, or else those of the user, or else those of the
/// project. A weaker layer adds nothing to a stronger one.
fn requests(files: &[SettingsFile]) -> RequestRules {
    let ranks: [fn(&SettingsFile) -> bool; 3] = [
        |file| file.layer == Layer::Managed,
        |file| file.layer != Layer::Managed && !file.layer.lies_in_project(),
        |file| file.layer.lies_in_project(),
    ];
    let list = |get: fn(&SettingsFile) -> Option<&Vec<String>>| {
        ranks.iter().find_map(|is_of_rank| {
            let lists: Vec<_> = files.iter().filter(|file| is_of_rank(file)).filter_map(get).collect();
            (!lists.is_empty()).then(|| lists.into_iter().flatten().cloned().collect())
        })
    };
    let mut rules = RequestRules::new();
    rules.urls = list(|file| file.settings.hooks.urls.as_ref());
    rules.variables = list(|file| file.settings.hooks.variables.as_ref());
    rules
}
