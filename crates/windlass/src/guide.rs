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

#[cfg(feature = "project")]
#[doc = include_str!("../../../docs/project.md")]
struct ProjectFiles;

#[cfg(feature = "project")]
#[doc = include_str!("../../../docs/memory.md")]
struct MemoryPage;

#[doc = include_str!("../../../docs/sessions.md")]
struct Sessions;

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
