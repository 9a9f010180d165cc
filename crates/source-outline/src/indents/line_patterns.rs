//! Definitions of languages that have no keyword for them, by a look at one line.

use crate::keyword_grammar::{LexedLine, MERGED_KIND};
use crate::{header::Named, lex_rules::WordSet};

fn named(line: &LexedLine<'_>, kind: &'static str, at: usize) -> Option<Named> {
    Some(Named::new(kind, line.name(at)?, line.number))
}

/// `LIMIT = 3` and `LIMIT: int = 3` in no class or function.
pub(super) fn python_variable(line: &LexedLine<'_>) -> Option<Named> {
    let is_assigned =
        line.at(1) == "=" || line.at(1) == ":" && line.lexemes.iter().enumerate().any(|(at, _)| line.at(at) == "=");
    let is_type = line.at(0) == "type" && line.is_word(1) && matches!(line.at(2), "=" | "[");
    if is_type && line.indent == 0 {
        return named(line, "type", 1);
    }
    (line.indent == 0 && line.is_word(0) && is_assigned).then(|| Named::new("var", line.at(0), line.number))
}

/// A function that is assigned: `M.load = function(…)`.
pub(super) fn lua_function(line: &LexedLine<'_>) -> Option<Named> {
    let first = usize::from(line.at(0) == "local");
    let equals = (1..line.lexemes.len().min(12)).find(|at| line.at(*at) == "=")?;
    (line.at(equals + 1) == "function").then(|| named(line, "function", first))?
}

/// `area(r) = π * r^2`
pub(super) fn julia_function(line: &LexedLine<'_>) -> Option<Named> {
    if line.indent > 0 || !line.is_word(0) || line.at(1) != "(" {
        return None;
    }
    let close = (2..line.lexemes.len()).find(|at| line.at(*at) == ")")?;
    (line.at(close + 1) == "=").then(|| named(line, "fn", 0))?
}

pub(super) fn shell_function(line: &LexedLine<'_>) -> Option<Named> {
    // Names may hold dashes and colons.
    let text = line.text.trim_start();
    let (rest, has_keyword) = text.strip_prefix("function ").map_or((text, false), |rest| (rest.trim_start(), true));
    let end = rest.find(|letter: char| !letter.is_alphanumeric() && !"_-:.".contains(letter)).unwrap_or(rest.len());
    let after = rest[end..].trim_start();
    let is_call = after.strip_prefix('(').is_some_and(|after| after.trim_start().starts_with(')'));
    let is_function = end > 0 && (is_call || has_keyword && (after.is_empty() || after.starts_with('{')));
    is_function.then(|| Named::new("function", &rest[..end], line.number))
}

/// `resource "aws_instance" "web" {`
pub(super) fn terraform_block(line: &LexedLine<'_>) -> Option<Named> {
    const TERRAFORM_BLOCKS: WordSet =
        WordSet("resource data module variable output provider locals terraform job group task");
    let kind = TERRAFORM_BLOCKS.value_of(line.at(0))?;
    let last = line.lexemes.len().checked_sub(1)?;
    if line.indent > 0 || line.at(last) != "{" {
        return None;
    }
    let names: Vec<&str> = (1..last).map(|at| line.at(at).trim_matches('"')).collect();
    Some(Named::new(kind, if names.is_empty() { kind.to_owned() } else { names.join(".") }, line.number))
}

/// A function that is assigned: `load <- function(…)`.
pub(super) fn r_function(line: &LexedLine<'_>) -> Option<Named> {
    let (name, value) = line.text.split_once("<-").or_else(|| line.text.split_once('='))?;
    let name = name.trim().trim_matches(['"', '`']);
    let is_name = !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || "._".contains(letter));
    let value = value.trim_start();
    let is_function = value.strip_prefix("function").is_some_and(|rest| rest.trim_start().starts_with('('))
        || value.starts_with("\\(");
    (is_name && is_function && line.is_word(0)).then(|| Named::new("fn", name, line.number))
}

/// A function or macro of `CMake`: `function(add_tests name)`.
pub(super) fn cmake_function(line: &LexedLine<'_>) -> Option<Named> {
    let kind = WordSet("function macro").value_of(&line.at(0).to_ascii_lowercase())?;
    (line.at(1) == "(").then(|| named(line, kind, 2))?
}

/// A function, whose name may have dashes: `function Get-Item {`.
pub(super) fn powershell_function(line: &LexedLine<'_>) -> Option<Named> {
    let (keyword, rest) = line.text.trim_start().split_once(' ')?;
    let name = rest.trim_start().split(|letter: char| letter.is_whitespace() || "({".contains(letter)).next()?;
    (keyword.eq_ignore_ascii_case("function") && !name.is_empty()).then(|| Named::new("function", name, line.number))
}

/// `(defun name …)`, `(define (name …) …)`
pub(super) fn lisp_definition(line: &LexedLine<'_>) -> Option<Named> {
    const LISP_KINDS: WordSet = WordSet(
        "defun defmacro defn defn- def define defvar defconst defcustom defclass defmethod defgeneric \
         defstruct defprotocol defrecord deftype defmulti deftest define-syntax cl-defun defparameter ns \
         defpackage define-minor-mode defface defsubst",
    );
    let rest = line.text.trim_start().strip_prefix('(')?;
    let end_of = |text: &str| {
        text.find(|letter: char| letter.is_whitespace() || "()[]{}".contains(letter)).unwrap_or(text.len())
    };
    let kind = LISP_KINDS.value_of(&rest[..end_of(rest)])?;
    let mut name = rest[kind.len()..].trim_start().trim_start_matches('(');
    while name.starts_with('^') {
        name = name[end_of(name)..].trim_start();
    }
    Some(Named::new(kind, &name[..end_of(name)], line.number))
}

/// `load path = …`, and its signature as a prototype.
pub(super) fn haskell_equation(line: &LexedLine<'_>) -> Option<Named> {
    const LINE_KEYWORDS: WordSet = WordSet(
        "import module data newtype class instance type deriving infixl infixr infix foreign where let in if then else \
         case of do default",
    );
    let first = line.at(0);
    let is_name = line.is_word(0) && first.starts_with(|letter: char| letter.is_lowercase() || letter == '_');
    if line.indent > 0 || !is_name || LINE_KEYWORDS.contains(first) {
        return None;
    }
    let end =
        line.text.find(|letter: char| letter.is_whitespace() || "(:=|".contains(letter)).unwrap_or(line.text.len());
    let named = Named::new(MERGED_KIND, &line.text[..end], line.number);
    if (1..line.lexemes.len().min(4)).any(|at| line.at(at) == "::") {
        return Some(Named { kind: "signature", ..named }.prototype());
    }
    let is_equation =
        line.lexemes.iter().enumerate().any(|(at, _)| matches!(line.at(at), "=" | "|")) || line.lexemes.len() > 1;
    is_equation.then_some(named)
}

/// `let rec load path =`, `let () =` is none.
pub(super) fn ocaml_recursive(line: &LexedLine<'_>) -> Option<Named> {
    let second = line.at(1);
    let is_let = matches!(line.at(0), "let" | "and") && line.indent == 0;
    if is_let && matches!(second, "rec" | "inline" | "private" | "mutable") {
        return named(line, "let", 2);
    }
    if line.at(0) == "module" && second == "type" { named(line, "module", 2) } else { None }
}

/// A clause of a function, `load(Path) ->`, or an attribute that defines something.
pub(super) fn erlang_function(line: &LexedLine<'_>) -> Option<Named> {
    if line.indent > 0 {
        return None;
    }
    if line.at(0) == "-"
        && let Some(kind) = WordSet("record define type opaque=type").value_of(line.at(1))
    {
        return named(line, kind, if line.at(2) == "(" { 3 } else { 2 });
    }
    let is_function =
        line.is_word(0) && line.at(1) == "(" && line.text.starts_with(|letter: char| letter.is_lowercase());
    is_function.then(|| Named::new(MERGED_KIND, line.at(0), line.number))
}

/// `target: prerequisites`, `define NAME`
pub(super) fn make_target(line: &LexedLine<'_>) -> Option<Named> {
    let text = line.text;
    if text.starts_with([' ', '\t']) {
        return None;
    }
    if let Some(rest) = text.strip_prefix("define ") {
        return Some(Named::new("define", rest.trim().trim_end_matches([' ', '=', ':']), line.number));
    }
    let colon = text.find(':')?;
    let (targets, rest) = text.split_at(colon);
    let targets = targets.trim_end();
    let is_rule = !rest.starts_with(":=") && !rest.starts_with("::=") && !targets.contains(['=', '"']);
    let is_special = targets.starts_with('.') && targets[1..].starts_with(char::is_uppercase);
    (is_rule && !is_special && !targets.is_empty()).then(|| Named::new("target", targets, line.number))
}
