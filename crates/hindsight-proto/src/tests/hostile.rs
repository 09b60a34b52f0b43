//! Messages that no honest client sends: each is read or refused, and none panics.

use hindsight_core::{Memory, Recalled};
use proptest::prelude::*;
use prost::Message;

use super::strategies;
use crate::call::*;
use crate::{time, v1};

/// Reads `bytes` as every message that a peer can send.
fn read_all(bytes: &[u8]) {
    fn each<M: Message + Default>(bytes: &[u8], read: impl FnOnce(M)) {
        if let Ok(message) = M::decode(bytes) {
            read(message);
        }
    }
    each(bytes, |m| drop(WriteCall::from_wire(m)));
    each(bytes, |m| drop(BatchWriteCall::from_wire(m)));
    each(bytes, |m| drop(RecordCall::from_wire(m)));
    each(bytes, |m| drop(GetCall::from_wire(&m)));
    each(bytes, |m| drop(ListCall::from_wire(m)));
    each(bytes, |m| drop(RecallCall::from_wire(m)));
    each(bytes, |m| drop(UpdateCall::from_wire(m)));
    each(bytes, |m| drop(ForgetCall::from_wire(m)));
    each(bytes, |m| drop(RestoreCall::from_wire(m)));
    each::<v1::Memory>(bytes, |m| drop(Memory::try_from(m)));
    each::<v1::RecallResponse>(bytes, |m| drop(Recalled::try_from(m)));
}

proptest! {
    #[test]
    fn random_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        read_all(&bytes);
    }

    #[test]
    fn spoiled_messages(
        memory in strategies::memory(),
        recall in strategies::recall(),
        at: proptest::sample::Index,
        byte: u8,
    ) {
        let write = v1::WriteRequest { memory: Some(memory.into()), ..Default::default() };
        let recall = RecallCall { namespace: "n".parse().unwrap(), recall }.into_wire().unwrap();
        for mut bytes in [write.encode_to_vec(), recall.encode_to_vec()] {
            let at = at.index(bytes.len());
            bytes[at] = byte;
            read_all(&bytes);
        }
    }

    #[test]
    fn every_number_as_a_word_or_time(number: i32, seconds: i64, nanos: i32, weight: f64, share: f32) {
        let stamp = Some(prost_types::Timestamp { seconds, nanos });
        let last = Some(prost_types::Duration { seconds, nanos });
        let filter = v1::Filter {
            kinds: vec![number], layers: vec![number], statuses: vec![number], states: vec![number],
            source_kinds: vec![number], from: stamp, to: stamp, last, min_importance: Some(share), ..Default::default()
        };
        let recall = RecallCall::from_wire(v1::RecallRequest {
            namespace: "ops".to_owned(), mode: number, fusion: number, now: stamp, filter: Some(filter),
            vector: vec![share], embedding_model: "m".to_owned(), min_score: Some(weight), ..Default::default()
        });
        if let Ok(call) = recall {
            // What was read is in range: core can compute with it.
            let _ = call.recall.filter.time_from(hindsight_core::Timestamp::MIN);
            let _ = call.recall.check();
        }
        let read = time::optional("t", stamp.as_ref());
        prop_assert_eq!(read.is_ok(), (0..1_000_000_000).contains(&nanos) && (-62_135_596_800..=253_402_300_799).contains(&seconds));
    }
}

#[test]
fn sizes_from_the_edge_of_their_types() {
    for size in [i32::MIN, -1, 0, 1, i32::MAX] {
        let page = page_size(size);
        assert_eq!(page.is_err(), size < 0, "{size}");
        assert!(page.is_err() || (1..=1_000).contains(&page.unwrap()));
    }
    let recall = v1::RecallRequest {
        namespace: "ops".to_owned(),
        top_k: u32::MAX,
        token_budget: u32::MAX,
        ..Default::default()
    };
    let call = RecallCall::from_wire(recall).unwrap();
    assert_eq!(call.recall.check().unwrap_err().violations[0].field, "top_k");
}
