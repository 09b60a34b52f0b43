//! The built-in embedder from outside, as the server sees it.
#![forbid(unsafe_code)]

mod hostile;
mod meaning;

use hindsight_embed::{EmbedError, Embedder, StaticEmbedder, limits::BATCH_TEXTS_MAX};

#[expect(clippy::unwrap_used, reason = "a helper of tests")]
fn embedder() -> StaticEmbedder {
    StaticEmbedder::load().unwrap()
}

#[expect(clippy::unwrap_used, clippy::panic, reason = "a helper of tests")]
fn vector(embedder: &dyn Embedder, text: &str) -> Vec<f32> {
    let vector = embedder.embed_one(text).unwrap().unwrap_or_else(|| panic!("{text:?} has no vector"));
    let length = vector.iter().map(|component| f64::from(*component).powi(2)).sum::<f64>().sqrt();
    assert!((length - 1.0).abs() < 1e-5, "{text:?}: {length}");
    assert_eq!(vector.len(), embedder.dimension());
    vector
}

#[test]
fn it_says_what_it_is() {
    let embedder = embedder();
    assert_eq!(embedder.model(), "hindsight-static-multilingual-256");
    assert_eq!(embedder.dimension(), 256);
    assert!(format!("{embedder:?}").contains("hindsight-static-multilingual-256"));
}

#[test]
fn texts_that_say_nothing_have_no_vector() {
    let nothing = ["", " ", "\t\r\n\u{3000}\u{00A0}", "🎉", "🎉 🥜👍", "👩‍👩‍👧‍👦", "▁", "Ж", "\0", "\u{301}"];
    let answers = embedder().embed(&nothing).unwrap();
    assert_eq!(answers, vec![None; nothing.len()]);
}

#[test]
fn a_batch_answers_as_each_text_alone_does() {
    let embedder = embedder();
    let texts =
        ["The invoice is due on Friday.", "", "发票周五到期。", "🎉", "x", "The invoice is due on Friday."];
    let batch = embedder.embed(&texts).unwrap();
    let alone: Vec<_> = texts.iter().map(|text| embedder.embed_one(text).unwrap()).collect();
    assert_eq!(batch, alone, "bit for bit");
    assert_eq!(batch[0], batch[5]);
    assert!(batch[1].is_none() && batch[2].is_some() && batch[3].is_none() && batch[4].is_some());
}

#[test]
fn two_loads_and_many_threads_agree() {
    let (first, second) = (embedder(), embedder());
    let text = "Alice prefers tea; 爱丽丝更喜欢喝茶。";
    let expected = vector(&first, text);
    assert_eq!(vector(&second, text), expected);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..50).for_each(|_| assert_eq!(vector(&first, text), expected)));
        }
    });
}

#[test]
fn a_batch_has_a_limit() {
    let embedder = embedder();
    assert_eq!(embedder.embed(&[]).unwrap(), vec![]);
    assert_eq!(embedder.embed(&["a"; BATCH_TEXTS_MAX]).unwrap().len(), BATCH_TEXTS_MAX);
    let error = embedder.embed(&["a"; BATCH_TEXTS_MAX + 1]).unwrap_err();
    assert_eq!(error, EmbedError::BatchTooLarge { texts: BATCH_TEXTS_MAX + 1, texts_max: BATCH_TEXTS_MAX });
    assert_eq!(error.to_string(), "a batch of 4097 texts is too large: expected at most 4096, split it");
}
