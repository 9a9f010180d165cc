//! The keywords of the languages whose definitions begin a line with one.

use super::{keyword_grammar::KeywordGrammar, lex_rules as lex, line_patterns};

const PLAIN: KeywordGrammar = KeywordGrammar {
    lex: &lex::HASHES,
    modifiers: &[],
    keywords: &[],
    other: line_patterns::nothing,
    closers: &["}"],
    joiners: &["{", ")", "]"],
    parens: true,
    outermost: &[],
    verbatim: "",
};

pub(super) static PYTHON: KeywordGrammar = KeywordGrammar {
    lex: &lex::PYTHON,
    modifiers: &["async", "cdef", "cpdef"],
    keywords: &[("def", "def"), ("class", "class")],
    other: line_patterns::python_variable,
    closers: &[],
    joiners: &[")", "]", "}"],
    ..PLAIN
};
pub(super) static RUBY: KeywordGrammar = KeywordGrammar {
    lex: &lex::RUBY,
    modifiers: &["private", "protected", "public", "private_class_method", "module_function", "abstract"],
    keywords: &[("def", "def"), ("class", "class"), ("module", "module"), ("macro", "macro"), ("struct", "struct")],
    closers: &["end"],
    joiners: &["rescue", "ensure", "else", "elsif", "when", "in", ")", "]", "}"],
    parens: false,
    ..PLAIN
};
pub(super) static LUA: KeywordGrammar = KeywordGrammar {
    lex: &lex::LUA,
    modifiers: &["local"],
    keywords: &[("function", "function")],
    other: line_patterns::lua_function,
    closers: &["end"],
    joiners: &[")", "}", "else", "elseif"],
    ..PLAIN
};
pub(super) static ELIXIR: KeywordGrammar = KeywordGrammar {
    lex: &lex::ELIXIR,
    keywords: &[
        ("defmodule", "defmodule"),
        ("def", "def"),
        ("defp", "defp"),
        ("defmacro", "defmacro"),
        ("defmacrop", "defmacrop"),
        ("defprotocol", "defprotocol"),
        ("defimpl", "defimpl"),
        ("defguard", "defguard"),
        ("defdelegate", "defdelegate"),
    ],
    closers: &["end"],
    joiners: &["rescue", "after", "else", "catch", "when", ")", "]", "}"],
    ..PLAIN
};
pub(super) static JULIA: KeywordGrammar = KeywordGrammar {
    lex: &lex::JULIA,
    modifiers: &["mutable", "abstract", "primitive", "export"],
    keywords: &[
        ("function", "fn"),
        ("macro", "macro"),
        ("struct", "struct"),
        ("module", "module"),
        ("baremodule", "module"),
        ("type", "type"),
    ],
    other: line_patterns::julia_function,
    closers: &["end"],
    joiners: &[")", "]", "}", "else", "elseif", "catch", "finally"],
    ..PLAIN
};
pub(super) static SHELL: KeywordGrammar = KeywordGrammar {
    lex: &lex::SHELL,
    other: line_patterns::shell_function,
    joiners: &["{", "("],
    parens: false,
    ..PLAIN
};
pub(super) static PERL: KeywordGrammar = KeywordGrammar {
    lex: &lex::PERL,
    keywords: &[("sub", "sub"), ("package", "package"), ("method", "method"), ("class", "class")],
    parens: false,
    ..PLAIN
};
pub(super) static PHP: KeywordGrammar = KeywordGrammar {
    lex: &lex::PHP,
    modifiers: &["public", "private", "protected", "static", "abstract", "final", "readonly", "var"],
    keywords: &[
        ("function", "function"),
        ("class", "class"),
        ("interface", "interface"),
        ("trait", "trait"),
        ("enum", "enum"),
        ("const", "const"),
    ],
    other: line_patterns::nothing,
    ..PLAIN
};
pub(super) static KOTLIN: KeywordGrammar = KeywordGrammar {
    lex: &lex::NESTED,
    modifiers: &[
        "public",
        "private",
        "protected",
        "internal",
        "open",
        "abstract",
        "final",
        "override",
        "suspend",
        "inline",
        "tailrec",
        "operator",
        "infix",
        "external",
        "data",
        "sealed",
        "enum",
        "annotation",
        "inner",
        "value",
        "companion",
        "actual",
        "expect",
        "lateinit",
        "const",
        "noinline",
    ],
    keywords: &[
        ("fun", "fun"),
        ("class", "class"),
        ("interface", "interface"),
        ("object", "object"),
        ("typealias", "typealias"),
        ("val", "val"),
        ("var", "var"),
        ("constructor", "constructor"),
    ],
    joiners: &["{", ")", "]", ":", "="],
    outermost: &["val", "var"],
    ..PLAIN
};
pub(super) static SWIFT: KeywordGrammar = KeywordGrammar {
    lex: &lex::NESTED,
    modifiers: &[
        "public",
        "private",
        "internal",
        "fileprivate",
        "open",
        "static",
        "final",
        "override",
        "mutating",
        "nonmutating",
        "required",
        "convenience",
        "indirect",
        "nonisolated",
        "dynamic",
        "prefix",
        "postfix",
        "infix",
        "package",
        "distributed",
    ],
    keywords: &[
        ("func", "func"),
        ("class", "class"),
        ("struct", "struct"),
        ("enum", "enum"),
        ("protocol", "protocol"),
        ("extension", "extension"),
        ("actor", "actor"),
        ("typealias", "typealias"),
        ("init", "init"),
        ("deinit", "deinit"),
        ("subscript", "subscript"),
        ("macro", "macro"),
        ("let", "let"),
        ("var", "var"),
    ],
    joiners: &["{", ")", "]", "->", "where"],
    outermost: &["let", "var"],
    ..PLAIN
};
pub(super) static SCALA: KeywordGrammar = KeywordGrammar {
    lex: &lex::NESTED,
    modifiers: &[
        "private",
        "protected",
        "implicit",
        "lazy",
        "override",
        "final",
        "sealed",
        "abstract",
        "case",
        "inline",
        "opaque",
        "transparent",
        "open",
        "package",
    ],
    keywords: &[
        ("def", "def"),
        ("class", "class"),
        ("object", "object"),
        ("trait", "trait"),
        ("enum", "enum"),
        ("given", "given"),
        ("type", "type"),
        ("val", "val"),
    ],
    joiners: &["{", ")", "]", "extends", "with", "="],
    outermost: &["val"],
    ..PLAIN
};
pub(super) static ZIG: KeywordGrammar = KeywordGrammar {
    lex: &lex::ZIG,
    modifiers: &["pub", "export", "extern", "inline", "noinline", "threadlocal", "comptime"],
    keywords: &[("fn", "fn"), ("test", "test"), ("const", "const"), ("var", "var")],
    outermost: &["var"],
    ..PLAIN
};
pub(super) static PROTO: KeywordGrammar = KeywordGrammar {
    lex: &lex::PROTO,
    modifiers: &["input", "directive"],
    keywords: &[
        ("message", "message"),
        ("service", "service"),
        ("rpc", "rpc"),
        ("enum", "enum"),
        ("oneof", "oneof"),
        ("struct", "struct"),
        ("interface", "interface"),
        ("union", "union"),
        ("exception", "exception"),
    ],
    ..PLAIN
};
pub(super) static GRAPHQL: KeywordGrammar = KeywordGrammar {
    keywords: &[
        ("type", "type"),
        ("input", "input"),
        ("interface", "interface"),
        ("enum", "enum"),
        ("union", "union"),
        ("scalar", "scalar"),
        ("query", "query"),
        ("mutation", "mutation"),
        ("fragment", "fragment"),
    ],
    modifiers: &["extend"],
    lex: &lex::PYTHON,
    outermost: &["type", "input", "interface", "enum", "union", "scalar", "query", "mutation", "fragment"],
    ..PLAIN
};
pub(super) static TERRAFORM: KeywordGrammar =
    KeywordGrammar { lex: &lex::PHP, other: line_patterns::terraform_block, ..PLAIN };
pub(super) static R: KeywordGrammar = KeywordGrammar { other: line_patterns::r_function, ..PLAIN };
pub(super) static CMAKE: KeywordGrammar = KeywordGrammar {
    other: line_patterns::cmake_function,
    closers: &["endfunction", "endmacro"],
    joiners: &["else", "elseif", "endif"],
    parens: false,
    ..PLAIN
};
pub(super) static POWERSHELL: KeywordGrammar = KeywordGrammar {
    lex: &lex::HASHES,
    keywords: &[
        ("function", "function"),
        ("Function", "function"),
        ("filter", "filter"),
        ("class", "class"),
        ("enum", "enum"),
    ],
    other: line_patterns::powershell_function,
    ..PLAIN
};
pub(super) static LISP: KeywordGrammar = KeywordGrammar {
    lex: &lex::LISP,
    other: line_patterns::lisp_definition,
    closers: &[],
    joiners: &[],
    parens: false,
    ..PLAIN
};
pub(super) static HASKELL: KeywordGrammar = KeywordGrammar {
    lex: &lex::HASKELL,
    keywords: &[
        ("data", "data"),
        ("newtype", "newtype"),
        ("class", "class"),
        ("type", "type"),
        ("instance", "instance"),
        ("module", "module"),
    ],
    other: line_patterns::haskell_equation,
    closers: &[],
    joiners: &[],
    parens: false,
    outermost: &["data", "newtype", "class", "type", "instance", "module"],
    ..PLAIN
};
pub(super) static OCAML: KeywordGrammar = KeywordGrammar {
    lex: &lex::HASKELL,
    modifiers: &["rec", "private", "public", "inline", "static", "override"],
    keywords: &[
        ("let", "let"),
        ("and", "let"),
        ("module", "module"),
        ("type", "type"),
        ("class", "class"),
        ("exception", "exception"),
        ("member", "member"),
    ],
    other: line_patterns::ocaml_recursive,
    closers: &["end"],
    joiners: &["|", "}", ")", "]"],
    parens: false,
    outermost: &["let", "and", "exception"],
    ..PLAIN
};
pub(super) static ERLANG: KeywordGrammar = KeywordGrammar {
    lex: &lex::ERLANG,
    other: line_patterns::erlang_function,
    closers: &[],
    joiners: &[],
    parens: false,
    ..PLAIN
};
pub(super) static NIM: KeywordGrammar = KeywordGrammar {
    keywords: &[
        ("proc", "proc"),
        ("func", "func"),
        ("method", "method"),
        ("template", "template"),
        ("macro", "macro"),
        ("iterator", "iterator"),
        ("converter", "converter"),
        ("class", "class"),
    ],
    modifiers: &["static"],
    lex: &lex::PYTHON,
    closers: &[],
    ..PLAIN
};
pub(super) static MAKE: KeywordGrammar = KeywordGrammar {
    other: line_patterns::make_target,
    closers: &["endef"],
    verbatim: "define",
    joiners: &[],
    parens: false,
    ..PLAIN
};
