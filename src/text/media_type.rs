//! Media types of files by their names, for clients that choose a viewer or a highlighter.

/// Endings and their media types: those of the IANA registry, and for source code those that editors use.
const MEDIA_TYPES: &[(&str, &str)] = &[
    ("c", "text/x-c"),
    ("cc", "text/x-c++"),
    ("cpp", "text/x-c++"),
    ("cs", "text/x-csharp"),
    ("css", "text/css"),
    ("csv", "text/csv"),
    ("gif", "image/gif"),
    ("go", "text/x-go"),
    ("h", "text/x-c"),
    ("hpp", "text/x-c++"),
    ("htm", "text/html"),
    ("html", "text/html"),
    ("ipynb", "application/x-ipynb+json"),
    ("java", "text/x-java"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("js", "text/javascript"),
    ("json", "application/json"),
    ("jsx", "text/javascript"),
    ("kt", "text/x-kotlin"),
    ("lua", "text/x-lua"),
    ("md", "text/markdown"),
    ("mjs", "text/javascript"),
    ("pdf", "application/pdf"),
    ("php", "text/x-php"),
    ("png", "image/png"),
    ("py", "text/x-python"),
    ("rb", "text/x-ruby"),
    ("rs", "text/x-rust"),
    ("sh", "text/x-shellscript"),
    ("sql", "application/sql"),
    ("svg", "image/svg+xml"),
    ("swift", "text/x-swift"),
    ("toml", "application/toml"),
    ("ts", "text/typescript"),
    ("tsx", "text/typescript"),
    ("webp", "image/webp"),
    ("xml", "application/xml"),
    ("yaml", "application/yaml"),
    ("yml", "application/yaml"),
];

/// The media type of a file called `name`; `None` for an ending that is not known.
///
/// ```
/// use rootbound::text::media_type;
///
/// assert_eq!(media_type("src/lib.rs"), Some("text/x-rust"));
/// assert_eq!(media_type("Makefile"), None);
/// ```
pub fn media_type(name: &str) -> Option<&'static str> {
    let (_, ending) = name.rsplit_once('.')?;
    MEDIA_TYPES.iter().find(|(known, _)| known.eq_ignore_ascii_case(ending)).map(|(_, media_type)| *media_type)
}
