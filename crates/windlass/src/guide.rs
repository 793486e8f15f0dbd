//! Runs the listings of the guide as tests.

macro_rules! pages {
    ($($page:ident: $file:literal)*) => {$(
        #[doc = include_str!(concat!("../../../docs/guide/", $file))]
        struct $page;
    )*};
}

#[cfg(feature = "mcp")]
pages! {
    McpPage: "mcp.md"
}

#[cfg(feature = "mcp")]
#[doc = include_str!("../../../docs/mcp.md")]
struct McpServersPage;

#[cfg(feature = "mcp")]
#[doc = include_str!("../../../docs/mcp-auth.md")]
struct McpLogins;

#[cfg(feature = "project")]
#[doc = include_str!("../../../docs/project.md")]
struct ProjectFiles;

#[cfg(feature = "project")]
#[doc = include_str!("../../../docs/memory.md")]
struct MemoryPage;

#[cfg(all(feature = "lsp", feature = "tools"))]
#[doc = include_str!("../../../docs/code.md")]
struct CodePage;

#[cfg(all(feature = "program", feature = "tools"))]
#[doc = include_str!("../../../docs/programs.md")]
struct ProgramsPage;

#[cfg(feature = "web")]
#[doc = include_str!("../../../docs/web.md")]
struct WebPage;

#[doc = include_str!("../../../docs/permissions.md")]
struct PermissionsPage;

#[cfg(feature = "sandbox")]
#[doc = include_str!("../../../docs/sandbox.md")]
struct SandboxPage;

#[doc = include_str!("../../../docs/sessions.md")]
struct Sessions;

#[cfg(all(feature = "store", feature = "tools"))]
#[doc = include_str!("../../../docs/checkpoints.md")]
struct CheckpointsPage;

#[doc = include_str!("../../../docs/context.md")]
struct ContextPage;

#[cfg(feature = "openai")]
#[doc = include_str!("../../../docs/providers.md")]
struct Providers;

pages! {
    CiBot: "ci-bot.md"
    Cookbook: "cookbook.md"
    Desktop: "desktop.md"
    FirstRun: "first-run.md"
    Hooks: "hooks.md"
    Migrating: "migrating.md"
    Mistakes: "mistakes.md"
    PermissionRules: "permissions.md"
    Production: "production.md"
    ProviderPage: "provider.md"
    Service: "service.md"
    StorePage: "store.md"
    Testing: "testing.md"
    Tools: "tools.md"
}
