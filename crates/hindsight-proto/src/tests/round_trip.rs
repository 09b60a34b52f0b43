//! Core to the wire, through its bytes, and back is the identity.

use hindsight_core::{Embedding, Explanation, Filter, Memory, OnDuplicate, Recall, Recalled};
use proptest::prelude::*;
use prost::Message;

use super::strategies;
use crate::call::*;
use crate::v1;

/// The message as the other side decodes it.
fn sent<M: Message + Default>(message: &M) -> M {
    M::decode(message.encode_to_vec().as_slice()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn memories(memory in strategies::memory()) {
        let wire = sent(&v1::Memory::from(memory.clone()));
        prop_assert_eq!(Memory::try_from(wire), Ok(memory));
    }

    #[test]
    fn filters(filter in strategies::filter()) {
        let wire = sent(&v1::Filter::from(filter.clone()));
        prop_assert_eq!(Filter::try_from(wire), Ok(filter));
    }

    #[test]
    fn recalls(namespace in strategies::namespace(), recall in strategies::recall()) {
        let call = RecallCall { namespace, recall };
        prop_assert_eq!(RecallCall::from_wire(sent(&call.clone().into_wire().unwrap())), Ok(call));
    }

    #[test]
    fn explanations(
        namespace in strategies::namespace(), recall in strategies::recall(), told in strategies::explanation(),
    ) {
        let call = ExplainCall { recall: RecallCall { namespace, recall }, id: told.id };
        prop_assert_eq!(ExplainCall::from_wire(sent(&call.clone().into_wire().unwrap())), Ok(call));
        let wire = sent(&v1::ExplainResponse::from(told.clone()));
        prop_assert_eq!(Explanation::try_from(wire), Ok(told));
    }

    #[test]
    fn answers(recalled in strategies::recalled()) {
        let wire = sent(&v1::RecallResponse::from(recalled.clone()));
        prop_assert_eq!(Recalled::try_from(wire), Ok(recalled));
    }

    #[test]
    fn writes(
        namespace in strategies::namespace(),
        draft in strategies::draft(),
        vectors in strategies::vectors(),
        validate_only: bool,
        request_id in proptest::option::of("[a-f0-9-]{1,36}"),
    ) {
        let entry = WriteEntry { draft, vectors };
        let batch =
            batch_to_wire(&namespace, vec![entry.clone(), entry.clone()], validate_only, None, validate_only, request_id.clone()).unwrap();
        let batch = BatchWriteCall::from_wire(sent(&batch)).unwrap();
        // Vectors may hold NaN, which equals nothing, itself included.
        let same = |left: &WriteEntry, right: &WriteEntry| format!("{left:?}") == format!("{right:?}");
        prop_assert!(batch.items.iter().all(|item| same(item.as_ref().unwrap(), &entry)));
        prop_assert_eq!((&batch.namespace, batch.all_or_nothing), (&namespace, validate_only));
        let call = WriteCall { namespace, entry, validate_only, on_duplicate: Some(OnDuplicate::Reject), allow_forgotten: !validate_only, request_id };
        let back = WriteCall::from_wire(sent(&call.clone().into_wire().unwrap())).unwrap();
        prop_assert!(same(&back.entry, &call.entry));
        prop_assert_eq!((back.validate_only, back.request_id), (call.validate_only, call.request_id));
    }

    #[test]
    fn records(namespace in strategies::namespace(), record in strategies::record(), validate_only: bool) {
        let call = RecordCall { namespace, record, vectors: None, validate_only, on_duplicate: None, allow_forgotten: true, request_id: None };
        prop_assert_eq!(RecordCall::from_wire(sent(&call.clone().into_wire().unwrap())), Ok(call));
    }

    #[test]
    fn updates(
        namespace in strategies::namespace(),
        id: u128,
        patch in strategies::patch(),
        version in proptest::option::of(1_u64..),
    ) {
        prop_assume!(!patch.is_empty());
        let id = hindsight_core::MemoryId::from_u128(id);
        let call = UpdateCall { namespace, id, patch, version, vectors: None, allow_forgotten: true, request_id: None };
        prop_assert_eq!(UpdateCall::from_wire(sent(&call.clone().into_wire().unwrap())), Ok(call));
    }

    #[test]
    fn lists_and_forgets(
        namespace in strategies::namespace(),
        filter in strategies::filter(),
        page_size in 1_usize..=1_000,
        expected_count: Option<u32>,
        validate_only: bool,
    ) {
        let list = ListCall {
            namespace: namespace.clone(), filter: filter.clone(), page_size, page_token: "t".to_owned(), agent_id: None,
        };
        prop_assert_eq!(ListCall::from_wire(sent(&list.clone().into_wire())), Ok(list));
        let target = ForgetTarget::Matching { filter: Box::new(filter), expected_count };
        let forget = ForgetCall { namespace, target, with_derived: !validate_only, validate_only, request_id: None };
        prop_assert_eq!(ForgetCall::from_wire(sent(&forget.clone().into_wire())), Ok(forget));
    }
}

#[test]
fn a_vector_of_unit_length_comes_through() {
    let vector = Embedding::new(&[0.3, -0.4, 0.5]).unwrap();
    let recall = Recall {
        query: "上周的部署".to_owned(),
        vector: Some(vector.clone()),
        embedding_model: Some("m".to_owned()),
        ..Recall::default()
    };
    let call = RecallCall { namespace: "ops".parse().unwrap(), recall };
    let back = RecallCall::from_wire(sent(&call.into_wire().unwrap())).unwrap().recall;
    assert_eq!(back.embedding_model.as_deref(), Some("m"));
    for (left, right) in vector.components().iter().zip(back.vector.unwrap().components().iter()) {
        assert!((left - right).abs() < 1e-6);
    }
}
