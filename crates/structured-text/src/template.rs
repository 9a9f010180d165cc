//! Files that become what their name says only when a program has filled them in.

/// Whether `text` holds marks of Jinja, Helm, ERB and the like outside of quotes: then what the parser of its format
/// says of it means nothing. `${{ … }}`, as in workflows of GitHub, is a value like others.
pub fn is_template(text: &str) -> bool {
    text.lines().any(|line| {
        ["{{", "{%", "<%"].iter().any(|mark| {
            line.find(mark).is_some_and(|at| {
                let before = &line[..at];
                !before.ends_with('$') && !before.contains(['"', '\'', '`']) && !before.trim_start().starts_with('#')
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_outside_of_quotes_make_a_template() {
        for text in
            ["{{- if .Values.x }}\na: 1", "a: {{ b }}", "  {% for x in y %}", "<a><% b %></a>", "a: 'b'\n{{ c }}"]
        {
            assert!(is_template(text), "{text}");
        }
        for text in ["run: ${{ matrix.os }}", "name: \"{{ item }}\"", "# {{ comment }}", "{\"a\": {\"b\": {}}}", ""] {
            assert!(!is_template(text), "{text}");
        }
    }
}
