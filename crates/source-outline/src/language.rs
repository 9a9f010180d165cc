//! Which language a file is in, by its name, or the first line of a script without one.

use super::{
    braces::{BraceGrammar, c, go, java, javascript, rust},
    indents::keywords,
    keyword_grammar::KeywordGrammar,
    sections::SectionFormat,
};

/// How the definitions of a file are found.
#[derive(Clone, Copy, Debug)]
pub(super) enum Language {
    Braces(&'static BraceGrammar),
    Keywords(&'static KeywordGrammar),
    Sections(SectionFormat),
}

impl Language {
    /// The language by the name of the file.
    pub(super) fn of_name(path: &str) -> Option<Self> {
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        match name {
            "Makefile" | "makefile" | "GNUmakefile" | "Kbuild" => return Some(Self::Keywords(&keywords::MAKE)),
            "CMakeLists.txt" => return Some(Self::Keywords(&keywords::CMAKE)),
            "Rakefile" | "Gemfile" | "Vagrantfile" | "Podfile" | "Brewfile" => {
                return Some(Self::Keywords(&keywords::RUBY));
            }
            "Jenkinsfile" => return Some(Self::Braces(&java::JAVA)),
            "SConstruct" | "SConscript" | "BUILD" | "BUILD.bazel" => return Some(Self::Keywords(&keywords::PYTHON)),
            ".bashrc" | ".zshrc" | ".profile" | ".bash_profile" | ".bash_aliases" => {
                return Some(Self::Keywords(&keywords::SHELL));
            }
            ".gitconfig" | ".editorconfig" => return Some(Self::Sections(SectionFormat::Brackets)),
            _ => {}
        }
        let (stem, extension) = name.rsplit_once('.')?;
        // `config.h.in`
        if extension == "in" {
            return Self::of_name(stem);
        }
        Self::of_extension(&extension.to_ascii_lowercase())
    }

    fn of_extension(extension: &str) -> Option<Self> {
        Some(match extension {
            "rs" => Self::Braces(&rust::RUST),
            "c" | "h" | "cc" | "cpp" | "cxx" | "c++" | "hh" | "hpp" | "hxx" | "h++" | "inl" | "ipp" | "tpp" | "m"
            | "mm" | "cu" | "cuh" | "ino" | "y" | "l" | "glsl" | "hlsl" | "cl" => Self::Braces(&c::C),
            "go" => Self::Braces(&go::GO),
            "java" | "groovy" | "gradle" => Self::Braces(&java::JAVA),
            "cs" => Self::Braces(&java::CSHARP),
            "dart" => Self::Braces(&java::DART),
            "js" | "jsx" | "mjs" | "cjs" | "ts" | "tsx" | "mts" | "cts" | "vue" | "svelte" => {
                Self::Braces(&javascript::JAVASCRIPT)
            }
            "py" | "pyi" | "pyx" | "pyw" | "bzl" | "star" | "gd" => Self::Keywords(&keywords::PYTHON),
            "rb" | "rake" | "gemspec" | "cr" | "rbi" => Self::Keywords(&keywords::RUBY),
            "lua" => Self::Keywords(&keywords::LUA),
            "ex" | "exs" => Self::Keywords(&keywords::ELIXIR),
            "jl" => Self::Keywords(&keywords::JULIA),
            "sh" | "bash" | "zsh" | "ksh" | "bats" | "ebuild" => Self::Keywords(&keywords::SHELL),
            "pl" | "pm" | "t" => Self::Keywords(&keywords::PERL),
            "php" | "php5" | "phtml" => Self::Keywords(&keywords::PHP),
            "kt" | "kts" => Self::Keywords(&keywords::KOTLIN),
            "swift" => Self::Keywords(&keywords::SWIFT),
            "scala" | "sc" | "sbt" => Self::Keywords(&keywords::SCALA),
            "zig" => Self::Keywords(&keywords::ZIG),
            "proto" | "thrift" => Self::Keywords(&keywords::PROTO),
            "graphql" | "gql" => Self::Keywords(&keywords::GRAPHQL),
            "tf" | "hcl" | "nomad" => Self::Keywords(&keywords::TERRAFORM),
            "r" => Self::Keywords(&keywords::R),
            "cmake" => Self::Keywords(&keywords::CMAKE),
            "ps1" | "psm1" => Self::Keywords(&keywords::POWERSHELL),
            "lisp" | "lsp" | "el" | "clj" | "cljs" | "cljc" | "scm" | "rkt" | "ss" => Self::Keywords(&keywords::LISP),
            "hs" => Self::Keywords(&keywords::HASKELL),
            "ml" | "mli" | "fs" | "fsi" | "fsx" => Self::Keywords(&keywords::OCAML),
            "erl" | "hrl" => Self::Keywords(&keywords::ERLANG),
            "nim" => Self::Keywords(&keywords::NIM),
            "mk" | "mak" => Self::Keywords(&keywords::MAKE),
            "md" | "markdown" | "mdx" | "mdown" | "qmd" | "rmd" => Self::Sections(SectionFormat::Markdown),
            "rst" => Self::Sections(SectionFormat::ReStructuredText),
            "toml" | "ini" | "cfg" | "conf" | "service" | "desktop" | "properties" => {
                Self::Sections(SectionFormat::Brackets)
            }
            "sql" | "ddl" | "psql" => Self::Sections(SectionFormat::Sql),
            "s" | "asm" => Self::Sections(SectionFormat::Assembly),
            "tex" | "sty" => Self::Sections(SectionFormat::Latex),
            _ => return None,
        })
    }

    /// The language that the first line of a script names.
    pub(super) fn of_first_line(line: &str) -> Option<Self> {
        let rest = line.strip_prefix("#!")?;
        let program = rest.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
        let program = program.into_iter().find(|word| *word != "env" && !word.starts_with('-'))?;
        Some(Self::Keywords(match program.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.') {
            "python" | "pypy" => &keywords::PYTHON,
            "sh" | "bash" | "zsh" | "dash" | "ksh" | "ash" => &keywords::SHELL,
            "perl" => &keywords::PERL,
            "ruby" => &keywords::RUBY,
            "lua" => &keywords::LUA,
            "php" => &keywords::PHP,
            "elixir" => &keywords::ELIXIR,
            "julia" => &keywords::JULIA,
            "Rscript" => &keywords::R,
            "make" => &keywords::MAKE,
            "node" | "deno" | "bun" => return Some(Self::Braces(&javascript::JAVASCRIPT)),
            _ => return None,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn language_is_known_by_name_or_first_line() {
        for name in ["a.rs", "src/A.CPP", "x/Makefile", "a.h.in", "a.test.tsx", "B.MD", ".bashrc"] {
            assert!(Language::of_name(name).is_some(), "{name}");
        }
        for name in ["a", "a.png", "a.txt", "", "/", "LICENSE"] {
            assert!(Language::of_name(name).is_none(), "{name}");
        }
        for line in ["#!/bin/sh", "#!/usr/bin/env python3.12", "#! /usr/bin/env -S node --x"] {
            assert!(Language::of_first_line(line).is_some(), "{line}");
        }
        assert!(Language::of_first_line("#!/bin/false").is_none() && Language::of_first_line("sh").is_none());
    }
}
