//! Resources, templates and completions: what a URI, a cursor or a typed text could reach.

use serde_json::{Value, json};

use super::{Barrier, world::World};
use crate::harness::program::is_wine;

/// URIs that must be refused. `{uri}` is the URI of the folder that holds the roots.
const REFUSED: &[&str] = &[
    "file:///etc/passwd",
    "file:///etc/passwd%00",
    "file:///app/a.txt%00.png",
    "file:///%65tc/passwd",
    "file:///app/../etc/passwd",
    "file:///app/../../etc/passwd",
    "file:///app/%2e%2e/%2e%2e/etc/passwd",
    "file:///app/%2E%2E%2Foutside%2Fzebra-secret.txt",
    "file:///app/%252e%252e/outside/zebra-secret.txt",
    "file:///app/..%5Coutside",
    "file:///../outside/zebra-secret.txt",
    "file:///app-evil/zebra-secret.txt",
    "file:///ap/a.txt",
    "file:///app2/a.txt",
    "file:///App/a.txt/",
    "{uri}/outside/zebra-secret.txt",
    "{uri}/root-evil/zebra-secret.txt",
    "{uri}/root/../outside/zebra-secret.txt",
    "{uri}/root/%2e%2e/outside/zebra-secret.txt",
    "{uri}/root%2F..%2Froot-evil/zebra-secret.txt",
    "{uri}",
    "file://evil.example/app/a.txt",
    "file://localhost:80/app/a.txt",
    "file://user@localhost/app/a.txt",
    "file:app/a.txt",
    "file://",
    "file:///proc/self/root/etc/passwd",
    "file:///proc/self/environ",
    "file:///dev/zero",
    "http://localhost/app/a.txt",
    "HTTP:///app/a.txt",
    "data:text/plain,app",
    "/etc/passwd",
    "../outside/zebra-secret.txt",
    "~/.ssh/id_rsa",
    "@app/a.txt",
    "",
    "file:///{+path}",
    "file:///app/{+path}",
    "file:///app/.env",
    "file:///app/.env%2F",
    "file:///app/%2eenv",
    "file:///app/sub/../.env",
    "file:///app/id_rsa",
    "file:///app/.ssh/config",
    "file:///app/keys/server.pem",
    "file:///app/agent_secret/x",
    "file:///app/a.agent",
    "file:///app/vault/any",
    "file:///app/\u{ff0e}\u{ff0e}/outside/zebra-secret.txt",
    "file:///app/\u{2024}\u{2024}/outside",
    "file:///app/..%c0%afoutside",
    "file:///app/a.txt\u{200b}",
    "file:///app/a.txt/../../outside/zebra-secret.txt",
];

/// Links in the root, which are on Unix only.
const LINKS: &[&str] = &[
    "out_file",
    "out_file_absolute",
    "out_dir/zebra-secret.txt",
    "out_dir",
    "out_chain",
    "sub/up/outside/zebra-secret.txt",
    "out_sibling",
    "out_parent/outside/zebra-secret.txt",
    "out_slash/etc/passwd",
    "out_etc",
    "out_dangling",
    "magic_root/etc/passwd",
    "magic_environ",
    "magic_fd",
    "device_zero",
    "fifo",
    "socket",
    "loop_self",
    "alias_env",
    "alias_key",
    "alias_ssh/config",
    "alias_of_alias",
];

/// What somebody could type.
const TYPED: &[&str] = &[
    "",
    "a",
    "env",
    ".env",
    ".ssh",
    "id_rsa",
    "server.pem",
    "zebra",
    "outside",
    "../",
    "../outside/z",
    "/etc/pass",
    "app/../../",
    "%2e%2e/outside",
    "{uri}/outside/",
    "file:///etc/",
    "~/",
    "~root",
    "@../",
    "out_dir/",
    "out_slash/etc",
    "magic_root/",
    "sub/up/",
    "agent_secret/",
    "vault/",
    ".git/",
    "hooks",
    "\u{202e}",
    "odd",
    "secret",
    "s",
    "e",
    "\0",
    "\u{1b}[2J",
    "*",
    "[",
    "(((((((((((((",
    "\\",
    "deep/dddddd/dddddd",
];

fn survives(barrier: Barrier) {
    let mut world = World::new(barrier);
    let before = world.picture();
    let host = world.path("").display().to_string();
    let uri = format!("file://{}", host.trim_end_matches('/').replace('\\', "/"));
    let of_links = LINKS.iter().filter(|_| cfg!(unix)).map(|link| format!("file:///app/{link}"));
    let of_secrets = cfg!(unix).then(|| format!("{uri}/root/.env"));
    let refused: Vec<String> =
        REFUSED.iter().map(|text| text.replace("{uri}", &uri)).chain(of_links).chain(of_secrets).collect();
    for text in &refused {
        let answer = world.process().ask("resources/read", &json!({ "uri": text }));
        assert!([-32602, -32002].contains(&answer["error"]["code"].as_i64().unwrap_or_default()), "{text:?}: {answer}");
        world.silent(text, &answer).unwrap_or_else(|error| panic!("{text:?}: {error}: {answer}"));
    }
    // Outside of the roots the answer is the same whether or not anything is there.
    let said = |world: &mut World, name: &str| {
        let answer = world.process().ask("resources/read", &json!({ "uri": format!("{uri}/{name}") }));
        answer["error"]["message"].as_str().expect("a message").replace(name, "NAME")
    };
    assert_eq!(said(&mut world, "outside/zebra-secret.txt"), said(&mut world, "outside/nothing-is-here.txt"));
    huge(&mut world);
    typed(&mut world, &uri);
    listed(&mut world);
    World::unchanged(&before, &world.picture(), false).expect("reading changes nothing");
    world.alive();
}

/// Megabytes where a few letters are expected.
fn huge(world: &mut World) {
    // Wine gives a megabyte of a pipe in half a second.
    let (longest, many) = if is_wine() { (1 << 20, 1 << 17) } else { (8 << 20, 1 << 20) };
    for text in ["a".repeat(longest), "a/".repeat(many), "%41".repeat(many), "../".repeat(many)] {
        let template = json!({ "type": "ref/resource", "uri": "file:///app/{+path}" });
        for (method, params) in [
            ("resources/read", json!({ "uri": format!("file:///app/{text}") })),
            ("resources/list", json!({ "cursor": text })),
            ("resources/templates/list", json!({ "cursor": text })),
            ("completion/complete", json!({ "ref": template, "argument": { "name": "path", "value": text } })),
            ("completion/complete", json!({ "ref": template, "argument": { "name": text, "value": "" } })),
            (
                "completion/complete",
                json!({ "ref": { "type": "ref/resource", "uri": text }, "argument": { "name": "path", "value": "" } }),
            ),
        ] {
            let answer = world.process().ask(method, &params);
            assert!(answer.to_string().len() < 4000, "{method}: {} bytes", answer.to_string().len());
        }
    }
}

/// Every value that is offered is a file inside that can be read, or a directory.
fn typed(world: &mut World, uri: &str) {
    for text in TYPED {
        let text = text.replace("{uri}", uri);
        for root in ["app", "lib"] {
            let template = format!("file:///{root}/{{+path}}");
            let params = json!({ "ref": { "type": "ref/resource", "uri": template },
                "argument": { "name": "path", "value": text } });
            let answer = world.process().ask("completion/complete", &params);
            world.silent(&text, &answer).unwrap_or_else(|error| panic!("{text:?}: {error}: {answer}"));
            let values =
                answer["result"]["completion"]["values"].as_array().unwrap_or_else(|| panic!("{answer}")).clone();
            assert!(values.len() <= 100);
            for value in values.iter().filter_map(Value::as_str) {
                let is_plain = !value.chars().any(|one| one.is_control() || ('\u{200b}'..='\u{202e}').contains(&one));
                assert!(is_plain && !value.starts_with('/') && !value.split('/').any(|name| name == ".."), "{value:?}");
                let read = json!({ "uri": template.replace("{+path}", value) });
                let read = world.process().ask("resources/read", &read);
                world.silent(value, &read).unwrap_or_else(|error| panic!("{value:?}: {error}: {read}"));
                let said = read["error"]["message"].as_str().unwrap_or("is not text");
                let is_readable = ["is not text", "a resource is sent whole"].iter().any(|part| said.contains(part));
                assert!(is_readable, "{text:?} offers {value:?}: {read}");
            }
        }
    }
}

/// What was read is listed, and nothing that was refused.
fn listed(world: &mut World) {
    let mut cursor = Value::Null;
    loop {
        let params = if cursor.is_null() { json!({}) } else { json!({ "cursor": cursor }) };
        let answer = world.process().ask("resources/list", &params);
        world.silent("", &answer).unwrap_or_else(|error| panic!("{error}: {answer}"));
        for one in answer["result"]["resources"].as_array().expect("resources") {
            let uri = one["uri"].as_str().expect("a URI");
            assert!(uri.starts_with("file:///app") || uri.starts_with("file:///lib"), "{uri}");
        }
        match answer["result"].get("nextCursor") {
            Some(next) => cursor = next.clone(),
            None => break,
        }
    }
}

#[test]
fn with_all_barriers() {
    survives(Barrier::All);
}

#[test]
#[cfg(target_os = "linux")]
fn with_openat2_alone() {
    survives(Barrier::Openat2);
}

#[test]
#[cfg(target_os = "linux")]
fn with_the_walk_alone() {
    survives(Barrier::Walk);
}
