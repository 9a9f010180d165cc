//! The keywords of the languages whose definitions begin a line with one.

use crate::{
    keyword_grammar::{KeywordGrammar, Words},
    lex_rules as lex,
};

use super::line_patterns;

const PLAIN: KeywordGrammar = KeywordGrammar {
    lex: &lex::HASHES,
    modifiers: Words(""),
    keywords: Words(""),
    other: line_patterns::nothing,
    closers: Words("}"),
    joiners: Words("{ ) ]"),
    parens: true,
    outermost: Words(""),
    verbatim: "",
};

pub(crate) static PYTHON: KeywordGrammar = KeywordGrammar {
    lex: &lex::PYTHON,
    modifiers: Words("async cdef cpdef"),
    keywords: Words("def class"),
    other: line_patterns::python_variable,
    closers: Words(""),
    joiners: Words(") ] }"),
    ..PLAIN
};
pub(crate) static RUBY: KeywordGrammar = KeywordGrammar {
    lex: &lex::RUBY,
    modifiers: Words("private protected public private_class_method module_function abstract"),
    keywords: Words("def class module macro struct"),
    closers: Words("end"),
    joiners: Words("rescue ensure else elsif when in ) ] }"),
    parens: false,
    ..PLAIN
};
pub(crate) static LUA: KeywordGrammar = KeywordGrammar {
    lex: &lex::LUA,
    modifiers: Words("local"),
    keywords: Words("function"),
    other: line_patterns::lua_function,
    closers: Words("end"),
    joiners: Words(") } else elseif"),
    ..PLAIN
};
pub(crate) static ELIXIR: KeywordGrammar = KeywordGrammar {
    lex: &lex::ELIXIR,
    keywords: Words("defmodule def defp defmacro defmacrop defprotocol defimpl defguard defdelegate"),
    closers: Words("end"),
    joiners: Words("rescue after else catch when ) ] }"),
    ..PLAIN
};
pub(crate) static JULIA: KeywordGrammar = KeywordGrammar {
    lex: &lex::JULIA,
    modifiers: Words("mutable abstract primitive export"),
    keywords: Words("function=fn macro struct module baremodule=module type"),
    other: line_patterns::julia_function,
    closers: Words("end"),
    joiners: Words(") ] } else elseif catch finally"),
    ..PLAIN
};
pub(crate) static SHELL: KeywordGrammar = KeywordGrammar {
    lex: &lex::SHELL,
    other: line_patterns::shell_function,
    joiners: Words("{ ("),
    parens: false,
    ..PLAIN
};
pub(crate) static PERL: KeywordGrammar =
    KeywordGrammar { lex: &lex::PERL, keywords: Words("sub package method class"), parens: false, ..PLAIN };
pub(crate) static PHP: KeywordGrammar = KeywordGrammar {
    lex: &lex::PHP,
    modifiers: Words("public private protected static abstract final readonly var"),
    keywords: Words("function class interface trait enum const"),
    other: line_patterns::nothing,
    ..PLAIN
};
pub(crate) static KOTLIN: KeywordGrammar = KeywordGrammar {
    lex: &lex::NESTED,
    modifiers: Words(
        "public private protected internal open abstract final override suspend inline tailrec operator infix \
         external data sealed enum annotation inner value companion actual expect lateinit const noinline",
    ),
    keywords: Words("fun class interface object typealias val var constructor"),
    joiners: Words("{ ) ] : ="),
    outermost: Words("val var"),
    ..PLAIN
};
pub(crate) static SWIFT: KeywordGrammar = KeywordGrammar {
    lex: &lex::NESTED,
    modifiers: Words(
        "public private internal fileprivate open static final override mutating nonmutating required convenience \
         indirect nonisolated dynamic prefix postfix infix package distributed",
    ),
    keywords: Words("func class struct enum protocol extension actor typealias init deinit subscript macro let var"),
    joiners: Words("{ ) ] -> where"),
    outermost: Words("let var"),
    ..PLAIN
};
pub(crate) static SCALA: KeywordGrammar = KeywordGrammar {
    lex: &lex::NESTED,
    modifiers: Words(
        "private protected implicit lazy override final sealed abstract case inline opaque transparent open package",
    ),
    keywords: Words("def class object trait enum given type val"),
    joiners: Words("{ ) ] extends with ="),
    outermost: Words("val"),
    ..PLAIN
};
pub(crate) static ZIG: KeywordGrammar = KeywordGrammar {
    lex: &lex::ZIG,
    modifiers: Words("pub export extern inline noinline threadlocal comptime"),
    keywords: Words("fn test const var"),
    outermost: Words("var"),
    ..PLAIN
};
pub(crate) static PROTO: KeywordGrammar = KeywordGrammar {
    lex: &lex::PROTO,
    modifiers: Words("input directive"),
    keywords: Words("message service rpc enum oneof struct interface union exception"),
    ..PLAIN
};
pub(crate) static GRAPHQL: KeywordGrammar = KeywordGrammar {
    keywords: Words("type input interface enum union scalar query mutation fragment"),
    modifiers: Words("extend"),
    lex: &lex::PYTHON,
    outermost: Words("type input interface enum union scalar query mutation fragment"),
    ..PLAIN
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
    lex: &lex::HASHES,
    keywords: Words("function Function=function filter class enum"),
    other: line_patterns::powershell_function,
    ..PLAIN
};
pub(crate) static LISP: KeywordGrammar = KeywordGrammar {
    lex: &lex::LISP,
    other: line_patterns::lisp_definition,
    closers: Words(""),
    joiners: Words(""),
    parens: false,
    ..PLAIN
};
pub(crate) static HASKELL: KeywordGrammar = KeywordGrammar {
    lex: &lex::HASKELL,
    keywords: Words("data newtype class type instance module"),
    other: line_patterns::haskell_equation,
    closers: Words(""),
    joiners: Words(""),
    parens: false,
    outermost: Words("data newtype class type instance module"),
    ..PLAIN
};
pub(crate) static OCAML: KeywordGrammar = KeywordGrammar {
    lex: &lex::HASKELL,
    modifiers: Words("rec private public inline static override"),
    keywords: Words("let and=let module type class exception member"),
    other: line_patterns::ocaml_recursive,
    closers: Words("end"),
    joiners: Words("| } ) ]"),
    parens: false,
    outermost: Words("let and exception"),
    ..PLAIN
};
pub(crate) static ERLANG: KeywordGrammar = KeywordGrammar {
    lex: &lex::ERLANG,
    other: line_patterns::erlang_function,
    closers: Words(""),
    joiners: Words(""),
    parens: false,
    ..PLAIN
};
pub(crate) static NIM: KeywordGrammar = KeywordGrammar {
    keywords: Words("proc func method template macro iterator converter class"),
    modifiers: Words("static"),
    lex: &lex::PYTHON,
    closers: Words(""),
    ..PLAIN
};
pub(crate) static MAKE: KeywordGrammar = KeywordGrammar {
    other: line_patterns::make_target,
    closers: Words("endef"),
    verbatim: "define",
    joiners: Words(""),
    parens: false,
    ..PLAIN
};
