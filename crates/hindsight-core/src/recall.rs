//! The question: what to recall, from where, and how to rank it (R1).

use serde::{Deserialize, Serialize};

use crate::invalid::{Invalid, Violations};
use crate::limits::{MODEL_CHARS_MAX, QUERY_CHARS_MAX, TOP_K_DEFAULT, TOP_K_MAX, WORD_CHARS_MAX};
pub use crate::scoring::decay::Decay;
use crate::{AsOf, Embedding, Filter, Prohibition, Timestamp};

/// Which channels look for candidates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Vectors and keywords.
    #[default]
    Hybrid,
    /// Vectors only.
    Vector,
    /// Keywords only.
    Keyword,
}

impl std::str::FromStr for Mode {
    type Err = crate::kind::UnknownWord;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        match word {
            "hybrid" => Ok(Mode::Hybrid),
            "vector" => Ok(Mode::Vector),
            "keyword" => Ok(Mode::Keyword),
            _ => Err(crate::kind::UnknownWord {
                what: "mode",
                word: word.to_owned(),
                expected: &["hybrid", "vector", "keyword"],
            }),
        }
    }
}

/// How channels become one relevance.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fusion {
    /// The weighted mean of their normalised scores.
    #[default]
    Weighted,
    /// Reciprocal ranks, with k = 10, scaled by their maximum.
    Rrf,
}

/// The weight of each channel in relevance; a channel that did not run gives its weight to the others.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Weights {
    /// Cosine of the best vector.
    pub vector: f64,
    /// BM25.
    pub keyword: f64,
    /// Nearness to the span of time that the query names.
    pub window: f64,
    /// The share of what the query names that the memory names too.
    pub entity: f64,
    /// The relevance of the best neighbour in the session, beside a memory's own at 1.
    pub neighbour: f64,
}

impl Default for Weights {
    /// Found on dialogue, facts and episodes in two languages with the built-in embedder: words tell more than its
    /// vectors do. docs/retrieval.md has the figures; with a stronger model of one's own, more vector is right.
    fn default() -> Self {
        Weights { vector: 0.25, keyword: 0.45, window: 0.2, entity: 0.1, neighbour: 0.4 }
    }
}

/// The `k` of reciprocal rank fusion. 60, the usual value, loses to the better channel on memories.
pub const RRF_K: f64 = 10.0;

/// A recall request, with every choice made.
#[derive(Debug, Clone, PartialEq)]
pub struct Recall {
    /// What to look for; may be empty, then the filter alone decides and the newest come first.
    pub query: String,
    /// The query as a vector; the caller's own, or the server's embedder's.
    pub vector: Option<Embedding>,
    /// The model that made the vector.
    pub embedding_model: Option<String>,
    /// Which channels look.
    pub mode: Mode,
    /// Which memories may be returned.
    pub filter: Filter,
    /// Whether archived memories may be returned.
    pub include_archived: bool,
    /// Whether superseded, expired and no longer valid memories may be returned, and rules that are not active.
    pub include_history: bool,
    /// The past time to answer for; validity and expiry are judged then, and what was superseded since may be returned.
    pub as_of: Option<AsOf>,
    /// Most hits.
    pub top_k: usize,
    /// Most tokens that the hits' texts may cost together, or with `as_text` the whole rendering; by rank, the first that
    /// does not fit ends the answer.
    pub token_budget: Option<usize>,
    /// Least similarity of a hit, 0–1.
    pub min_score: Option<f64>,
    /// The channels' weights.
    pub weights: Weights,
    /// How channels are joined.
    pub fusion: Fusion,
    /// How recency falls; by kind when absent.
    pub decay: Option<Decay>,
    /// How much the hits should differ from each other, 0–1, beside how well they rank; by rank alone when absent.
    pub diversity: Option<f64>,
    /// Whether hits that say the same stay apart; else they collapse into the newest (R9).
    pub keep_alike: bool,
    /// What the task must not do; memories that advise it are held back (R15).
    pub policy: Vec<Prohibition>,
    /// The agent that asks; it sees its own memories beside the shared ones.
    pub agent_id: Option<String>,
    /// The time zone that words like "yesterday" are meant in, as an IANA name; UTC when absent.
    pub time_zone: Option<String>,
    /// The time that counts as now, for ages, "last week" and `last`; without it `as_of`, else the clock's.
    pub now: Option<Timestamp>,
    /// Whether the hits are wanted as a text for a prompt, too (R12).
    pub as_text: bool,
    /// Whether the plan is wanted.
    pub explain: bool,
    /// Whether the nearest vectors must be found by the exact scan, whatever it costs: through the graph of a large
    /// namespace one can be missed now and then.
    pub exact: bool,
    /// Whether to look only: nothing is counted, and there is no id to give feedback on (R17).
    pub observe: bool,
}

impl Default for Recall {
    fn default() -> Self {
        Recall {
            query: String::new(),
            vector: None,
            embedding_model: None,
            mode: Mode::Hybrid,
            filter: Filter::default(),
            include_archived: false,
            include_history: false,
            as_of: None,
            top_k: TOP_K_DEFAULT,
            token_budget: None,
            min_score: None,
            weights: Weights::default(),
            fusion: Fusion::Weighted,
            decay: None,
            diversity: None,
            keep_alike: false,
            policy: Vec::new(),
            agent_id: None,
            time_zone: None,
            now: None,
            as_text: false,
            explain: false,
            exact: false,
            observe: false,
        }
    }
}

impl Recall {
    /// Checks every field.
    ///
    /// # Errors
    /// All violations at once.
    pub fn check(&self) -> Result<(), Invalid> {
        let mut v = Violations::default();
        let chars = self.query.chars().count();
        v.unless(chars <= QUERY_CHARS_MAX, "query", || {
            format!("has {chars} characters: at most {QUERY_CHARS_MAX}")
        });
        let right = (1..=TOP_K_MAX).contains(&self.top_k);
        v.unless(right, "top_k", || format!("is {}: expected 1 to {TOP_K_MAX}", self.top_k));
        v.unless(self.token_budget != Some(0), "token_budget", || {
            "is 0: expected at least 1, or leave it out".to_owned()
        });
        let right = self.min_score.is_none_or(|least| (0.0..=1.0).contains(&least));
        v.unless(right, "min_score", || "expected a number from 0 to 1".to_owned());
        let right = self.diversity.is_none_or(|share| (0.0..=1.0).contains(&share));
        v.unless(right, "diversity", || "expected a number from 0 to 1".to_owned());
        v.unless(self.as_of.is_none() || !self.include_history, "include_history", || {
            "comes with as_of, which looks at history already: give one of them".to_owned()
        });
        self.check_weights(&mut v);
        self.check_decay(&mut v);
        self.check_words(&mut v);
        if let Some(zone) = &self.time_zone {
            v.take("time_zone", zone_of(zone));
        }
        if let Err(invalid) = self.filter.check("filter") {
            for violation in invalid.violations {
                v.add(violation.field, violation.description);
            }
        }
        v.finish()
    }

    fn check_weights(&self, v: &mut Violations) {
        let Weights { vector, keyword, window, entity, neighbour } = self.weights;
        for (name, weight) in [
            ("vector", vector),
            ("keyword", keyword),
            ("window", window),
            ("entity", entity),
            ("neighbour", neighbour),
        ] {
            let right = weight.is_finite() && (0.0..=1000.0).contains(&weight);
            v.unless(right, &format!("weights.{name}"), || {
                format!("is {weight}: expected a number from 0 to 1000")
            });
        }
        v.unless(vector + keyword + window + entity > 0.0, "weights", || {
            "are all 0: at least one channel must count".to_owned()
        });
    }

    fn check_decay(&self, v: &mut Violations) {
        match self.decay {
            Some(Decay::HalfLifeDays(days)) => {
                let right = days.is_finite() && days > 0.0;
                v.unless(right, "decay.half_life_days", || format!("is {days}: expected more than 0 days"));
            }
            Some(Decay::FactorPerDay(factor)) => {
                let right = factor > 0.0 && factor <= 1.0;
                v.unless(right, "decay.factor_per_day", || {
                    format!("is {factor}: expected more than 0 and at most 1")
                });
            }
            Some(Decay::Off) | None => {}
        }
    }

    fn check_words(&self, v: &mut Violations) {
        let model = self.embedding_model.as_deref().unwrap_or_default().chars().count();
        v.unless(model <= MODEL_CHARS_MAX, "embedding_model", || {
            format!("has {model} characters: at most {MODEL_CHARS_MAX}")
        });
        let agent = self.agent_id.as_deref().unwrap_or_default().chars().count();
        v.unless(agent <= WORD_CHARS_MAX, "agent_id", || {
            format!("has {agent} characters: at most {WORD_CHARS_MAX}")
        });
        v.unless(
            self.mode != Mode::Vector || self.vector.is_some() || self.query.trim().is_empty(),
            "vector",
            || "is missing: mode \"vector\" needs a vector, or a query that the server can embed".to_owned(),
        );
    }

    /// The time zone that the query's time words are meant in.
    #[must_use]
    pub fn zone(&self) -> jiff::tz::TimeZone {
        self.time_zone.as_deref().and_then(|name| zone_of(name).ok()).unwrap_or(jiff::tz::TimeZone::UTC)
    }
}

fn zone_of(name: &str) -> Result<jiff::tz::TimeZone, String> {
    jiff::tz::TimeZone::get(name)
        .map_err(|_| format!("{name:?} is not a time zone: expected an IANA name such as Asia/Shanghai"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bad_field_is_named() {
        let recall = Recall {
            top_k: 0,
            token_budget: Some(0),
            min_score: Some(1.5),
            diversity: Some(f64::NAN),
            include_history: true,
            as_of: Some(AsOf { at: Timestamp::from_ms(0), axis: crate::Axis::Valid }),
            weights: Weights { vector: 0.0, keyword: 0.0, window: 0.0, entity: 0.0, neighbour: 0.0 },
            decay: Some(Decay::FactorPerDay(1.5)),
            time_zone: Some("Mars/Olympus".to_owned()),
            ..Recall::default()
        };
        let fields: Vec<String> =
            recall.check().unwrap_err().violations.into_iter().map(|v| v.field).collect();
        assert_eq!(
            fields,
            [
                "top_k",
                "token_budget",
                "min_score",
                "diversity",
                "include_history",
                "weights",
                "decay.factor_per_day",
                "time_zone"
            ]
        );
        assert_eq!(Recall::default().check(), Ok(()));
    }
}
