//! Which format a file has, by its name, and how that is checked.

use structured_text::{
    Findings,
    json::{self, JsonDialect},
    toml, xml, yaml,
};

use super::brackets::{self, BracketLanguage};

/// A format that is checked.
#[derive(Debug)]
pub(super) struct CheckedFormat {
    /// As messages name it.
    pub(super) name: &'static str,
    /// Ends of the names of its files, in lower case. What begins with a slash is a whole name; before a `*` is the
    /// beginning of a name, or with a slash the folder.
    files: &'static str,
    pub(super) check: fn(&str) -> Findings,
}

/// Names of JSON files whose programs read comments: those of VS Code and its tasks
/// (<https://github.com/microsoft/vscode>, `extensions/configuration-editing/package.json`), those that GitHub lists as
/// "JSON with Comments" (<https://github.com/github-linguist/linguist>, `languages.yml`), and other tools' own.
const JSONC_FILES: &str = "/.auto-changelog /.babelrc.json /.c8rc /.devcontainer.json /.ember-cli /.eslintrc.json /.hintrc /.jscsrc \
     /.jsfmtrc /.jshintrc /.jslintrc /.luarc.json /.markdownlint.json /.nycrc /.oxlintrc.json /.oxfmtrc.json /.swcrc \
     /.tern-project /angular.json /api-extractor.json /argv.json /babel.config.json /biome.json /bun.lock \
     /cspell.json /deno.json /devcontainer.json /dprint.json /extensions.json /global.json /host.json \
     /keybindings.json /keymap.json /launch.json /local.settings.json /mcp.json /nx.json /opencode.json \
     /profiles.json /project.json /pyrightconfig.json /renovate.json /rush.json /settings.json /settings.local.json \
     /tasks.json /tslint.json /turbo.json /typedoc.json /vercel.json /wrangler.json \
     .jsonc .code-profile .code-snippets .code-workspace .sublime-build .sublime-commands .sublime-keymap .sublime-menu \
     .sublime-project .sublime-settings color-theme.json icon-theme.json language-configuration.json \
     .devcontainer/*.json .vscode/*.json .zed/*.json appsettings*.json jsconfig*.json launchsettings*.json tsconfig*.json";

/// Names of XML files. HTML is none, and neither are files that only some programs write as XML.
const XML_FILES: &str = ".xml .xsd .xsl .xslt .svg .xhtml .csproj .fsproj .vbproj .vcxproj .vcxproj.filters .props .targets \
     .nuspec .resx .xaml .axaml .plist .entitlements .storyboard .xib .wsdl .rss .atom .kml .gpx .xlf .xliff \
     .fxml .iml .qrc .opf .ncx .dita .wxs .urdf .xacro .musicxml .mathml .slnx /app.config /web.config \
     /packages.config /nuget.config";

const JSON_FILES: &str = ".json .avsc .geojson .gltf .har .importmap .ipynb .jsonld .topojson .webmanifest";
const C_FILES: &str = ".c .h .cc .cpp .cxx .hh .hpp .hxx .inl .ipp .m .mm .cu .cuh .ino";

/// All formats; a file has the first one that its name fits.
static FORMATS: &[CheckedFormat] = &[
    CheckedFormat::new("JSON5", ".json5 /.babelrc", |text| json::check(text, JsonDialect::Json5)),
    CheckedFormat::new("JSON Lines", ".jsonl .ndjson", json::check_lines),
    CheckedFormat::new("JSON with comments", JSONC_FILES, |text| json::check(text, JsonDialect::Jsonc)),
    CheckedFormat::new("JSON", JSON_FILES, |text| json::check(text, JsonDialect::Json)),
    CheckedFormat::new("TOML", ".toml /pipfile /cargo.lock /poetry.lock /uv.lock /pdm.lock", toml::check),
    CheckedFormat::new("YAML", ".yaml .yml /.clang-format /.clang-tidy /.clangd", yaml::check),
    CheckedFormat::new("XML", XML_FILES, xml::check),
    CheckedFormat::new("C", C_FILES, |text| brackets::check(text, BracketLanguage::C)),
    CheckedFormat::new("Go", ".go", |text| brackets::check(text, BracketLanguage::Go)),
    CheckedFormat::new("Java", ".java", |text| brackets::check(text, BracketLanguage::Java)),
    CheckedFormat::new("JavaScript", ".js .mjs .cjs .ts .mts .cts", |text| {
        brackets::check(text, BracketLanguage::JavaScript)
    }),
    CheckedFormat::new("Protocol Buffers", ".proto", |text| brackets::check(text, BracketLanguage::Proto)),
    CheckedFormat::new("Python", ".py .pyi", |text| brackets::check(text, BracketLanguage::Python)),
    CheckedFormat::new("Rust", ".rs", |text| brackets::check(text, BracketLanguage::Rust)),
];

impl CheckedFormat {
    const fn new(name: &'static str, files: &'static str, check: fn(&str) -> Findings) -> Self {
        Self { name, files, check }
    }

    /// The format of the file at `path`; `None` for one that is not checked.
    pub(super) fn of(path: &str) -> Option<&'static Self> {
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
