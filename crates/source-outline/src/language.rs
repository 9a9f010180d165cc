//! The language of a file, by its name, or by the first line of a script without one.

use Language::{Braces, Keywords, Sections};

use crate::braces::{BraceOutline, c, go, java, javascript, rust};
use crate::indents::{IndentOutline, keywords};
use crate::lex_rules::{self as lex, LexRules, WordSet};
use crate::sections::{SectionFormat, SectionOutline};
use crate::{definition::Outline, keyword_grammar::KeywordGrammar};

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
/// The comments of files that have no code, or no definitions.
static COMMENTS: &[(&str, &str, &LexRules)] = &[
    ("md markdown mdx mdown qmd rmd html htm xhtml xml svg xsd xsl xslt plist csproj props targets", "", &lex::XML),
    ("yaml yml toml am ac", "Dockerfile Containerfile .gitignore .gitattributes", &lex::HASHES),
    ("ini cfg conf service desktop properties", ".gitconfig .editorconfig", &lex::INI),
    ("json jsonc json5 scss less", "", &lex::PROTO),
    ("css", "", &lex::CSS),
    ("sql ddl psql adb ads vhd vhdl", "", &lex::SQL),
    ("s asm", "", &lex::ASSEMBLY),
    ("tex sty", "", &lex::LATEX),
];
const SHELL_NAMES: &str = ".bashrc .zshrc .profile .bash_profile .bash_aliases !sh !bash !zsh !dash !ksh !ash";

/// The value in the row of `table` for the name of a file: by the whole name, or by its extension.
fn of_name<T: Copy>(table: &[(&'static str, &'static str, T)], path: &str) -> Option<T> {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    // In the table `!` begins the name of a program, not of a file.
    if let Some(found) = of_whole(table, name).filter(|_| !name.starts_with('!')) {
        return Some(found);
    }
    let (stem, extension) = name.rsplit_once('.')?;
    // `config.h.in`
    if extension == "in" {
        return of_name(table, stem);
    }
    let extension = extension.to_ascii_lowercase();
    table.iter().find(|(extensions, ..)| WordSet(extensions).contains(&extension)).map(|row| row.2)
}

fn of_whole<T: Copy>(table: &[(&'static str, &'static str, T)], name: &str) -> Option<T> {
    table.iter().find(|(_, names, _)| WordSet(names).contains(name)).map(|row| row.2)
}

/// Where the comments of a file of this name begin and end, where its name says it.
pub(super) fn comment_rules(path: &str) -> Option<&'static LexRules> {
    of_name(COMMENTS, path).or_else(|| Language::of_name(path)?.lex_rules())
}

impl Language {
    pub(super) fn of_name(path: &str) -> Option<Self> {
        of_name(LANGUAGES, path)
    }

    pub(super) fn lex_rules(self) -> Option<&'static LexRules> {
        match self {
            Braces(grammar) => Some(grammar.lex),
            Keywords(grammar) => Some(grammar.lex),
            Sections(_) => None,
        }
    }

    pub(super) fn of_first_line(line: &str) -> Option<Self> {
        let words = line.strip_prefix("#!")?.split_whitespace();
        let mut programs = words.map(|word| word.rsplit('/').next().unwrap_or(word));
        let program = programs.find(|word| *word != "env" && !word.starts_with('-'))?;
        let program = program.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
        of_whole(LANGUAGES, &format!("!{program}"))
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
