//! The answer to a recall.

use hindsight_core::hit::NamedWindow;
use hindsight_core::{Breakdown, Explanation, Hit, Invalid, Lsn, MemoryId, Neighbor, Part, Recalled};

use crate::words::{self, Word as _};
use crate::{text, time, v1};

impl From<Recalled> for v1::RecallResponse {
    fn from(recalled: Recalled) -> v1::RecallResponse {
        v1::RecallResponse {
            hits: recalled.hits.into_iter().map(Into::into).collect(),
            revision: recalled.revision.0,
            allowed: recalled.allowed,
            omitted: recalled.omitted,
            window: recalled.window.map(|window| v1::NamedWindow {
                words: window.words,
                from: Some(time::to_wire(window.from)),
                to: Some(time::to_wire(window.to)),
            }),
            plan: text::or_empty(recalled.plan),
            recall_id: recalled.recall_id.map(|id| id.to_string()).unwrap_or_default(),
            held_back: recalled
                .held_back
                .into_iter()
                .map(|(reason, count)| v1::Held { reason: reason.number(), count })
                .collect(),
            text: recalled.text,
            text_tokens: recalled.text_tokens,
        }
    }
}

impl TryFrom<v1::RecallResponse> for Recalled {
    type Error = Invalid;

    fn try_from(wire: v1::RecallResponse) -> Result<Recalled, Invalid> {
        let hits = wire.hits.into_iter().enumerate();
        let window = wire.window.map(|window| {
            Ok(NamedWindow {
                words: window.words,
                from: time::required("window.from", window.from.as_ref())?,
                to: time::required("window.to", window.to.as_ref())?,
            })
        });
        Ok(Recalled {
            hits: hits
                .map(|(index, hit)| {
                    Hit::try_from(hit).map_err(|invalid| invalid.under(&format!("hits[{index}].")))
                })
                .collect::<Result<_, Invalid>>()?,
            revision: Lsn(wire.revision),
            allowed: wire.allowed,
            omitted: wire.omitted,
            window: window.transpose()?,
            plan: text::optional(wire.plan),
            recall_id: text::parsed_optional("recall_id", &wire.recall_id)?,
            held_back: wire
                .held_back
                .iter()
                .map(|held| Ok((words::required("held_back.reason", held.reason)?, held.count)))
                .collect::<Result<_, Invalid>>()?,
            text: wire.text,
            text_tokens: wire.text_tokens,
        })
    }
}

impl From<Hit> for v1::Hit {
    fn from(hit: Hit) -> v1::Hit {
        v1::Hit {
            memory: Some(hit.memory.into()),
            score: hit.score,
            similarity: hit.similarity,
            age_days: hit.age_days,
            breakdown: Some(hit.breakdown.into()),
            verified_count: hit.verified_count,
            collapsed: hit.collapsed.iter().map(ToString::to_string).collect(),
            changed_since: hit.changed_since,
        }
    }
}

impl TryFrom<v1::Hit> for Hit {
    type Error = Invalid;

    fn try_from(wire: v1::Hit) -> Result<Hit, Invalid> {
        let memory = wire.memory.ok_or_else(|| text::missing("memory"))?;
        let breakdown = wire.breakdown.ok_or_else(|| text::missing("breakdown"))?;
        let collapsed = wire.collapsed.iter().map(|id| text::parsed("collapsed", id));
        Ok(Hit {
            memory: memory.try_into().map_err(|invalid: Invalid| invalid.under("memory."))?,
            score: wire.score,
            similarity: wire.similarity,
            age_days: wire.age_days,
            breakdown: breakdown_from_wire(breakdown, wire.score),
            verified_count: wire.verified_count,
            collapsed: collapsed.collect::<Result<Vec<MemoryId>, Invalid>>()?,
            changed_since: wire.changed_since,
        })
    }
}

/// The wire says the product once, beside the breakdown.
fn breakdown_from_wire(breakdown: v1::Breakdown, score: f64) -> Breakdown {
    Breakdown {
        parts: breakdown.parts.into_iter().map(Into::into).collect(),
        confidence: breakdown.confidence,
        source_weight: breakdown.source_weight,
        transient: breakdown.transient,
        unused: breakdown.unused,
        score,
        matched_terms: breakdown.matched_terms,
        path: breakdown.path,
    }
}

impl From<Explanation> for v1::ExplainResponse {
    fn from(explanation: Explanation) -> v1::ExplainResponse {
        v1::ExplainResponse {
            memory_id: explanation.id.to_string(),
            reason: explanation.reason.number(),
            detail: explanation.detail,
            other: explanation.other.map(|id| id.to_string()).unwrap_or_default(),
            rank: explanation.rank,
            similarity: explanation.similarity,
            score: explanation.breakdown.as_ref().map(|breakdown| breakdown.score),
            breakdown: explanation.breakdown.map(Into::into),
            allowed: explanation.allowed,
            revision: explanation.revision.0,
            plan: explanation.plan,
        }
    }
}

impl TryFrom<v1::ExplainResponse> for Explanation {
    type Error = Invalid;

    fn try_from(wire: v1::ExplainResponse) -> Result<Explanation, Invalid> {
        let score = wire.score.unwrap_or_default();
        Ok(Explanation {
            id: text::parsed("memory_id", &wire.memory_id)?,
            reason: words::required("reason", wire.reason)?,
            detail: wire.detail,
            other: text::parsed_optional("other", &wire.other)?,
            rank: wire.rank,
            similarity: wire.similarity,
            breakdown: wire.breakdown.map(|breakdown| breakdown_from_wire(breakdown, score)),
            allowed: wire.allowed,
            revision: Lsn(wire.revision),
            plan: wire.plan,
        })
    }
}

impl From<Breakdown> for v1::Breakdown {
    fn from(breakdown: Breakdown) -> v1::Breakdown {
        v1::Breakdown {
            parts: breakdown.parts.into_iter().map(Into::into).collect(),
            confidence: breakdown.confidence,
            source_weight: breakdown.source_weight,
            transient: breakdown.transient,
            unused: breakdown.unused,
            matched_terms: breakdown.matched_terms,
            path: breakdown.path,
        }
    }
}

impl From<Part> for v1::Part {
    fn from(part: Part) -> v1::Part {
        let Part { name, raw, normalized, weight, contribution } = part;
        v1::Part { name, raw, normalized, weight, contribution }
    }
}

impl From<v1::Part> for Part {
    fn from(wire: v1::Part) -> Part {
        let v1::Part { name, raw, normalized, weight, contribution } = wire;
        Part { name, raw, normalized, weight, contribution }
    }
}

impl From<Neighbor> for v1::Neighbor {
    fn from(neighbor: Neighbor) -> v1::Neighbor {
        let Neighbor { id, similarity, relation, about, old, new } = neighbor;
        v1::Neighbor { id: id.to_string(), similarity, relation: relation.number(), about, old, new }
    }
}

impl TryFrom<v1::Neighbor> for Neighbor {
    type Error = Invalid;

    fn try_from(wire: v1::Neighbor) -> Result<Neighbor, Invalid> {
        let v1::Neighbor { id, similarity, relation, about, old, new } = wire;
        let (id, relation) = (text::parsed("id", &id)?, words::required("relation", relation)?);
        Ok(Neighbor { id, similarity, relation, about, old, new })
    }
}
