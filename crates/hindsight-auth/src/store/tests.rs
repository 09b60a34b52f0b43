use super::*;
use crate::{Rejected, Right};

fn at(ms: i64) -> Timestamp {
    Timestamp::from_ms(ms)
}

fn wish(name: &str, grant: &str) -> Wish {
    Wish {
        name: name.to_owned(),
        grants: vec![grant.parse().unwrap()],
        source: None,
        agent_id: None,
        expires_at: None,
    }
}

fn store() -> (tempfile::TempDir, TokenStore) {
    let dir = tempfile::tempdir().unwrap();
    let store = TokenStore::of(&dir.path().join("data"));
    (dir, store)
}

#[test]
fn s6_a_token_opens_until_it_is_taken_back_or_its_time_is_over() {
    let (_dir, store) = store();
    assert!(store.load().unwrap().is_empty());
    let (admin, made) = store.create(wish("admin", "*=admin"), at(1)).unwrap();
    assert_eq!(made.source, hindsight_core::SourceKind::Admin);
    let brief = Wish { expires_at: Some(at(100)), ..wish("reader", "ops=read") };
    let (reader, _) = store.create(brief, at(2)).unwrap();

    let ring = store.load().unwrap();
    let found = ring.authenticate(&admin.expose(), at(50)).unwrap();
    assert!(found.may_everywhere(Right::Purge));
    assert!(ring.authenticate(&reader.expose(), at(99)).is_ok());
    assert_eq!(ring.authenticate(&reader.expose(), at(100)), Err(Rejected::Expired));
    // A secret of the right form, of an id that is known and of one that is not.
    let foreign = Token::random().unwrap();
    assert_eq!(ring.authenticate(&foreign.expose(), at(50)), Err(Rejected::Invalid));
    assert_eq!(ring.authenticate("hs_x", at(50)), Err(Rejected::Invalid));

    store.revoke(reader.id(), at(60)).unwrap();
    assert_eq!(store.revoke(reader.id(), at(70)).unwrap().revoked_at, Some(at(60)));
    let ring = store.load().unwrap();
    assert_eq!(ring.authenticate(&reader.expose(), at(61)), Err(Rejected::Invalid));
    assert!(!ring.is_valid(reader.id(), at(61)) && ring.is_valid(admin.id(), at(61)));
    assert!(matches!(store.revoke(foreign.id(), at(1)), Err(StoreError::Unknown { .. })));
    store.note_used(&[(admin.id(), at(77)), (foreign.id(), at(1))].into()).unwrap();
    let used: Vec<_> = store.load().unwrap().credentials().map(|one| one.last_used_at).collect();
    assert!(used.contains(&Some(at(77))) && used.contains(&None));
}

#[test]
fn s6_the_file_holds_no_secret_and_is_its_owner_s_alone() {
    let (_dir, store) = store();
    let (token, _) = store.create(wish("admin", "*=admin"), at(1)).unwrap();
    let text = std::fs::read_to_string(store.path()).unwrap();
    let secret = token.expose();
    assert!(!text.contains(secret.rsplit('_').next().unwrap()), "{text}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(store.path()), 0o600);
        assert_eq!(mode(store.path().parent().unwrap()), 0o700);
    }
}

#[test]
fn s6_a_changed_byte_of_the_file_is_found() {
    let (_dir, store) = store();
    store.create(wish("a", "*=admin"), at(1)).unwrap();
    store.create(wish("b", "ops=read"), at(2)).unwrap();
    let good = std::fs::read(store.path()).unwrap();
    for place in (0..good.len()).step_by(7) {
        let mut bad = good.clone();
        bad[place] ^= 0x01;
        std::fs::write(store.path(), &bad).unwrap();
        assert!(store.load().is_err(), "byte {place}");
        // Nothing is written over what can't be read.
        assert!(store.create(wish("c", "ops=read"), at(3)).is_err());
        assert_eq!(std::fs::read(store.path()).unwrap(), bad);
    }
    for length in [0, 1, good.len() / 2, good.len() - 2] {
        std::fs::write(store.path(), &good[..length]).unwrap();
        assert!(store.load().is_err(), "{length} bytes");
    }
}

#[test]
fn s6_two_writers_lose_nothing_of_each_other() {
    let (_dir, store) = store();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let store = store.clone();
            scope.spawn(move || {
                for number in 0..8 {
                    store.create(wish(&format!("{writer}-{number}"), "ops=read"), at(1)).unwrap();
                }
            });
        }
    });
    assert_eq!(store.load().unwrap().credentials().count(), 32);
}

#[test]
fn s6_a_wish_that_makes_no_sense_is_refused() {
    let (_dir, store) = store();
    let refused = |wish: Wish| match store.create(wish, at(10)) {
        Err(StoreError::Wish(bad)) => bad.field,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(wish(" ", "ops=read")), "name");
    assert_eq!(refused(Wish { grants: Vec::new(), ..wish("a", "ops=read") }), "grants");
    assert_eq!(refused(Wish { expires_at: Some(at(10)), ..wish("a", "ops=read") }), "expires_at");
    assert_eq!(refused(Wish { agent_id: Some(String::new()), ..wish("a", "ops=read") }), "agent_id");
    assert!(!store.path().exists());
}
