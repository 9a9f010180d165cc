//! Parses a line: a message for the service, an error for the client, or nothing.
//!
//! Pure. The head is parsed first and leniently, so that the id is known whatever is wrong with the rest; then the
//! method decides the type, so that an error says what is wrong with its parameters.

use std::fmt;

use rmcp::{
    ErrorData,
    model::{
        CallToolRequest, CancelledNotification, ClientJsonRpcMessage, ClientNotification, ClientRequest, ClientResult,
        CompleteRequest, CustomRequest, DiscoverRequest, ElicitResult, ErrorCode, GetMeta as _, InitializeRequest,
        ListResourceTemplatesRequest, ListResourcesRequest, ListToolsRequest, PaginatedRequestParams, PingRequest,
        ProtocolVersion, ReadResourceRequest, RequestId,
    },
};
use serde::{
    Deserialize,
    de::{DeserializeOwned, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Value, error::Category, value::RawValue};
use text_file::{exact_size, shorten};

use file_tools::{is_cut_json, quote_numbers};

use super::frame::IdScanner;

/// Characters of a method or an id that are repeated.
const MAX_REASON: usize = 300;

#[derive(Clone, Debug)]
pub(in crate::server) struct DuplicateKey(pub(in crate::server) String);

/// The code of a request that is refused for now: JSON-RPC reserves -32000 to -32099 for servers.
const BUSY_CODE: ErrorCode = ErrorCode(-32000);

#[derive(Debug)]
pub(super) enum Incoming {
    Deliver(Box<ClientJsonRpcMessage>),
    Refuse { id: Option<RequestId>, error: ErrorData },
    Ignore,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Head {
    #[serde(default)]
    jsonrpc: Option<String>,
    #[serde(default, deserialize_with = "present")]
    id: Option<Value>,
    #[serde(default)]
    method: Option<String>,
    #[serde(default, deserialize_with = "present")]
    result: Option<IgnoredAny>,
    #[serde(default, deserialize_with = "present")]
    error: Option<IgnoredAny>,
}

/// A member that is present, even if it is null.
fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

pub(super) fn parse(line: &[u8]) -> Incoming {
    if line.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[') {
        // Only 2025-03-26 had them (https://modelcontextprotocol.io/specification/2025-06-18/changelog).
        return refuse(None, ErrorCode::INVALID_REQUEST, "batches are not supported; send one message per line");
    }
    let head: Head = match serde_json::from_slice(line) {
        Ok(head) => head,
        Err(error) => {
            let code = match error.classify() {
                // It is JSON, but not of the protocol (JSON-RPC 2.0, section 5.1).
                Category::Data => ErrorCode::INVALID_REQUEST,
                Category::Syntax | Category::Eof | Category::Io => ErrorCode::PARSE_ERROR,
            };
            let mut scanner = IdScanner::default();
            scanner.feed(line);
            return refuse(scanner.finish(), code, format!("not a JSON-RPC message: {}", wrong_message(line, &error)));
        }
    };
    let id = match &head.id {
        None => None,
        Some(id) => match RequestId::deserialize(id) {
            Ok(id) => Some(id),
            // A response to nothing that was asked: an error in return would be a second one without a request.
            Err(_) if head.method.is_none() => return Incoming::Ignore,
            Err(_) => return refuse(None, ErrorCode::INVALID_REQUEST, "an id must be a string or an integer"),
        },
    };
    if head.jsonrpc.as_deref() != Some("2.0") {
        return refuse(id, ErrorCode::INVALID_REQUEST, "a message must contain \"jsonrpc\": \"2.0\"");
    }
    match (head.method, id) {
        (Some(method), Some(id)) => request(&method, id, line),
        (Some(method), None) => notification(&method, line),
        (None, Some(id)) if head.result.is_some() || head.error.is_some() => answer(id, line),
        (None, None) if head.result.is_some() || head.error.is_some() => Incoming::Ignore,
        (None, id) => refuse(id, ErrorCode::INVALID_REQUEST, "a message must have a method"),
    }
}

/// The answer to a line that was longer than `limit` bytes.
pub(super) fn too_long(id: Option<RequestId>, limit: usize) -> Incoming {
    refuse(id, ErrorCode::INVALID_REQUEST, format!("a message may have at most {limit} bytes; send less at a time"))
}

/// The answer to a request with the id of one in flight: the client could not tell two answers apart.
pub(super) fn duplicate(id: &RequestId) -> ErrorData {
    let id = id.to_string();
    let shown = shorten(&id, MAX_REASON);
    ErrorData::invalid_request(format!("a request with the id {shown} is still being answered"), None)
}

/// The answer to a call beyond the limits of those in flight.
pub(super) fn too_many(calls: usize, bytes: usize) -> ErrorData {
    let size = exact_size(bytes as u64);
    let message = format!(
        "too many calls in flight: at most {calls}, of {size} in all; this one was not started, send it again \
         when others are answered"
    );
    ErrorData::new(BUSY_CODE, message, None)
}

fn request(method: &str, id: RequestId, line: &[u8]) -> Incoming {
    // 2026-07-28 has these no more, so that one that names that version is of no method.
    let is_gone = matches!(method, "initialize" | "ping") && is_without_handshake(line);
    let Some(parsed) = parsed(method, line).filter(|_| !is_gone) else {
        return match typed::<CustomRequest>(line) {
            // One of an unknown protocol version is the service's, which answers that.
            Ok(custom) if custom.get_meta().protocol_version().is_some_and(|version| !is_known(&version)) => {
                Incoming::Deliver(Box::new(ClientJsonRpcMessage::request(custom, id)))
            }
            // Clients ask for `prompts/list` and the like whatever is declared, and go on after this code.
            _ => refuse(Some(id), ErrorCode::METHOD_NOT_FOUND, shorten(method, MAX_REASON)),
        };
    };
    match parsed {
        Ok(request) => Incoming::Deliver(Box::new(ClientJsonRpcMessage::request(request, id))),
        Err(_) if method == "tools/call" && has_cut_arguments(line) => {
            let message = "tools/call: `arguments` is JSON text that ends too early; the request may have been cut: send \
                        less in one call";
            refuse(Some(id), ErrorCode::INVALID_PARAMS, message)
        }
        Err(error) => {
            let why = wrong_params(method, line).unwrap_or_else(|| place(&error));
            refuse(Some(id), ErrorCode::INVALID_PARAMS, format!("{method}: {why}"))
        }
    }
}

/// A request of a method that is answered here; `None` for every other method.
fn parsed(method: &str, line: &[u8]) -> Option<Result<ClientRequest, serde_json::Error>> {
    Some(match method {
        "initialize" => typed::<InitializeRequest>(line),
        "server/discover" => typed::<DiscoverRequest>(line),
        "ping" => typed::<PingRequest>(line),
        "tools/list" => list::<ListToolsRequest>(line),
        "tools/call" => call(line),
        "resources/list" => list::<ListResourcesRequest>(line),
        "resources/templates/list" => list::<ListResourceTemplatesRequest>(line),
        "resources/read" => typed::<ReadResourceRequest>(line),
        "completion/complete" => typed::<CompleteRequest>(line),
        _ => return None,
    })
}

fn is_known(version: &ProtocolVersion) -> bool {
    ProtocolVersion::KNOWN_VERSIONS.contains(version)
}

/// Whether a request names a version of the protocol that has no handshake, whatever else it holds.
fn is_without_handshake(line: &[u8]) -> bool {
    let message: Value = serde_json::from_slice(line).unwrap_or_default();
    let version = message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"].as_str();
    // Versions are dates.
    version.is_some_and(|version| version >= ProtocolVersion::V_2026_07_28.as_str())
}

/// The members of parameters, by their paths, that are checked for an error: of every method without a name, each with its
/// type, and whether it is required. What holds another comes before it.
const CHECKED_MEMBERS: &[(&str, &str, MemberType, bool)] = &[
    ("", "/_meta", OBJECT_TYPE, false),
    ("initialize", "/protocolVersion", TEXT_TYPE, true),
    ("initialize", "/capabilities", OBJECT_TYPE, true),
    ("initialize", "/clientInfo", OBJECT_TYPE, true),
    ("initialize", "/clientInfo/name", TEXT_TYPE, true),
    ("initialize", "/clientInfo/version", TEXT_TYPE, true),
    ("tools/call", "/name", TEXT_TYPE, true),
    ("tools/call", "/arguments", OBJECT_TYPE, false),
    ("resources/read", "/uri", TEXT_TYPE, true),
    ("completion/complete", "/ref", OBJECT_TYPE, true),
    ("completion/complete", "/ref/type", TEXT_TYPE, true),
    ("completion/complete", "/argument", OBJECT_TYPE, true),
    ("completion/complete", "/argument/name", TEXT_TYPE, true),
    ("completion/complete", "/argument/value", TEXT_TYPE, true),
    ("tools/list", "/cursor", TEXT_TYPE, false),
    ("resources/list", "/cursor", TEXT_TYPE, false),
    ("resources/templates/list", "/cursor", TEXT_TYPE, false),
];

/// Members that are tried for an error at most, each with a parse of the whole request; those of the protocol have fewer.
const MAX_TRIED: usize = 8;

type MemberType = (fn(&Value) -> bool, &'static str);
const TEXT_TYPE: MemberType = (Value::is_string, "a text");
const OBJECT_TYPE: MemberType = (Value::is_object, "an object");

/// What is wrong with the parameters of a request, by the name of the member; `None` where the line is no JSON.
///
/// Not in the words of the parser, which name types of this program and places in a line that nobody sees.
fn wrong_params(method: &str, line: &[u8]) -> Option<String> {
    let mut message: Value = serde_json::from_slice(line).ok()?;
    let params = &message["params"];
    if !params.is_object() {
        return Some("`params` must be an object".to_owned());
    }
    for (_, path, (is_it, wanted), is_required) in
        CHECKED_MEMBERS.iter().filter(|row| row.0.is_empty() || row.0 == method)
    {
        let name = path[1..].replace('/', ".");
        match params.pointer(path).filter(|value| *is_required || !value.is_null()) {
            None if *is_required => return Some(format!("`{name}` is missing")),
            Some(value) if !is_it(value) => return Some(format!("`{name}` must be {wanted}")),
            _ => {}
        }
    }
    // Another one: without it, the rest is understood.
    let names: Vec<String> = message["params"].as_object()?.keys().take(MAX_TRIED).cloned().collect();
    let mut is_wrong = |name: &String| {
        let member = message["params"].as_object_mut()?.remove(name)?;
        let rest = parsed(method, &serde_json::to_vec(&message).ok()?)?;
        message["params"][name] = member;
        rest.ok()
    };
    let wrong = names.iter().find(|name| is_wrong(name).is_some());
    let shown = wrong.map(|name| shorten(name, MAX_NAME));
    Some(match shown {
        Some(name) => format!("`{name}` is not as the protocol has it"),
        // The type of a reference decides about its members.
        None if method == "completion/complete" => "`ref` must be a ref/resource with its `uri`".to_owned(),
        None => "its members are not those of the protocol".to_owned(),
    })
}

fn wrong_message(line: &[u8], error: &serde_json::Error) -> String {
    match serde_json::from_slice::<Value>(line) {
        Ok(Value::Object(_)) => "its `jsonrpc` and `method` must be texts".to_owned(),
        Ok(_) => "it must be an object".to_owned(),
        Err(_) => place(error),
    }
}

fn place(error: &serde_json::Error) -> String {
    format!("it is not valid JSON at byte {}", error.column())
}

/// Whether the arguments of a call are the beginning of their JSON, as a text.
fn has_cut_arguments(line: &[u8]) -> bool {
    let message = serde_json::from_slice::<Value>(line).unwrap_or_default();
    message["params"]["arguments"].as_str().is_some_and(is_cut_json)
}

/// The client's answer to a question of the server. The only question is `elicitation/create`, so the
/// type is known; an answer that cannot be read is handed on as a failure, so that the asker does
/// not wait for its time limit.
fn answer(id: RequestId, line: &[u8]) -> Incoming {
    #[derive(Deserialize)]
    struct ElicitationAnswer {
        #[serde(default)]
        result: Option<ElicitResult>,
        #[serde(default)]
        error: Option<ErrorData>,
    }
    let failed = |reason| ErrorData::new(ErrorCode::INVALID_PARAMS, reason, None);
    let message = match serde_json::from_slice::<ElicitationAnswer>(line) {
        Ok(ElicitationAnswer { error: Some(error), .. }) => ClientJsonRpcMessage::error(error, Some(id)),
        Ok(ElicitationAnswer { result: Some(result), .. }) => {
            ClientJsonRpcMessage::response(ClientResult::ElicitResult(result), id)
        }
        Ok(_) => ClientJsonRpcMessage::error(failed("its answer is empty".to_owned()), Some(id)),
        Err(_) => ClientJsonRpcMessage::error(failed("its answer cannot be read".to_owned()), Some(id)),
    };
    Incoming::Deliver(Box::new(message))
}

fn notification(method: &str, line: &[u8]) -> Incoming {
    // No other one has an effect: the directories come from the command line, never from the client's roots.
    if method != "notifications/cancelled" {
        return Incoming::Ignore;
    }
    match serde_json::from_slice::<CancelledNotification>(line) {
        Ok(cancelled) => Incoming::Deliver(Box::new(ClientJsonRpcMessage::notification(
            ClientNotification::CancelledNotification(cancelled),
        ))),
        Err(error) => {
            tracing::debug!(%error, "ignored a cancellation that cannot be read");
            Incoming::Ignore
        }
    }
}

/// A call. A parser of JSON keeps the last of two members of one name, so that what a person or a
/// filter saw first would not be what is done: where a key occurs twice, the request says so.
///
/// Numbers in the arguments reach the tool as they are spelled, since one may be meant as text.
fn call(line: &[u8]) -> Result<ClientRequest, serde_json::Error> {
    let spelled = with_quoted_arguments(line);
    let line = spelled.as_deref().unwrap_or(line);
    // One pass for both; the other way is for what is wrong, so that the error names the place.
    let (tree, duplicate) = parse_noting_duplicates(line)?;
    if duplicate.is_none()
        && let Ok(request) = CallToolRequest::deserialize(tree)
    {
        return Ok(request.into());
    }
    let mut request: CallToolRequest = serde_json::from_slice(line)?;
    if let Some(name) = duplicate {
        request.extensions.insert(DuplicateKey(name));
    }
    Ok(request.into())
}

/// The line with those numbers of its arguments quoted that a parser would respell; `None` where there are none.
fn with_quoted_arguments(line: &[u8]) -> Option<Vec<u8>> {
    #[derive(Deserialize)]
    struct CallLine<'a> {
        #[serde(borrow)]
        params: Params<'a>,
    }
    #[derive(Deserialize)]
    struct Params<'a> {
        #[serde(borrow)]
        arguments: &'a RawValue,
    }
    // Nearly every line has none at all, which is known without looking for the arguments.
    quote_numbers(line)?;
    let arguments = serde_json::from_slice::<CallLine<'_>>(line).ok()?.params.arguments.get().as_bytes();
    let quoted = quote_numbers(arguments)?;
    // A `RawValue` is a piece of the line it was read from.
    let start = arguments.as_ptr().addr().checked_sub(line.as_ptr().addr())?;
    let (before, rest) = line.split_at_checked(start)?;
    Some([before, &quoted, rest.get(arguments.len()..)?].concat())
}

/// A request of a list. Its type takes parameters that cannot be read for none, and would begin again at the first page.
fn list<T: DeserializeOwned + Into<ClientRequest>>(line: &[u8]) -> Result<ClientRequest, serde_json::Error> {
    #[derive(Deserialize)]
    struct ListLine {
        #[serde(default, rename = "params")]
        _params: Option<PaginatedRequestParams>,
    }
    serde_json::from_slice::<ListLine>(line)?;
    typed::<T>(line)
}

fn typed<T: DeserializeOwned + Into<ClientRequest>>(line: &[u8]) -> Result<ClientRequest, serde_json::Error> {
    serde_json::from_slice::<T>(line).map(Into::into)
}

fn refuse(id: Option<RequestId>, code: ErrorCode, message: impl Into<String>) -> Incoming {
    Incoming::Refuse { id, error: ErrorData::new(code, message.into(), None) }
}

// Reads a JSON text, and finds a key that occurs twice in one object of it.
//
// RFC 8259, section 4 leaves the meaning of duplicate keys open; most parsers silently keep the last one.

const MAX_NAME: usize = 80;

/// The value of `json`, and the first key that occurs twice in an object of it.
pub(super) fn parse_noting_duplicates(json: &[u8]) -> Result<(Value, Option<String>), serde_json::Error> {
    let mut found = None;
    let mut parser = serde_json::Deserializer::from_slice(json);
    let value = ValueSeed { found: &mut found }.deserialize(&mut parser)?;
    parser.end()?;
    Ok((value, found))
}

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
                *self.found = Some(shorten(&name, MAX_NAME).into_owned());
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
            let (value, found) = parse_noting_duplicates(json.as_bytes()).unwrap();
            assert_eq!(found.as_deref(), Some(name), "{json}");
            assert_eq!(value, serde_json::from_str::<Value>(json).unwrap(), "the last one counts");
        }
    }

    #[test]
    fn same_key_in_different_objects_is_no_duplicate() {
        for json in [r#"{"a":{"a":[{"a":1},{"a":-2}]}}"#, r#"{"a":"a","b":"\"a\":1"}"#, "[null,true,0.5]", "17"] {
            let plain: Value = serde_json::from_str(json).unwrap();
            assert_eq!(parse_noting_duplicates(json.as_bytes()).unwrap(), (plain, None), "{json}");
        }
    }

    #[test]
    fn invalid_json_is_an_error() {
        for text in ["{", "", "{} x", r#"{"a":"\ud800"}"#] {
            assert!(parse_noting_duplicates(text.as_bytes()).is_err(), "{text}");
        }
    }
}
