//! Answers that are rendered again with less, until everything around their list fits as well.

use std::convert::Infallible;

use super::{Answer, AnswerBudget, CallContext, Content};

/// How often an answer is rendered at most.
const TRIES: usize = 8;
/// What a shorter list may add around itself: digits, a note that it was cut.
const SLACK: usize = 64;

/// The answer that `render` makes with as much of the call's budget as leaves room for what it adds to the list.
///
/// `render` is given what the list may take; it shows at least one item, or what says that there is none.
pub(super) fn fitted(cx: &CallContext, mut render: impl FnMut(AnswerBudget) -> Answer) -> Answer {
    let Ok(answer) = try_fitted::<Infallible>(cx, cx.budget.list(), |room| Ok(render(room)));
    answer
}

/// As [`fitted`], with a list that takes `room` at first, and an error of `render` returned.
pub(super) fn try_fitted<E>(
    cx: &CallContext,
    mut room: AnswerBudget,
    mut render: impl FnMut(AnswerBudget) -> Result<Answer, E>,
) -> Result<Answer, E> {
    for _ in 1..TRIES {
        let answer = render(room)?;
        match smaller(&cx.budget, room, &answer) {
            None => return Ok(answer),
            Some(less) => room = less,
        }
    }
    render(AnswerBudget { limit: 0, ..room })
}

/// What the list must be rendered with where the answer with a list of `room` is over `budget`.
fn smaller(budget: &AnswerBudget, room: AnswerBudget, answer: &Answer) -> Option<AnswerBudget> {
    let mut limit = room.limit;
    let texts = answer.content.iter().map(|block| match block {
        Content::Text(text) => budget.cost(text),
        Content::Image { .. } | Content::Link(_) => 0,
    });
    let used: usize = texts.sum();
    let over = used.saturating_sub(budget.limit);
    if over > 0 {
        limit = room.limit.saturating_sub(over + SLACK);
    }
    // A client that is sent the data shows that instead of the text.
    if let Some(data) = &answer.data {
        let size = budget.of_json().cost(&data.to_string());
        if size > budget.limit {
            // Of the text that it has: a list may be far shorter than its room, and its data longer.
            limit = limit.min((used.min(room.limit) * budget.limit / size).saturating_sub(SLACK));
        }
    }
    (limit < room.limit).then_some(AnswerBudget { limit, ..room })
}
