//! Golden texts: what the tokeniser makes of what people and programs write, and in which order keyword search answers.
//!
//! `UPDATE_GOLDEN=1 cargo test -p hindsight-index golden` writes the files anew; the difference is reviewed.

use std::fmt::Write as _;
use std::path::PathBuf;

use hindsight_index::{NamespaceIndex, Shelves, tokenise};

use crate::support::{fact, id};

/// Holds what `answer` makes of each input line against the file. Answers are the lines that do not begin with one of `inputs`.
pub(crate) fn check(name: &str, inputs: &[char], mut answer: impl FnMut(char, &str) -> String) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    let golden = std::fs::read_to_string(&path).unwrap();
    let mut now = String::new();
    for line in golden.lines() {
        let Some(first) = line.chars().next() else {
            now.push('\n');
            continue;
        };
        if inputs.contains(&first) || first == '#' {
            now.push_str(line);
            now.push('\n');
        }
        if inputs.contains(&first) {
            now.push_str(&answer(first, line[first.len_utf8()..].trim()));
        }
    }
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &now).unwrap();
        return;
    }
    assert_eq!(now, golden, "{name} differs");
}

#[test]
fn golden_tokens() {
    check("tokens.txt", &['>'], |_, text| {
        let mut terms = Vec::new();
        tokenise(text, &mut |token| terms.push(token.term.to_owned()));
        format!("  {}\n", terms.join(" | "))
    });
}

#[test]
fn golden_rankings() {
    let mut index = NamespaceIndex::default();
    let mut texts = vec![String::new()];
    check("rankings.txt", &['+', '?'], |kind, text| {
        if kind == '+' {
            index.apply(&fact(texts.len() as u128, text)).unwrap();
            texts.push(text.to_owned());
            return String::new();
        }
        let shelf = index.active();
        let query = index.keyword_query(text, Shelves::Active);
        let search = shelf.lexical().search(&query);
        let mut answer = String::new();
        let number = |ordinal| usize::try_from(shelf.id(ordinal).as_u128()).unwrap();
        let read = |ordinal, take: &mut dyn FnMut(&str)| take(&texts[number(ordinal)]);
        for scored in shelf.keyword_top_quoting(&shelf.all(), &query, 3, &read) {
            let number = number(scored.ordinal);
            assert_eq!(shelf.ordinal(id(number as u128)), Some(scored.ordinal));
            let mut matched = search.matched_terms(scored.ordinal);
            matched.extend(search.quotations(scored.ordinal, &read));
            let matched = matched.join(" ");
            writeln!(answer, "  {:.3}  {}  [{matched}]", scored.score, texts[number]).unwrap();
        }
        if answer.is_empty() { "  nothing\n".to_owned() } else { answer }
    });
}
