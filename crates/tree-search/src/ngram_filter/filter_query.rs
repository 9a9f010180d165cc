//! From a regular expression to what it demands of content.
//!
//! An over-approximation by construction: whatever is not understood is some unknown text. It may admit a file
//! without a match, never refuse one with a match. Follows the idea of Cox, "Regular Expression
//! Matching with a Trigram Index" (2012): the pattern is read once from left to right, and for each way to get
//! there the last bytes are kept, which the next grams continue.
//!
//! # The graph
//! A path from the start of the graph to its end is one way to match, and the columns along it are those that
//! content which matches so has set. What alternatives have in common, before and after them, is there
//! once: `(foo|bar|baz)_init` has a path for each word, and one `_init`. `pg_trgm` of `PostgreSQL` does
//! the same with the [trigrams of a regular expression][pg].
//!
//! [pg]: https://github.com/postgres/postgres/blob/master/contrib/pg_trgm/trgm_regexp.c

use std::collections::{BTreeMap, HashMap};

use regex_syntax::hir::{Class, ClassUnicodeRange, Hir, HirKind, Look, Repetition};

use crate::ngram_filter::gram::{CONTEXT_BYTES, Context, GramColumns, folded};
use crate::pattern::Pattern;

/// Characters of a class that are distinguished, such as those of `\s`; a larger class counts as any text.
const MAX_CLASS: usize = 64;
/// Contexts that are kept apart, and edges that one character of the pattern makes.
const MAX_WAYS: usize = 64;
/// How often what is repeated is written out.
const MAX_COPIES: u32 = 8;
/// Edges of a graph, and parts of the pattern that are looked at, repeated ones again.
const MAX_WORK: usize = 8 << 10;

#[derive(Debug)]
pub(crate) struct FilterQuery {
    pub(super) grams: GramQuery,
    /// A part of a file does not decide: a match may span lines, or look at where the file begins or ends.
    pub(super) whole_file: bool,
}

impl FilterQuery {
    pub(crate) fn of(pattern: &Pattern) -> Self {
        let Some(hir) = pattern.hir() else {
            // An unknown demand leaves nothing out.
            return Self { grams: GramQuery::all(), whole_file: true };
        };
        let looks = hir.properties().look_set();
        let at_an_end = looks.contains(Look::Start) || looks.contains(Look::End);
        Self { grams: grams_of(&hir, !pattern.multiline()), whole_file: pattern.multiline() || at_an_end }
    }
}

/// The query of a pattern, as it was compiled. `lines`: no match holds a line break.
pub(super) fn grams_of(pattern: &Hir, lines: bool) -> GramQuery {
    let mut reader = PatternReader { graph: GramGraph::new(), work: MAX_WORK, lines };
    let ways = reader.read(pattern, Ways::from([(Context::default(), GramGraph::START_NODE)]));
    let end = (!ways.is_empty()).then(|| reader.graph.any(ways.into_values()));
    reader.graph.query(end)
}

/// The ways to get to a place of the pattern: where each of them is in the graph, by the bytes before. None at all
/// where nothing can match.
type Ways = BTreeMap<Context, NodeId>;

#[derive(Debug)]
struct PatternReader {
    graph: GramGraph,
    work: usize,
    lines: bool,
}

impl PatternReader {
    /// Reads a part of the pattern: the ways to get past it.
    fn read(&mut self, part: &Hir, from: Ways) -> Ways {
        if self.work == 0 {
            return self.any_text(from);
        }
        self.work -= 1;
        match part.kind() {
            // Looks match no text: what surrounds one is adjacent.
            HirKind::Empty | HirKind::Look(_) => from,
            HirKind::Literal(literal) => self.literal(&literal.0, from),
            HirKind::Class(class) => match characters(class, self.lines) {
                Some(strings) => self.strings(&strings, from),
                None => self.any_text(from),
            },
            HirKind::Capture(capture) => self.read(&capture.sub, from),
            HirKind::Concat(parts) => parts.iter().fold(from, |ways, part| {
                // Something is left for what follows, however much a part takes.
                let reserve = self.work / 4;
                self.work -= reserve;
                let ways = self.read(part, ways);
                self.work += reserve;
                ways
            }),
            HirKind::Alternation(branches) => self.alternation(branches, &from),
            HirKind::Repetition(repetition) => self.repetition(repetition, from),
        }
    }

    fn alternation(&mut self, branches: &[Hir], from: &Ways) -> Ways {
        let mut ends = Vec::with_capacity(branches.len());
        let mut work = self.work;
        for (at, branch) in branches.iter().enumerate() {
            self.work = work / (branches.len() - at);
            work -= self.work;
            ends.push(self.read(branch, from.clone()));
            work += self.work;
        }
        self.work = work;
        self.either(ends)
    }

    fn repetition(&mut self, repetition: &Repetition, from: Ways) -> Ways {
        let Repetition { min, max, sub, .. } = repetition;
        let mut ways = from;
        for _ in 0..(*min).min(MAX_COPIES) {
            ways = self.read(sub, ways);
        }
        match max {
            Some(max) if max == min && *min <= MAX_COPIES => ways,
            // As in `colou?r`.
            Some(max) if *max == min + 1 && *min < MAX_COPIES => {
                let once = self.read(sub, ways.clone());
                self.either([ways, once])
            }
            _ => {
                // The last one is adjacent to what follows, as the first ones are to what is before.
                let once = if *min == 0 { self.read(sub, ways.clone()) } else { Ways::new() };
                let between = self.any_text(if *min == 0 { once.clone() } else { ways.clone() });
                let last = self.read(sub, between);
                self.either([ways, once, last])
            }
        }
    }

    /// One character at a time, so that none is cut; invalid bytes are unknown text, since in content they may be
    /// part of a folded sequence with what surrounds them.
    fn literal(&mut self, literal: &[u8], from: Ways) -> Ways {
        let mut ways = from;
        for chunk in literal.utf8_chunks() {
            for character in chunk.valid().chars() {
                ways = self.strings(&[folded(character.encode_utf8(&mut [0; 4]).as_bytes())], ways);
            }
            if !chunk.invalid().is_empty() {
                ways = self.any_text(ways);
            }
        }
        ways
    }

    fn strings(&mut self, strings: &[Vec<u8>], from: Ways) -> Ways {
        if self.work == 0 {
            return self.any_text(from);
        }
        let from = self.narrowed(from, MAX_WAYS / strings.len().max(1));
        let mut edges: BTreeMap<Context, Vec<NewEdge>> = BTreeMap::new();
        for string in strings {
            let Some((last, first)) = string.split_last() else { continue };
            let mut ways = from.clone();
            for byte in first {
                let mut edges = BTreeMap::new();
                self.byte(*byte, &ways, &mut edges);
                ways = self.ends(edges);
            }
            self.byte(*last, &ways, &mut edges);
        }
        self.ends(edges)
    }

    fn byte(&mut self, byte: u8, from: &Ways, edges: &mut BTreeMap<Context, Vec<NewEdge>>) {
        self.work = self.work.saturating_sub(from.len());
        for (context, node) in from {
            let (next, columns) = context.then(byte);
            edges.entry(next).or_default().push((*node, columns));
        }
    }

    fn ends(&mut self, edges: BTreeMap<Context, Vec<NewEdge>>) -> Ways {
        edges.into_iter().map(|(context, edges)| (context, self.graph.node(edges))).collect()
    }

    fn any_text(&mut self, from: Ways) -> Ways {
        if from.is_empty() { from } else { Ways::from([(Context::default(), self.graph.any(from.into_values()))]) }
    }

    fn either(&mut self, ends: impl IntoIterator<Item = Ways>) -> Ways {
        let mut ways = self.by_context(ends.into_iter().flatten());
        if let Some(unknown) = ways.get(&Context::default()).copied() {
            // After unknown text, what else is known of it says nothing.
            let known = &self.graph.nodes[unknown];
            let is_implied = |node| node == unknown || known.contains(&(node, GramColumns::default()));
            ways.retain(|context, node| *context == Context::default() || !is_implied(*node));
        }
        self.narrowed(ways, MAX_WAYS)
    }

    /// The most ways that are followed: where they are more, less is known of the bytes before.
    fn narrowed(&mut self, mut ways: Ways, most: usize) -> Ways {
        let mut length = CONTEXT_BYTES;
        while ways.len() > most.max(1) && length > 0 {
            length -= 1;
            ways = self.by_context(ways.into_iter().map(|(context, node)| (context.shortened(length), node)));
        }
        ways
    }

    /// Joins ways with the same bytes before.
    fn by_context(&mut self, ways: impl Iterator<Item = (Context, NodeId)>) -> Ways {
        let mut nodes: BTreeMap<Context, Vec<NodeId>> = BTreeMap::new();
        for (context, node) in ways {
            nodes.entry(context).or_default().push(node);
        }
        nodes.into_iter().map(|(context, nodes)| (context, self.graph.any(nodes))).collect()
    }
}

/// The folded characters of a class, each once; `None` where they are too many.
fn characters(class: &Class, lines: bool) -> Option<Vec<Vec<u8>>> {
    let class = match class {
        Class::Unicode(class) => class.clone(),
        // Bytes beyond ASCII are unknown text, as in a literal.
        Class::Bytes(class) => class.to_unicode_class()?,
    };
    if class.iter().map(ClassUnicodeRange::len).sum::<usize>() > MAX_CLASS {
        return None;
    }
    let characters = class.iter().flat_map(|range| range.start()..=range.end());
    let mut strings: Vec<_> = characters.map(|one| folded(one.encode_utf8(&mut [0; 4]).as_bytes())).collect();
    if lines {
        strings.retain(|string| string != b"\n");
    }
    strings.sort_unstable();
    strings.dedup();
    Some(strings)
}

/// Columns of an edge that are asked, the rarest ones. Each of them halves what is left at least, or nearly so.
const MAX_ASKED: usize = 24;

/// The grams that a text must contain to match: a graph without circles, each node after those that it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GramQuery {
    /// The edges to each node; the first one is where a match begins, the last one where it ends.
    nodes: Vec<Vec<Edge>>,
}

/// A way on from an earlier node, for texts that have all these columns.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Edge {
    from: usize,
    columns: Vec<u16>,
}

impl GramQuery {
    pub(super) fn all() -> Self {
        Self { nodes: vec![Vec::new()] }
    }

    pub(super) fn is_all(&self) -> bool {
        self.nodes.len() == 1
    }

    pub(super) fn columns(&self) -> Vec<u16> {
        let mut columns: Vec<u16> = self.nodes.iter().flatten().flat_map(|edge| edge.columns.iter().copied()).collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// Which texts satisfy it: one bit of each column is one text. `reached` is memory to work in.
    pub(super) fn satisfied(&self, column: impl Fn(u16) -> u64, reached: &mut Vec<u64>) -> u64 {
        reached.clear();
        reached.push(u64::MAX);
        for edges in &self.nodes[1..] {
            let ways = edges.iter().map(|edge| {
                let mut texts = reached[edge.from];
                for asked in &edge.columns {
                    if texts == 0 {
                        break;
                    }
                    texts &= column(*asked);
                }
                texts
            });
            let texts = ways.fold(0, |texts, way| texts | way);
            reached.push(texts);
        }
        reached[self.nodes.len() - 1]
    }

    /// The same query with the rarest columns of each edge first, and without those that more than
    /// `always` of the texts in a sample have. `texts`: how many texts of the sample have a column.
    pub(super) fn planned(mut self, always: usize, texts: impl Fn(u16) -> usize) -> Self {
        let mut known: HashMap<u16, usize> = HashMap::new();
        for edge in self.nodes.iter_mut().flatten() {
            for column in &edge.columns {
                known.entry(*column).or_insert_with(|| texts(*column));
            }
            edge.columns.sort_unstable_by_key(|column| (known[column], *column));
            edge.columns.dedup();
            let narrow = edge.columns.partition_point(|column| known[column] <= always);
            edge.columns.truncate(narrow.min(MAX_ASKED));
        }
        self.simplified()
    }

    /// [`Self::all`] where a text without any column satisfies it.
    fn simplified(self) -> Self {
        if self.satisfied(|_| 0, &mut Vec::new()) == 0 { self } else { Self::all() }
    }
}

type NodeId = usize;

/// An edge that is being made, of one byte.
type NewEdge = (NodeId, GramColumns);

#[derive(Debug)]
struct GramGraph {
    nodes: Vec<Vec<NewEdge>>,
    made: HashMap<Vec<NewEdge>, NodeId>,
}

impl GramGraph {
    const START_NODE: NodeId = 0;

    pub(super) fn new() -> Self {
        Self { nodes: vec![Vec::new()], made: HashMap::new() }
    }

    fn node(&mut self, mut edges: Vec<NewEdge>) -> NodeId {
        edges.sort_unstable();
        edges.dedup();
        if let [(from, columns)] = edges.as_slice()
            && columns.is_empty()
        {
            return *from;
        }
        if let Some(node) = self.made.get(&edges) {
            return *node;
        }
        let node = self.nodes.len();
        self.nodes.push(edges.clone());
        self.made.insert(edges, node);
        node
    }

    pub(super) fn any(&mut self, nodes: impl IntoIterator<Item = NodeId>) -> NodeId {
        self.node(nodes.into_iter().map(|node| (node, GramColumns::default())).collect())
    }

    /// The query of all paths to `end`; `None`: nothing can match.
    pub(super) fn query(self, end: Option<NodeId>) -> GramQuery {
        let Some(end) = end else { return GramQuery { nodes: vec![Vec::new(), Vec::new()] } };
        // How many edges lead on from each node towards the end.
        let mut used = vec![0_usize; self.nodes.len()];
        used[end] = 1;
        for (at, edges) in self.nodes.iter().enumerate().rev() {
            if used[at] > 0 {
                for (from, _) in edges {
                    used[*from] += 1;
                }
            }
        }
        let query = self.joined(end, &used);
        query.simplified()
    }

    fn joined(self, end: NodeId, used: &[usize]) -> GramQuery {
        let mut places = vec![0; self.nodes.len()];
        let mut nodes: Vec<Vec<Edge>> = vec![Vec::new()];
        // Of each node that only one edge leads to and from, that edge, to be continued.
        let mut open: HashMap<usize, Edge> = HashMap::new();
        for (at, edges) in self.nodes.into_iter().enumerate().take(end + 1).skip(1) {
            if used[at] == 0 {
                continue;
            }
            let mut edges: Vec<Edge> = edges
                .into_iter()
                .map(|(from, columns)| {
                    let mut edge =
                        open.remove(&from).unwrap_or_else(|| Edge { from: places[from], columns: Vec::new() });
                    edge.columns.extend_from_slice(columns.as_slice());
                    edge
                })
                .collect();
            if edges.len() == 1 && used[at] == 1 && at != end {
                open.extend(edges.pop().map(|edge| (at, edge)));
                continue;
            }
            places[at] = nodes.len();
            nodes.push(edges);
        }
        GramQuery { nodes }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::{ngram_filter::gram, pattern::PatternOptions};

    fn query(pattern: &str) -> GramQuery {
        let hir = regex_syntax::ParserBuilder::new().utf8(false).case_insensitive(true).multi_line(true).build();
        grams_of(&hir.clone().parse(pattern).unwrap(), true)
    }

    fn may_match(pattern: &str, text: &str) -> bool {
        let mut held = HashSet::new();
        gram::each(text.as_bytes(), |column| {
            held.insert(column);
        });
        query(pattern).satisfied(|column| u64::from(held.contains(&column)), &mut Vec::new()) & 1 != 0
    }

    #[test]
    fn literal_query_needs_its_grams_in_any_case() {
        assert!(may_match("Kernel_Init", "x = kernel_init();"));
        assert!(may_match("kiss", "\u{212A}I\u{17F}S"));
        assert!(!may_match("kernel_init", "kernel_exit"));
        assert!(may_match("xdp", "an XDP program") && !may_match("xdp", "an xd program"));
    }

    #[test]
    fn letters_beyond_ascii_need_their_grams_in_any_case() {
        for text in ["stra\u{df}e", "STRA\u{1e9e}E"] {
            assert!(may_match("STRA\u{df}E", text), "{text}");
        }
        assert!(!may_match("stra\u{df}e", "strase"));
        for text in ["\u{3c3}\u{3bf}\u{3c6}\u{3bf}\u{3c2}", "\u{3a3}\u{39f}\u{3a6}\u{39f}\u{3a3}"] {
            assert!(may_match("\u{3c3}\u{3bf}\u{3c6}\u{3bf}\u{3c3}", text), "{text}");
        }
        for text in ["\u{e9}", "CAF\u{c9}"] {
            assert!(may_match("\u{e9}", text), "{text}");
        }
        assert!(!may_match("\u{e9}", "cafe \u{e8}") && !may_match("[\u{e9}\u{df}]", "\u{c3}\u{a8}"));
        assert!(may_match("\u{df}", "\u{1e9e}") && !may_match("\u{df}", "\u{c3}\n\u{9f} s"));
        // Turkish letters without and with a dot are letters of their own, in every case.
        assert!(!may_match("kap\u{131}", "kapi") && may_match("kapi", "KAPI"));
    }

    #[test]
    fn pattern_without_usable_string_admits_all() {
        for pattern in ["ab", "a.b.c.d", r"\w+", "(abc)?", "abcd|x", "[a-z]{2}", "", "^$", "(abc)*", "(?-u:\\xc5)ab"] {
            assert!(query(pattern).is_all(), "{pattern}");
        }
    }

    #[test]
    fn alternations_and_repetitions_keep_required_grams() {
        assert!(may_match("(foo|bar)baz", "a barbaz") && !may_match("(foo|bar)baz", "bazbar"));
        assert!(may_match("(abc)+def", "abcabcdef") && !may_match("(abc)+def", "abcabc def"));
        assert!(may_match("colou?r_", "the color_x") && !may_match("colou?r_", "colon_"));
        assert!(may_match("x{6}y", "xxxxxxy") && !may_match("(needle|haystack).*end", "nothing at the end"));
        assert!(may_match("(ab){2,9}c", "abababc") && !may_match("(ab){2,9}c", "ababcab".get(..4).unwrap()));
        assert!(may_match("re(ab|cd)*x", "rex") && may_match("re(ab|cd)*x", "reabcdabx"));
        assert!(!may_match("re(ab|cd)*x", "reaby ax"));
    }

    #[test]
    fn alternatives_are_joined_with_what_surrounds_them() {
        let factored = query("_(foo|bar|baz)_init");
        assert!(!may_match("_(foo|bar|baz)_init", "_foo bar baz _init"));
        assert_eq!(factored.columns(), query("_foo_init|_bar_init|_baz_init").columns());
        assert!(!may_match("get(_user)?_page", "get_user page"));
        assert!(may_match("get(_user)?_page", "get_page") && may_match("get(_user)?_page", "get_user_page"));
    }

    #[test]
    fn white_space_before_a_word_is_part_of_the_query() {
        for text in ["fn block_on_x", "fn\tblock_on_x", "fn \u{2003}block_on_x"] {
            assert!(may_match(r"fn\s+block_on_", text), "{text:?}");
        }
        // Each gram of the word is here, but the word begins nowhere.
        assert!(!may_match(r"fn\s+block_on_", "fn CLOCK_ON_BLOCK"));
        assert!(!may_match(r"\sblock", "a\nblock"));
        let hir = regex_syntax::ParserBuilder::new().utf8(false).build().parse(r"\sblock").unwrap();
        let spanning = grams_of(&hir, false);
        let mut held = HashSet::new();
        gram::each(b"a\nblock", |column| {
            held.insert(column);
        });
        assert_ne!(spanning.satisfied(|column| u64::from(held.contains(&column)), &mut Vec::new()), 0);
    }

    #[test]
    fn assertions_match_no_text() {
        assert!(!may_match(r"foo\bbar_", "foo bar_"));
        assert!(may_match(r"(?m)^needle$", "needle"));
    }

    #[test]
    fn query_size_is_bounded() {
        let many: Vec<String> = (0..3000).map(|number| format!("word{number:05}")).collect();
        let nested = format!("{}a{}", "(".repeat(80), ")*".repeat(80));
        for pattern in
            [&many.join("|"), "((((abc){9}){9}){9}){9}", "((a|b){50}){50}xyz", "([a-z0-9]{9}|[0-9]+){9}", &nested]
        {
            assert!(query(pattern).columns().len() <= MAX_WORK, "{pattern}");
        }
        // What follows a part that is too much is still seen.
        assert!(!query("([a-z]{9}|[0-9]{7}){9}needle").is_all());
    }

    #[test]
    fn anchors_to_file_ends_need_the_whole_file() {
        let whole_file =
            |text: &str| FilterQuery::of(&Pattern::compile(text, PatternOptions::default()).unwrap()).whole_file;
        for text in ["end\\z", "\\Astart", "end(?:\\z|x)", "(?-m:end$)", "(?-m:^start)"] {
            assert!(whole_file(text), "{text}");
        }
        for text in ["end$", "^start", "\\bword\\b", "plain"] {
            assert!(!whole_file(text), "{text}");
        }
    }
}
