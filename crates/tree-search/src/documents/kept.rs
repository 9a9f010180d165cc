//! The texts of documents that were read, for the searches that follow: in memory, and in files of the state folder.
//!
//! A document is read in milliseconds to seconds, its text is searched in microseconds. So a text is kept as long as its
//! document is in the state that it was read in: device, inode, size and both times. One that was changed a moment ago is
//! not kept, as a second change within the tick of the clock would not show ([racy-git]). On a file system that does not
//! promise its inodes and times nothing is stored, as for the stored index, whose bound counts here as well.
//!
//! Each text is one file, published by a rename: readers take no lock, several processes may fill the folder, and what a
//! crash leaves of one is refused by its checksum. Only documents are read that policy lets be opened, and each call asks
//! policy again before it asks for a text.
//!
//! [racy-git]: https://git-scm.com/docs/racy-git

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::SystemTime;
use std::{ffi::OsStr, io};

use change_set::StateDir;
use confined_fs::{Stat, StatFacts, WorkspacePath};
use serde::{Deserialize, Serialize};

use crate::StoredIndexes;
use crate::documents::{DocumentText, MetDocument};
use crate::stored_index::{CLOCK_TICK, TEXT_SUFFIX, TOUCHED_EVERY};

/// Bytes of texts that are in memory.
const MAX_MEMORY_BYTES: usize = 12 << 20;
/// Texts that are stored between two looks at how much there is in the folder.
const STORED_PER_LOOK: usize = 32;
/// Another number where documents give other texts, or the bytes have another meaning.
const MAGIC_BYTES: &[u8; 8] = b"RBtext2\n";
/// After them: a checksum of what follows, and the length of the header.
const LENGTHS_BYTES: usize = 8;

/// What a file holds beside the lines, as JSON.
#[derive(Serialize, Deserialize)]
struct StoredText {
    /// The state of the document: see [`state_of`].
    state: String,
    /// Where it was read: the key of its root and its path there.
    root: String,
    path: String,
    text: DocumentText,
}

/// The texts in memory.
#[derive(Debug, Default)]
pub(crate) struct TextMemory {
    texts: HashMap<WorkspacePath, RememberedText>,
    bytes: usize,
    /// Calls so far: a text that the present call has used is not dropped for another of its own.
    calls: u64,
    /// Texts that were stored since the last look at the folder.
    stored: usize,
}

#[derive(Debug)]
struct RememberedText {
    stat: Stat,
    text: Arc<DocumentText>,
    used: u64,
}

/// The texts of documents, as one call sees them.
#[derive(Debug)]
pub struct DocumentTexts<'i> {
    stored: &'i StoredIndexes,
    memory: &'i Mutex<TextMemory>,
    call: u64,
    /// The folder, where there is one; opened when it is first needed.
    folder: OnceLock<Option<StateDir>>,
    /// Whether texts of a root may be stored, by its place among the roots.
    storable: Mutex<HashMap<usize, bool>>,
}

impl<'i> DocumentTexts<'i> {
    pub(crate) fn new(stored: &'i StoredIndexes, memory: &'i Mutex<TextMemory>) -> Self {
        let mut remembered = memory.lock().unwrap_or_else(PoisonError::into_inner);
        remembered.calls += 1;
        let call = remembered.calls;
        drop(remembered);
        Self { stored, memory, call, folder: OnceLock::new(), storable: Mutex::default() }
    }

    fn memory(&self) -> MutexGuard<'_, TextMemory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The text of a document in the state in which it was met, where it is kept.
    pub fn get(&self, met: &MetDocument) -> Option<Arc<DocumentText>> {
        if let Some(known) = self.memory().texts.get_mut(&met.real)
            && known.stat.same_file_state(&met.stat)
        {
            known.used = self.call;
            return Some(Arc::clone(&known.text));
        }
        let facts = met.stat.facts().filter(|_| self.is_storable(&met.real))?;
        let file = self.folder()?.open_private(&file_name(&facts)).ok()?;
        let mut bytes = vec![0; usize::try_from(file.size()).ok()?];
        file.read_at(&mut bytes, 0).ok()?;
        let text = Arc::new(decoded(bytes, &facts)?);
        if file
            .used()
            .and_then(|used| SystemTime::now().duration_since(used).ok())
            .is_none_or(|age| age >= TOUCHED_EVERY)
        {
            // In a state folder that is read-only nothing is removed, either.
            let _ = file.touch();
        }
        self.remember(met, &text);
        Some(text)
    }

    /// Keeps the text of a document that was read in the state in which it was met, unless it was changed a moment ago; false
    /// where there is no room.
    pub fn keep(&self, met: &MetDocument, text: &Arc<DocumentText>) -> bool {
        if !is_settled(&met.stat) {
            return true;
        }
        let is_remembered = self.remember(met, text);
        let facts = met.stat.facts().filter(|_| self.is_storable(&met.real));
        facts.is_some_and(|facts| self.store(met, &facts, text).is_ok()) || is_remembered
    }

    /// Keeps it in memory alone; false where there is no room.
    pub fn remember(&self, met: &MetDocument, text: &Arc<DocumentText>) -> bool {
        let mut memory = self.memory();
        if let Some(former) = memory.texts.remove(&met.real) {
            memory.bytes -= former.text.weight();
        }
        let weight = text.weight();
        while memory.bytes + weight > MAX_MEMORY_BYTES {
            let older = memory.texts.iter().filter(|(_, text)| text.used < self.call);
            let Some(oldest) = older.min_by_key(|(_, text)| text.used).map(|(path, _)| path.clone()) else {
                return false;
            };
            let dropped = memory.texts.remove(&oldest);
            memory.bytes -= dropped.map_or(0, |dropped| dropped.text.weight());
        }
        memory.bytes += weight;
        let remembered = RememberedText { stat: met.stat.clone(), text: Arc::clone(text), used: self.call };
        memory.texts.insert(met.real.clone(), remembered);
        true
    }

    fn is_storable(&self, path: &WorkspacePath) -> bool {
        let mut storable = self.storable.lock().unwrap_or_else(PoisonError::into_inner);
        *storable.entry(path.root().index()).or_insert_with(|| path.root().identity_for_index().is_ok())
    }

    fn folder(&self) -> Option<&StateDir> {
        self.folder.get_or_init(|| self.stored.text_folder().ok().flatten()).as_ref()
    }

    fn store(&self, met: &MetDocument, facts: &StatFacts, text: &DocumentText) -> io::Result<()> {
        let folder = self.folder().ok_or(io::ErrorKind::NotFound)?;
        let is_due = {
            let mut memory = self.memory();
            memory.stored += 1;
            memory.stored % STORED_PER_LOOK == 1
        };
        let mut file = folder.new_private()?;
        file.write(&encoded(met, facts, text)?)?;
        file.publish_unsynced(&file_name(facts))?;
        if is_due { make_room(folder, self.stored.most_bytes()) } else { Ok(()) }
    }
}

/// Whether a later change would show in the times of the file.
fn is_settled(stat: &Stat) -> bool {
    let moment = StatFacts::moment_before(SystemTime::now(), CLOCK_TICK);
    match stat.facts() {
        Some(facts) => moment.is_some_and(|moment| facts.is_older_than(moment)),
        None => {
            stat.modified.and_then(|at| SystemTime::now().duration_since(at).ok()).is_some_and(|age| age > CLOCK_TICK)
        }
    }
}

/// Removes the texts that were used least recently, until those that stay have at most `most` bytes.
fn make_room(folder: &StateDir, most: u64) -> io::Result<()> {
    folder.sweep()?;
    let mut files = folder.files()?;
    files.sort_unstable_by_key(|file| file.modified);
    let mut total: u64 = files.iter().map(|file| file.size).sum();
    for file in files {
        if total <= most {
            break;
        }
        // Another process may have removed it at this moment.
        let _ = folder.remove_any(OsStr::new(&file.name));
        total -= file.size;
    }
    Ok(())
}

/// By the numbers of the file, so that a document keeps its text when it is moved.
fn file_name(facts: &StatFacts) -> String {
    format!("{:x}-{:x}{TEXT_SUFFIX}", facts.device, facts.inode)
}

fn state_of(facts: &StatFacts) -> String {
    let StatFacts { device, inode, size, modified, changed } = facts;
    format!("{device}.{inode}.{size}.{}.{}.{}.{}", modified.0, modified.1, changed.0, changed.1)
}

fn encoded(met: &MetDocument, facts: &StatFacts, text: &DocumentText) -> io::Result<Vec<u8>> {
    let (root, path) = (met.real.root().key().to_owned(), met.real.relative().to_string_lossy().into_owned());
    let header = serde_json::to_vec(&StoredText { state: state_of(facts), root, path, text: text.without_lines() })?;
    let mut bytes = [&MAGIC_BYTES[..], &[0; LENGTHS_BYTES]].concat();
    let length = u32::try_from(header.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
    let checked = MAGIC_BYTES.len() + 4;
    bytes[checked..].copy_from_slice(&length.to_le_bytes());
    bytes.extend(header);
    bytes.extend(text.lines.as_bytes());
    let checksum = crc32fast::hash(&bytes[checked..]);
    bytes[MAGIC_BYTES.len()..checked].copy_from_slice(&checksum.to_le_bytes());
    Ok(bytes)
}

/// The text in the bytes of a file; `None` where they are damaged, or of another state or version.
fn decoded(mut bytes: Vec<u8>, facts: &StatFacts) -> Option<DocumentText> {
    let (checksum, checked) = bytes.strip_prefix(MAGIC_BYTES)?.split_first_chunk::<4>()?;
    if crc32fast::hash(checked) != u32::from_le_bytes(*checksum) {
        return None;
    }
    let (length, rest) = checked.split_first_chunk::<4>()?;
    let header = rest.get(..usize::try_from(u32::from_le_bytes(*length)).ok()?)?;
    let StoredText { state, mut text, .. } = serde_json::from_slice(header).ok()?;
    let lines = MAGIC_BYTES.len() + LENGTHS_BYTES + header.len();
    if state != state_of(facts) {
        return None;
    }
    bytes.drain(..lines);
    text.lines = String::from_utf8(bytes).ok()?;
    text.is_valid().then_some(text)
}
