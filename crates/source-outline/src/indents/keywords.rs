//! The keywords of the languages whose definitions begin a line with one.

use crate::{keyword_grammar::KeywordGrammar, lex_rules as lex, lex_rules::Words};

use super::line_patterns;

const PLAIN: KeywordGrammar = KeywordGrammar {
    lex: &lex::HASHES,
    modifiers: Words(""),
    keywords: Words(""),
    other: |_| None,
    closers: Words("}"),
    joiners: Words("{ ) ]"),
    parens: true,
    outermost: Words(""),
    verbatim: "",
};
/// Languages in which nothing but indentation, or the next definition, ends one.
const UNCLOSED: KeywordGrammar = KeywordGrammar { closers: Words(""), joiners: Words(""), parens: false, ..PLAIN };

/// A language with braces, its keywords and the modifiers before them.
const fn grammar(lex: &'static lex::LexRules, keywords: &'static str, modifiers: &'static str) -> KeywordGrammar {
    KeywordGrammar { lex, keywords: Words(keywords), modifiers: Words(modifiers), ..PLAIN }
}

pub(crate) static PYTHON: KeywordGrammar = KeywordGrammar {
    other: line_patterns::python_variable,
    closers: Words(""),
    joiners: Words(") ] }"),
    ..grammar(&lex::PYTHON, "def class", "async cdef cpdef")
};
pub(crate) static RUBY: KeywordGrammar = KeywordGrammar {
    closers: Words("end"),
    joiners: Words("rescue ensure else elsif when in ) ] }"),
    parens: false,
    ..grammar(
        &lex::RUBY,
        "def class module macro struct",
        "private protected public private_class_method module_function abstract",
    )
};
pub(crate) static LUA: KeywordGrammar = KeywordGrammar {
    other: line_patterns::lua_function,
    closers: Words("end"),
    joiners: Words(") } else elseif"),
    ..grammar(&lex::LUA, "function", "local")
};
pub(crate) static ELIXIR: KeywordGrammar = KeywordGrammar {
    closers: Words("end"),
    joiners: Words("rescue after else catch when ) ] }"),
    ..grammar(&lex::ELIXIR, "defmodule def defp defmacro defmacrop defprotocol defimpl defguard defdelegate", "")
};
pub(crate) static JULIA: KeywordGrammar = KeywordGrammar {
    other: line_patterns::julia_function,
    closers: Words("end"),
    joiners: Words(") ] } else elseif catch finally"),
    ..grammar(
        &lex::JULIA,
        "function=fn macro struct module baremodule=module type",
        "mutable abstract primitive export",
    )
};
pub(crate) static SHELL: KeywordGrammar = KeywordGrammar {
    lex: &lex::SHELL,
    other: line_patterns::shell_function,
    joiners: Words("{ ("),
    parens: false,
    ..PLAIN
};
pub(crate) static PERL: KeywordGrammar =
    KeywordGrammar { parens: false, ..grammar(&lex::PERL, "sub package method class", "") };
pub(crate) static PHP: KeywordGrammar = grammar(
    &lex::PHP,
    "function class interface trait enum const",
    "public private protected static abstract final readonly var",
);
pub(crate) static KOTLIN: KeywordGrammar = KeywordGrammar {
    joiners: Words("{ ) ] : ="),
    outermost: Words("val var"),
    ..grammar(
        &lex::NESTED,
        "fun class interface object typealias val var constructor",
        "public private protected internal open abstract final override suspend inline tailrec operator infix \
         external data sealed enum annotation inner value companion actual expect lateinit const noinline",
    )
};
pub(crate) static SWIFT: KeywordGrammar = KeywordGrammar {
    joiners: Words("{ ) ] -> where"),
    outermost: Words("let var"),
    ..grammar(
        &lex::NESTED,
        "func class struct enum protocol extension actor typealias init deinit subscript macro let var",
        "public private internal fileprivate open static final override mutating nonmutating required convenience \
         indirect nonisolated dynamic prefix postfix infix package distributed",
    )
};
pub(crate) static SCALA: KeywordGrammar = KeywordGrammar {
    joiners: Words("{ ) ] extends with ="),
    outermost: Words("val"),
    ..grammar(
        &lex::NESTED,
        "def class object trait enum given type val",
        "private protected implicit lazy override final sealed abstract case inline opaque transparent open package",
    )
};
pub(crate) static ZIG: KeywordGrammar = KeywordGrammar {
    outermost: Words("var"),
    ..grammar(&lex::ZIG, "fn test const var", "pub export extern inline noinline threadlocal comptime")
};
pub(crate) static PROTO: KeywordGrammar =
    grammar(&lex::PROTO, "message service rpc enum oneof struct interface union exception", "input directive");
pub(crate) static GRAPHQL: KeywordGrammar = KeywordGrammar {
    outermost: Words("type input interface enum union scalar query mutation fragment"),
    ..grammar(&lex::PYTHON, "type input interface enum union scalar query mutation fragment", "extend")
};
pub(crate) static TERRAFORM: KeywordGrammar =
    KeywordGrammar { lex: &lex::PHP, other: line_patterns::terraform_block, ..PLAIN };
pub(crate) static R: KeywordGrammar = KeywordGrammar { other: line_patterns::r_function, ..PLAIN };
pub(crate) static CMAKE: KeywordGrammar = KeywordGrammar {
    other: line_patterns::cmake_function,
    closers: Words("endfunction endmacro"),
    joiners: Words("else elseif endif"),
    parens: false,
    ..PLAIN
};
pub(crate) static POWERSHELL: KeywordGrammar = KeywordGrammar {
    other: line_patterns::powershell_function,
    ..grammar(&lex::HASHES, "function Function=function filter class enum", "")
};
pub(crate) static LISP: KeywordGrammar =
    KeywordGrammar { lex: &lex::LISP, other: line_patterns::lisp_definition, ..UNCLOSED };
pub(crate) static HASKELL: KeywordGrammar = KeywordGrammar {
    lex: &lex::HASKELL,
    keywords: Words("data newtype class type instance module"),
    other: line_patterns::haskell_equation,
    outermost: Words("data newtype class type instance module"),
    ..UNCLOSED
};
pub(crate) static OCAML: KeywordGrammar = KeywordGrammar {
    other: line_patterns::ocaml_recursive,
    closers: Words("end"),
    joiners: Words("| } ) ]"),
    parens: false,
    outermost: Words("let and exception"),
    ..grammar(
        &lex::HASKELL,
        "let and=let module type class exception member",
        "rec private public inline static override",
    )
};
pub(crate) static ERLANG: KeywordGrammar =
    KeywordGrammar { lex: &lex::ERLANG, other: line_patterns::erlang_function, ..UNCLOSED };
pub(crate) static NIM: KeywordGrammar = KeywordGrammar {
    closers: Words(""),
    ..grammar(&lex::PYTHON, "proc func method template macro iterator converter class", "static")
};
pub(crate) static MAKE: KeywordGrammar =
    KeywordGrammar { other: line_patterns::make_target, closers: Words("endef"), verbatim: "define", ..UNCLOSED };
