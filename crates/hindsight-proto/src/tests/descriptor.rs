//! The proto files follow the rules that clients of other languages count on: those of buf's STANDARD set that matter.

use std::collections::HashSet;

use prost::Message;
use prost_types::{DescriptorProto, EnumDescriptorProto, FileDescriptorProto, FileDescriptorSet};

const PACKAGE: &str = "hindsight.v1";

fn files() -> Vec<FileDescriptorProto> {
    let all = FileDescriptorSet::decode(crate::DESCRIPTOR_SET).unwrap().file;
    let own: Vec<_> = all.into_iter().filter(|file| !file.package().starts_with("google.")).collect();
    assert!(!own.is_empty());
    own
}

fn enums_of(message: &DescriptorProto) -> Vec<EnumDescriptorProto> {
    let nested = message.nested_type.iter().flat_map(enums_of);
    message.enum_type.iter().cloned().chain(nested).collect()
}

/// `SourceKind` as `SOURCE_KIND`.
fn upper_snake(name: &str) -> String {
    let mut out = String::new();
    for (index, letter) in name.chars().enumerate() {
        if letter.is_uppercase() && index > 0 {
            out.push('_');
        }
        out.push(letter.to_ascii_uppercase());
    }
    out
}

#[test]
fn files_lie_where_their_package_says() {
    for file in files() {
        assert_eq!(file.package(), PACKAGE, "{}", file.name());
        assert!(file.name().starts_with("hindsight/v1/"), "{}", file.name());
    }
}

#[test]
fn services_end_in_service_and_each_rpc_has_messages_of_its_own() {
    let files = files();
    let mut messages = HashSet::new();
    let mut rpcs = 0;
    for service in files.iter().flat_map(|file| &file.service) {
        assert!(service.name().ends_with("Service"), "{}", service.name());
        for rpc in &service.method {
            rpcs += 1;
            for (found, ending) in [(rpc.input_type(), "Request"), (rpc.output_type(), "Response")] {
                assert_eq!(found, format!(".{PACKAGE}.{}{ending}", rpc.name()));
                assert!(messages.insert(found.to_owned()), "{found} is shared");
            }
        }
    }
    assert!(rpcs >= 29, "{rpcs}");
}

#[test]
fn enums_begin_with_unspecified_and_carry_their_prefix() {
    let mut count = 0;
    for file in files() {
        for list in file.enum_type.iter().cloned().chain(file.message_type.iter().flat_map(enums_of)) {
            count += 1;
            let prefix = format!("{}_", upper_snake(list.name()));
            let zero = &list.value[0];
            assert_eq!((zero.name(), zero.number()), (format!("{prefix}UNSPECIFIED").as_str(), 0));
            for value in &list.value {
                assert!(value.name().starts_with(&prefix), "{}", value.name());
            }
        }
    }
    assert!(count >= 19, "{count}");
}

#[test]
fn only_backup_and_watch_stream_and_no_field_number_is_used_twice() {
    for file in files() {
        assert!(file.service.iter().flat_map(|s| &s.method).all(|rpc| !rpc.client_streaming()
            && rpc.server_streaming() == matches!(rpc.name(), "Backup" | "Watch")));
        for message in &file.message_type {
            let numbers: HashSet<i32> = message.field.iter().map(|field| field.number()).collect();
            assert_eq!(numbers.len(), message.field.len(), "{}", message.name());
        }
    }
}
