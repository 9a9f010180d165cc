//! Names of glyphs to text: Adobe's list, and the forms that spell out a code.

/// `name;code points`, sorted by name after comments. Searched where it is: nothing is built at the start.
static LIST: &str = include_str!("glyphlist.txt");

/// Names that TeX fonts and others use in addition to Adobe's.
const OTHERS: &str = "angbracketleft=⟨ angbracketright=⟩ arrowhookleft=↩ arrowhookright=↪ bar1=| circlecopyrt=© dotlessj=ȷ \
    epsilon1=ϵ floorleft=⌊ floorright=⌋ ceilingleft=⌈ ceilingright=⌉ hyphenchar=- lessorequalslant=⩽ \
    greaterorequalslant=⩾ mapsto=↦ nbspace=\u{a0} slashalt=/ star=⋆ visiblespace=␣ vector=\u{20d7} \
    sfthyphen=\u{ad}";

/// The text of the glyph `name`; `None` if the name says nothing.
///
/// After <https://github.com/adobe-type-tools/agl-specification>.
pub(super) fn text_of(name: &str) -> Option<String> {
    // What follows a dot is a variant: `a.sc`.
    let base = name.split('.').next().filter(|base| !base.is_empty())?;
    // A ligature has the names of its letters.
    one(base).or_else(|| base.split('_').map(one).collect())
}

fn one(name: &str) -> Option<String> {
    let mut others = OTHERS.split(' ').filter_map(|pair| pair.split_once('='));
    if let Some((_, text)) = others.find(|(other, _)| *other == name) {
        return Some(text.to_owned());
    }
    // Small capitals and old digits are in the list, but as characters for private use.
    let base = ["small", "oldstyle"].iter().find_map(|style| name.strip_suffix(style));
    if let Some(codes) = base.and_then(listed).or_else(|| listed(name)) {
        return codes.split(' ').map(hex).collect();
    }
    let digits = name.strip_prefix("uni").filter(|digits| digits.len() >= 4 && digits.len() % 4 == 0);
    if let Some(digits) = digits.filter(|digits| digits.len() <= 32 && digits.is_ascii()) {
        return (0..digits.len()).step_by(4).map(|at| hex(&digits[at..at + 4])).collect();
    }
    let digits = name.strip_prefix('u').filter(|digits| (4..=6).contains(&digits.len()));
    digits.and_then(hex).map(String::from)
}

fn hex(digits: &str) -> Option<char> {
    char::from_u32(u32::from_str_radix(digits, 16).ok()?)
}

/// The code points of a listed name.
fn listed(name: &str) -> Option<&'static str> {
    let (mut from, mut to) = (0, LIST.len());
    while from < to {
        // The line around the middle.
        let middle = from.midpoint(to);
        let start = LIST.as_bytes()[..middle].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let end = memchr::memchr(b'\n', &LIST.as_bytes()[start..]).map_or(LIST.len(), |at| start + at);
        let line = &LIST[start..end];
        // The comments come before all names.
        let key = if line.starts_with('#') { "" } else { line.split(';').next().unwrap_or_default() };
        match key.cmp(name) {
            std::cmp::Ordering::Equal => return line.split_once(';').map(|(_, codes)| codes.trim_end()),
            std::cmp::Ordering::Less => from = end + 1,
            std::cmp::Ordering::Greater => to = start,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_name_is_found() {
        let lines: Vec<&str> = LIST.lines().filter(|line| !line.starts_with('#')).collect();
        assert!(lines.len() > 4000);
        for line in lines {
            let (name, codes) = line.split_once(';').unwrap();
            assert_eq!(listed(name), Some(codes), "{name}");
        }
    }

    #[test]
    fn names_that_spell_a_code_and_ligatures_are_understood() {
        for (name, text) in [
            ("A", "A"),
            ("Adieresis", "Ä"),
            ("f_f_i", "ffi"),
            ("a.sc", "a"),
            ("uni20AC", "€"),
            ("uni00410042", "AB"),
            ("u1F600", "😀"),
            ("dotlessj", "ȷ"),
            ("oneoldstyle", "1"),
        ] {
            assert_eq!(text_of(name).as_deref(), Some(text), "{name}");
        }
        for name in ["", ".notdef", "g12", "uniD800", "unié000", "zzz"] {
            assert_eq!(text_of(name), None, "{name}");
        }
    }
}
