//! What a crate exports is used by another one: `unreachable_pub` does not look across crates.

use std::collections::{BTreeMap, BTreeSet};

use syn::{Item, UseTree, Visibility};

use super::{Source, crates, none, root, sources};

/// The sources of another crate, the fuzz targets, which are no sources of the product.
const FUZZED: &[&str] = &[include_str!("../../../fuzz/src/edits.rs"), include_str!("../../../fuzz/src/patterns.rs")];

/// The last names of a `use`.
fn names(tree: &UseTree, out: &mut BTreeSet<String>) {
    match tree {
        UseTree::Path(path) => names(&path.tree, out),
        UseTree::Name(name) => drop(out.insert(name.ident.to_string())),
        UseTree::Rename(renamed) => drop(out.insert(renamed.rename.to_string())),
        UseTree::Group(group) => group.items.iter().for_each(|tree| names(tree, out)),
        UseTree::Glob(_) => {}
    }
}

/// Names that the `lib.rs` of a crate may offer, a public module being one: a reader sees them on one screen.
const MAX_EXPORTS: usize = 45;

/// What a file of `src` offers to other crates, apart from what only tests get; `below`: with what its public modules do.
fn exports(sources: &[Source], file: &str, below: bool) -> BTreeSet<String> {
    let Some(source) = sources.iter().find(|source| source.name == file) else { return BTreeSet::new() };
    let folder = file.strip_suffix("lib").map_or_else(|| format!("{file}/"), str::to_owned);
    let mut out = BTreeSet::new();
    for item in syn::parse_file(&source.text).expect("Rust").items {
        let (visibility, attributes, name) = match &item {
            Item::Use(item) => (&item.vis, &item.attrs, None),
            Item::Const(item) => (&item.vis, &item.attrs, Some(&item.ident)),
            Item::Enum(item) => (&item.vis, &item.attrs, Some(&item.ident)),
            Item::Fn(item) => (&item.vis, &item.attrs, Some(&item.sig.ident)),
            Item::Mod(item) => (&item.vis, &item.attrs, Some(&item.ident)),
            Item::Struct(item) => (&item.vis, &item.attrs, Some(&item.ident)),
            Item::Trait(item) => (&item.vis, &item.attrs, Some(&item.ident)),
            Item::Type(item) => (&item.vis, &item.attrs, Some(&item.ident)),
            _ => continue,
        };
        if !matches!(visibility, Visibility::Public(_)) || attributes.iter().any(|it| it.path().is_ident("cfg")) {
            continue;
        }
        out.extend(name.map(ToString::to_string));
        match &item {
            Item::Use(item) => names(&item.tree, &mut out),
            Item::Mod(item) if below => out.extend(exports(sources, &format!("{folder}{}", item.ident), true)),
            _ => {}
        }
    }
    out
}

/// The lines of public items, with all of a signature.
fn public_lines(source: &Source) -> impl Iterator<Item = &str> {
    let mut is_open = false;
    source.code().map(|(_, line)| line).filter(move |line| {
        let begins = ["pub ", "type "].iter().any(|word| line.trim_start().starts_with(word));
        let is_part = begins || is_open;
        is_open = if begins { line.ends_with('(') } else { is_open && !line.trim_start().starts_with(')') };
        is_part
    })
}

/// The words of a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !character.is_alphanumeric() && character != '_')
}

#[test]
fn what_a_crate_exports_is_used_by_another_crate_or_describes_what_is() {
    let sources = sources();
    let mut complaints = Vec::new();
    for folder in crates().iter().filter(|folder| *folder != root()) {
        let own =
            format!("{}/", folder.strip_prefix(root()).expect("below").to_str().expect("UTF-8").replace('\\', "/"));
        let readme = std::fs::read_to_string(folder.join("README.md")).expect("README.md");
        let elsewhere: BTreeSet<&str> = sources
            .iter()
            .filter(|source| !source.name.starts_with(&own))
            .map(|source| source.text.as_str())
            .chain(FUZZED.iter().copied())
            .chain([readme.as_str()])
            .flat_map(words)
            .collect();
        // A type that nobody names may still be what a public function takes or returns, or what a public field holds.
        let described: BTreeMap<&str, usize> = sources
            .iter()
            .filter(|source| source.name.starts_with(&own) && !source.name.ends_with("/lib"))
            .flat_map(public_lines)
            .flat_map(words)
            .fold(BTreeMap::new(), |mut counts, word| {
                *counts.entry(word).or_default() += 1;
                counts
            });
        let face = exports(&sources, &format!("{own}src/lib"), false).len();
        if face > MAX_EXPORTS {
            complaints.push(format!("{own}src/lib.rs exports {face} names, more than {MAX_EXPORTS}"));
        }
        for name in exports(&sources, &format!("{own}src/lib"), true) {
            let is_type = name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase);
            let is_described = is_type && described.get(name.as_str()).is_some_and(|count| *count > 1);
            if !elsewhere.contains(name.as_str()) && !is_described {
                complaints.push(format!("{own}src/lib.rs exports {name}, which no other crate names"));
            }
        }
    }
    none(&complaints);
}
