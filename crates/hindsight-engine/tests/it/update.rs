//! W9: changes under optimistic locking.

use hindsight_core::{Patch, Recall};
use hindsight_engine::{EngineError, Maker, UpdateRequest};

use crate::support::{Db, fact, ns, vectors};

fn change(id: hindsight_core::MemoryId, content: &str) -> UpdateRequest {
    let patch = Patch { content: Some(content.to_owned()), ..Patch::default() };
    UpdateRequest {
        id,
        patch,
        version: None,
        vectors: None,
        maker: Maker::Caller,
        request_id: None,
        allow_forgotten: false,
    }
}

#[test]
fn w9_a_stale_version_is_refused_with_the_current_one() {
    let db = Db::new();
    let memory = db.write(fact("the build takes 5 minutes"));
    let update = |content: &str, version| {
        let request = UpdateRequest { version: Some(version), ..change(memory.id, content) };
        db.engine.update(&ns("ops"), request).and_then(|unsynced| unsynced.wait())
    };
    assert_eq!(update("the build takes 6 minutes", 1).unwrap().memory.version, 2);
    let stale = update("the build takes 7 minutes", 1).unwrap_err();
    assert!(matches!(stale, EngineError::VersionMismatch { given: 1, current: 2, .. }));
    assert_eq!(db.contents("build"), ["the build takes 6 minutes"]);
}

#[test]
fn an_update_replaces_every_trace_of_the_old_text() {
    let db = Db::new();
    let memory = db.try_write(fact("likes coffee"), vectors("m", &[1.0, 0.0])).unwrap().memory;
    db.engine.update(&ns("ops"), change(memory.id, "likes tea")).unwrap().wait().unwrap();
    assert!(db.contents("coffee").is_empty());
    assert_eq!(db.contents("tea"), ["likes tea"]);
    // The old vector depicted the old text; it must not bring the new text up.
    let old = hindsight_core::Embedding::new(&[1.0, 0.0]).unwrap();
    let by_vector = Recall { vector: Some(old), embedding_model: Some("m".to_owned()), ..Recall::default() };
    assert!(db.recall(&by_vector).hits.is_empty());
    let (db, _) = db.reopen();
    assert!(db.contents("coffee").is_empty());
    assert_eq!(db.contents("tea"), ["likes tea"]);
}

#[test]
fn an_update_of_what_is_not_there_says_so() {
    let db = Db::new();
    let memory = db.write(fact("x"));
    let unknown = hindsight_core::MemoryId::from_u128(1);
    assert!(matches!(
        db.engine.update(&ns("ops"), change(unknown, "y")),
        Err(EngineError::MemoryNotFound { .. })
    ));
    assert!(matches!(
        db.engine.update(&ns("other"), change(memory.id, "y")),
        Err(EngineError::MemoryNotFound { .. })
    ));
}
