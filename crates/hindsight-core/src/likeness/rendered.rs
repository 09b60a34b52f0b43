//! Memories as they were shown to a model, when they come back as text.

use crate::MemoryId;

/// How a block of one memory, and of several, begins and ends.
const BLOCKS: [(&str, &str); 2] = [("<memories", "</memories>"), ("<memory", "</memory>")];

/// The memories that a text shows which is nothing but rendered memories, each named by its id; none where it says
/// anything besides.
#[must_use]
pub fn rendered_ids(text: &str) -> Vec<MemoryId> {
    let mut ids = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let block = BLOCKS.iter().find_map(|(begin, end)| {
            let inner = rest.strip_prefix(begin)?.strip_prefix([' ', '>'])?;
            inner.split_once(end)
        });
        let Some((inner, after)) = block else { return Vec::new() };
        let before = ids.len();
        ids.extend(ids_in(inner));
        if ids.len() == before {
            return Vec::new();
        }
        rest = after.trim_start();
    }
    ids
}

/// The ids in a text, in their order.
fn ids_in(text: &str) -> impl Iterator<Item = MemoryId> {
    let words = text.split(|one: char| !(one.is_ascii_alphanumeric() || one == '_'));
    words.filter_map(|word| word.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l1_a_text_that_is_nothing_but_rendered_memories_names_them() {
        let (one, two) = (MemoryId::from_u128(7), MemoryId::from_u128(8));
        let lines = format!(
            "<memories namespace=\"ops\">\n1. [{one}] 2026-11-30 | fact | Deploy with Argo\n</memories>"
        );
        assert_eq!(rendered_ids(&lines), [one]);
        let blocks = format!(
            " <memory id=\"{one}\" trust=\"0.9\">Deploy with Argo</memory>\n<memory id=\"{two}\">上周失败</memory>\n"
        );
        assert_eq!(rendered_ids(&blocks), [one, two]);
        for other in [
            String::new(),
            "Deploy with Argo".to_owned(),
            format!("{blocks} So I used Argo."),
            format!("I read this: {blocks}"),
            "<memory>without an id</memory>".to_owned(),
            format!("<memoryless id=\"{one}\"></memory>"),
            format!("<memory id=\"{one}\">cut"),
        ] {
            assert_eq!(rendered_ids(&other), [], "{other}");
        }
    }
}
