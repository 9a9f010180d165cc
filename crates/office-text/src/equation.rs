//! Equations in one line: `(a+1)/2 = x^2`. Office Math (ECMA-376 part 1, clause 22.1) names the parts of an element, `MathML`
//! (of `OpenDocument`) has them in an order; what they mean is composed by the same rules.
//!
//! An equation is composed from the inside with a stack, and each composition counts as work: a text within a hundred
//! fractions is copied a hundred times.

use crate::{
    budget::{Budget, Result},
    scripts::marked,
    xml::{Node, Tag, Xml},
};

/// Bytes of the longest equation.
const MAX_EQUATION: usize = 64 << 10;

const MAX_ELEMENTS: usize = 20_000;

/// Elements whose text is not shown: the equation in other forms, its look, and what was deleted.
const LEFT_OUT: [&str; 7] = ["Fallback", "annotation", "annotation-xml", "ctrlPr", "del", "moveFrom", "rPr"];

const TEXT_ELEMENTS: [&str; 6] = ["t", "mi", "mn", "mo", "mtext", "ms"];

/// Elements that end with a raised or lowered text.
const SCRIPTED_ELEMENTS: [&str; 10] =
    ["sSup", "sSub", "sSubSup", "limLow", "limUpp", "msup", "msub", "msubsup", "munder", "munderover"];

/// Relations, which have a space on each side.
const RELATION_SIGNS: &str = "=<>≤≥≠≈≡→⇒⇔∈∉⊂⊆∝≔∼≅";

#[derive(Default)]
struct Element {
    name: String,
    parts: Vec<Part>,
    properties: Vec<(String, String)>,
}

struct Part {
    name: String,
    text: String,
}

impl Element {
    fn property<'p>(&'p self, name: &str, usual: &'p str) -> &'p str {
        self.properties.iter().find(|(key, _)| key == name).map_or(usual, |(_, value)| value)
    }

    fn named(&self, name: &str) -> &str {
        self.parts.iter().find(|part| part.name == name).map_or("", |part| &part.text)
    }

    fn at(&self, at: usize) -> &str {
        self.parts.get(at).map_or("", |part| &part.text)
    }

    fn joined(&self, between: &str) -> String {
        self.parts.iter().map(|part| part.text.as_str()).collect::<Vec<_>>().join(between)
    }

    fn composed(&self) -> String {
        let (base, below, above) = (self.named("e"), self.named("sub"), self.named("sup"));
        match self.name.as_str() {
            "f" => fraction(self.named("num"), self.named("den"), self.property("type", "") == "noBar"),
            "mfrac" => fraction(self.at(0), self.at(1), self.property("linethickness", "").starts_with('0')),
            "rad" => root(base, self.named("deg")),
            "msqrt" => root(&self.in_a_row(), ""),
            "mroot" => root(self.at(0), self.at(1)),
            "sSup" | "sSub" | "sSubSup" => scripted(base, below, above),
            "sPre" => marked('_', below) + &marked('^', above) + base,
            "limLow" => scripted(base, self.named("lim"), ""),
            "limUpp" => scripted(base, "", self.named("lim")),
            "msub" | "munder" => scripted(self.at(0), self.at(1), ""),
            "msubsup" | "munderover" => scripted(self.at(0), self.at(1), self.at(2)),
            "msup" => scripted(self.at(0), "", self.at(1)),
            "mover" => match self.at(1) {
                "^" | "ˆ" => accented(self.at(0), "\u{302}"),
                "¯" | "‾" | "_" | "\u{305}" => accented(self.at(0), "\u{304}"),
                "→" | "\u{20d7}" => accented(self.at(0), "\u{20d7}"),
                "~" | "˜" => accented(self.at(0), "\u{303}"),
                "˙" => accented(self.at(0), "\u{307}"),
                above => scripted(self.at(0), "", above),
            },
            "acc" => accented(base, self.property("chr", "\u{302}")),
            "bar" => accented(base, "\u{304}"),
            "nary" => {
                let sign = scripted(self.property("chr", "∫"), below, above);
                format!("{sign} {}", within(base, Strength::Ratio))
            }
            "func" if base.starts_with('(') => self.named("fName").to_owned() + base,
            "func" if Strength::of(base) <= Strength::Chain => format!("{} {base}", self.named("fName")),
            "func" => format!("{}({base})", self.named("fName")),
            "d" => {
                let all = self.joined(self.property("sepChr", "|"));
                // A matrix has brackets of its own.
                let matrix = all.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
                let begin = self.property("begChr", "(");
                let all = matrix.filter(|rows| !begin.is_empty() && !rows.contains(['[', ']'])).unwrap_or(&all);
                format!("{begin}{all}{}", self.property("endChr", ")"))
            }
            "mfenced" => {
                let all = self.joined(self.property("separators", ","));
                format!("{}{all}{}", self.property("open", "("), self.property("close", ")"))
            }
            "m" | "mtable" => format!("[{}]", self.joined("; ")),
            "mr" | "mtr" => self.joined(", "),
            "eqArr" => self.joined("; ").replace('&', ""),
            "mspace" => " ".to_owned(),
            _ => self.in_a_row(),
        }
    }

    /// The parts one after the other, so that none is taken for a part of its neighbour.
    fn in_a_row(&self) -> String {
        let (mut row, mut before) = (String::new(), ("", ""));
        for (at, Part { name, text }) in self.parts.iter().enumerate().filter(|(_, part)| !part.text.is_empty()) {
            let last = row.chars().next_back();
            let next = self.parts[at + 1..].iter().find_map(|part| part.text.chars().next());
            let is_word = |sign: Option<char>, bracket: &str| {
                sign.is_some_and(|sign| sign.is_alphanumeric() || bracket.contains(sign))
            };
            match name.as_str() {
                // In `1/2x` the x would be below the line.
                "f" | "mfrac" if text.contains('/') && (is_word(last, ")") || is_word(next, "(√")) => {
                    row.extend(["(", text, ")"]);
                }
                "m" | "mtable" if last.is_some_and(|last| "([{|".contains(last)) => {
                    row.push_str(text.trim_start_matches('[').trim_end_matches(']'));
                }
                _ => {
                    // `∑_{i=1}^ni` and `sinx` would be other names.
                    let is_name = before.0 == "mi" && before.1.chars().count() > 1;
                    let goes_on = is_word(last, "") && text.starts_with(char::is_alphanumeric);
                    row.extend((goes_on && (is_name || SCRIPTED_ELEMENTS.contains(&before.0))).then_some(' '));
                    row.push_str(text);
                }
            }
            before = (name, text);
        }
        row
    }
}

/// How much holds a text together, from most to least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Strength {
    Atom,
    /// Several without a sign between: `2ab`.
    Chain,
    Product,
    Ratio,
    Sum,
}

impl Strength {
    fn of(text: &str) -> Self {
        let (mut depth, mut atoms, mut found, mut last) = (0_usize, 0, Self::Atom, ' ');
        for sign in text.chars() {
            let is_within = depth > 0;
            match sign {
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            match sign {
                _ if is_within => {
                    last = ')';
                    continue;
                }
                // The sign of a power, which goes on with its number.
                '+' | '-' | '−' if matches!(last, '^' | '_') => continue,
                // What is raised or lowered, and the body of a root.
                _ if matches!(last, '^' | '_' | '√') => {}
                '/' => found = found.max(Self::Ratio),
                '·' | '⋅' | '*' | '×' | '∙' | '÷' => found = found.max(Self::Product),
                '\u{300}'..='\u{36f}' | '\u{20d0}'..='\u{20ff}' => {}
                _ if "^_√′!%°.,".contains(sign) => {}
                // The rest of a number, and what a function is of.
                _ if sign.is_ascii_digit() && (last.is_ascii_digit() || matches!(last, '.' | ',')) => {}
                '(' if last.is_alphabetic() && atoms == 1 => {}
                '+' | '-' | '−' | '±' | '∓' | ';' | ':' | '|' | ' ' => return Self::Sum,
                _ if RELATION_SIGNS.contains(sign) => return Self::Sum,
                _ => atoms += 1,
            }
            last = sign;
        }
        if atoms > 1 { found.max(Self::Chain) } else { found }
    }
}

/// A text in parentheses, where less holds it together than `least`.
fn within(text: &str, least: Strength) -> String {
    if Strength::of(text) > least { format!("({text})") } else { text.to_owned() }
}

fn fraction(above: &str, below: &str, has_no_line: bool) -> String {
    if has_no_line {
        return format!("{above} choose {below}");
    }
    format!("{}/{}", within(above, Strength::Product), within(below, Strength::Atom))
}

fn root(of: &str, degree: &str) -> String {
    let degree = if degree.is_empty() { String::new() } else { format!("[{degree}]") };
    format!("√{degree}{}", within(of, Strength::Atom))
}

fn scripted(base: &str, below: &str, above: &str) -> String {
    let is_power = !above.is_empty() && base.contains('^') && !base.starts_with(['(', '[', '{', '|']);
    let base = if is_power { format!("({base})") } else { within(base, Strength::Chain) };
    let below = marked('_', below);
    if above.trim_matches('′').is_empty() { base + above + &below } else { base + &below + &marked('^', above) }
}

fn accented(base: &str, accent: &str) -> String {
    within(base, Strength::Atom) + accent
}

fn spaced(text: &str) -> String {
    let (mut found, mut depth) = (String::with_capacity(text.len() + 16), 0_usize);
    for sign in text.chars() {
        match sign {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        let (is_relation, follows) =
            (RELATION_SIGNS.contains(sign), found.ends_with(|last| RELATION_SIGNS.contains(last)));
        // Two of them are one, as `==`.
        found.extend(
            (depth == 0 && sign != ' ' && !found.is_empty() && !found.ends_with(' ') && is_relation != follows)
                .then_some(' '),
        );
        found.push(sign);
    }
    found.trim().to_owned()
}

pub(crate) fn equation(xml: &mut Xml<'_>, budget: &Budget<'_>) -> Result<String> {
    let (around, mut open, mut elements, mut bytes) = (xml.depth.saturating_sub(1), vec![Element::default()], 0, 0);
    while xml.depth > around {
        match xml.next()? {
            None => break,
            Some(Node::Start(tag)) if LEFT_OUT.contains(&tag.name()) => xml.skip()?,
            // The rest of one that is too long is read as well.
            _ if elements > MAX_ELEMENTS || bytes > MAX_EQUATION => open.truncate(1),
            Some(Node::Start(tag)) => {
                elements += 1;
                open.push(element(&tag));
            }
            Some(Node::Text(text)) => {
                if let Some(last) = open.last_mut().filter(|last| TEXT_ELEMENTS.contains(&last.name.as_str())) {
                    bytes += text.len();
                    // Signs of MathML that are not seen say what is applied and what is multiplied.
                    let text = text.trim_matches('\n').replace(['\u{2061}', '\u{2062}', '\u{2063}', '\u{2064}'], "");
                    last.parts.push(Part { name: String::new(), text });
                }
            }
            Some(Node::End(_)) => {
                let Some(element) = open.pop_if(|_| xml.depth > around) else { break };
                let Some(outer) = open.last_mut() else { break };
                if element.name.ends_with("Pr") {
                    // Properties are those of the element around them.
                    outer.properties.extend(element.properties);
                } else if outer.name.ends_with("Pr") {
                    let value = element.property("val", "").to_owned();
                    outer.properties.push((element.name, value));
                } else {
                    let text = element.composed();
                    budget.inflate(text.len() * 4 + element.parts.len())?;
                    bytes += text.len().saturating_sub(MAX_EQUATION);
                    outer.parts.push(Part { name: element.name, text });
                }
            }
        }
    }
    if elements > MAX_ELEMENTS || bytes > MAX_EQUATION {
        return Ok("[equation, too long to be shown]".to_owned());
    }
    Ok(spaced(&open.first().map(Element::in_a_row).unwrap_or_default()))
}

fn element(tag: &Tag<'_>) -> Element {
    const KEPT_ATTRIBUTES: [&str; 5] = ["val", "open", "close", "separators", "linethickness"];
    let value = |name: &str| Some((name.to_owned(), tag.attribute(name)?.chars().take(8).collect()));
    let properties = KEPT_ATTRIBUTES.iter().filter_map(|name| value(name)).collect();
    Element { name: tag.name().chars().take(16).collect(), parts: Vec::new(), properties }
}
