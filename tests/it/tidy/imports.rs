//! Which file uses which: every path of the sources, resolved to the file that defines what it names.
//!
//! A name is followed through imports and re-exports to its definition, so a facade (`pub use`) is no stop on
//! the way and no use by itself; [`read_by_path`] stops at the file that a path names, as a reader does, unless that
//! is one above the reader's own, which says what its folder has. Code that is compiled for tests only is left out. What
//! macros other than those with plain arguments (`format!`, `vec!`, `assert!` …) name is not seen, and neither are methods.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    path::{Path, PathBuf},
};

use syn::{
    Attribute, Item, ItemMod, ItemUse, Macro, UseTree,
    parse::Parser,
    punctuated::Punctuated,
    visit::{self, Visit},
};

/// The path of a module below the crate: `["workspace", "walk"]`.
type ModulePath = Vec<String>;

/// Which files use which, and through which names.
#[derive(Debug)]
pub(super) struct Uses {
    /// File → file that it uses → the names used, for the message.
    pub(super) edges: BTreeMap<String, BTreeMap<String, BTreeSet<String>>>,
}

#[derive(Default)]
struct Module {
    file: String,
    definitions: BTreeSet<String>,
    children: BTreeSet<String>,
    /// Name in scope → the path it was imported by.
    imports: HashMap<String, Vec<String>>,
    globs: Vec<Vec<String>>,
    /// Paths in code, in the order of appearance.
    paths: Vec<Vec<String>>,
}

/// Reads the crate whose library is `src/lib.rs` and whose program, if it has one, is `src/main.rs`.
pub(super) fn read(src: &Path) -> Uses {
    read_edges(src, Facades::Followed)
}

/// As [`read`], by the file that each path names, be the name only re-exported there: what a file above re-exports for
/// those below it is looked up all the same.
pub(super) fn read_by_path(src: &Path) -> Uses {
    read_edges(src, Facades::FollowedAbove)
}

/// As [`read_by_path`], where also the files above the reader's own count as named.
pub(super) fn read_by_exact_path(src: &Path) -> Uses {
    read_edges(src, Facades::Named)
}

/// Whether a name that a file only re-exports is looked up where it is defined.
#[derive(Clone, Copy, PartialEq)]
enum Facades {
    Followed,
    /// In the files above the reader's own alone.
    FollowedAbove,
    Named,
}

fn read_edges(src: &Path, facades: Facades) -> Uses {
    let mut modules = HashMap::new();
    read_file(&src.join("lib.rs"), "lib", &[], src, &mut modules);
    if src.join("main.rs").exists() {
        read_file(&src.join("main.rs"), "main", &["main".to_owned()], src, &mut modules);
    }
    let mut edges: BTreeMap<_, BTreeMap<_, BTreeSet<_>>> = BTreeMap::new();
    for (path, module) in &modules {
        edges.entry(module.file.clone()).or_default();
        for used in &module.paths {
            if let Some((file, name)) = resolve(&modules, path, used, facades, 0)
                && file != module.file
            {
                edges.entry(module.file.clone()).or_default().entry(file).or_default().insert(name);
            }
        }
    }
    Uses { edges }
}

fn read_file(file: &Path, name: &str, path: &[String], src: &Path, modules: &mut HashMap<ModulePath, Module>) {
    let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let mut reader = Reader { module: Module { file: name.to_owned(), ..Module::default() }, files: Vec::new() };
    for item in &parsed.items {
        reader.visit_item(item);
    }
    modules.insert(path.to_vec(), reader.module);
    for child in reader.files {
        let mut below: Vec<String> = path.iter().filter(|_| name != "main").cloned().collect();
        below.push(child.clone());
        let relative = below.join("/");
        let file: PathBuf = src.join(format!("{relative}.rs"));
        read_file(&file, &relative, &below, src, modules);
    }
}

struct Reader {
    module: Module,
    /// Modules declared here that are files of their own.
    files: Vec<String>,
}

/// Whether what has these attributes is compiled for tests only.
fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || attribute.path().is_ident("cfg")
                && attribute.parse_args::<syn::Meta>().is_ok_and(|condition| requires_test(&condition))
    })
}

fn requires_test(condition: &syn::Meta) -> bool {
    match condition {
        syn::Meta::Path(path) => path.is_ident("test"),
        syn::Meta::List(list) if list.path.is_ident("all") => Punctuated::<syn::Meta, syn::Token![,]>::parse_terminated
            .parse2(list.tokens.clone())
            .is_ok_and(|all| all.iter().any(requires_test)),
        _ => false,
    }
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(it) => &it.attrs,
        Item::Enum(it) => &it.attrs,
        Item::Fn(it) => &it.attrs,
        Item::Impl(it) => &it.attrs,
        Item::Macro(it) => &it.attrs,
        Item::Mod(it) => &it.attrs,
        Item::Static(it) => &it.attrs,
        Item::Struct(it) => &it.attrs,
        Item::Trait(it) => &it.attrs,
        Item::Type(it) => &it.attrs,
        Item::Use(it) => &it.attrs,
        _ => &[],
    }
}

impl Reader {
    fn import(&mut self, tree: &UseTree, before: &mut Vec<String>) {
        match tree {
            UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.import(&path.tree, before);
                before.pop();
            }
            UseTree::Name(name) if name.ident == "self" => {
                let last = before.last().cloned().unwrap_or_default();
                self.module.imports.insert(last, before.clone());
            }
            UseTree::Name(name) => {
                let name = name.ident.to_string();
                let full = before.iter().cloned().chain([name.clone()]).collect();
                self.module.imports.insert(name, full);
            }
            UseTree::Rename(renamed) => {
                let mut full = before.clone();
                if renamed.ident != "self" {
                    full.push(renamed.ident.to_string());
                }
                self.module.imports.insert(renamed.rename.to_string(), full);
            }
            UseTree::Glob(_) => self.module.globs.push(before.clone()),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.import(tree, before)),
        }
    }

    fn define(&mut self, item: &Item) {
        let name = match item {
            Item::Const(it) => &it.ident,
            Item::Enum(it) => &it.ident,
            Item::Fn(it) => &it.sig.ident,
            Item::Static(it) => &it.ident,
            Item::Struct(it) => &it.ident,
            Item::Trait(it) => &it.ident,
            Item::Type(it) => &it.ident,
            _ => return,
        };
        self.module.definitions.insert(name.to_string());
    }
}

impl<'a> Visit<'a> for Reader {
    fn visit_item(&mut self, item: &'a Item) {
        if !is_for_tests(attributes(item)) {
            self.define(item);
            visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'a ItemMod) {
        // What an inline module holds is counted as its file's.
        if item.content.is_none() {
            self.files.push(item.ident.to_string());
            self.module.children.insert(item.ident.to_string());
        }
        visit::visit_item_mod(self, item);
    }

    fn visit_item_use(&mut self, item: &'a ItemUse) {
        let mut imported = Reader { module: Module::default(), files: Vec::new() };
        imported.import(&item.tree, &mut Vec::new());
        if matches!(item.vis, syn::Visibility::Inherited) {
            // A name may be used in a macro that is not looked into: an import counts as a use.
            self.module.paths.extend(imported.module.imports.values().cloned());
        }
        self.module.imports.extend(imported.module.imports);
        self.module.globs.extend(imported.module.globs);
    }

    fn visit_path(&mut self, path: &'a syn::Path) {
        self.module.paths.push(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, mac: &'a Macro) {
        visit::visit_macro(self, mac);
        let arguments = Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated;
        if let Ok(arguments) = arguments.parse2(mac.tokens.clone()) {
            // The parsed arguments live only here, so they are read by a visitor of their own.
            let mut inner = Reader { module: Module::default(), files: Vec::new() };
            for argument in &arguments {
                inner.visit_expr(argument);
            }
            self.module.paths.extend(inner.module.paths);
        }
    }
}

/// The file that defines what `path` names, seen from module `from`, and the name of the definition.
fn resolve(
    modules: &HashMap<ModulePath, Module>,
    from: &[String],
    path: &[String],
    facades: Facades,
    depth: usize,
) -> Option<(String, String)> {
    if depth > 12 {
        return None;
    }
    let mut at = from.to_vec();
    let mut is_inside = false;
    for (index, segment) in path.iter().enumerate() {
        match segment.as_str() {
            "crate" | "rootbound" if index == 0 => (at, is_inside) = (Vec::new(), true),
            "self" if index == 0 => is_inside = true,
            "super" => {
                at.pop();
                is_inside = true;
            }
            name => {
                let module = modules.get(&at)?;
                if module.children.contains(name) && (is_inside || !module.imports.contains_key(name)) {
                    at.push(name.to_owned());
                    is_inside = true;
                } else if module.definitions.contains(name) {
                    return Some((module.file.clone(), name.to_owned()));
                } else if let Some(import) = module.imports.get(name) {
                    if import.len() == 1 && import[0] == *name {
                        return None;
                    }
                    let full: Vec<String> = import.iter().chain(&path[index + 1..]).cloned().collect();
                    let facades = match facades {
                        _ if at == from => facades,
                        Facades::FollowedAbove if from.starts_with(&at) => Facades::Followed,
                        Facades::Followed => facades,
                        Facades::FollowedAbove | Facades::Named => return Some((module.file.clone(), name.to_owned())),
                    };
                    return resolve(modules, &at, &full, facades, depth + 1);
                } else {
                    return module.globs.iter().find_map(|glob| {
                        let full: Vec<String> = glob.iter().chain(&path[index..]).cloned().collect();
                        resolve(modules, &at, &full, facades, depth + 1)
                    });
                }
            }
        }
    }
    None
}

impl Uses {
    /// Groups of files that use each other, directly or by a chain; each with one shortest circle in words.
    pub(super) fn circles(&self) -> Vec<String> {
        let mut reachable: BTreeMap<&str, BTreeMap<&str, Vec<&str>>> = BTreeMap::new();
        for start in self.edges.keys() {
            reachable.insert(start, self.shortest_ways_from(start));
        }
        let mut seen = BTreeSet::new();
        let mut circles = Vec::new();
        for start in self.edges.keys().map(String::as_str) {
            let members: Vec<&str> = reachable[start]
                .keys()
                .copied()
                .filter(|other| *other != start && reachable.get(other).is_some_and(|back| back.contains_key(start)))
                .collect();
            if members.is_empty() || !seen.insert(start) {
                continue;
            }
            seen.extend(&members);
            let shortest = members
                .iter()
                .map(|member| {
                    let mut way = reachable[start][member].clone();
                    way.extend(&reachable[member][start][1..]);
                    way
                })
                .min_by_key(Vec::len)
                .expect("a circle has members");
            let steps: Vec<String> = shortest
                .windows(2)
                .map(|step| {
                    let names: Vec<_> = self.edges[step[0]][step[1]].iter().map(String::as_str).take(4).collect();
                    format!("{} uses {} of {}", step[0], names.join(", "), step[1])
                })
                .collect();
            circles.push(format!("{} files in a circle, such as: {}", members.len() + 1, steps.join("; ")));
        }
        circles
    }

    fn shortest_ways_from<'a>(&'a self, start: &'a str) -> BTreeMap<&'a str, Vec<&'a str>> {
        let mut ways: BTreeMap<&str, Vec<&str>> = BTreeMap::from([(start, vec![start])]);
        let mut queue = std::collections::VecDeque::from([start]);
        while let Some(at) = queue.pop_front() {
            for next in self.edges.get(at).into_iter().flat_map(BTreeMap::keys) {
                if !ways.contains_key(next.as_str()) {
                    let way = ways[at].iter().copied().chain([next.as_str()]).collect();
                    ways.insert(next, way);
                    queue.push_back(next);
                }
            }
        }
        ways
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crate_of(files: &[(&str, &str)], read: fn(&Path) -> Uses) -> Uses {
        let dir = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(dir.path().join("main.rs"), "").unwrap();
        for (name, text) in files {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        read(dir.path())
    }

    #[test]
    fn uses_are_followed_through_re_exports_imports_and_macros() {
        let files = &[
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "mod inner; pub use inner::Noun; pub fn verb() {}"),
            ("a/inner.rs", "pub struct Noun; fn f() { super::verb() }"),
            ("b.rs", "use crate::a; fn g() -> a::Noun { println!(\"{}\", a::verb()); a::Noun }"),
        ];
        let uses = crate_of(files, read);
        let arrows: Vec<(&str, &str)> =
            uses.edges.iter().flat_map(|(from, to)| to.keys().map(move |to| (from.as_str(), to.as_str()))).collect();
        assert_eq!(arrows, [("a/inner", "a"), ("b", "a"), ("b", "a/inner")]);
        assert!(uses.circles().is_empty(), "a re-export is no use");
        let by_path = crate_of(files, read_by_path);
        let named: Vec<_> = by_path.edges["b"].keys().collect();
        assert_eq!(named, ["a"], "the file that the path names");
    }

    #[test]
    fn a_circle_is_found_over_three_files_and_not_through_tests() {
        let files = &[
            ("lib.rs", "mod a; mod b; mod c; mod d;"),
            ("a.rs", "use crate::b::B; pub struct A(B);"),
            ("b.rs", "pub struct B; fn f(_: super::c::C) {}"),
            ("c.rs", "pub struct C(crate::a::A);"),
            ("d.rs", "pub fn d() {} #[cfg(test)] mod tests { use crate::a::A; }"),
        ];
        let uses = crate_of(files, read);
        assert_eq!(uses.circles().len(), 1);
        assert!(uses.circles()[0].starts_with("3 files in a circle, such as: a uses B of b; b uses C of c;"));
    }
}
