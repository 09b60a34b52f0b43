//! Which half of a dataset is asked: one to choose weights on, the other to report on.

use std::collections::{BTreeMap, BTreeSet};

use crate::dataset::Question;

/// Part of a dataset's questions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Half {
    /// All of them.
    #[default]
    All,
    /// What weights are chosen on: every second conversation or person, in the order of their names, from the first.
    Tune,
    /// What is reported: the others.
    Report,
}

impl Half {
    /// The questions of this half. Nobody's questions are in both halves; in a dataset of one person, whose questions are
    /// all there is, every second question is.
    #[must_use]
    pub fn of(self, questions: &[Question]) -> Vec<&Question> {
        let names: BTreeSet<&str> = questions.iter().map(|question| question.namespace.as_str()).collect();
        let places: BTreeMap<&str, usize> = names.into_iter().zip(0..).collect();
        let place = |(row, question): (usize, &Question)| match places.len() {
            1 => row,
            _ => places.get(question.namespace.as_str()).copied().unwrap_or(0),
        };
        let is_here = |one: &(usize, &Question)| match self {
            Half::All => true,
            Half::Tune => place(*one).is_multiple_of(2),
            Half::Report => !place(*one).is_multiple_of(2),
        };
        questions.iter().enumerate().filter(is_here).map(|(_, question)| question).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn questions(of: &[&str]) -> Vec<Question> {
        let one = |(row, namespace): (usize, &&str)| {
            serde_json::from_value(serde_json::json!({"namespace": namespace, "text": row.to_string(),
                "as_of": "2026-11-30T12:00:00Z", "category": "one", "relevant": ["a"]}))
            .unwrap()
        };
        of.iter().enumerate().map(one).collect()
    }

    #[test]
    fn nobody_is_in_both_halves_and_nothing_is_lost() {
        let all = questions(&["bo", "al", "cy", "bo", "al", "di"]);
        let texts = |half: Half| half.of(&all).iter().map(|one| one.text.clone()).collect::<Vec<_>>();
        assert_eq!(texts(Half::Tune), ["1", "2", "4"], "al and cy");
        assert_eq!(texts(Half::Report), ["0", "3", "5"], "bo and di");
        assert_eq!(texts(Half::All).len(), 6);
        let alone = questions(&["al"; 5]);
        assert_eq!((Half::Tune.of(&alone).len(), Half::Report.of(&alone).len()), (3, 2));
    }
}
