//! Plugin components that this version does not use.

/// A kind of component: its name, the manifest keys for it, and its default path.
pub(super) struct Unsupported {
    pub(super) what: &'static str,
    pub(super) keys: &'static [&'static str],
    pub(super) places: &'static [&'static str],
}

const fn kind(what: &'static str, keys: &'static [&'static str], places: &'static [&'static str]) -> Unsupported {
    Unsupported { what, keys, places }
}

/// The kinds that are reported and not used.
pub(super) const UNSUPPORTED: [Unsupported; 10] = [
    kind("output styles", &["outputStyles"], &["output-styles"]),
    kind("workflows", &["workflows"], &["workflows"]),
    kind("monitors", &["monitors"], &["monitors"]),
    kind("themes", &["themes"], &["themes"]),
    kind("experimental components", &["experimental"], &[]),
    kind("programs", &[], &["bin"]),
    kind("settings", &["settings"], &["settings.json"]),
    kind("channels", &["channels"], &[]),
    kind("user configuration", &["userConfig"], &[]),
    kind("dependencies", &["dependencies"], &[]),
];
