//! The query of grams that any match must contain, as a graph.
//!
//! A path from the start of the graph to its end is one way to match, and the columns along it are those that
//! content which matches so has set. What alternatives have in common, before and behind them, is there
//! once: `(foo|bar|baz)_init` has a path for each word, and one `_init`. `pg_trgm` of `PostgreSQL` does
//! the same with the [trigrams of a regular expression][pg].
//!
//! [pg]: https://github.com/postgres/postgres/blob/master/contrib/pg_trgm/trgm_regexp.c

use std::collections::HashMap;

use super::gram::GramColumns;

/// Columns of an edge that are asked, the rarest ones. Each of them halves what is left at least, or nearly so.
const MAX_ASKED: usize = 24;

/// What a text must contain to match: a graph without circles, each node behind those that it comes from.
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
    /// Nothing in particular.
    pub(super) fn all() -> Self {
        Self { nodes: vec![Vec::new()] }
    }

    /// Whether it leaves nothing out.
    pub(super) fn is_all(&self) -> bool {
        self.nodes.len() == 1
    }

    /// Every column that it names, each once.
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

/// A node of a graph that is being made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct NodeId(usize);

/// An edge that is being made, of one byte.
pub(super) type NewEdge = (NodeId, GramColumns);

/// A graph that is being made.
#[derive(Debug)]
pub(super) struct GramGraph {
    nodes: Vec<Vec<NewEdge>>,
    /// The same edges lead to the same node.
    made: HashMap<Vec<NewEdge>, NodeId>,
}

impl GramGraph {
    /// Where a match begins.
    pub(super) const START: NodeId = NodeId(0);

    pub(super) fn new() -> Self {
        Self { nodes: vec![Vec::new()], made: HashMap::new() }
    }

    /// The node that any of these edges leads to.
    pub(super) fn node(&mut self, mut edges: Vec<NewEdge>) -> NodeId {
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
        let node = NodeId(self.nodes.len());
        self.nodes.push(edges.clone());
        self.made.insert(edges, node);
        node
    }

    /// The node that any of these nodes leads to without a demand.
    pub(super) fn any(&mut self, nodes: impl IntoIterator<Item = NodeId>) -> NodeId {
        self.node(nodes.into_iter().map(|node| (node, GramColumns::default())).collect())
    }

    /// Whether what reaches `node` reaches `other` as well.
    pub(super) fn implies(&self, node: NodeId, other: NodeId) -> bool {
        node == other || self.nodes[other.0].contains(&(node, GramColumns::default()))
    }

    /// The query of all paths to `end`; `None`: nothing can match.
    pub(super) fn query(self, end: Option<NodeId>) -> GramQuery {
        let Some(end) = end else { return GramQuery { nodes: vec![Vec::new(), Vec::new()] } };
        // How many edges lead on from each node towards the end.
        let mut used = vec![0_usize; self.nodes.len()];
        used[end.0] = 1;
        for (at, edges) in self.nodes.iter().enumerate().rev() {
            if used[at] > 0 {
                for (from, _) in edges {
                    used[from.0] += 1;
                }
            }
        }
        let query = self.joined(end, &used);
        query.simplified()
    }

    /// The same with the edges of a chain made one.
    fn joined(self, end: NodeId, used: &[usize]) -> GramQuery {
        let mut places = vec![0; self.nodes.len()];
        let mut nodes: Vec<Vec<Edge>> = vec![Vec::new()];
        // Of each node that only one edge leads to and from, that edge, to be continued.
        let mut open: HashMap<usize, Edge> = HashMap::new();
        for (at, edges) in self.nodes.into_iter().enumerate().take(end.0 + 1).skip(1) {
            if used[at] == 0 {
                continue;
            }
            let mut edges: Vec<Edge> = edges
                .into_iter()
                .map(|(from, columns)| {
                    let mut edge =
                        open.remove(&from.0).unwrap_or_else(|| Edge { from: places[from.0], columns: Vec::new() });
                    edge.columns.extend_from_slice(columns.as_slice());
                    edge
                })
                .collect();
            if edges.len() == 1 && used[at] == 1 && at != end.0 {
                open.extend(edges.pop().map(|edge| (at, edge)));
                continue;
            }
            places[at] = nodes.len();
            nodes.push(edges);
        }
        GramQuery { nodes }
    }
}
