//! Where one sequence occurs in another, in linear time.

/// How many of `items` there are up to each place where `pattern` ends, in linear time. An empty pattern ends at each.
pub(super) fn sequences(items: impl Iterator<Item = u64>, pattern: &[u64]) -> impl Iterator<Item = usize> {
    let border = borders(pattern);
    let mut reached = 0;
    items.enumerate().filter_map(move |(index, here)| {
        if !pattern.is_empty() {
            while reached > 0 && (reached == pattern.len() || pattern[reached] != here) {
                reached = border[reached - 1];
            }
            if pattern[reached] == here {
                reached += 1;
            }
        }
        (reached == pattern.len()).then_some(index + 1)
    })
}

/// For each prefix of `pattern` the length of its longest proper border.
fn borders(pattern: &[u64]) -> Vec<usize> {
    let mut borders = vec![0; pattern.len()];
    let mut len = 0;
    for index in 1..pattern.len() {
        while len > 0 && pattern[len] != pattern[index] {
            len = borders[len - 1];
        }
        if pattern[len] == pattern[index] {
            len += 1;
        }
        borders[index] = len;
    }
    borders
}
