//! The documents that a search met, searched by their text, which is read here where none is kept.
//!
//! They come after the text files, in path order. Reading takes at most [`READING_TIME`] of a call, on all processors;
//! hits are given up to the first document that is not searched yet, so that pages neither repeat nor lose one. What is
//! left is read on in the background. A document that takes longer than [`TIME_OF_ONE`] is given up, so that it costs its
//! own place alone.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use confined_fs::WorkspacePath;
use confined_fs::stop::{StopReason, StopSignal};
use tree_search::documents::{DocumentSearch, DocumentText, DocumentTexts, HitLimits, MetDocument};
use tree_search::{ContentHits, FileHits, Keep, Query, SearchMode};

use crate::CallContext;
use crate::answer::count;
use crate::read::{ReadDocument, read_document};

/// How long documents are read in one call.
const READING_TIME: Duration = Duration::from_secs(5);
/// How long one document may be read in a call, and in the background.
const TIME_OF_ONE: Duration = Duration::from_secs(4);
const BACKGROUND_TIME_OF_ONE: Duration = Duration::from_secs(30);
/// Bytes of texts that may wait for a document before them.
const MAX_WAITING_BYTES: usize = 4 << 20;
const PROGRESS_INTERVAL: Duration = Duration::from_millis(250);
const LOOK_INTERVAL: Duration = Duration::from_millis(2);
/// Documents that a note names, each with why text of it is missing.
const MAX_NAMED: usize = 3;

/// What became of the documents of a call.
#[derive(Debug, Default)]
pub(super) struct SearchedDocuments {
    all: usize,
    /// How many are searched, up to the first one that is not.
    pub(super) searched: usize,
    /// How many are not searched yet, where that is of interest: the page is not full.
    pub(super) left: usize,
    /// Those of which text is missing, with the reason.
    flawed: Vec<(WorkspacePath, String)>,
    /// Those without any text, as scans are.
    empty: Vec<WorkspacePath>,
    /// Whether there was no room to keep all that was read.
    is_crowded: bool,
}

/// The result for one document.
enum Outcome {
    Searched(Arc<DocumentText>, Option<Box<FileHits>>),
    /// No document after all, or another one now.
    Other,
}

/// Results in path order: those before the first document without one count.
struct Merge<'f> {
    waiting: BTreeMap<usize, Outcome>,
    waiting_bytes: usize,
    merged: usize,
    results: usize,
    is_full: bool,
    reported: Instant,
    /// Hits on the page, each with the number of results before it.
    page: Vec<(usize, usize, Arc<DocumentText>)>,
    found: &'f mut ContentHits,
    report: SearchedDocuments,
}

struct Search<'s> {
    cx: &'s CallContext,
    /// Counts matches where lines are wanted: which of them are on the page is known once they are in order.
    counting: Query<'s>,
    /// Whether results are lines.
    counts_lines: bool,
    stop: &'s StopSignal,
    began: Instant,
    documents: &'s [MetDocument],
    texts: &'s DocumentTexts<'s>,
    next: AtomicUsize,
    is_done: AtomicBool,
    is_crowded: AtomicBool,
    merge: Mutex<Merge<'s>>,
}

/// Searches the documents that `found` has met, and adds their results to it.
pub(super) fn search_documents(cx: &CallContext, query: &Query<'_>, found: &mut ContentHits) -> SearchedDocuments {
    let documents = std::mem::take(&mut found.documents);
    let report = SearchedDocuments { all: documents.len(), ..SearchedDocuments::default() };
    if documents.is_empty() || found.capped || found.stopped.is_some() {
        return report;
    }
    let (texts, stop) = (cx.path_index.document_texts(), cx.stop.with_earlier_deadline(READING_TIME));
    let is_of_lines = matches!(query.mode, SearchMode::Lines { .. });
    let mode = if is_of_lines { SearchMode::Counts } else { query.mode };
    let results = if is_of_lines { found.matches } else { found.matching_files };
    let (waiting, page) = (BTreeMap::new(), Vec::new());
    let merge = Merge {
        waiting,
        waiting_bytes: 0,
        merged: 0,
        results,
        is_full: false,
        reported: Instant::now(),
        page,
        found,
        report,
    };
    let search = Search {
        cx,
        counting: Query { mode, stop: &stop, ..*query },
        counts_lines: is_of_lines,
        stop: &stop,
        began: Instant::now(),
        documents: &documents,
        texts: &texts,
        next: AtomicUsize::new(0),
        is_done: AtomicBool::new(false),
        is_crowded: AtomicBool::new(false),
        merge: Mutex::new(merge),
    };
    thread::scope(|threads| {
        for _ in 1..query.threads.min(documents.len()) {
            // As many as the system makes.
            let _ = thread::Builder::new().spawn_scoped(threads, || search.work());
        }
        search.work();
    });
    let is_crowded = search.is_crowded.into_inner();
    let merge = search.merge.into_inner().unwrap_or_else(PoisonError::into_inner);
    let Merge { merged, is_full, page, found, mut report, .. } = merge;
    (report.searched, report.is_crowded) = (merged, is_crowded);
    found.capped |= is_full;
    if cx.stop.stopped() == Some(StopReason::Cancelled) {
        found.stopped = Some(StopReason::Cancelled);
        return report;
    }
    if is_of_lines {
        fetch_lines(cx, query, &documents, page, found);
    }
    if let Keep::Newest { limit } = query.keep {
        found.files.sort_by(|(_, one), (_, other)| {
            (Reverse(one.stat.modified), &one.path).cmp(&(Reverse(other.stat.modified), &other.path))
        });
        found.files.truncate(limit);
        found.files.iter_mut().enumerate().for_each(|(at, (before, _))| *before = at);
    }
    if !is_full && merged < documents.len() {
        report.left = documents.len() - merged;
        read_on(cx, documents[merged..].to_vec());
    }
    report
}

/// Searches the documents of the page once more for their lines.
fn fetch_lines(
    cx: &CallContext,
    query: &Query<'_>,
    documents: &[MetDocument],
    page: Vec<(usize, usize, Arc<DocumentText>)>,
    found: &mut ContentHits,
) {
    let Keep::Page { skip, take } = query.keep else { return };
    let mut search = DocumentSearch::new(&cx.workspace, query);
    let mut left = query.text_budget;
    for (before, at, text) in page {
        let matches = (skip + take + 1).saturating_sub(before);
        let limits = HitLimits { skip: skip.saturating_sub(before), matches, text: left };
        let (hits, stopped) = search.search(&documents[at], &text, limits);
        found.stopped = found.stopped.or(stopped);
        let Some(hits) = hits else { continue };
        left = left.saturating_sub(hits.text_bytes());
        found.files.push((before, hits));
        if left == 0 {
            found.capped = true;
            return;
        }
    }
}

impl Search<'_> {
    fn is_over(&self) -> bool {
        self.is_done.load(Ordering::Relaxed) || self.stop.stopped().is_some()
    }

    /// Takes documents, one after the other, until there are no more, or enough.
    fn work(&self) {
        let mut search = DocumentSearch::new(&self.cx.workspace, &self.counting);
        while !self.is_over() {
            let at = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(met) = self.documents.get(at) else { return };
            let Some(outcome) = self.outcome(&mut search, met) else { return };
            self.add(at, outcome);
        }
    }

    /// The result for a document; `None` where the time is over before there is one.
    fn outcome(&self, search: &mut DocumentSearch<'_>, met: &MetDocument) -> Option<Outcome> {
        let text = match self.texts.get(met) {
            Some(text) => text,
            None => match read_document(&self.cx.workspace, met, self.cx.settings.max_file_size, &self.time_of_one()) {
                ReadDocument::Other => return Some(Outcome::Other),
                ReadDocument::Read(text) => {
                    let text = Arc::new(text);
                    if !self.texts.keep(met, &text) {
                        self.is_crowded.store(true, Ordering::Relaxed);
                    }
                    text
                }
                ReadDocument::Stopped if self.is_over() => return None,
                ReadDocument::Stopped => {
                    let text = Arc::new(DocumentText::unreadable("too large: it takes too long to read".to_owned()));
                    self.texts.remember(met, &text);
                    text
                }
            },
        };
        let matches = match self.counting.keep {
            Keep::Page { skip, take } if self.counts_lines => skip + take + 1,
            _ => usize::MAX,
        };
        let (hits, stopped) = search.search(met, &text, HitLimits { skip: usize::MAX, matches, text: usize::MAX });
        // One whose text is missing, or that has none, cannot be said to hold no match.
        let is_result =
            |_: &_| self.counting.mode != SearchMode::FilesWithout || text.flaw().is_none() && !text.is_empty();
        let hits = hits.filter(is_result);
        stopped.is_none().then_some(Outcome::Searched(text, hits))
    }

    fn add(&self, at: usize, outcome: Outcome) {
        let weight = |outcome: &Outcome| match outcome {
            Outcome::Searched(text, Some(_)) => text.weight(),
            _ => 0,
        };
        let mut merge = self.merge.lock().unwrap_or_else(PoisonError::into_inner);
        // A slow document must not let the texts of all after it pile up.
        while merge.merged < at && merge.waiting_bytes > MAX_WAITING_BYTES && !self.is_over() {
            drop(merge);
            thread::sleep(LOOK_INTERVAL);
            merge = self.merge.lock().unwrap_or_else(PoisonError::into_inner);
        }
        merge.waiting_bytes += weight(&outcome);
        merge.waiting.insert(at, outcome);
        while !merge.is_full {
            let next = merge.merged;
            let Some(outcome) = merge.waiting.remove(&next) else { break };
            merge.waiting_bytes -= weight(&outcome);
            merge.merged += 1;
            self.take(&mut merge, next, outcome);
        }
        if merge.is_full {
            self.is_done.store(true, Ordering::Relaxed);
        }
        if merge.reported.elapsed() >= PROGRESS_INTERVAL {
            merge.reported = Instant::now();
            let (done, all) = (merge.merged, self.documents.len());
            // Progress must grow from update to update, and the files before were counted.
            let base = merge.found.tally.searched as u64;
            drop(merge);
            self.cx.report(base + done as u64, Some(base + all as u64), format!("searched {done} of {all} documents"));
        }
    }

    /// Counts the result for the document at that place, which is the next one in order.
    fn take(&self, merge: &mut Merge<'_>, at: usize, outcome: Outcome) {
        let Outcome::Searched(text, hits) = outcome else { return };
        match text.flaw() {
            Some(why) => merge.report.flawed.push((self.documents[at].path.clone(), why.to_owned())),
            None if text.is_empty() => merge.report.empty.push(self.documents[at].path.clone()),
            None => {}
        }
        let Some(hits) = hits else { return };
        let before = merge.results;
        merge.found.matching_files += 1;
        merge.found.matches += hits.matches;
        merge.found.occurrences += hits.occurrences;
        merge.results += if self.counts_lines { hits.matches } else { 1 };
        let is_on_page = match self.counting.keep {
            Keep::Page { skip, take } => {
                merge.is_full = merge.results > skip + take;
                merge.results > skip && before < skip + take
            }
            Keep::Newest { .. } => true,
            Keep::Nothing => false,
        };
        match is_on_page {
            true if self.counts_lines => merge.page.push((before, at, text)),
            true => merge.found.files.push((before, hits)),
            false => {}
        }
    }

    fn time_of_one(&self) -> StopSignal {
        self.stop.with_earlier_deadline(TIME_OF_ONE.min(READING_TIME.saturating_sub(self.began.elapsed())))
    }
}

/// Reads documents in the background, so that their texts are kept for the call that goes on.
fn read_on(cx: &CallContext, documents: Vec<MetDocument>) {
    let (workspace, max_file_size) = (Arc::clone(&cx.workspace), cx.settings.max_file_size);
    let mut documents = documents.into_iter();
    cx.path_index.read_documents(move |texts| {
        let Some(met) = documents.next() else { return false };
        if texts.get(&met).is_some() {
            return true;
        }
        let stop = StopSignal::after(BACKGROUND_TIME_OF_ONE);
        match read_document(&workspace, &met, max_file_size, &stop) {
            ReadDocument::Read(text) => texts.keep(&met, &Arc::new(text)),
            ReadDocument::Other | ReadDocument::Stopped => true,
        }
    });
}

impl SearchedDocuments {
    /// What is not searched yet, and what to do.
    pub(super) fn left_note(&self) -> Option<String> {
        let left = format!("{} of {} not searched", with_commas(self.left), count_with_commas(self.all, "document"));
        let next = if self.is_crowded {
            "; they are too many to be kept: narrow the path or add a glob filter"
        } else {
            " yet; repeat the call, which goes on"
        };
        (self.left > 0).then(|| left + next)
    }

    /// Which documents have text that is missing here, or none: there may be a match in them.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.flawed.len() <= MAX_NAMED {
            let named = self.flawed.iter().map(|(path, why)| format!("{path} ({why})"));
            let named = named.collect::<Vec<_>>().join(", ");
            notes.extend((!named.is_empty()).then(|| format!("not searched whole: {named}")));
        } else {
            let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
            for (_, why) in &self.flawed {
                *reasons.entry(why.split(':').next().unwrap_or(why)).or_default() += 1;
            }
            let reasons = reasons.iter().map(|(why, files)| format!("{files} {why}")).collect::<Vec<_>>().join(", ");
            notes.push(format!("({} not searched whole: {reasons})", count(self.flawed.len(), "document")));
        }
        if !self.empty.is_empty() {
            let hold = if self.empty.len() == 1 { "holds" } else { "hold" };
            let named: Vec<_> = self.empty.iter().take(MAX_NAMED).map(ToString::to_string).collect();
            let (named, more) = (named.join(", "), if self.empty.len() > MAX_NAMED { ", \u{2026}" } else { "" });
            notes.push(format!("({} {hold} no text, as scans do: {named}{more})", count(self.empty.len(), "document")));
        }
        notes
    }

    pub(super) fn flawed(&self) -> usize {
        self.flawed.len()
    }
}

/// `1,000`.
fn with_commas(number: usize) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev().map(|group| String::from_utf8_lossy(group));
    groups.collect::<Vec<_>>().join(",")
}

fn count_with_commas(number: usize, noun: &str) -> String {
    format!("{} {noun}{}", with_commas(number), if number == 1 { "" } else { "s" })
}
