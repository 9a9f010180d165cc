//! The language of a file, by its name, or by the first line of a script without one.

use Language::{Braces, Keywords, Sections};

use crate::braces::{BraceOutline, c, go, java, javascript, rust};
use crate::indents::{IndentOutline, keywords};
use crate::sections::{SectionFormat, SectionOutline};
use crate::{definition::Outline, keyword_grammar::KeywordGrammar, lex_rules::WordSet};

#[derive(Clone, Copy, Debug)]
pub(super) enum Language {
    Braces(&'static super::braces::BraceGrammar),
    Keywords(&'static KeywordGrammar),
    Sections(SectionFormat),
}

/// The extensions of each language in lower case, and whole names; after `!` the programs that a first line names.
static LANGUAGES: &[(&str, &str, Language)] = &[
    ("rs", "", Braces(&rust::RUST)),
    ("c h cc cpp cxx c++ hh hpp hxx h++ inl ipp tpp m mm cu cuh ino y l glsl hlsl cl", "", Braces(&c::C)),
    ("go", "", Braces(&go::GO)),
    ("java groovy gradle", "Jenkinsfile", Braces(&java::JAVA)),
    ("cs", "", Braces(&java::CSHARP)),
    ("dart", "", Braces(&java::DART)),
    ("js jsx mjs cjs ts tsx mts cts vue svelte", "!node !deno !bun", Braces(&javascript::JAVASCRIPT)),
    (
        "py pyi pyx pyw bzl star gd",
        "SConstruct SConscript BUILD BUILD.bazel !python !pypy",
        Keywords(&keywords::PYTHON),
    ),
    ("rb rake gemspec cr rbi", "Rakefile Gemfile Vagrantfile Podfile Brewfile !ruby", Keywords(&keywords::RUBY)),
    ("lua", "!lua", Keywords(&keywords::LUA)),
    ("ex exs", "!elixir", Keywords(&keywords::ELIXIR)),
    ("jl", "!julia", Keywords(&keywords::JULIA)),
    ("sh bash zsh ksh bats ebuild", SHELL_NAMES, Keywords(&keywords::SHELL)),
    ("pl pm t", "!perl", Keywords(&keywords::PERL)),
    ("php php5 phtml", "!php", Keywords(&keywords::PHP)),
    ("kt kts", "", Keywords(&keywords::KOTLIN)),
    ("swift", "", Keywords(&keywords::SWIFT)),
    ("scala sc sbt", "", Keywords(&keywords::SCALA)),
    ("zig", "", Keywords(&keywords::ZIG)),
    ("proto thrift", "", Keywords(&keywords::PROTO)),
    ("graphql gql", "", Keywords(&keywords::GRAPHQL)),
    ("tf hcl nomad", "", Keywords(&keywords::TERRAFORM)),
    ("r", "!Rscript", Keywords(&keywords::R)),
    ("cmake", "CMakeLists.txt", Keywords(&keywords::CMAKE)),
    ("ps1 psm1", "", Keywords(&keywords::POWERSHELL)),
    ("lisp lsp el clj cljs cljc scm rkt ss", "", Keywords(&keywords::LISP)),
    ("hs", "", Keywords(&keywords::HASKELL)),
    ("ml mli fs fsi fsx", "", Keywords(&keywords::OCAML)),
    ("erl hrl", "", Keywords(&keywords::ERLANG)),
    ("nim", "", Keywords(&keywords::NIM)),
    ("mk mak", "Makefile makefile GNUmakefile Kbuild !make", Keywords(&keywords::MAKE)),
    ("md markdown mdx mdown qmd rmd", "", Sections(SectionFormat::Markdown)),
    ("rst", "", Sections(SectionFormat::ReStructuredText)),
    ("toml ini cfg conf service desktop properties", ".gitconfig .editorconfig", Sections(SectionFormat::Brackets)),
    ("sql ddl psql", "", Sections(SectionFormat::Sql)),
    ("s asm", "", Sections(SectionFormat::Assembly)),
    ("tex sty", "", Sections(SectionFormat::Latex)),
];
const SHELL_NAMES: &str = ".bashrc .zshrc .profile .bash_profile .bash_aliases !sh !bash !zsh !dash !ksh !ash";

impl Language {
    pub(super) fn of_name(path: &str) -> Option<Self> {
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        // In the table `!` begins the name of a program, not of a file.
        if let Some(language) = Self::of_whole(name).filter(|_| !name.starts_with('!')) {
            return Some(language);
        }
        let (stem, extension) = name.rsplit_once('.')?;
        // `config.h.in`
        if extension == "in" {
            return Self::of_name(stem);
        }
        let extension = extension.to_ascii_lowercase();
        LANGUAGES.iter().find(|(extensions, ..)| WordSet(extensions).contains(&extension)).map(|row| row.2)
    }

    fn of_whole(name: &str) -> Option<Self> {
        LANGUAGES.iter().find(|(_, names, _)| WordSet(names).contains(name)).map(|row| row.2)
    }

    pub(super) fn of_first_line(line: &str) -> Option<Self> {
        let words = line.strip_prefix("#!")?.split_whitespace();
        let mut programs = words.map(|word| word.rsplit('/').next().unwrap_or(word));
        let program = programs.find(|word| *word != "env" && !word.starts_with('-'))?;
        let program = program.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
        Self::of_whole(&format!("!{program}"))
    }

    pub(super) fn outline(self) -> Box<dyn Outline> {
        match self {
            Braces(grammar) => Box::new(BraceOutline::new(grammar)),
            Keywords(grammar) => Box::new(IndentOutline::new(grammar)),
            Sections(format) => Box::new(SectionOutline::new(format)),
        }
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
