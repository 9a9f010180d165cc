//! Which format a file has, by its name, and of programming languages, how their brackets are checked.

use structured_text::json::JsonDialect;

use crate::lex_rules::{self, LexRules, Words};

/// A format that is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CheckedFormat {
    Json(JsonDialect),
    JsonLines,
    Toml,
    Yaml,
    Xml,
    /// The brackets of a programming language.
    Source(BracketLanguage),
}

/// Names of JSON files whose programs read comments: those of VS Code and its tasks
/// (<https://github.com/microsoft/vscode>, `extensions/configuration-editing/package.json`), those that GitHub lists as
/// "JSON with Comments" (<https://github.com/github-linguist/linguist>, `languages.yml`), and other tools' own.
const JSONC_NAMES: &str = ".auto-changelog .babelrc.json .c8rc .devcontainer.json .ember-cli .eslintrc.json .hintrc .jscsrc .jsfmtrc \
     .jshintrc .jslintrc .luarc.json .markdownlint.json .nycrc .oxlintrc.json .oxfmtrc.json .swcrc \
     .tern-project angular.json api-extractor.json argv.json babel.config.json biome.json bun.lock cspell.json \
     deno.json devcontainer.json dprint.json extensions.json global.json host.json keybindings.json \
     keymap.json launch.json local.settings.json mcp.json nx.json opencode.json profiles.json project.json \
     pyrightconfig.json renovate.json rush.json settings.json settings.local.json tasks.json tslint.json \
     turbo.json typedoc.json vercel.json wrangler.json";

/// Beginnings of such names, before `.json`.
const JSONC_STEMS: &str = "appsettings jsconfig launchsettings tsconfig";

/// Ends of such names.
const JSONC_ENDS: &str = ".jsonc .code-profile .code-snippets .code-workspace .sublime-build .sublime-commands .sublime-keymap \
     .sublime-menu .sublime-project .sublime-settings color-theme.json icon-theme.json \
     language-configuration.json";

/// Folders in which editors keep JSON files with comments.
const JSONC_FOLDERS: &str = ".devcontainer .vscode .zed";

/// Ends of names of plain JSON files.
const JSON_ENDS: &str = ".json .avsc .geojson .gltf .har .importmap .ipynb .jsonld .topojson .webmanifest";

/// Ends of names of TOML files.
const TOML_ENDS: &str = ".toml /pipfile /cargo.lock /poetry.lock /uv.lock /pdm.lock";

/// Ends of names of YAML files.
const YAML_ENDS: &str = ".yaml .yml /.clang-format /.clang-tidy /.clangd";

/// Ends of names of XML files. HTML is none, and neither are files that only some programs write as XML.
const XML_ENDS: &str = ".xml .xsd .xsl .xslt .svg .xhtml .csproj .fsproj .vbproj .vcxproj .vcxproj.filters .props .targets \
     .nuspec .resx .xaml .axaml .plist .entitlements .storyboard .xib .wsdl .rss .atom .kml .gpx .xlf .xliff \
     .fxml .iml .qrc .opf .ncx .dita .wxs .urdf .xacro .musicxml .mathml .slnx /app.config /web.config \
     /packages.config /nuget.config";

impl CheckedFormat {
    /// The format of the file at `path`, if it is one that is checked.
    pub(super) fn of(path: &str) -> Option<Self> {
        let mut parts = path.rsplit(['/', '\\']);
        let name = parts.next().unwrap_or(path).to_ascii_lowercase();
        let folder = parts.next().unwrap_or_default();
        let ends_with = |ends: &str| ends.split(' ').any(|end| name.ends_with(end));
        // A slash marks a whole name.
        let is_named = |ends: &str| {
            ends.split(' ').any(|end| end.strip_prefix('/').map_or_else(|| name.ends_with(end), |whole| name == whole))
        };
        if ends_with(".json5") || name == ".babelrc" {
            Some(Self::Json(JsonDialect::Json5))
        } else if ends_with(".jsonl .ndjson") {
            Some(Self::JsonLines)
        } else if JSONC_NAMES.split(' ').any(|known| name == known)
            || ends_with(JSONC_ENDS)
            || ends_with(".json")
                && (JSONC_FOLDERS.split(' ').any(|known| folder == known)
                    || JSONC_STEMS.split(' ').any(|stem| name.starts_with(stem)))
        {
            Some(Self::Json(JsonDialect::Jsonc))
        } else {
            let plain = Self::Json(JsonDialect::Json);
            let by_end = [(JSON_ENDS, plain), (TOML_ENDS, Self::Toml), (YAML_ENDS, Self::Yaml), (XML_ENDS, Self::Xml)];
            let found = by_end.into_iter().find(|(ends, _)| is_named(ends)).map(|(_, format)| format);
            found.or_else(|| BracketLanguage::of_extension(name.rsplit_once('.')?.1).map(Self::Source))
        }
    }
}

/// A programming language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BracketLanguage {
    /// C, C++ and Objective-C, whose preprocessor may take lines away.
    C,
    Go,
    Java,
    JavaScript,
    Proto,
    /// Its indentation is checked, too.
    Python,
    Rust,
}

impl BracketLanguage {
    const ALL: [Self; 7] = [Self::C, Self::Go, Self::Java, Self::JavaScript, Self::Proto, Self::Python, Self::Rust];

    /// The language of files with this extension, in lower case.
    fn of_extension(extension: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|language| language.row().1.contains(extension))
    }

    /// Its name for messages, its extensions, and its comments and strings.
    pub(super) fn row(self) -> (&'static str, Words, &'static LexRules) {
        match self {
            Self::C => ("C", Words("c h cc cpp cxx hh hpp hxx inl ipp m mm cu cuh ino"), &lex_rules::C),
            Self::Go => ("Go", Words("go"), &lex_rules::GO),
            Self::Java => ("Java", Words("java"), &lex_rules::JAVA),
            Self::JavaScript => ("JavaScript", Words("js mjs cjs ts mts cts"), &lex_rules::JAVASCRIPT),
            Self::Proto => ("Protocol Buffers", Words("proto"), &lex_rules::PROTO),
            Self::Python => ("Python", Words("py pyi"), &lex_rules::PYTHON),
            Self::Rust => ("Rust", Words("rs"), &lex_rules::RUST),
        }
    }
}
