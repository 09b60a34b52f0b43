use std::collections::BTreeSet;

use super::*;
use crate::access::policy::{ROUTES, of_route};

#[test]
fn i5_every_path_of_the_table_is_described_with_the_call_that_it_stands_for() {
    let described: BTreeSet<&str> = OPERATIONS.iter().map(|operation| operation.path).collect();
    for (path, _) in ROUTES {
        assert!(described.contains(path), "{path} is not in the document");
    }
    for operation in OPERATIONS {
        let method = operation.method.to_uppercase().parse().unwrap();
        let policy =
            of_route(&method, operation.path).unwrap_or_else(|| panic!("{} has no row", operation.path));
        if !operation.call.is_empty() {
            assert_eq!(policy.call, operation.call, "{} {}", operation.method, operation.path);
        }
    }
    let ids: BTreeSet<&str> = OPERATIONS.iter().map(|operation| operation.id).collect();
    assert_eq!(ids.len(), OPERATIONS.len(), "ids of operations are unique");
}

#[test]
fn i5_every_field_has_a_type_and_every_reference_leads_somewhere() {
    let wire = Wire::read();
    for operation in OPERATIONS {
        let method = operation.call.rsplit('/').next().unwrap();
        for (name, schema) in properties(&wire, &format!("{method}Request"), &fields_of(operation.fields).0) {
            let is_open = special(&name).is_some_and(|schema| schema == json!({}));
            assert!(schema != json!({}) || is_open, "{}: {name} has no type", operation.id);
        }
    }
    let document = document();
    let text = document.to_string();
    for (place, _) in text.match_indices("\"#/components/schemas/") {
        let name = text[place..].split(['/', '"']).nth(4).unwrap();
        assert!(document["components"]["schemas"].get(name).is_some(), "{name}");
    }
    // Words are those of JSON.
    let kinds = &document["paths"]["/memory/write"]["post"]["requestBody"]["content"]["application/json"]["schema"]
        ["properties"]["on_duplicate"];
    assert_eq!(kinds["enum"], json!(["reinforce", "reject", "allow"]), "{kinds}");
}
