//! Finds a name that stands twice in one object of a JSON text.
//!
//! Parsers keep the last of the two and say nothing. Bounded by the text: nothing but the names of the
//! objects at hand is kept.

use std::{collections::HashSet, fmt};

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// Characters of a name that are repeated.
const SHOWN: usize = 80;

/// The first name that stands twice in an object of `json`; none where the text is no JSON.
pub(super) fn member(json: &[u8]) -> Option<String> {
    let mut found = None;
    // Stops with an error at the first find.
    let _ = serde_json::Deserializer::from_slice(json).deserialize_any(Values { found: &mut found });
    found
}

/// Reads values of any kind and keeps none.
struct Values<'a> {
    found: &'a mut Option<String>,
}

impl Values<'_> {
    fn inner(&mut self) -> Values<'_> {
        Values { found: self.found }
    }
}

impl<'de> DeserializeSeed<'de> for Values<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Values<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<(), A::Error> {
        let mut names = HashSet::new();
        while let Some(name) = members.next_key::<String>()? {
            if names.contains(&name) {
                *self.found = Some(name.chars().take(SHOWN).collect());
                return Err(A::Error::custom("a name stands twice"));
            }
            names.insert(name);
            members.next_value_seed(self.inner())?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(self.inner())?.is_some() {}
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_stands_twice_in_one_object_is_found_at_any_depth() {
        for (json, name) in [
            (r#"{"a":1,"b":2,"a":1}"#, "a"),
            (r#"{"x":[1,{"y":null,"z":true,"y":"s"}]}"#, "y"),
            (r#"{"path":1,"p\u0061th":2}"#, "path"),
            (r#"{"x":{"b":1.5,"b":-1},"x":2}"#, "b"),
        ] {
            assert_eq!(member(json.as_bytes()).as_deref(), Some(name), "{json}");
        }
    }

    #[test]
    fn one_name_in_several_objects_is_none() {
        for json in [r#"{"a":{"a":[{"a":1},{"a":2}]}}"#, r#"{"a":"a","b":"\"a\":1"}"#, "[]", "17", "{", ""] {
            assert_eq!(member(json.as_bytes()), None, "{json}");
        }
    }
}
