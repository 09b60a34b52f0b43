//! S5: every field of every call with every value that is bad for its type, made from the descriptor.

use std::collections::BTreeMap;

use prost::Message as _;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, FileDescriptorSet};

use super::serves_still;
use crate::access::raw::outcome;
use crate::support::TestServer;

/// How deep fields of fields are gone into.
const DEPTH: usize = 2;

/// The messages of the wire by name.
pub(super) struct Messages(BTreeMap<String, DescriptorProto>);

impl Messages {
    pub(super) fn read() -> Messages {
        let files = FileDescriptorSet::decode(hindsight_proto::DESCRIPTOR_SET).unwrap().file;
        let messages = files.into_iter().flat_map(|file| file.message_type);
        Messages(messages.map(|message| (message.name().to_owned(), message)).collect())
    }

    pub(super) fn by_name(&self, name: &str) -> DescriptorProto {
        self.0.get(name).unwrap_or_else(|| panic!("no message {name}")).clone()
    }
}

/// A bad value: what it is, its bytes behind the tag, and whether no field of this type may take it.
struct Bad {
    what: &'static str,
    wire: u8,
    bytes: Vec<u8>,
    never: bool,
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 128 {
        bytes.push(u8::try_from(value % 128).unwrap() | 128);
        value /= 128;
    }
    bytes.push(u8::try_from(value).unwrap());
    bytes
}

fn with_length(bytes: &[u8]) -> Vec<u8> {
    [varint(u64::try_from(bytes.len()).unwrap()), bytes.to_vec()].concat()
}

fn texts() -> Vec<(&'static str, Vec<u8>, bool)> {
    vec![
        ("nothing", Vec::new(), false),
        ("9,000 bytes", vec![b'k'; 9_000], false),
        ("a NUL", b"a\0b".to_vec(), false),
        ("turned writing", "a\u{202e}b\u{2066}".as_bytes().to_vec(), false),
        ("a way up", b"../../x".to_vec(), false),
        ("a surrogate", b"\xed\xa0\x80".to_vec(), true),
        ("no UTF-8", b"\xff\xfe".to_vec(), true),
        ("a template", b"{{7*7}} ' OR 1=1 --".to_vec(), false),
    ]
}

fn bad_values(kind: Type) -> Vec<Bad> {
    let number = |what, value: u64| Bad { what, wire: 0, bytes: varint(value), never: false };
    let float = |what, value: f32, never| Bad { what, wire: 5, bytes: value.to_le_bytes().to_vec(), never };
    let double = |what, value: f64, never| Bad { what, wire: 1, bytes: value.to_le_bytes().to_vec(), never };
    match kind {
        Type::Float => vec![
            float("NaN", f32::NAN, true),
            float("infinity", f32::INFINITY, true),
            float("-infinity", f32::NEG_INFINITY, true),
            float("-1", -1.0, false),
            float("a denormal", f32::from_bits(1), false),
            float("the largest", f32::MAX, false),
        ],
        Type::Double => vec![
            double("NaN", f64::NAN, true),
            double("infinity", f64::INFINITY, true),
            double("-infinity", f64::NEG_INFINITY, true),
            double("-1", -1.0, false),
            double("a denormal", f64::from_bits(1), false),
            double("the largest", f64::MAX, false),
        ],
        Type::String => texts()
            .into_iter()
            .map(|(what, bytes, never)| Bad { what, wire: 2, bytes: with_length(&bytes), never })
            .collect(),
        Type::Enum => vec![number("an unknown word", 99), number("-1", u64::MAX)],
        Type::Bool => vec![number("2", 2)],
        Type::Bytes => {
            vec![Bad { what: "9,000 bytes", wire: 2, bytes: with_length(&vec![0; 9_000]), never: false }]
        }
        Type::Message | Type::Group => {
            vec![Bad { what: "no message", wire: 2, bytes: with_length(b"\xff"), never: true }]
        }
        _ => vec![
            number("-1", u64::MAX),
            number("2^31", 1 << 31),
            number("2^63", 1 << 63),
            number("2^32 - 1", u64::from(u32::MAX)),
        ],
    }
}

/// A field that is set to a bad value, as the bytes of the request that it is in.
struct Probe {
    path: String,
    bytes: Vec<u8>,
    never: bool,
}

/// Every bad value of every field below `message`.
fn probes(messages: &Messages, message: &DescriptorProto, depth: usize) -> Vec<Probe> {
    let mut found = Vec::new();
    for field in &message.field {
        let tag = |wire: u8| varint(u64::try_from(field.number()).unwrap() << 3 | u64::from(wire));
        let many = if field.label() == Label::Repeated { "[]" } else { "" };
        let name = format!("{}{many}", field.name());
        for bad in bad_values(field.r#type()) {
            let path = format!("{name}: {}", bad.what);
            found.push(Probe { path, bytes: [tag(bad.wire), bad.bytes].concat(), never: bad.never });
        }
        if field.r#type() == Type::Message && depth > 0 {
            let Some(inner) = messages.0.get(field.type_name().rsplit('.').next().unwrap()) else { continue };
            for probe in probes(messages, inner, depth - 1) {
                let bytes = [tag(2), with_length(&probe.bytes)].concat();
                found.push(Probe { path: format!("{name}.{}", probe.path), bytes, never: probe.never });
            }
        }
    }
    found
}

/// Calls that are left out: they end what the others need.
const LEFT_OUT: [&str; 3] = ["AdminService/Backup", "AdminService/CreateToken", "WatchService/Watch"];

#[tokio::test]
async fn s5_every_bad_value_of_every_field_is_answered_and_what_is_never_right_is_refused() {
    let server = TestServer::start().await;
    let channel = server.channel().await;
    let messages = Messages::read();
    let files = FileDescriptorSet::decode(hindsight_proto::DESCRIPTOR_SET).unwrap().file;
    let (mut calls, mut refused) = (0, 0);
    for service in files.iter().flat_map(|file| &file.service) {
        for method in &service.method {
            let rpc = format!("{}/{}", service.name(), method.name());
            if LEFT_OUT.contains(&rpc.as_str()) {
                continue;
            }
            let request = messages.by_name(method.input_type().rsplit('.').next().unwrap());
            // What the call is about is right, so that the field in question is what is looked at.
            let namespace = request.field.iter().find(|field| field.name() == "namespace");
            let namespace = namespace.map(|field| u8::try_from(field.number()).unwrap() << 3 | 2);
            for probe in probes(&messages, &request, DEPTH) {
                let mut message = namespace.map_or_else(Vec::new, |tag| vec![tag, 3, b'o', b'p', b's']);
                message.extend_from_slice(&probe.bytes);
                let told = outcome(&channel, &rpc, None, message, false).await;
                calls += 1;
                refused += usize::from(told != "OK");
                let is_ours =
                    ["INTERNAL", "STORAGE_FAILED", "CHECKSUM_MISMATCH", "DEADLINE"].contains(&told.as_str());
                assert!(!is_ours && !told.contains(':'), "{rpc} {}: {told}", probe.path);
                // A bad item of a batch is refused by itself; the call goes well.
                let taken = probe.never && told == "OK" && rpc != "MemoryService/BatchWrite";
                assert!(!taken, "{rpc} {} is taken", probe.path);
            }
        }
    }
    assert!(calls > 2_000 && refused > calls / 2, "{refused} of {calls}");
    serves_still(&server).await;
}
