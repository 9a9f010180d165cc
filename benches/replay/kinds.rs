//! All kinds of edits: how the request or the file is damaged, and what is expected for it.

use encoding_rs::{BIG5, EUC_KR, GB18030, SHIFT_JIS, UTF_16BE, UTF_16LE, WINDOWS_1251, WINDOWS_1252};

use super::{
    case::{Case, Duty},
    change::Change,
    damage,
    random::Random,
    several,
    source::Source,
    spelling, traps,
};

/// Makes an edit of a change; `None` where that does not show the damage.
pub(crate) type Make = Box<dyn Fn(&Change, &mut Random) -> Option<Case>>;

/// A kind of edit.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) duty: Duty,
    /// Lines of a block.
    lines: (usize, usize),
    make: Make,
}

impl Kind {
    /// Edits of this kind in randomly chosen files; fewer than `count` where the files hold too few.
    pub(crate) fn cases<'a>(
        &'a self,
        sources: &'a [Source],
        count: usize,
        random: &'a mut Random,
    ) -> impl Iterator<Item = Case> + 'a {
        (0..count * 60)
            .filter_map(move |_| {
                let source = random.pick(sources).clone();
                let change = Change::of(&source, self.lines.0, self.lines.1, random)?;
                (self.make)(&change, random)
            })
            .take(count)
    }
}

/// Every kind, those to be applied first.
pub(crate) fn all() -> Vec<Kind> {
    let mut kinds = repairable();
    kinds.extend(encoded());
    kinds.extend(combined());
    kinds.extend(several());
    kinds.extend(all_places());
    kinds.extend(doubtful());
    kinds.extend(hopeless());
    kinds
}

fn kind(
    name: &'static str,
    duty: Duty,
    lines: (usize, usize),
    make: impl Fn(&Change, &mut Random) -> Option<Case> + 'static,
) -> Kind {
    Kind { name, duty, lines, make: Box::new(make) }
}

/// What every step of the ladder is there for.
fn repairable() -> Vec<Kind> {
    let apply = |name, make: fn(&Change, &mut Random) -> Option<Case>| kind(name, Duty::Apply, (1, 12), make);
    vec![
        apply("nothing", damage::nothing),
        apply("nothing, a part of a line", damage::fragment),
        apply("nothing, first line without its indentation", damage::bare_first_line),
        apply("CR LF file, LF request", |change, random| Some(damage::nothing(change, random)?.in_crlf())),
        apply("LF file, CR LF request", damage::crlf_request),
        apply("file of mixed endings, LF request", damage::mixed_endings),
        apply("no final newline in the file", damage::no_final_newline),
        apply("white space at line ends lost", damage::trailing_lost),
        apply("white space at line ends added", damage::trailing_added),
        apply("indentation lost", damage::indent_lost),
        apply("indentation less by a level", damage::indent_less),
        apply("indentation more by a level", damage::indent_more),
        apply("spaces for the file's tabs", damage::spaces_for_tabs),
        apply("tabs for the file's spaces", damage::tabs_for_spaces),
        apply("curly quotes in the request", spelling::curly_request),
        apply("curly quotes in the file", spelling::curly_file),
        apply("dashes and ellipses in the request", spelling::dashed_request),
        apply("dashes and ellipses in the file", spelling::dashed_file),
        apply("no-break spaces in the request", spelling::nbsp_request),
        apply("no-break spaces in the file", spelling::nbsp_file),
        apply("decomposed letters in the request", spelling::decomposed_request),
        apply("decomposed letters in the file", spelling::decomposed_file),
        apply("gutter of cat -n", |change, random| damage::gutter(change, random, 6, "\t")),
        apply("gutter 12: text", |change, random| damage::gutter(change, random, 0, ": ")),
        apply("gutter 12:text", |change, random| damage::gutter(change, random, 0, ":")),
        apply("gutter 12→text", |change, random| damage::gutter(change, random, 5, "→")),
        apply("gutter in old_string only", damage::gutter_in_old),
        kind(r"\n spelled out", Duty::Apply, (2, 12), damage::newlines_escaped),
        apply("quotes escaped", damage::quotes_escaped),
        kind("escaped as JSON once too often", Duty::Apply, (2, 12), damage::json_escaped),
        kind("a typo in a comment of a long block", Duty::Apply, (6, 14), |change, random| {
            spelling::typo(change, random, 1, true)
        }),
        kind("a typo in the code of a long block", Duty::Apply, (6, 14), |change, random| {
            spelling::typo(change, random, 1, false)
        }),
        kind("two typos in a long block", Duty::Apply, (8, 16), |change, random| {
            spelling::typo(change, random, 2, false)
        }),
    ]
}

/// The same bytes around the change in every encoding.
fn encoded() -> Vec<Kind> {
    let encodings = [
        ("file in UTF-16LE", UTF_16LE, 0),
        ("file in UTF-16BE", UTF_16BE, 1),
        ("file in windows-1252", WINDOWS_1252, 2),
        ("file in windows-1251", WINDOWS_1251, 3),
        ("file in Shift_JIS", SHIFT_JIS, 0),
        ("file in GB 18030", GB18030, 1),
        ("file in Big5", BIG5, 4),
        ("file in EUC-KR", EUC_KR, 5),
    ];
    let mut kinds: Vec<Kind> = encodings
        .into_iter()
        .map(|(name, encoding, language)| {
            kind(name, Duty::Apply, (1, 12), move |change, random| {
                let case = damage::nothing(&spelling::in_language(change, language), random)?;
                let case = if random.one_in(3) { case.in_crlf() } else { case };
                case.in_encoding(encoding)
            })
        })
        .collect();
    kinds.push(kind("file in UTF-8 with a mark", Duty::Apply, (1, 12), |change, random| {
        Some(damage::nothing(change, random)?.map(|bytes| [b"\xef\xbb\xbf", bytes].concat()))
    }));
    kinds.push(kind("invalid bytes elsewhere", Duty::Apply, (1, 12), damage::invalid_elsewhere));
    kinds
}

/// Two kinds of damage at once, of which one is the file's own nature.
fn combined() -> Vec<Kind> {
    let in_crlf = |name, lines, make: fn(&Change, &mut Random) -> Option<Case>| {
        kind(name, Duty::Apply, lines, move |change, random| Some(make(change, random)?.in_crlf()))
    };
    vec![
        in_crlf("CR LF and white space at line ends lost", (1, 12), damage::trailing_lost),
        in_crlf("CR LF and indentation lost", (1, 12), damage::indent_lost),
        in_crlf("CR LF and spaces for tabs", (1, 12), damage::spaces_for_tabs),
        in_crlf("CR LF and curly quotes", (1, 12), spelling::curly_request),
        in_crlf("CR LF and a gutter", (1, 12), |change, random| damage::gutter(change, random, 6, "\t")),
        in_crlf("CR LF and escapes", (2, 12), damage::json_escaped),
        in_crlf("CR LF and a typo", (6, 14), |change, random| spelling::typo(change, random, 1, true)),
        kind("UTF-16 and indentation lost", Duty::Apply, (1, 12), |change, random| {
            damage::indent_lost(change, random)?.in_encoding(UTF_16LE)
        }),
        kind("Shift_JIS and a gutter", Duty::Apply, (1, 12), |change, random| {
            damage::gutter(&spelling::in_language(change, 0), random, 6, "\t")?.in_encoding(SHIFT_JIS)
        }),
        kind("windows-1252 and white space lost", Duty::Apply, (1, 12), |change, random| {
            damage::trailing_lost(&spelling::in_language(change, 2), random)?.in_encoding(WINDOWS_1252)
        }),
    ]
}

/// Two to five edits in one call, each on what the ones before it made.
fn several() -> Vec<Kind> {
    let apply = |name, make: fn(&Change, &mut Random) -> Option<Case>| kind(name, Duty::Apply, (1, 8), make);
    let refuse = |name, make: fn(&Change, &mut Random) -> Option<Case>| kind(name, Duty::Refuse, (1, 8), make);
    vec![
        apply("several edits", several::exact),
        apply("several edits, damaged", several::damaged),
        apply("several edits, CR LF file", |change, random| Some(several::damaged(change, random)?.in_crlf())),
        kind("several edits, UTF-16", Duty::Apply, (1, 8), |change, random| {
            several::damaged(change, random)?.in_encoding(UTF_16LE)
        }),
        kind("several edits, Shift_JIS", Duty::Apply, (1, 8), |change, random| {
            several::damaged(&spelling::in_language(change, 0), random)?.in_encoding(SHIFT_JIS)
        }),
        kind("several edits, windows-1252", Duty::Apply, (1, 8), |change, random| {
            several::damaged(&spelling::in_language(change, 2), random)?.in_crlf().in_encoding(WINDOWS_1252)
        }),
        apply("several edits, each in the lines of the last", several::dependent),
        apply("several edits, their number expected", several::counted),
        refuse("several edits in the wrong order", several::out_of_order),
        refuse("several edits, another number expected", several::miscounted),
        refuse("several edits, one of them absent", several::one_absent),
        refuse("several edits, one of them ambiguous", several::one_ambiguous),
    ]
}

/// Requests for every place.
fn all_places() -> Vec<Kind> {
    let apply = |name, make: fn(&Change, &mut Random) -> Option<Case>| kind(name, Duty::Apply, (1, 8), make);
    let refuse = |name, make: fn(&Change, &mut Random) -> Option<Case>| kind(name, Duty::Refuse, (1, 8), make);
    vec![
        apply("all of a word", several::all_of_word),
        apply("all copies", several::all_copies),
        apply("all copies, damaged", several::all_copies_damaged),
        apply("all copies, CR LF file", |change, random| Some(several::all_copies_damaged(change, random)?.in_crlf())),
        kind("all copies, UTF-16", Duty::Apply, (1, 8), |change, random| {
            several::all_copies_damaged(change, random)?.in_encoding(UTF_16BE)
        }),
        kind("all copies, GB 18030", Duty::Apply, (1, 8), |change, random| {
            several::all_copies_damaged(&spelling::in_language(change, 1), random)?.in_encoding(GB18030)
        }),
        apply("all copies but for one with another number", several::all_but_near),
        kind("all copies at two depths, indentation lost", Duty::ApplyOrRefuse, (2, 8), several::all_depths),
        refuse("all copies, another number expected", several::all_miscounted),
    ]
}

/// What no step is for, or what may be meant in several ways.
fn doubtful() -> Vec<Kind> {
    let doubtful =
        |name, lines, make: fn(&Change, &mut Random) -> Option<Case>| kind(name, Duty::ApplyOrRefuse, lines, make);
    vec![
        doubtful("blank lines around", (1, 12), damage::blank_lines_around),
        doubtful("a final newline in old_string only", (1, 12), damage::newline_in_old_only),
        doubtful("entities as in HTML", (1, 12), spelling::entities),
        doubtful("a word in another casing", (1, 12), spelling::casing),
        doubtful("half of the indentation", (2, 12), damage::half_indent),
        doubtful("indentation lost below the first line", (2, 12), damage::indent_lost_below),
        doubtful("indentation lost and a gutter", (2, 12), damage::indent_lost_with_gutter),
        doubtful("spaces within lines collapsed", (1, 12), damage::spaces_collapsed),
        doubtful("blank lines lost", (4, 14), damage::blank_lines_lost),
        doubtful("lines joined", (3, 12), damage::lines_joined),
        doubtful("curly quotes and indentation lost", (1, 12), spelling::curly_and_indent_lost),
        doubtful("quotes of the other kind", (1, 12), spelling::other_quotes),
        doubtful("a typo on the line that changes", (6, 14), spelling::typo_on_changed),
        doubtful("a typo in the first line", (6, 14), spelling::typo_in_first),
    ]
}

/// Traps: a request that fits no place, or several.
fn hopeless() -> Vec<Kind> {
    let refuse = |name, lines, make: fn(&Change, &mut Random) -> Option<Case>| kind(name, Duty::Refuse, lines, make);
    vec![
        refuse("two copies", (1, 8), traps::two_copies),
        refuse("two copies, white space lost", (2, 8), traps::two_copies_trail_lost),
        refuse("two copies at two depths, indentation lost", (2, 8), traps::two_depths),
        refuse("two copies, curly quotes", (2, 8), traps::two_copies_curly),
        refuse("two copies, gutter of neither", (2, 8), traps::two_copies_gutter),
        refuse("absent", (2, 12), traps::absent),
        refuse("same ends with another middle", (5, 12), traps::other_middle),
        refuse("near-duplicate twenty lines on, a typo", (6, 12), traps::near_duplicate),
        refuse("only in a commented copy", (2, 8), traps::commented_copy),
        refuse("another number", (3, 12), traps::other_number),
        refuse("another operator", (3, 12), traps::other_operator),
        refuse("another word", (3, 12), traps::other_word),
        refuse("a negation more", (3, 12), traps::negation),
        refuse("a line missing in the middle", (4, 12), traps::line_missing),
        refuse("a line too much in the middle", (3, 12), traps::line_extra),
        refuse("two lines swapped", (4, 12), traps::lines_swapped),
        refuse("middle elided by ...", (5, 12), traps::elided),
        refuse("a placeholder comment for the rest", (5, 12), traps::placeholder),
        refuse("the change is made already", (2, 12), traps::made_already),
        refuse("the change is made already, white space lost", (2, 12), traps::made_already_trail_lost),
        refuse("a character that the encoding lacks", (1, 8), traps::unrepresentable),
    ]
}
