//! Texts of any kind, to be remembered and asked for: whatever stands in them, they become terms, and a text finds itself.

use hindsight_core::draft::Moment;
use hindsight_core::{Draft, Memory, MemoryId, Record, Timestamp};
use hindsight_index::{EntityPart, EntityQuery, NamespaceIndex, Ordinal, Shelves, each_text, tokenise};

use crate::memory::bounded;

/// Longest term, in characters: a word is cut at 64 bytes, and case and accents may lengthen it a little.
const TERM_CHARS_MAX: usize = 70;

/// A text and a question, parted by a zero byte. Every text gives the same terms each time, none empty and none without
/// end; a memory that says it is found by it, scores within the bound, and is lifted by no quotation that it lacks.
pub fn tokenizer(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (said, asked) = text.split_once('\0').unwrap_or((&text, &text));
    let terms = bounded(data.len(), || terms(said));
    assert_eq!(terms, self::terms(said));
    for term in &terms {
        assert!(!term.is_empty() && term.chars().count() <= TERM_CHARS_MAX, "{term:?}");
    }
    let Some(record) = remembered(said) else { return };
    let mut index = NamespaceIndex::default();
    index.apply(&record).expect("a memory without vectors can be held");
    let held = |_: Ordinal, take: &mut dyn FnMut(&str)| each_text(&record.memory, take);
    let shelf = index.active();
    let all = shelf.all();
    for (query, must_find) in [(said, !terms.is_empty()), (asked, false)] {
        let words = index.keyword_query(query, Shelves::Active);
        let found = shelf.keyword_top_quoting(&all, &words, 3, &held);
        assert!(found.len() <= 1 && (!must_find || found.len() == 1), "{query:?} finds {found:?}");
        let plain = shelf.keyword_top(&all, &words, 3);
        for (found, plain) in found.iter().zip(&plain) {
            assert!(found.score >= plain.score && plain.score > 0.0, "{found:?}, {plain:?}");
            assert!(f64::from(found.score) <= words.bound() * 1.000_001, "{found:?} of {}", words.bound());
            let quoted = shelf.lexical().search(&words).quotations(found.ordinal, &held);
            assert_eq!(quoted.is_empty(), found.score <= plain.score, "{quoted:?}");
        }
        let _names = EntityQuery::new(query, &[EntityPart { shelf, allowed: &all }]).names();
    }
    let mut gone = record.clone();
    gone.memory.content = "gone".to_owned();
    index.apply(&gone).expect("a memory without vectors can be held");
    assert_eq!(index.stats().active.lexical.terms, self::terms("gone").len(), "nothing of the text is left");
}

fn terms(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    tokenise(text, &mut |token| {
        assert!(!token.surface.is_empty(), "{token:?}");
        terms.push(token.term.to_owned());
    });
    terms
}

/// A memory that says a text; none where no memory may say it.
fn remembered(text: &str) -> Option<Record> {
    let draft = Draft { content: text.to_owned(), ..Draft::default() };
    let moment = Moment {
        namespace: "fuzz".parse().expect("a right name"),
        id: MemoryId::from_u128(1),
        now: Timestamp::from_ms(1_796_029_200_000),
        embedding_model: None,
    };
    let memory: Memory = draft.check().ok()?.into_memory(moment);
    // A check may trim a text; here it is the text itself that must find it.
    (memory.content == text).then(|| Record { memory, vectors: Vec::new() })
}
