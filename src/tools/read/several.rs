//! Several files in one answer, within one budget.

use confined_fs::escape_controls;

use super::{
    super::{
        Answer, AnswerBudget, Blocking, CallContext, Content, Kind, ToolError, answer::count, answer_budget::fair_share,
    },
    Shown, read_one,
    request::{Args, FileRequest},
    section::{FileOutput, Output, ReadRecord, ShownImage, Totals},
};

/// Files in one call.
const MAX_FILES: usize = 20;

/// Units of any budget for the footer and the first line of a file, without its path.
const MIN_SHARE: usize = 600;

/// The answer for one of the files, below its heading.
struct Piece {
    text: String,
    image: Option<ShownImage>,
    /// As data, without its text.
    output: FileOutput,
    error: Option<ToolError>,
    record: Option<ReadRecord>,
}

/// Separates the texts of two files.
const SEPARATOR: &str = "\n\n";

impl Piece {
    /// The line before it, with its line break.
    fn heading(&self) -> String {
        format!("==> {} <==\n", escape_controls(&self.output.path))
    }
}

/// The answer for `paths` within `budget`: small files whole, and what they leave of it shared by the others. Files that
/// it has no room for are named. An error is in its file's place. `records` are those of the files in it.
///
/// # Errors
/// `invalid_input` for arguments that contradict each other, and where no file could be read.
pub(super) fn read_several(
    cx: &CallContext,
    args: &Args,
    paths: &[String],
    budget: AnswerBudget,
    records: &mut Vec<ReadRecord>,
) -> Result<Answer, ToolError> {
    check(args, paths)?;
    let encoding = args.encoding()?;
    if cx.blocking == Blocking::Never {
        return Err(ToolError::would_block());
    }
    let read = |path: &String, budget| read_piece(cx, &FileRequest::of_entry(path.clone(), encoding, budget));
    let mut pieces = read_whole_pieces(cx, paths, budget, read)?;
    let left_out = not_shown(&paths[pieces.len()..], &budget);
    let headings: String = pieces.iter().map(|piece| piece.heading() + SEPARATOR).collect();
    let shares = shares(&pieces, budget.less(&headings).less(&left_out));
    for ((path, piece), share) in paths.iter().zip(&mut pieces).zip(shares) {
        if let Some(share) = share {
            cx.check()?;
            // Read again, and not cut here: its footer says where the text ends and how to go on.
            *piece = read(path, share)?;
        }
    }
    // A footer may have taken more than its share.
    let fits = |pieces: &[Piece]| {
        let text: String = pieces.iter().map(|piece| piece.heading() + &piece.text + SEPARATOR).collect();
        budget.less(&not_shown(&paths[pieces.len()..], &budget)).fits(&text)
    };
    while pieces.len() > 1 && !fits(&pieces) {
        // From the end: the note on what is not shown continues with the files from here on.
        pieces.pop();
    }
    // The last answer is the one that is sent: what longer ones before it had was not seen.
    *records = pieces.iter_mut().filter_map(|piece| piece.record.take()).collect();
    let rest = &paths[pieces.len()..];
    answer(cx, pieces, rest, &not_shown(rest, &budget))
}

/// The first of the files, as many as there is room for when each but the small ones is cut to [`MIN_SHARE`]. The others
/// are not read: they do not count as seen.
fn read_whole_pieces(
    cx: &CallContext,
    paths: &[String],
    budget: AnswerBudget,
    read: impl Fn(&String, AnswerBudget) -> Result<Piece, ToolError>,
) -> Result<Vec<Piece>, ToolError> {
    let mut pieces = Vec::new();
    let mut left = budget.limit;
    for (index, path) in paths.iter().enumerate() {
        cx.check()?;
        // Another one has to leave room for the names of those after it.
        let note = budget.cost(&not_shown(&paths[index + 1..], &budget));
        if index > 0 && left < note + MIN_SHARE {
            break;
        }
        let piece = read(path, budget)?;
        let heading = budget.cost(&(piece.heading() + SEPARATOR));
        left = left.saturating_sub(heading + budget.cost(&piece.text).min(MIN_SHARE + 2 * budget.cost(path)));
        pieces.push(piece);
    }
    Ok(pieces)
}

/// The names of the files that the answer has no room for, as the argument that continues; empty where there are none.
fn not_shown(paths: &[String], budget: &AnswerBudget) -> String {
    let [first, ..] = paths else { return String::new() };
    let quoted = |path: &String| serde_json::Value::from(escape_controls(path).into_owned()).to_string();
    let names: Vec<String> = paths.iter().map(quoted).collect();
    let files = count(paths.len(), "file");
    let note = format!("(no room for {files}; continue with paths=[{}])", names.join(","));
    if budget.cost(&note) <= budget.limit / 4 {
        return note;
    }
    format!("(no room for the last {files}; continue with paths from {} on)", quoted(first))
}

fn check(args: &Args, paths: &[String]) -> Result<(), ToolError> {
    const LINES: &str = "name the lines behind each file, as in src/a.rs:120-180,300-340";
    const PART: &str = "name a definition behind its file, as in src/a.rs:def load, or use path";
    let of_one = [
        ("path", args.path.is_some(), "send all files in paths"),
        ("offset", args.offset.is_some(), LINES),
        ("limit", args.limit.is_some(), LINES),
        ("start_line", args.start_line.is_some(), LINES),
        ("end_line", args.end_line.is_some(), LINES),
        ("since", args.since.is_some(), "a rev belongs to one file: use path"),
        ("part", args.part.is_some(), PART),
    ];
    if let Some((name, _, hint)) = of_one.iter().find(|(_, is_given, _)| *is_given) {
        return Err(ToolError::invalid(format!("`paths` and `{name}` were both given")).hint(*hint));
    }
    match paths.len() {
        0 => Err(ToolError::invalid("`paths` names no file").hint("name up to 20 files, or use path")),
        1..=MAX_FILES => Ok(()),
        n => Err(ToolError::invalid(format!("`paths` names {n} files; at most {MAX_FILES} are read at once"))
            .hint("send the others in another call")),
    }
}

/// Reads one file; only an error of the whole call is returned as `Err`.
fn read_piece(cx: &CallContext, request: &FileRequest) -> Result<Piece, ToolError> {
    let piece = |text, output| Piece { text, image: None, output, error: None, record: None };
    let named = FileOutput { path: request.path.clone(), ..FileOutput::default() };
    match read_one(cx, request) {
        Ok(Shown::File(section)) => {
            let (path, text) = (section.path.to_string(), section.render());
            let output = FileOutput { path, facts: Some(section.facts), ..named };
            Ok(Piece { image: section.image, record: section.record, ..piece(text, output) })
        }
        Ok(Shown::Directory(listing)) => {
            // `ls` answers with one text.
            let first = listing.content.into_iter().next();
            let Some(Content::Text(text)) = first else { return Ok(piece(String::new(), named)) };
            Ok(piece(text, named))
        }
        Err(error) if error.kind() == Kind::Cancelled => Err(error),
        Err(error) => {
            let output = FileOutput { error: Some(error.kind().as_str()), ..named };
            let text = error.text_within(&request.budget);
            Ok(Piece { error: Some(error), ..piece(text, output) })
        }
    }
}

/// The budget of each file that has to be cut; the others stay as they are.
fn shares(pieces: &[Piece], budget: AnswerBudget) -> Vec<Option<AnswerBudget>> {
    let costs: Vec<usize> = pieces.iter().map(|piece| budget.cost(&piece.text)).collect();
    let share = fair_share(&costs, budget.limit);
    let sizes: Vec<usize> =
        pieces.iter().map(|piece| piece.image.as_ref().map_or(0, |image| image.bytes.len())).collect();
    let image_share = fair_share(&sizes, budget.image_bytes);
    let is_over = |index: &usize| costs[*index] > share || sizes[*index] > image_share;
    let cut = AnswerBudget { limit: share, image_bytes: image_share, ..budget };
    (0..pieces.len()).map(|index| Some(cut).filter(|_| is_over(&index))).collect()
}

/// The answer of these files. `rest` are those that it has no room for, and `note` says so.
fn answer(cx: &CallContext, pieces: Vec<Piece>, rest: &[String], note: &str) -> Result<Answer, ToolError> {
    let failed = pieces.iter().filter(|piece| piece.error.is_some()).count();
    if failed == pieces.len() && rest.is_empty() {
        let error = |mut piece: Piece| Some((piece.error.take()?, piece.heading() + &piece.text));
        return Err(ToolError::of_all(pieces.into_iter().filter_map(error).collect(), "read"));
    }
    let lines = |piece: &Piece| piece.output.facts.as_ref().and_then(|facts| facts.returned_lines).unwrap_or(0);
    let total_returned_lines = pieces.iter().map(lines).sum();
    let totals = Totals { read: pieces.len() - failed, failed, total_returned_lines };
    let files = pieces.iter().map(|piece| piece.output.clone()).collect();
    let mut output = Output { file: None, files: Some(files), not_shown: rest.to_vec(), totals: Some(totals) };
    let mut answer = Answer { content: Vec::new(), ..Answer::text("", &output) };
    let mut text = String::new();
    for (piece, output) in pieces.into_iter().zip(output.files.iter_mut().flatten()) {
        if !text.is_empty() {
            text.push_str(SEPARATOR);
        }
        text.push_str(&piece.heading());
        text.push_str(&piece.text);
        output.mime_type = piece.image.as_ref().map(|image| image.mime);
        output.text = Some(piece.text).filter(|_| cx.settings.structured_output);
        if let Some(ShownImage { bytes, mime }) = piece.image {
            // Blocks have no names in MCP: the heading in the text right before an image tells which file it is of.
            answer.content.push(Content::Text(std::mem::take(&mut text)));
            answer.content.push(Content::Image { bytes, mime });
        }
    }
    if !note.is_empty() {
        text.push_str(SEPARATOR);
        text.push_str(note);
    }
    if !text.is_empty() {
        // After an image it begins with the separator of what is in the block before.
        answer.content.push(Content::Text(text.trim_start_matches('\n').to_owned()));
    }
    Ok(answer.data(cx, &output))
}
