//! The anchors of lines and texts in a regular expression.

use std::convert::Infallible;

use regex_syntax::ast::{self, Assertion, AssertionKind, Ast, Span, Visitor};

/// `pattern` with nothing where it has anchors; `None` if it has none, or is not a regular expression.
pub(super) fn without_anchors(pattern: &str) -> Option<String> {
    let ast = ast::parse::Parser::new().parse(pattern).ok()?;
    let Ok(anchors) = ast::visit(&ast, Anchors::default());
    if anchors.0.is_empty() {
        return None;
    }
    let (mut text, mut from) = (String::new(), 0);
    for span in anchors.0 {
        text.push_str(&pattern[from..span.start.offset]);
        text.push_str("(?:)");
        from = span.end.offset;
    }
    text.push_str(&pattern[from..]);
    Some(text)
}

/// The anchors that were met, in their order.
#[derive(Default)]
struct Anchors(Vec<Span>);

impl Visitor for Anchors {
    type Output = Self;
    type Err = Infallible;

    fn finish(self) -> Result<Self, Infallible> {
        Ok(self)
    }

    fn visit_pre(&mut self, ast: &Ast) -> Result<(), Infallible> {
        if let Ast::Assertion(assertion) = ast {
            let Assertion { span, kind } = &**assertion;
            let is_anchor = matches!(
                kind,
                AssertionKind::StartLine | AssertionKind::EndLine | AssertionKind::StartText | AssertionKind::EndText
            );
            if is_anchor {
                self.0.push(*span);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anchors_are_left_out_and_nothing_else() {
        for (pattern, expected) in [
            ("^load$", "(?:)load(?:)"),
            (r"(?:^|x)\w+(er)?\z", r"(?:(?:)|x)\w+(er)?(?:)"),
            ("(?x) ^ é # ^\n$", "(?x) (?:) é # ^\n(?:)"),
        ] {
            assert_eq!(without_anchors(pattern).as_deref(), Some(expected));
        }
        for pattern in [r"\bload\b", "[^a]", r"\^", "load", "(", "(?x) # ^"] {
            assert_eq!(without_anchors(pattern), None, "{pattern}");
        }
    }
}
