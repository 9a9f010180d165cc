//! Syntax errors of files in formats that are checked without a program of theirs.
//!
//! A check never fails, and is bounded in time and memory for any text: what is too large, too deeply nested or not
//! certain counts as sound. It looks at one text; what a change has introduced is the difference of two checks, and
//! most changes need only one of them, as the new text has no error.
//!
//! # Map
//! The table here says by the name of a file what is checked. Data formats are checked by [`structured_text`], programming
//! languages by `brackets`, makefiles by `makefile`.

mod brackets;
mod makefile;
#[cfg(test)]
mod tests;

use structured_text::json::{self, JsonDialect};
use structured_text::{Findings, SyntaxError, is_template, toml, xml, yaml};

use crate::lex_rules;
use crate::problems::{ChangedLines, Problem, Severity, new_problems as not_among};

/// Bytes of the largest text that is checked.
const MOST_BYTES: usize = 4 << 20;

/// Whether files of this name are checked.
///
/// # Examples
/// ```
/// use source_outline::syntax::is_checked;
///
/// assert!(is_checked("src/tsconfig.json") && !is_checked("notes.txt"));
/// ```
pub fn is_checked(path: &str) -> bool {
    CheckedFormat::of(path).is_some()
}

/// The syntax errors that `new` has and the text before it, `old`, had not. The name of the file, `path`, says what
/// they are: `None` is a file that did not exist or was no text.
///
/// # Examples
/// ```
/// use source_outline::syntax::new_problems;
///
/// let new = new_problems("a.json", Some("[1, 2]"), "[1, 2");
/// assert_eq!(new[0].message, "expected `]`: the `[` of line 1 is not closed");
/// assert!(new_problems("a.json", Some("[1, 2"), "[1, 2, 3").is_empty());
/// ```
pub fn new_problems(path: &str, old: Option<&str>, new: &str) -> Vec<Problem> {
    let Some(format) = CheckedFormat::of(path) else { return Vec::new() };
    let old = old.unwrap_or_default();
    if new.len() > MOST_BYTES || old.len() > MOST_BYTES {
        return Vec::new();
    }
    // Its program reads what was there.
    let reads_comments = format.name == "JSON" && is_jsonc_only(old);
    let format = CheckedFormat::of("a.jsonc").filter(|_| reads_comments).unwrap_or(format);
    let mut after = (format.check)(new);
    // It becomes a valid file only when its program fills it in.
    if after.error.is_some() && is_template(new) {
        after = Findings::default();
    }
    if after.error.is_none() && after.warnings.is_empty() {
        return Vec::new();
    }
    let before = (format.check)(old);
    let changed = ChangedLines::between(old, new);
    let problem =
        |text: &str, fault: SyntaxError, severity| Problem::at(text, fault.at, severity, format.name, fault.message);
    // Those that do not hide each other.
    let severity = if matches!(format.name, "JSON Lines" | "Makefile") { Severity::Error } else { Severity::Warning };
    let all = |text: &str, faults: Vec<SyntaxError>| -> Vec<Problem> {
        faults.into_iter().map(|fault| problem(text, fault, severity)).collect()
    };
    let warnings = not_among(&all(old, before.warnings), all(new, after.warnings), &changed);
    let error = after.error.map(|fault| problem(new, fault, Severity::Error));
    let earlier = before.error.map(|fault| problem(old, fault, Severity::Error));
    error.filter(|error| is_new(earlier.as_ref(), error, &changed)).into_iter().chain(warnings).collect()
}

fn is_jsonc_only(text: &str) -> bool {
    json::check(text, JsonDialect::Json).error.is_some() && json::check(text, JsonDialect::Jsonc).error.is_none()
}

/// Whether a change has introduced `error`, the first one of a text whose first error was `earlier`. An error hides
/// what is after it: one that shows when the first is corrected is not new, unless the change wrote it.
fn is_new(earlier: Option<&Problem>, error: &Problem, changed: &ChangedLines) -> bool {
    let Some(earlier) = earlier else { return true };
    if let Some(line) = changed.now_at(earlier.line) {
        // Up to there the text was sound.
        return (error.line, error.column) < (line, earlier.column) && error.line != line;
    }
    changed.new.contains(&error.line) && without_digits(&error.message) != without_digits(&earlier.message)
}

fn without_digits(message: &str) -> String {
    message.chars().filter(|letter| !letter.is_ascii_digit()).collect()
}

/// A format that is checked: which files have it, by their names, and how.
#[derive(Debug)]
struct CheckedFormat {
    name: &'static str,
    /// Ends of the names of its files, in lower case. What begins with a slash is a whole name; before a `*` is the
    /// beginning of a name, or with a slash the folder.
    files: &'static str,
    check: fn(&str) -> Findings,
}

/// Names of JSON files whose programs read comments: those of VS Code and its tasks
/// (<https://github.com/microsoft/vscode>, `extensions/configuration-editing/package.json`), those that GitHub lists as
/// "JSON with Comments" (<https://github.com/github-linguist/linguist>, `languages.yml`), and other tools' own.
const JSONC_FILES: &str = "/.auto-changelog /.c8rc /.c8rc.json /.cspell.config.json /.cspell.json /.devcontainer.json /.dprint.json /.ember-cli \
     /.eslintrc.json /.hintrc /.htmlhintrc /.jsbeautifyrc /.jscsrc /.jsfmtrc /.jshintrc /.jslintrc /.knip.json /.luarc.json \
     /.markdownlint.json /.mocharc.json /.nycrc /.nycrc.json /.oxlintrc.json /.oxfmtrc.json /.renovaterc /.renovaterc.json \
     /.swcrc /.tern-project /.textlintrc /.textlintrc.json /angular.json /api-extractor.json /argv.json /azuredeploy.json \
     /biome.json /bun.lock /coffeelint.json /cppproperties.json /cspell.config.json /cspell.json /deno.json \
     /devcontainer.json /dprint.json /extensions.json /firebase.json /global.json /heft.json /host.json /jsdoc.json \
     /keybindings.json /keymap.json /knip.json /launch.json /launch.vs.json /local.settings.json /mcp.json /nx.json \
     /omnisharp.json /opencode.json /profiles.json /project.json /pyrightconfig.json /renovate.json /rig.json /rush.json \
     /rush-project.json /settings.json /settings.local.json /tasks.json /tasks.vs.json /tsdoc.json /tslint.json /turbo.json \
     /typedoc.json /vercel.json /wrangler.json /xunit.runner.json \
     .jsonc .code-profile .code-snippets .code-workspace .hujson .sublime-build .sublime-commands .sublime-keymap \
     .sublime-menu .sublime-project .sublime-settings .api-extractor.json .slnf color-theme.json icon-theme.json \
     language-configuration.json api-extractor*.json appsettings*.json jsconfig*.json launchsettings*.json tsconfig*.json \
     .devcontainer/*.json .fleet/*.json .vscode/*.json .zed/*.json rush/*.json";

/// Names of YAML files whose programs take a key as often as it is there: Cirrus CI
/// (<https://cirrus-ci.org/guide/writing-tasks/>) and conda, which selects by the comment after it.
const REPEATED_KEYS: &str = "/.cirrus.yml /.cirrus.yaml /meta.yaml /conda_build_config.yaml";

/// Names of XML files. HTML is none, and neither are files that only some programs write as XML.
const XML_FILES: &str = ".xml .xsd .xsl .xslt .svg .xhtml .csproj .fsproj .vbproj .vcxproj .vcxproj.filters .props .targets \
     .nuspec .resx .xaml .axaml .plist .entitlements .storyboard .xib .wsdl .rss .atom .kml .gpx .xlf .xliff \
     .fxml .iml .qrc .opf .ncx .dita .wxs .urdf .xacro .musicxml .mathml .slnx /app.config /web.config \
     /packages.config /nuget.config";

const JSON_FILES: &str = ".json .avsc .geojson .gltf .har .importmap .ipynb .jsonld .topojson .webmanifest";
const C_FILES: &str = ".c .h .cc .cpp .cxx .hh .hpp .hxx .inl .ipp .m .mm .cu .cuh .ino";

/// All formats; a file has the first one that its name fits.
static FORMATS: &[CheckedFormat] = &[
    CheckedFormat::new("JSON5", ".json5 /.babelrc /.babelrc.json /babel.config.json", |text| {
        json::check(text, JsonDialect::Json5)
    }),
    CheckedFormat::new("JSON Lines", ".jsonl .ndjson", json::check_lines),
    CheckedFormat::new("JSON with comments", JSONC_FILES, |text| json::check(text, JsonDialect::Jsonc)),
    CheckedFormat::new("JSON", JSON_FILES, |text| json::check(text, JsonDialect::Json)),
    CheckedFormat::new("TOML", ".toml /pipfile /cargo.lock /poetry.lock /uv.lock /pdm.lock", toml::check),
    CheckedFormat::new("YAML", REPEATED_KEYS, |text| Findings { warnings: Vec::new(), ..yaml::check(text) }),
    CheckedFormat::new("YAML", ".yaml .yml /.clang-format /.clang-tidy /.clangd", yaml::check),
    CheckedFormat::new("XML", XML_FILES, xml::check),
    CheckedFormat::new("C", C_FILES, |text| brackets::check(text, &lex_rules::C)),
    CheckedFormat::new("Go", ".go", |text| brackets::check(text, &lex_rules::GO)),
    CheckedFormat::new("Java", ".java", |text| brackets::check(text, &lex_rules::JAVA)),
    CheckedFormat::new("JavaScript", ".js .mjs .cjs .ts .mts .cts", |text| {
        brackets::check(text, &lex_rules::JAVASCRIPT)
    }),
    CheckedFormat::new("Makefile", "/makefile /gnumakefile .mk .mak", makefile::check),
    CheckedFormat::new("Protocol Buffers", ".proto", |text| brackets::check(text, &lex_rules::PROTO)),
    CheckedFormat::new("Python", ".py .pyi", |text| brackets::check(text, &lex_rules::PYTHON)),
    CheckedFormat::new("Rust", ".rs", |text| brackets::check(text, &lex_rules::RUST)),
];

impl CheckedFormat {
    const fn new(name: &'static str, files: &'static str, check: fn(&str) -> Findings) -> Self {
        Self { name, files, check }
    }

    /// The format of the file at `path`; `None` for one that is not checked.
    fn of(path: &str) -> Option<&'static Self> {
        let mut parts = path.rsplit(['/', '\\']);
        let name = parts.next().unwrap_or(path).to_ascii_lowercase();
        let folder = parts.next().unwrap_or_default();
        let fits = |pattern: &str| match (pattern.strip_prefix('/'), pattern.split_once('*')) {
            (Some(whole), _) => name == whole,
            (_, Some((before, end))) => {
                let begins = before.strip_suffix('/').map_or_else(|| name.starts_with(before), |own| folder == own);
                begins && name.ends_with(end)
            }
            _ => name.ends_with(pattern),
        };
        FORMATS.iter().find(|format| format.files.split(' ').any(fits))
    }
}
