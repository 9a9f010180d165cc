//! HTML entities for plain characters: `a &lt; b &amp;&amp; c` for `a < b && c`.
//!
//! A kind of entity counts only when `old` has no such character as it is; a file that has the entities itself is
//! found as it is, or with `&amp;lt;` for them.

/// The characters that are written as entities, and how.
const KINDS: [(char, &[&str]); 5] = [
    ('<', &["&lt;", "&#60;", "&#x3c;", "&#x3C;"]),
    ('>', &["&gt;", "&#62;", "&#x3e;", "&#x3E;"]),
    ('"', &["&quot;", "&#34;", "&#x22;"]),
    ('\'', &["&#39;", "&apos;", "&#x27;", "&#039;"]),
    ('&', &["&amp;", "&#38;", "&#x26;"]),
];

/// The texts with their entities resolved; empty without entities, and where it is unclear which are meant
/// literally.
pub(super) fn taken_off(old: &str, new: &str) -> Vec<(String, String, bool)> {
    let (old_entities, old_plain) = present(old);
    let (new_entities, new_plain) = present(new);
    // What only the new text has as entities was escaped alike, unless it has such characters, or others that the old one
    // has as entities, as they are.
    let is_mixed = new_entities.contains(&true);
    let is_unclear = |kind: usize| {
        let (is_escaped, is_plain) = (old_entities[kind] || new_entities[kind], old_plain[kind] || new_plain[kind]);
        old_entities[kind] && old_plain[kind] || is_mixed && is_escaped && is_plain
    };
    if !old_entities.contains(&true) || (0..KINDS.len()).any(is_unclear) {
        return Vec::new();
    }
    vec![(resolve(old), resolve(new), false)]
}

/// The entity that `text` begins with: its kind and length.
fn entity(text: &str) -> Option<(usize, usize)> {
    KINDS.iter().enumerate().find_map(|(kind, (_, spellings))| {
        let spelling = spellings.iter().find(|spelling| text.starts_with(**spelling))?;
        Some((kind, spelling.len()))
    })
}

/// Which kinds a text has as entities, and which as they are. An ampersand that begins another entity is not a plain one.
fn present(text: &str) -> ([bool; KINDS.len()], [bool; KINDS.len()]) {
    let (mut entities, mut plain) = ([false; KINDS.len()], [false; KINDS.len()]);
    for (at, character) in text.char_indices() {
        let Some(kind) = KINDS.iter().position(|(known, _)| *known == character) else { continue };
        match entity(&text[at..]).filter(|_| character == '&') {
            Some((kind, _)) => entities[kind] = true,
            None => plain[kind] = true,
        }
    }
    (entities, plain)
}

/// The text with all entities resolved, each once.
pub(crate) fn resolve(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        result.push_str(&rest[..at]);
        let (character, len) = entity(&rest[at..]).map_or(('&', 1), |(kind, len)| (KINDS[kind].0, len));
        result.push(character);
        rest = &rest[at + len..];
    }
    result + rest
}

#[cfg(test)]
mod tests {
    use crate::{
        Strategy::{Entities, Exact, Indentation, LineNumbers},
        testing::{assert_edited, assert_missed},
    };

    #[test]
    fn entities_in_old_and_new_are_resolved() {
        assert_edited(
            "if (a < b && c) {\n    f(\"x\", 'y');\n}\n",
            "if (a &lt; b &amp;&amp; c) {\n    f(&quot;x&quot;, &#39;y&#39;);\n}\n",
            "if (a &gt; b &amp;&amp; c) {\n    f(&quot;z&quot;, &#39;y&#39;);\n}\n",
            Entities,
            "if (a > b && c) {\n    f(\"z\", 'y');\n}\n",
        );
        assert_edited("x: Vec<u8>,\n", "x: Vec&lt;u8&gt;,", "x: Vec<u16>,", Entities, "x: Vec<u16>,\n");
    }

    #[test]
    fn entities_that_the_file_has_are_kept() {
        let html = "<b>a &lt; b</b>\n<i>c</i>\n";
        assert_edited(html, "a &lt; b", "a &gt; b", Exact, &html.replace("&lt;", "&gt;"));
        assert_edited(
            html,
            "&lt;b&gt;a &amp;lt; b&lt;/b&gt;\n",
            "&lt;b&gt;a &amp;gt; b&lt;/b&gt;\n",
            Entities,
            &html.replace("&lt;", "&gt;"),
        );
    }

    #[test]
    fn characters_in_both_forms_are_unclear() {
        assert_missed("if a < b or c < d:\n", "if a &lt; b or c < d:\n", "if x:\n");
        assert_missed("if alpha < beta:\n", "if alpha &lt; beta:\n", "if alpha < 3 or beta &lt; 4:\n");
        assert_missed("if alpha < \"b\":\n", "if alpha &lt; \"b\":\n", "if alpha &lt; &quot;c&quot;:\n");
        // The new text is HTML as it is, only the old one was escaped.
        let html = "<b>a &amp; b</b>\n<i>c</i>\n";
        assert_missed(html, "&lt;b&gt;a &amp;amp; b&lt;/b&gt;\n", "<b>a &amp; c</b>\n");
    }

    #[test]
    fn entities_come_with_other_damages() {
        let file = "fn f() {\n    if alpha < beta {\n        go();\n    }\n}\n";
        assert_edited(
            file,
            "if alpha &lt; beta {\n    go();\n}\n",
            "if alpha &lt; beta {\n    go();\n    stop(&amp;x);\n}\n",
            Indentation,
            &file.replace("go();\n", "go();\n        stop(&x);\n"),
        );
        assert_edited(
            file,
            "2\t    if alpha &lt; beta {\n3\t        go();\n",
            "2\t    if alpha &gt; beta {\n3\t        go();\n",
            LineNumbers,
            &file.replace('<', ">"),
        );
    }
}
