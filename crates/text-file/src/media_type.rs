//! Media types of files by their names, for clients that choose a viewer or a highlighter.

/// Media types with their endings: those of the IANA registry, and for source code those that editors use.
const MEDIA_TYPES: &str = "text/x-c=c,h text/x-c++=cc,cpp,hpp text/x-csharp=cs text/css=css text/csv=csv image/gif=gif text/x-go=go \
     text/html=htm,html application/x-ipynb+json=ipynb text/x-java=java image/jpeg=jpeg,jpg \
     text/javascript=js,jsx,mjs application/json=json text/x-kotlin=kt text/x-lua=lua text/markdown=md \
     application/pdf=pdf text/x-php=php image/png=png text/x-python=py text/x-ruby=rb text/x-rust=rs \
     text/x-shellscript=sh application/sql=sql image/svg+xml=svg text/x-swift=swift application/toml=toml \
     text/typescript=ts,tsx image/webp=webp application/xml=xml application/yaml=yaml,yml";

/// The media type of a file called `name`; `None` for an ending that is not known.
///
/// ```
/// use text_file::media_type;
///
/// assert_eq!(media_type("src/lib.rs"), Some("text/x-rust"));
/// assert_eq!(media_type("Makefile"), None);
/// ```
pub fn media_type(name: &str) -> Option<&'static str> {
    let (_, ending) = name.rsplit_once('.')?;
    let mut rows = MEDIA_TYPES.split_ascii_whitespace().filter_map(|row| row.split_once('='));
    let is_its = |endings: &str| endings.split(',').any(|known| known.eq_ignore_ascii_case(ending));
    rows.find(|(_, endings)| is_its(endings)).map(|(media_type, _)| media_type)
}
