//! The public names of the facade, as `docs/api/windlass.txt` lists them: a change is seen in review.

use quote::ToTokens;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{env, fs};
use syn::{ImplItem, Item, Type, UseTree, Visibility};

const RENEW: &str = "WINDLASS_RENEW=1 cargo test -p windlass-testkit --test it public_api";

/// The most methods that a builder of options has.
const MOST_METHODS: usize = 30;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Public items and methods of the facade, whatever features they need, also hidden ones.
#[derive(Default)]
struct Api {
    /// Paths of items, with their kinds.
    items: BTreeMap<String, &'static str>,
    /// Signatures of the methods of each type that the facade defines.
    methods: BTreeMap<String, BTreeSet<String>>,
}

impl Api {
    fn of_facade() -> Self {
        let mut api = Self::default();
        let source = root().join("crates/windlass/src");
        api.add_module("windlass", &source.join("lib.rs"));
        api.add_methods_below(&source);
        api
    }

    fn add_module(&mut self, path: &str, file: &Path) {
        self.add_items(path, file, &read(file).items);
    }

    fn add_items(&mut self, path: &str, file: &Path, items: &[Item]) {
        for item in items {
            match item {
                Item::Use(item) if is_public(&item.vis) => self.add_use(path, &item.tree, 0),
                Item::Mod(item) if is_public(&item.vis) => {
                    let path = format!("{path}::{}", item.ident);
                    match &item.content {
                        Some((_, items)) => self.add_items(&path, file, items),
                        None => self.add_module(&path, &file.parent().unwrap().join(format!("{}.rs", item.ident))),
                    }
                }
                Item::Fn(item) if is_public(&item.vis) => self.add(path, &item.sig.ident, "fn"),
                Item::Struct(item) if is_public(&item.vis) => self.add(path, &item.ident, "struct"),
                Item::Enum(item) if is_public(&item.vis) => self.add(path, &item.ident, "enum"),
                Item::Trait(item) if is_public(&item.vis) => self.add(path, &item.ident, "trait"),
                Item::Const(item) if is_public(&item.vis) => self.add(path, &item.ident, "const"),
                Item::Type(item) if is_public(&item.vis) => self.add(path, &item.ident, "type"),
                _ => {}
            }
        }
    }

    fn add(&mut self, path: &str, name: &dyn ToString, kind: &'static str) {
        self.items.insert(format!("{path}::{}", name.to_string()), kind);
    }

    /// Adds the names of a re-export. `depth`: segments of the path before this part.
    fn add_use(&mut self, path: &str, tree: &UseTree, depth: usize) {
        match tree {
            UseTree::Path(part) => self.add_use(path, &part.tree, depth + 1),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.add_use(path, tree, depth)),
            UseTree::Name(_) | UseTree::Rename(_) if depth == 0 => panic!("{path} re-exports a whole crate"),
            UseTree::Name(name) => self.add(path, &name.ident, "use"),
            UseTree::Rename(name) => self.add(path, &name.rename, "use"),
            _ => panic!("{path} has a glob re-export, which hides what it exports"),
        }
    }

    fn add_methods_below(&mut self, folder: &Path) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                self.add_methods_below(&path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                for item in read(&path).items {
                    self.add_methods(&item);
                }
            }
        }
    }

    fn add_methods(&mut self, item: &Item) {
        match item {
            Item::Impl(item) if item.trait_.is_none() => {
                let Type::Path(of) = &*item.self_ty else { return };
                let of = of.path.segments.last().unwrap().ident.to_string();
                for item in &item.items {
                    if let ImplItem::Fn(method) = item
                        && is_public(&method.vis)
                    {
                        let signature = printed(&method.sig.to_token_stream().to_string());
                        self.methods.entry(of.clone()).or_default().insert(signature);
                    }
                }
            }
            // The macros that write the same methods for all builders.
            Item::Macro(item) if item.ident.as_ref().is_some_and(|name| name == "option_methods") => {
                self.add_signatures(&item.mac.tokens.to_string(), &["Agent", "Query", "SessionBuilder"]);
            }
            Item::Macro(item) if item.ident.as_ref().is_some_and(|name| name == "output_method") => {
                self.add_signatures(&item.mac.tokens.to_string(), &["Agent", "SessionBuilder"]);
            }
            _ => {}
        }
    }

    fn add_signatures(&mut self, text: &str, builders: &[&str]) {
        for method in text.split("pub fn ").skip(1) {
            let signature = printed(&format!("fn {}", method.split(" {").next().unwrap()));
            for builder in builders {
                self.methods.entry((*builder).to_owned()).or_default().insert(signature.clone());
            }
        }
    }

    fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (path, kind) in &self.items {
            lines.push(format!("{kind} {path}"));
            let name = path.rsplit("::").next().unwrap();
            let methods = self.methods.get(name).into_iter().flatten();
            lines.extend(methods.map(|signature| format!("    {signature}")));
        }
        lines
    }
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn read(file: &Path) -> syn::File {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// Returns a printed signature without the spaces that tokens have around them.
fn printed(tokens: &str) -> String {
    let mut text = tokens.split_whitespace().collect::<Vec<_>>().join(" ");
    for (spaced, close) in [
        (" :: ", "::"),
        (":: ", "::"),
        (" ::", "::"),
        (" < ", "<"),
        ("< ", "<"),
        (" >", ">"),
        (" (", "("),
        ("( ", "("),
        (" )", ")"),
        (" ,", ","),
        (" :", ":"),
        ("& ", "&"),
        (" ;", ";"),
        ("[ ", "["),
        (" ]", "]"),
        (",)", ")"),
        ("' ", "'"),
    ] {
        text = text.replace(spaced, close);
    }
    text.replace("->", " -> ").replace("  ", " ")
}

#[test]
fn the_text_of_the_public_names_is_current() {
    let api = Api::of_facade();
    let mut text =
        format!("# {} public names, hidden ones and those of all features among them. {RENEW}\n", api.items.len());
    api.lines().iter().for_each(|line| text.extend([line, "\n"]));
    let file = root().join("docs/api/windlass.txt");
    if env::var_os("WINDLASS_RENEW").is_some() {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, &text).unwrap();
    }
    let written = fs::read_to_string(&file).unwrap_or_default();
    let (old, new): (BTreeSet<_>, BTreeSet<_>) = (written.lines().collect(), text.lines().collect());
    let gone: Vec<_> = old.difference(&new).collect();
    let added: Vec<_> = new.difference(&old).collect();
    assert!(written == text, "the public names changed. Gone: {gone:#?}. New: {added:#?}. If they should: {RENEW}");
}

#[test]
fn builders_have_few_methods() {
    let api = Api::of_facade();
    for builder in ["Agent", "Query", "SessionBuilder"] {
        let methods = &api.methods[builder];
        assert!(methods.len() <= MOST_METHODS, "{builder} has {} methods: {methods:#?}", methods.len());
        assert!(methods.iter().any(|method| method.starts_with("fn model(")), "{builder}: {methods:#?}");
    }
}

#[test]
fn signatures_are_printed_as_they_are_written() {
    let tokens = "fn tools < Kind > (self , tools : impl ToolSource < Kind >) -> Self";
    assert_eq!(printed(tokens), "fn tools<Kind>(self, tools: impl ToolSource<Kind>) -> Self");
}
