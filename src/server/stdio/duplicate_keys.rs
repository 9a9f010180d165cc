//! Reads a JSON text, and finds a key that occurs twice in one object of it.
//!
//! RFC 8259, section 4 leaves the meaning of duplicate keys open; most parsers silently keep the last one.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use text_file::shorten;

/// Characters of a name that are repeated.
const SHOWN: usize = 80;

/// The value of `json`, and the first key that occurs twice in an object of it.
pub(super) fn parse(json: &[u8]) -> Result<(Value, Option<String>), serde_json::Error> {
    let mut found = None;
    let mut parser = serde_json::Deserializer::from_slice(json);
    let value = ValueSeed { found: &mut found }.deserialize(&mut parser)?;
    parser.end()?;
    Ok((value, found))
}

/// Reads a value of any kind.
struct ValueSeed<'a> {
    found: &'a mut Option<String>,
}

impl<'de> DeserializeSeed<'de> for ValueSeed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueSeed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            if object.contains_key(&name) && self.found.is_none() {
                *self.found = Some(shorten(&name, SHOWN).into_owned());
            }
            let value = members.next_value_seed(ValueSeed { found: self.found })?;
            object.insert(name, value);
        }
        Ok(Value::Object(object))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(ValueSeed { found: self.found })? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicate_key_is_found_at_any_depth() {
        for (json, name) in [
            (r#"{"a":1,"b":2,"a":1}"#, "a"),
            (r#"{"x":[1,{"y":null,"z":true,"y":"s"}]}"#, "y"),
            (r#"{"path":1,"p\u0061th":2}"#, "path"),
            (r#"{"x":{"b":1.5,"b":-1},"x":2}"#, "b"),
        ] {
            let (value, found) = parse(json.as_bytes()).unwrap();
            assert_eq!(found.as_deref(), Some(name), "{json}");
            assert_eq!(value, serde_json::from_str::<Value>(json).unwrap(), "the last one counts");
        }
    }

    #[test]
    fn same_key_in_different_objects_is_no_duplicate() {
        for json in [r#"{"a":{"a":[{"a":1},{"a":-2}]}}"#, r#"{"a":"a","b":"\"a\":1"}"#, "[null,true,0.5]", "17"] {
            let plain: Value = serde_json::from_str(json).unwrap();
            assert_eq!(parse(json.as_bytes()).unwrap(), (plain, None), "{json}");
        }
    }

    #[test]
    fn invalid_json_is_an_error() {
        for text in ["{", "", "{} x", r#"{"a":"\ud800"}"#] {
            assert!(parse(text.as_bytes()).is_err(), "{text}");
        }
    }
}
