//! Invariant 4: writers share syncs, readers see a prefix of the log and never a gap.

use std::sync::atomic::{AtomicBool, Ordering};

use hindsight_core::Filter;
use hindsight_engine::{BatchRequest, ListRequest, WriteItem};

use crate::support::{Db, fact, ns};

#[test]
fn readers_see_whole_batches_in_order_while_writers_write() {
    let db = Db::new();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for batch in 0..60 {
                let items =
                    (0..5).map(|item| WriteItem::new(fact(&format!("batch {batch} item {item}")), None));
                let request = BatchRequest { items: items.collect(), ..BatchRequest::default() };
                db.engine.write_batch(&ns("ops"), request).unwrap().wait().unwrap();
            }
            done.store(true, Ordering::Release);
        });
        let mut seen = 0;
        while !done.load(Ordering::Acquire) {
            let list = ListRequest { page_size: 1_000, filter: Filter::default(), ..ListRequest::default() };
            let page = db.engine.list(&ns("ops"), &list).unwrap().wait().unwrap();
            assert_eq!(page.memories.len() % 5, 0, "a batch was seen in part");
            assert!(page.memories.len() >= seen, "what was seen is gone");
            assert_eq!(
                page.memories.len() as u64,
                page.revision.0 * 5,
                "the answer is not that of its revision"
            );
            seen = page.memories.len();
        }
        writer.join().unwrap();
    });
    assert_eq!(db.list(Filter::default()).len(), 300);
}

#[test]
fn many_writers_lose_nothing() {
    let db = Db::new();
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let db = &db;
            scope.spawn(move || {
                for number in 0..25 {
                    db.write(fact(&format!("writer {writer} memory {number}")));
                }
            });
        }
    });
    assert_eq!(db.list(Filter::default()).len(), 200);
    let (db, report) = db.reopen();
    assert_eq!(report.memories, 200);
    assert_eq!(db.list(Filter::default()).len(), 200);
}
