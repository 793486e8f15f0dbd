//! The files of a crate import each other in one direction: no circle has more than two files.
//!
//! An import is a path that begins with `crate`, `super`, `self` or the name of a module below, wherever it stands in the
//! code. An import of a name that a file re-exports leads to the file that the name comes from.

use crate::budgets::{code, crates, sources};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Largest circle of files that may stand: two files that are one subject.
const LARGEST: usize = 2;

/// Crates with larger circles, and the number of files in each, the largest first. The list may only shrink.
const KNOWN: &[(&str, &[usize])] = &[
    ("windlass-anthropic", &[3, 3]),
    ("windlass-builtin-tools", &[5]),
    ("windlass-cli", &[19]),
    ("windlass-context", &[3]),
    ("windlass-conversation", &[3]),
    ("windlass-core", &[3]),
    ("windlass-mcp", &[17]),
    ("windlass-permission", &[3]),
    ("windlass-project", &[3]),
    ("windlass-protocol", &[5]),
    ("windlass-sandbox", &[3]),
    ("windlass-session", &[12]),
    ("windlass-shell", &[5, 4, 3]),
    ("windlass-store", &[9]),
    ("windlass-terminal", &[4, 4, 3, 3, 3]),
    ("windlass-tool", &[7]),
    ("windlass-types", &[4, 4]),
];

/// A path in the code, and the name that the file has for its end.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Import {
    path: Vec<String>,
    alias: String,
    kind: Kind,
}

/// Place of a path in the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// In an expression or a type.
    Path,
    /// In a `use` of the file for itself.
    Use,
    /// In a `pub use`: the file hands the name on.
    Export,
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Reads the tree of paths at the beginning of a text: `a::{b, c as d}`. Returns the rest of the text.
fn tree<'a>(text: &'a str, before: &[String], kind: Kind, found: &mut Vec<Import>) -> &'a str {
    let mut path = before.to_vec();
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        if let Some(mut group) = rest.strip_prefix('{') {
            loop {
                group = tree(group, &path, kind, found).trim_start();
                match group.strip_prefix(',') {
                    Some(more) => group = more,
                    None => return group.strip_prefix('}').unwrap_or(group),
                }
            }
        }
        let end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        if word.is_empty() {
            // The end of a list, or a glob.
            let rest = rest.strip_prefix('*').unwrap_or(rest);
            if path.len() > before.len() || text.trim_start().starts_with('*') {
                found.push(Import { alias: "*".to_owned(), path, kind });
            }
            return rest;
        }
        path.push(word.to_owned());
        rest = behind;
        if let Some(more) = rest.strip_prefix("::") {
            rest = more;
            continue;
        }
        let mut alias = word.to_owned();
        if let Some(named) = rest.trim_start().strip_prefix("as ").filter(|_| kind != Kind::Path) {
            let end = named.find(|c: char| !is_word(c)).unwrap_or(named.len());
            alias = named[..end].to_owned();
            rest = &named[end..];
        }
        if alias == "self" {
            path.pop();
            alias = path.last().cloned().unwrap_or_default();
        }
        found.push(Import { path, alias, kind });
        return rest;
    }
}

/// Returns the paths in the code of a file that begin with one of these words.
fn imports(code: &str, first: &dyn Fn(&str) -> bool) -> Vec<Import> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(from) = code[at..].find(is_word).map(|from| at + from) {
        let end = code[from..].find(|c: char| !is_word(c)).map_or(code.len(), |end| from + end);
        let (before, word) = (&code[..from], &code[from..end]);
        at = end;
        let is_path = code[end..].starts_with("::") && !before.ends_with("::") && !before.ends_with('.');
        let is_visibility = before.ends_with("in ");
        if is_path && !is_visibility && first(word) {
            let statement = before.rsplit([';', '}', '{']).next().unwrap_or_default().trim();
            let kind = match statement.strip_suffix("use").map(str::trim) {
                None => Kind::Path,
                Some(attributes) if attributes.ends_with("pub") || attributes.ends_with(')') => Kind::Export,
                Some(_) => Kind::Use,
            };
            let rest = tree(&code[from..], &[], kind, &mut found);
            at = code.len() - rest.len();
        }
    }
    found
}

/// The module of a file: its path below `src`. `None` for a root beside the library.
fn module(file: &Path) -> Option<Vec<String>> {
    let mut parts: Vec<String> =
        file.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if parts == ["lib"] || parts == ["main"] {
        return Some(Vec::new());
    }
    if parts.first().is_some_and(|first| first == "bin") {
        return None;
    }
    if parts.last().is_some_and(|last| last == "mod") {
        parts.pop();
    }
    Some(parts)
}

/// The files of a crate and their imports, by module.
struct Files(BTreeMap<Vec<String>, Vec<Import>>);

impl Files {
    fn of(src: &Path) -> Self {
        let mut files = sources(src);
        if src.join("lib.rs").exists() {
            files.retain(|file| *file != src.join("main.rs"));
        }
        let texts: BTreeMap<Vec<String>, PathBuf> =
            files.into_iter().filter_map(|file| Some((module(file.strip_prefix(src).unwrap())?, file))).collect();
        let modules: BTreeSet<&Vec<String>> = texts.keys().collect();
        let read = |(module, file): (&Vec<String>, &PathBuf)| {
            let is_child = |word: &str| modules.contains(&child(module, word));
            let first = |word: &str| ["crate", "super", "self"].contains(&word) || is_child(word);
            (module.clone(), imports(&code(&fs::read_to_string(file).unwrap()), &first))
        };
        Self(texts.iter().map(read).collect())
    }

    /// Returns the module that a path leads to from another one, through the names that files re-export.
    fn target(&self, from: &[String], import: &Import, depth: usize) -> Option<Vec<String>> {
        let mut at = from.to_vec();
        let mut path = import.path.iter();
        let first = path.next()?;
        match first.as_str() {
            "crate" => at.clear(),
            "super" => drop(at.pop()),
            "self" => {}
            _ => at.push(first.clone()),
        }
        for part in path {
            if part == "super" {
                at.pop();
                continue;
            }
            let below = child(&at, part);
            if self.0.contains_key(&below) {
                at = below;
                continue;
            }
            let exported = self.0.get(&at)?.iter().find(|other| other.kind != Kind::Path && other.alias == *part);
            return match exported {
                Some(exported) if depth > 0 && exported != import => self.target(&at, exported, depth - 1),
                _ => Some(at),
            };
        }
        self.0.contains_key(&at).then_some(at)
    }

    /// Returns the modules that a module imports from, with the last name of each path.
    fn targets<'a>(&'a self, module: &'a [String]) -> impl Iterator<Item = (Vec<String>, &'a str)> {
        let imports = self.0.get(module).into_iter().flatten().filter(|import| import.kind != Kind::Export);
        let target = |import: &'a Import| Some((self.target(module, import, 8)?, import.path.last()?.as_str()));
        imports.filter_map(target).filter(move |(target, _)| target != module)
    }

    /// Returns the modules that each module imports from.
    fn edges(&self) -> BTreeMap<&Vec<String>, BTreeSet<Vec<String>>> {
        let targets = |module| self.targets(module).map(|(target, _)| target).collect();
        self.0.keys().map(|module| (module, targets(module))).collect()
    }

    /// Returns the imports that tie a circle together.
    fn ties(&self, circle: &[Vec<String>]) -> Vec<String> {
        let mut ties = BTreeMap::<_, BTreeSet<&str>>::new();
        for module in circle {
            for (target, item) in self.targets(module).filter(|(target, _)| circle.contains(target)) {
                ties.entry((name(module), name(&target))).or_default().insert(item);
            }
        }
        let tie = |((from, to), items): ((String, String), BTreeSet<&str>)| {
            format!("    {from} takes from {to}: {}", items.into_iter().collect::<Vec<_>>().join(", "))
        };
        ties.into_iter().map(tie).collect()
    }

    /// Returns the circles: modules that reach each other.
    fn circles(&self) -> Vec<Vec<Vec<String>>> {
        let edges = self.edges();
        let reached = |from: &Vec<String>| {
            let (mut reached, mut open) = (BTreeSet::new(), vec![from.clone()]);
            while let Some(module) = open.pop() {
                for target in edges.get(&module).into_iter().flatten() {
                    if reached.insert(target.clone()) {
                        open.push(target.clone());
                    }
                }
            }
            reached
        };
        let reach: BTreeMap<&Vec<String>, BTreeSet<Vec<String>>> =
            edges.keys().map(|module| (*module, reached(module))).collect();
        let (mut circles, mut seen) = (Vec::new(), BTreeSet::new());
        for (module, reached) in &reach {
            if !reached.contains(*module) || seen.contains(*module) {
                continue;
            }
            let circle: Vec<&Vec<String>> = reached.iter().filter(|other| reach[other].contains(*module)).collect();
            seen.extend(circle.iter().copied().cloned());
            circles.push(circle.into_iter().cloned().collect());
        }
        circles
    }
}

fn child(module: &[String], name: &str) -> Vec<String> {
    let mut child = module.to_vec();
    child.push(name.to_owned());
    child
}

fn name(module: &[String]) -> String {
    if module.is_empty() { "the root".to_owned() } else { module.join("/") }
}

#[test]
fn no_circle_of_files_is_larger_than_two() {
    let (mut wrong, mut files) = (Vec::new(), 0);
    for entry in fs::read_dir(crates()).unwrap() {
        let folder = entry.unwrap().path();
        let crate_name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        let graph = Files::of(&folder.join("src"));
        files += graph.0.len();
        let circles: Vec<Vec<Vec<String>>> =
            graph.circles().into_iter().filter(|circle| circle.len() > LARGEST).collect();
        let mut sizes: Vec<usize> = circles.iter().map(Vec::len).collect();
        sizes.sort_unstable_by(|one, other| other.cmp(one));
        let known = KNOWN.iter().find(|(one, _)| *one == crate_name).map_or(&[][..], |(_, sizes)| *sizes);
        let is_known = sizes.len() <= known.len() && sizes.iter().zip(known).all(|(size, most)| size <= most);
        println!("{crate_name}: {sizes:?}");
        if !is_known {
            wrong.push(format!("{crate_name}: {sizes:?}, and the list allows {known:?}"));
            for circle in &circles {
                wrong.push(format!("  {} files", circle.len()));
                wrong.extend(graph.ties(circle));
            }
        }
    }
    assert!(files > 1_000, "{files} files");
    assert!(wrong.is_empty(), "circles of files:\n{}", wrong.join("\n"));
}

#[test]
fn paths_are_read_from_lists_and_from_code() {
    let code = "pub(in crate::a) use crate::b::{self, C as D, e::{F, *}};\nfn f() { super::g::h(crate::I::<u8>); x.crate_::y; }";
    let found = imports(code, &|word| ["crate", "super"].contains(&word));
    let found: Vec<(String, &str)> = found.iter().map(|one| (one.path.join("::"), one.alias.as_str())).collect();
    let expected = [
        ("crate::b", "b"),
        ("crate::b::C", "D"),
        ("crate::b::e::F", "F"),
        ("crate::b::e", "*"),
        ("super::g::h", "h"),
        ("crate::I", "*"),
    ];
    assert_eq!(found, expected.map(|(path, alias)| (path.to_owned(), alias)));
}

#[test]
fn a_circle_is_found_through_names_that_are_exported_again() {
    let file = |path: &[&str], text: &str| {
        let module: Vec<String> = path.iter().map(|part| (*part).to_owned()).collect();
        (module, imports(text, &|word| ["crate", "super", "x"].contains(&word)))
    };
    let files = Files(BTreeMap::from([
        file(&[], "pub use x::one::One; "),
        file(&["x"], "mod one;"),
        file(&["x", "one"], "use super::two::Two;"),
        file(&["x", "two"], "use crate::three::Three;"),
        file(&["three"], "use crate::One;"),
        file(&["four"], "use crate::three::Three;"),
    ]));
    let circles = files.circles();
    let names = |circle: &Vec<Vec<String>>| circle.iter().map(|module| name(module)).collect::<Vec<_>>();
    assert_eq!(circles.iter().map(names).collect::<Vec<_>>(), [["three", "x/one", "x/two"]]);
    let ties = files.ties(&circles[0]).join("\n");
    assert!(ties.contains("three takes from x/one: One"), "{ties}");
}
