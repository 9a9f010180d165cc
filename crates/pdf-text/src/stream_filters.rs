//! The filters that a stream names.

use super::{
    filter::Filter,
    object::{Dict, Object},
};

/// The filters of a stream whose entries are direct objects; `None` if one is not.
pub(super) fn direct_filters(dict: &Dict) -> Option<Vec<Filter>> {
    let get = |long: &[u8], short: &[u8]| dict.get(long).or_else(|| dict.get(short)).unwrap_or(&Object::Null);
    filters(get(b"Filter", b"F"), get(b"DecodeParms", b"DP"))
}

/// A name or an array of them, and the parameters for each.
pub(super) fn filters(names: &Object, parameters: &Object) -> Option<Vec<Filter>> {
    let names = match names {
        Object::Null => &[],
        Object::Array(names) => names.as_slice(),
        name => std::slice::from_ref(name),
    };
    let of = |index| match parameters {
        Object::Array(items) => items.get(index).and_then(Object::dict).cloned(),
        Object::Dict(dict) if index + 1 == names.len() => Some(dict.clone()),
        _ => None,
    };
    names
        .iter()
        .enumerate()
        .map(|(index, name)| Some(Filter { name: name.name()?.to_vec(), parameters: of(index).unwrap_or_default() }))
        .collect()
}
