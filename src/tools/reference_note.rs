//! The first line of an answer to a call that gave a path by its end: which file was meant.

use serde_json::{Value, json};

use confined_fs::WorkspacePath;

use super::{
    Answer, CallContext, Content,
    fence::{FENCE, fenced},
    references::PathReference,
};

/// What an answer says first.
#[derive(Clone, Debug)]
pub(super) struct ReferenceNote {
    text: String,
    resolved: Vec<Value>,
}

impl ReferenceNote {
    /// The lines that the answer begins with, and the paths as data; `None` where each path was given whole.
    pub(super) fn of(cx: &CallContext) -> Option<Self> {
        let list = cx.references.list();
        if list.is_empty() {
            return None;
        }
        let sentences: Vec<String> = list.iter().map(PathReference::sentence).collect();
        let paths: Vec<WorkspacePath> = list.iter().filter_map(|one| cx.workspace.canonical(one.path()).ok()).collect();
        let resolved = list.iter().filter_map(|one| match one {
            PathReference::Resolved { given, path } => Some(json!({ "given": given, "path": path.to_string() })),
            PathReference::Namesake { .. } => None,
        });
        let resolved = resolved.collect();
        Some(Self { text: fenced(&cx.workspace, &paths, sentences.join("\n")), resolved })
    }

    /// What is left of the budget of a call.
    pub(super) fn room(&self, cx: &CallContext) -> CallContext {
        CallContext { budget: cx.budget.less(&self.text).reduced(FENCE), ..cx.clone() }
    }

    /// Whether the answer has room for it.
    pub(super) fn fits(&self, cx: &CallContext, answer: &Answer) -> bool {
        let texts = answer.content.iter().map(|block| match block {
            Content::Text(text) => cx.budget.cost(text),
            Content::Image { .. } | Content::Link(_) => 0,
        });
        cx.budget.cost(&self.text) + 1 + texts.sum::<usize>() <= cx.budget.limit
    }

    /// The answer that begins with it.
    pub(super) fn before(self, mut answer: Answer) -> Answer {
        match answer.content.first_mut() {
            Some(Content::Text(text)) => *text = format!("{}\n{text}", self.text),
            Some(Content::Image { .. } | Content::Link(_)) | None => answer.content.insert(0, Content::Text(self.text)),
        }
        if !self.resolved.is_empty() {
            let resolved = Value::Array(self.resolved);
            if let Some(Value::Object(data)) = &mut answer.data {
                data.insert("resolved".to_owned(), resolved.clone());
            }
            answer.facts.insert("resolved".to_owned(), resolved);
        }
        answer
    }
}
