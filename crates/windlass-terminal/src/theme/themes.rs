//! The themes that are built in.

use super::Role;

type Styles = &'static [(Role, &'static str)];

pub(super) const TEXTS: [(&str, Styles); 6] = [
    ("ansi", ANSI),
    ("dark", DARK),
    ("light", LIGHT),
    ("dark-colorblind", DARK_COLORBLIND),
    ("light-colorblind", LIGHT_COLORBLIND),
    ("plain", PLAIN),
];

const ANSI: Styles = &[
    (Role::Faint, "dim"),
    (Role::Accent, "cyan"),
    (Role::User, "bold"),
    (Role::Heading, "bold"),
    (Role::Code, "cyan"),
    (Role::Link, "underline blue"),
    (Role::Quote, "italic"),
    (Role::Tool, "bold"),
    (Role::Success, "green"),
    (Role::Warning, "yellow"),
    (Role::Error, "red"),
    (Role::Added, "green"),
    (Role::Removed, "red"),
    (Role::AddedWord, "bold underline green"),
    (Role::RemovedWord, "bold underline red"),
    (Role::Border, "dim"),
    (Role::Selection, "reverse"),
];

const DARK: Styles = &[
    (Role::Faint, "#8a8f98"),
    (Role::Accent, "#7dcfff"),
    (Role::User, "bold #ffffff on #2b2f36"),
    (Role::Heading, "bold #ffffff"),
    (Role::Code, "#9cdcfe"),
    (Role::CodeBlock, "#d4d4d4"),
    (Role::Link, "underline #6ab0f3"),
    (Role::Quote, "italic #a9b1ba"),
    (Role::Tool, "bold"),
    (Role::Success, "#7ec97e"),
    (Role::Warning, "#e5c07b"),
    (Role::Error, "#f47067"),
    (Role::Added, "#c8f0cf on #12301b"),
    (Role::Removed, "#f5c9c6 on #3a1a1c"),
    (Role::AddedWord, "bold #ffffff on #1f6b36"),
    (Role::RemovedWord, "bold #ffffff on #8a2b30"),
    (Role::Border, "#5c6370"),
    (Role::Selection, "#ffffff on #33507a"),
];

const LIGHT: Styles = &[
    (Role::Faint, "#6a737d"),
    (Role::Accent, "#0b6bcb"),
    (Role::User, "bold #111111 on #eceff3"),
    (Role::Heading, "bold #111111"),
    (Role::Code, "#0550ae"),
    (Role::CodeBlock, "#24292f"),
    (Role::Link, "underline #0969da"),
    (Role::Quote, "italic #57606a"),
    (Role::Tool, "bold"),
    (Role::Success, "#1a7f37"),
    (Role::Warning, "#8a5a00"),
    (Role::Error, "#b3261e"),
    (Role::Added, "#0f3d1c on #dafbe1"),
    (Role::Removed, "#5c1210 on #ffe3e0"),
    (Role::AddedWord, "bold #0f3d1c on #8fe3a4"),
    (Role::RemovedWord, "bold #5c1210 on #ffaaa2"),
    (Role::Border, "#b0b7c0"),
    (Role::Selection, "#111111 on #cfe3fb"),
];

/// Blue for added and orange for removed, which all kinds of colour blindness tell apart.
const DARK_COLORBLIND: Styles = &[
    (Role::Faint, "#8a8f98"),
    (Role::Accent, "#56b4e9"),
    (Role::User, "bold #ffffff on #2b2f36"),
    (Role::Heading, "bold #ffffff"),
    (Role::Code, "#9cdcfe"),
    (Role::CodeBlock, "#d4d4d4"),
    (Role::Link, "underline #6ab0f3"),
    (Role::Quote, "italic #a9b1ba"),
    (Role::Tool, "bold"),
    (Role::Success, "#56b4e9"),
    (Role::Warning, "#f0e442"),
    (Role::Error, "bold #e69f00"),
    (Role::Added, "#cfe6ff on #0f2d4d"),
    (Role::Removed, "#ffe2bd on #452a08"),
    (Role::AddedWord, "bold underline #ffffff on #1f5f9e"),
    (Role::RemovedWord, "bold underline #ffffff on #96590a"),
    (Role::Border, "#5c6370"),
    (Role::Selection, "#ffffff on #33507a"),
];

const LIGHT_COLORBLIND: Styles = &[
    (Role::Faint, "#6a737d"),
    (Role::Accent, "#0072b2"),
    (Role::User, "bold #111111 on #eceff3"),
    (Role::Heading, "bold #111111"),
    (Role::Code, "#0550ae"),
    (Role::CodeBlock, "#24292f"),
    (Role::Link, "underline #0969da"),
    (Role::Quote, "italic #57606a"),
    (Role::Tool, "bold"),
    (Role::Success, "#0072b2"),
    (Role::Warning, "#7a5c00"),
    (Role::Error, "bold #a04000"),
    (Role::Added, "#06325c on #d6eaff"),
    (Role::Removed, "#5c2e00 on #ffe6c7"),
    (Role::AddedWord, "bold underline #06325c on #9ccbff"),
    (Role::RemovedWord, "bold underline #5c2e00 on #ffc578"),
    (Role::Border, "#b0b7c0"),
    (Role::Selection, "#111111 on #cfe3fb"),
];

/// Attributes alone.
const PLAIN: Styles = &[
    (Role::Faint, "dim"),
    (Role::User, "bold"),
    (Role::Heading, "bold"),
    (Role::Link, "underline"),
    (Role::Quote, "italic"),
    (Role::Tool, "bold"),
    (Role::Warning, "bold"),
    (Role::Error, "bold"),
    (Role::AddedWord, "bold underline"),
    (Role::RemovedWord, "bold underline"),
    (Role::Border, "dim"),
    (Role::Selection, "reverse"),
];
