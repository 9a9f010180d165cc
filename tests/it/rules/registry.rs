//! The registry of tools and everything that repeats it: what a new tool needs besides its file and its line.
//!
//! The table of the README is held by `readme`, the manifest by `config`, the size of the list by `protocol`.

use std::{collections::HashMap, path::Path};

use file_tools::{Alias, ErasedTool, Group, Selection, Toolbox};
use serde_json::Value;

fn toolbox() -> Toolbox {
    Toolbox::new(&Selection {
        groups: vec![Group::Manage, Group::Patch, Group::Present, Group::Watch],
        ..Selection::default()
    })
}

/// The names of the arguments, those of the objects in a list included.
fn arguments(tool: &ErasedTool) -> Vec<String> {
    let names = |schema: &Value| {
        schema["properties"].as_object().map(|properties| properties.keys().cloned().collect::<Vec<_>>())
    };
    let schema = Value::Object(tool.input_schema().clone());
    let inner = schema["properties"].as_object().into_iter().flatten().filter_map(|(_, one)| names(&one["items"]));
    names(&schema).into_iter().chain(inner).flatten().collect()
}

#[test]
fn registry_is_ordered_by_name_and_holds_every_tool() {
    let names: Vec<&str> = toolbox().tools().iter().map(|tool| tool.spec.name).collect();
    assert!(names.is_sorted(), "{names:?}");
    assert_eq!(names, Toolbox::known());
}

#[test]
fn every_tool_has_a_title_a_purpose_and_a_short_description() {
    for tool in toolbox().tools() {
        let spec = tool.spec;
        assert!(spec.name.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_'), "{}", spec.name);
        assert!(!spec.title.is_empty() && spec.title.len() <= 40, "{}: {}", spec.name, spec.title);
        assert!(!spec.purpose.is_empty() && !spec.purpose.ends_with('.'), "{}: {}", spec.name, spec.purpose);
        assert!((40..=400).contains(&spec.description.len()), "{}: {}", spec.name, spec.description);
        assert!(spec.description.ends_with('.'), "{}: {}", spec.name, spec.description);
        assert!(!(spec.read_only && spec.destructive), "{}", spec.name);
    }
}

#[test]
fn every_alias_names_an_argument_and_is_none() {
    for tool in toolbox().tools() {
        let (name, arguments) = (tool.spec.name, arguments(tool));
        let mut meanings = HashMap::new();
        for alias in tool.spec.aliases() {
            let Alias { given: spellings, name: argument, .. } = *alias;
            for given in spellings {
                assert!(!arguments.iter().any(|real| real == given), "{name}: {given} is an argument");
                let real = argument.is_none_or(|argument| arguments.iter().any(|real| real == argument));
                assert!(real, "{name}: {given} is an alias of {argument:?}, which is not an argument");
                assert_eq!(meanings.insert(given, argument), None, "{name}: {given} is listed twice");
            }
        }
    }
}

#[test]
fn every_tool_has_a_fixture_folder() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    for tool in Toolbox::known() {
        let folder = fixtures.join(tool);
        assert!(folder.read_dir().is_ok_and(|mut entries| entries.next().is_some()), "{} is missing", folder.display());
    }
}

#[test]
fn every_tool_is_in_the_documentation_of_tools() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/tools.md");
    let page = std::fs::read_to_string(page).expect("docs/tools.md");
    for tool in toolbox().tools() {
        assert!(
            page.lines()
                .any(|line| line.starts_with("## ")
                    && line.replace(',', " ").split(' ').any(|word| word == tool.spec.name)),
            "docs/tools.md lacks {}",
            tool.spec.name
        );
    }
}
