//! The keywords of the languages whose definitions begin a line with one.

use super::line_patterns as lines;
use crate::{keyword_grammar::KeywordGrammar, lex_rules as lex};

pub(crate) static PYTHON: KeywordGrammar = KeywordGrammar::new(&lex::PYTHON, "def class")
    .modifiers("async cdef cpdef")
    .other(lines::python_variable)
    .ends("", ") ] }");
pub(crate) static RUBY: KeywordGrammar = KeywordGrammar::new(&lex::RUBY, "def class module macro struct")
    .modifiers("private protected public private_class_method module_function abstract")
    .ends("end", "rescue ensure else elsif when in ) ] }")
    .without_parens();
pub(crate) static LUA: KeywordGrammar = KeywordGrammar::new(&lex::LUA, "function")
    .modifiers("local")
    .other(lines::lua_function)
    .ends("end", ") } else elseif");
const ELIXIR_KEYWORDS: &str = "defmodule def defp defmacro defmacrop defprotocol defimpl defguard defdelegate";
pub(crate) static ELIXIR: KeywordGrammar =
    KeywordGrammar::new(&lex::ELIXIR, ELIXIR_KEYWORDS).ends("end", "rescue after else catch when ) ] }");
pub(crate) static JULIA: KeywordGrammar =
    KeywordGrammar::new(&lex::JULIA, "function=fn macro struct module baremodule=module type")
        .modifiers("mutable abstract primitive export")
        .other(lines::julia_function)
        .ends("end", ") ] } else elseif catch finally");
pub(crate) static SHELL: KeywordGrammar =
    KeywordGrammar::new(&lex::SHELL, "").other(lines::shell_function).ends("}", "{ (").without_parens();
pub(crate) static PERL: KeywordGrammar = KeywordGrammar::new(&lex::PERL, "sub package method class").without_parens();
pub(crate) static PHP: KeywordGrammar = KeywordGrammar::new(&lex::PHP, "function class interface trait enum const")
    .modifiers("public private protected static abstract final readonly var");
pub(crate) static KOTLIN: KeywordGrammar =
    KeywordGrammar::new(&lex::NESTED, "fun class interface object typealias val var constructor")
        .modifiers(
            "public private protected internal open abstract final override suspend inline tailrec operator infix \
             external data sealed enum annotation inner value companion actual expect lateinit const noinline",
        )
        .ends("}", "{ ) ] : =")
        .outermost("val var");
pub(crate) static SWIFT: KeywordGrammar = KeywordGrammar::new(
    &lex::NESTED,
    "func class struct enum protocol extension actor typealias init deinit subscript macro let var",
)
.modifiers(
    "public private internal fileprivate open static final override mutating nonmutating required convenience \
     indirect nonisolated dynamic prefix postfix infix package distributed",
)
.ends("}", "{ ) ] -> where")
.outermost("let var");
pub(crate) static SCALA: KeywordGrammar = KeywordGrammar::new(
    &lex::NESTED,
    "def class object trait enum given type val",
)
.modifiers("private protected implicit lazy override final sealed abstract case inline opaque transparent open package")
.ends("}", "{ ) ] extends with =")
.outermost("val");
pub(crate) static ZIG: KeywordGrammar = KeywordGrammar::new(&lex::ZIG, "fn test const var")
    .modifiers("pub export extern inline noinline threadlocal comptime")
    .outermost("var");
pub(crate) static PROTO: KeywordGrammar =
    KeywordGrammar::new(&lex::PROTO, "message service rpc enum oneof struct interface union exception")
        .modifiers("input directive");
const GRAPHQL_KEYWORDS: &str = "type input interface enum union scalar query mutation fragment";
// GraphQL has the comments and the strings in three quotes of Python.
pub(crate) static GRAPHQL: KeywordGrammar =
    KeywordGrammar::new(&lex::PYTHON, GRAPHQL_KEYWORDS).modifiers("extend").outermost(GRAPHQL_KEYWORDS);
// HCL has the comments and here-documents of PHP.
pub(crate) static TERRAFORM: KeywordGrammar = KeywordGrammar::new(&lex::PHP, "").other(lines::terraform_block);
pub(crate) static R: KeywordGrammar = KeywordGrammar::new(&lex::HASHES, "").other(lines::r_function);
pub(crate) static CMAKE: KeywordGrammar = KeywordGrammar::new(&lex::HASHES, "")
    .other(lines::cmake_function)
    .ends("endfunction endmacro", "else elseif endif")
    .without_parens();
pub(crate) static POWERSHELL: KeywordGrammar =
    KeywordGrammar::new(&lex::HASHES, "function Function=function filter class enum").other(lines::powershell_function);
pub(crate) static LISP: KeywordGrammar =
    KeywordGrammar::new(&lex::LISP, "").other(lines::lisp_definition).ends("", "").without_parens();
const HASKELL_KEYWORDS: &str = "data newtype class type instance module";
pub(crate) static HASKELL: KeywordGrammar = KeywordGrammar::new(&lex::HASKELL, HASKELL_KEYWORDS)
    .other(lines::haskell_equation)
    .ends("", "")
    .without_parens()
    .outermost(HASKELL_KEYWORDS);
pub(crate) static OCAML: KeywordGrammar =
    KeywordGrammar::new(&lex::OCAML, "let and=let module type class exception member")
        .modifiers("rec private public inline static override")
        .other(lines::ocaml_recursive)
        .ends("end", "| } ) ]")
        .without_parens()
        .outermost("let and exception");
pub(crate) static ERLANG: KeywordGrammar =
    KeywordGrammar::new(&lex::ERLANG, "").other(lines::erlang_function).ends("", "").without_parens();
pub(crate) static NIM: KeywordGrammar =
    KeywordGrammar::new(&lex::PYTHON, "proc func method template macro iterator converter class")
        .modifiers("static")
        .ends("", "{ ) ]");
/// The lines of a `define` are text, up to `endef`.
pub(crate) static MAKE: KeywordGrammar = KeywordGrammar {
    verbatim: "define",
    ..KeywordGrammar::new(&lex::HASHES, "").other(lines::make_target).ends("endef", "").without_parens()
};
