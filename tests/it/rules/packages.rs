//! What the packages say about themselves agrees. `.ci/packages` makes them, `tests/clients/packages` installs them.

use std::{collections::BTreeSet, fs, path::Path};

use serde_json::Value;
use toml::Table;

/// The systems and processors of the npm packages, each with the target that is released for it.
const PLATFORMS: &[(&str, &str)] = &[
    ("darwin-arm64", "aarch64-apple-darwin"),
    ("darwin-x64", "x86_64-apple-darwin"),
    ("linux-arm64", "aarch64-unknown-linux-musl"),
    ("linux-x64", "x86_64-unknown-linux-musl"),
    ("win32-arm64", "aarch64-pc-windows-msvc"),
    ("win32-x64", "x86_64-pc-windows-msvc"),
];

fn text(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).expect(name).replace("\r\n", "\n")
}

fn json(name: &str) -> Value {
    serde_json::from_str(&text(name)).expect(name)
}

fn manifest(folder: &str) -> Table {
    toml::from_str(&text(&format!("{folder}/Cargo.toml"))).expect("a manifest")
}

/// The package of the root, with what it inherits from the workspace.
fn cargo() -> Table {
    let whole = manifest(".");
    let mut package = whole["package"].as_table().expect("a table").clone();
    for (key, value) in &mut package {
        if value.get("workspace").is_some() {
            *value = whole["workspace"]["package"][key].clone();
        }
    }
    package
}

fn of<'t>(table: &'t Table, key: &str) -> &'t str {
    table[key].as_str().expect(key)
}

/// The package of one registry in `server.json`.
fn listed<'s>(server: &'s Value, registry: &str) -> &'s Value {
    let packages = server["packages"].as_array().expect("a list");
    packages.iter().find(|package| package["registryType"] == registry).expect(registry)
}

#[test]
fn every_package_has_the_version_of_the_crate() {
    let (server, npm) = (json("server.json"), json("packaging/npm/package.json"));
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(json("mcp-manifest.json")["version"], version);
    assert_eq!(npm["version"], version);
    for (name, pinned) in npm["optionalDependencies"].as_object().expect("an object") {
        assert_eq!(pinned, version, "{name}");
    }
    assert_eq!(server["version"], version);
    for package in server["packages"].as_array().expect("a list") {
        assert_eq!(package["version"], version, "{}", package["registryType"]);
    }
    let bundle = format!("{}/releases/download/v{version}/rootbound.mcpb", of(&cargo(), "repository"));
    assert_eq!(listed(&server, "mcpb")["identifier"], bundle);
}

/// crates.io refuses a crate without a description, and one of another version would have other code than was tested.
/// `.ci/packages`, `.ci/publish` and `.ci/version` find the crates by their names in this table.
#[test]
fn every_crate_has_a_description_and_is_pinned_to_the_version() {
    let root = manifest(".");
    let mut pinned = root["workspace"]["dependencies"].as_table().expect("a table").clone();
    pinned.retain(|name, _| name.starts_with("rootbound"));
    // What a crate has by its default features, the program turns on by its own.
    for entry in pinned.iter_mut().filter_map(|(_, entry)| entry.as_table_mut()) {
        entry.remove("default-features");
    }
    let mut wanted = Table::new();
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("crates")).expect("crates") {
        let folder = format!("crates/{}", entry.expect("a folder").file_name().display());
        let package = manifest(&folder)["package"].as_table().expect("a table").clone();
        assert!(of(&package, "description").len() > 20, "{folder}");
        let version = format!("={}", env!("CARGO_PKG_VERSION"));
        let entry = Table::from_iter([("path".to_owned(), folder.into()), ("version".to_owned(), version.into())]);
        wanted.insert(of(&package, "name").to_owned(), entry.into());
    }
    assert_eq!(pinned, wanted);
}

/// The folders of the crates with their manifests.
fn crate_manifests() -> Vec<(String, Table)> {
    let folders = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("crates")).expect("crates");
    let names = folders.map(|entry| entry.expect("a folder").file_name().display().to_string());
    let mut out: Vec<(String, Table)> =
        names.map(|name| (format!("crates/{name}"), manifest(&format!("crates/{name}")))).collect();
    out.sort_by(|one, other| one.0.cmp(&other.0));
    out
}

/// Lines of a crate's README: enough for an example and its limits, and read in five minutes.
const README_LINES: std::ops::RangeInclusive<usize> = 40..=110;

/// What somebody finds who has the crate alone. Its examples are run as tests of its documentation.
#[test]
fn every_crate_has_a_readme_with_examples_limits_and_reasons() {
    let msrv = of(manifest(".")["workspace"]["package"].as_table().expect("a table"), "rust-version").to_owned();
    let needed = [
        "```rust",
        "## Limits",
        "ystems",
        "eatures",
        &format!("Rust {msrv} or newer"),
        "## Cost",
        "## Why not",
        "## Stability",
    ];
    let measured = text("docs/internals/performance.md") + &text("docs/internals/search-index.md");
    let mut complaints = Vec::new();
    for (folder, manifest) in &crate_manifests() {
        let (readme, lib) = (text(&format!("{folder}/README.md")), text(&format!("{folder}/src/lib.rs")));
        let mut complain = |what: String| complaints.push(format!("{folder}: {what}"));
        if !README_LINES.contains(&readme.lines().count()) {
            complain(format!("README.md has {} lines, of {README_LINES:?}", readme.lines().count()));
        }
        needed
            .iter()
            .filter(|part| !readme.contains(**part))
            .for_each(|part| complain(format!("README.md lacks {part:?}")));
        if !lib.contains("#[doc = include_str!(\"../README.md\")]") {
            complain("the examples of README.md are not run: see `ReadmeExamples` of another crate".to_owned());
        }
        let features = manifest.get("features").and_then(toml::Value::as_table);
        for feature in features.into_iter().flat_map(Table::keys).filter(|feature| *feature != "default") {
            if !readme.contains(&format!("`{feature}`")) {
                complain(format!("README.md does not name the feature {feature:?}"));
            }
        }
        let cost = readme.split_once("## Cost").and_then(|(_, rest)| rest.split("\n## ").next()).unwrap_or_default();
        let figures = cost.split(|one: char| !one.is_ascii_digit() && one != '.').map(|part| part.trim_matches('.'));
        for figure in figures.filter(|part| part.contains('.') && !measured.contains(part)) {
            complain(format!("README.md has the figure {figure}, which is on no page of docs/internals"));
        }
        for link in readme.split("/rootbound/blob/main/").skip(1) {
            let file = link.split([')', '#']).next().unwrap_or_default();
            if !Path::new(env!("CARGO_MANIFEST_DIR")).join(file).exists() {
                complain(format!("README.md links to {file}, which is not there"));
            }
        }
    }
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

/// `.ci/packages` runs it as a program outside of the workspace, with the packaged crates.
#[test]
fn file_tools_are_embedded_in_twenty_lines() {
    let page = text("crates/file-tools/src/lib.rs");
    let example = page.split("//! ```\n").nth(1).expect("an example");
    let code = |line: &&str| line.trim() != "//!" && !line.starts_with("//! # ");
    let lines: Vec<&str> = example.lines().filter(code).collect();
    assert!(lines.len() <= 20, "{} lines:\n{}", lines.len(), lines.join("\n"));
    for tool in ["\"edit\"", "\"grep\""] {
        assert!(lines.iter().any(|line| line.contains(tool)), "{tool} is not called");
    }
}

/// Those of <https://crates.io/category_slugs> that are used: an unknown one is dropped with a warning when it is too late.
const CATEGORIES: &[&str] = &[
    "algorithms",
    "command-line-utilities",
    "development-tools",
    "encoding",
    "filesystem",
    "multimedia::images",
    "os",
    "os::linux-apis",
    "parser-implementations",
    "text-processing",
];

/// crates.io takes at most five keywords of twenty characters, and shows what the package includes.
#[test]
fn every_crate_is_found_by_keywords_and_categories() {
    let index = text("src/lib.rs");
    for (folder, manifest) in crate_manifests().iter().chain([&(".".to_owned(), manifest("."))]) {
        let package = manifest["package"].as_table().expect("a table");
        let list = |key: &str| -> Vec<&str> {
            let list = package.get(key).and_then(toml::Value::as_array).unwrap_or_else(|| panic!("{folder}: {key}"));
            list.iter().filter_map(toml::Value::as_str).collect()
        };
        let is_keyword = |word: &&str| {
            word.starts_with(|first: char| first.is_ascii_alphanumeric())
                && word.chars().all(|one| one.is_ascii_lowercase() || one.is_ascii_digit() || one == '-')
                && word.len() <= 20
        };
        let (keywords, categories) = (list("keywords"), list("categories"));
        assert!((1..=5).contains(&keywords.len()) && keywords.iter().all(is_keyword), "{folder}: {keywords:?}");
        assert!((1..=5).contains(&categories.len()), "{folder}: {categories:?}");
        assert!(categories.iter().all(|category| CATEGORIES.contains(category)), "{folder}: {categories:?}");
        assert_eq!(of(package, "readme"), "README.md");
        let included = list("include");
        assert!(
            ["/src", "/README.md", "/LICENSE*"].iter().all(|part| included.contains(part)),
            "{folder}: {included:?}"
        );
        if folder != "." {
            assert_eq!(of(package, "documentation"), format!("https://docs.rs/{}", of(package, "name")));
            // As a link to its library, or by its folder where the program does not use it itself.
            let names = [of(manifest["lib"].as_table().expect("a table"), "name"), &folder["crates/".len()..]];
            let is_listed = names.iter().any(|name| index.contains(&format!("`{name}`")));
            assert!(is_listed, "{folder} is not in the table of src/lib.rs");
        }
    }
}

#[test]
fn every_package_has_the_name_and_texts_of_the_crate() {
    let (cargo, npm, server, manifest) =
        (cargo(), json("packaging/npm/package.json"), json("server.json"), json("mcp-manifest.json"));
    let name = of(&cargo, "name");
    for said in [&npm["name"], &manifest["name"]] {
        assert_eq!(said, name);
    }
    for registry in ["npm", "pypi", "cargo"] {
        assert_eq!(listed(&server, registry)["identifier"], name);
    }
    for said in [&npm["description"], &server["description"], &manifest["description"]] {
        assert_eq!(said, of(&cargo, "description"));
    }
    for said in [&npm["license"], &manifest["license"]] {
        assert_eq!(said, of(&cargo, "license"));
    }
    let repository = of(&cargo, "repository");
    assert_eq!(npm["repository"]["url"], format!("git+{repository}.git"));
    assert_eq!(server["repository"]["url"], repository);
    assert_eq!(manifest["repository"]["url"], repository);
    for said in [&npm["homepage"], &server["websiteUrl"], &manifest["homepage"]] {
        assert_eq!(said, of(&cargo, "homepage"));
    }
}

/// Version, description, keywords and README of the wheel are the crate's, because `pyproject.toml` does not set them.
#[test]
fn the_wheel_takes_its_texts_from_the_crate() {
    let (cargo, python): (Table, Table) = (cargo(), toml::from_str(&text("pyproject.toml")).expect("pyproject.toml"));
    let project = python["project"].as_table().expect("a table");
    let dynamic: Vec<&str> =
        project["dynamic"].as_array().expect("a list").iter().filter_map(|key| key.as_str()).collect();
    assert_eq!(dynamic, ["version", "description", "readme", "keywords"]);
    assert_eq!(of(project, "name"), of(&cargo, "name"));
    assert_eq!(of(project, "license"), of(&cargo, "license"));
    assert_eq!(of(project["urls"].as_table().expect("a table"), "Homepage"), of(&cargo, "homepage"));
}

/// The registry of MCP servers looks for the name in the README, as plain text: crates.io removes comments from it, and
/// the name must be followed by white space.
#[test]
fn the_registry_name_is_in_the_readme_and_the_npm_package() {
    let server = json("server.json");
    let name = server["name"].as_str().expect("text");
    assert_eq!(json("packaging/npm/package.json")["mcpName"], name);
    let line = format!("mcp-name: {name}");
    assert!(text("README.md").lines().any(|one| one == line), "no line {line:?} in README.md");
}

/// The rules of the schema and of the registry, from
/// <https://github.com/modelcontextprotocol/registry/tree/main/docs/reference/server-json>.
#[test]
fn server_json_is_what_the_registry_accepts() {
    let server = json("server.json");
    assert_eq!(server["$schema"], "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json");
    let name = server["name"].as_str().expect("text");
    let (space, short) = name.split_once('/').expect("namespace/name");
    let plain = |part: &str, more: &str| {
        !part.is_empty() && part.chars().all(|one| one.is_ascii_alphanumeric() || more.contains(one))
    };
    assert!(plain(space, ".-") && plain(short, "._-") && name.len() <= 200, "{name}");
    for key in ["title", "description"] {
        assert!((1..=100).contains(&server[key].as_str().expect(key).chars().count()), "{key}");
    }
    assert_eq!(server["repository"]["source"], "github");
    let packages = server["packages"].as_array().expect("a list");
    let registries: Vec<&str> = packages.iter().filter_map(|package| package["registryType"].as_str()).collect();
    assert_eq!(registries, ["npm", "pypi", "cargo", "mcpb"]);
    for package in packages {
        assert_eq!(package["transport"]["type"], "stdio");
        for argument in package["packageArguments"].as_array().into_iter().flatten() {
            assert_eq!(argument["type"], "positional");
            assert!(argument["valueHint"].is_string(), "{argument}");
        }
    }
    let bundle = listed(&server, "mcpb");
    assert!(bundle.get("fileSha256").is_none(), ".ci/packages writes the checksum of the file that it made");
}

/// What a directory of servers asks for, each at a place that is there.
#[test]
fn the_manifest_names_its_icon_help_and_privacy() {
    let (manifest, server) = (json("mcp-manifest.json"), json("server.json"));
    assert_eq!(manifest["manifest_version"], "0.4", "the newest that its validator takes");
    let repository = of(&cargo(), "repository").to_owned();
    for key in ["documentation", "support"] {
        assert!(manifest[key].as_str().is_some_and(|link| link.starts_with(&repository)), "{key}");
    }
    assert_eq!(manifest["privacy_policies"][0], format!("{repository}/blob/main/SECURITY.md#privacy"));
    assert!(text("SECURITY.md").lines().any(|line| line == "## Privacy"));
    let icon = manifest["icon"].as_str().expect("a path");
    assert_eq!(manifest["icons"][0]["src"], icon);
    let raw = repository.replace("github.com", "raw.githubusercontent.com");
    assert_eq!(server["icons"][0]["src"], format!("{raw}/main/{icon}"));
    let png = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(icon)).expect("the icon");
    let sides = [16, 20].map(|at| u32::from_be_bytes(png[at..at + 4].try_into().expect("four bytes")));
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n") && sides == [512, 512], "{sides:?}");
    assert_eq!(manifest["icons"][0]["size"], "512x512");
}

#[test]
fn every_list_of_platforms_is_the_same() {
    let npm = json("packaging/npm/package.json");
    let dependencies: Vec<&str> =
        npm["optionalDependencies"].as_object().expect("an object").keys().map(String::as_str).collect();
    let wanted: Vec<String> = PLATFORMS.iter().map(|(platform, _)| format!("@rootbound/{platform}")).collect();
    assert_eq!(dependencies, wanted);
    let (pack, bundle, deny) = (text(".ci/packages"), text(".ci/bundle"), text("deny.toml"));
    for (platform, target) in PLATFORMS {
        let system = target.rsplit_once('-').expect("a triple").0;
        let start = if platform.starts_with("darwin") { target } else { &system };
        assert!(pack.contains(&format!("\"{start}\": (\"{platform}\", ")), ".ci/packages lacks {target}");
        assert!(bundle.contains(&format!(" echo {platform} ;;")), ".ci/bundle lacks {platform}");
        assert!(deny.contains(&format!("\"{target}\",")), "deny.toml lacks {target}");
    }
    let manifest = json("mcp-manifest.json");
    let systems: BTreeSet<&str> =
        manifest["compatibility"]["platforms"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    assert_eq!(systems, PLATFORMS.iter().map(|(platform, _)| platform.split('-').next().expect("a system")).collect());
    let config = &manifest["server"]["mcp_config"];
    assert_eq!(config["command"], "${__dirname}/server/rootbound");
    assert_eq!(config["platform_overrides"]["win32"]["command"], "${__dirname}/server/win32-x64/rootbound.exe");
}

/// `cargo binstall` finds the archives of the release under the names that `.ci/packages` gives them.
#[test]
fn binstall_downloads_the_archives_of_the_release() {
    let cargo = cargo();
    let binstall = cargo["metadata"]["binstall"].as_table().expect("a table");
    let name = of(&cargo, "name");
    for (_, target) in PLATFORMS {
        let windows = target.contains("windows");
        let format = match binstall["overrides"].get(target) {
            Some(table) => table["pkg-fmt"].as_str().expect("text"),
            None => of(binstall, "pkg-fmt"),
        };
        assert_eq!(format, if windows { "zip" } else { "tgz" }, "{target}");
        let filled = |template: &str| {
            let mut text = template.to_owned();
            for (key, value) in [
                ("repo", of(&cargo, "repository")),
                ("version", of(&cargo, "version")),
                ("name", name),
                ("bin", name),
                ("target", target),
                ("archive-suffix", if windows { ".zip" } else { ".tar.gz" }),
                ("binary-ext", if windows { ".exe" } else { "" }),
            ] {
                text = text.replace(&format!("{{ {key} }}"), value);
            }
            text
        };
        let suffix = if windows { "zip" } else { "tar.gz" };
        let url = format!(
            "{}/releases/download/v{}/rootbound-{target}.{suffix}",
            of(&cargo, "repository"),
            env!("CARGO_PKG_VERSION")
        );
        assert_eq!(filled(of(binstall, "pkg-url")), url);
        let program = if windows { "rootbound.exe" } else { "rootbound" };
        assert_eq!(filled(of(binstall, "bin-dir")), format!("rootbound-{target}/{program}"));
    }
}
