//! The filter tree.

use hindsight_core::limits::{FILTER_DEPTH_MAX, FILTER_NODES_MAX};
use hindsight_core::{Filter, Invalid};

use crate::gather::Gather;
use crate::{time, v1, words};

impl From<Filter> for v1::Filter {
    fn from(filter: Filter) -> v1::Filter {
        let parts = |parts: Vec<Filter>| parts.into_iter().map(Into::into).collect();
        v1::Filter {
            kinds: words::numbers(&filter.kinds),
            layers: words::numbers(&filter.layers),
            task_types: filter.task_types,
            statuses: words::numbers(&filter.statuses),
            states: words::numbers(&filter.states),
            tags: filter.tags,
            entities: filter.entities,
            tools: filter.tools,
            error_codes: filter.error_codes,
            root_causes: filter.root_causes,
            sessions: filter.sessions,
            agents: filter.agents,
            source_kinds: words::numbers(&filter.source_kinds),
            from: filter.from.map(time::to_wire),
            to: filter.to.map(time::to_wire),
            last: filter.last.map(time::span_to_wire),
            min_importance: filter.min_importance,
            min_confidence: filter.min_confidence,
            transient: filter.transient,
            all: parts(filter.all),
            any: parts(filter.any),
            not: parts(filter.not),
        }
    }
}

impl TryFrom<v1::Filter> for Filter {
    type Error = Invalid;

    /// Reads a tree no deeper and no larger than core allows; the fields of the violations are relative to it.
    fn try_from(wire: v1::Filter) -> Result<Filter, Invalid> {
        node(wire, 1, &mut 0)
    }
}

/// Reads a filter that may be absent, which means no condition. Violations stand under `filter`.
///
/// # Errors
/// Every field that can't be read.
pub(crate) fn optional(wire: Option<v1::Filter>) -> Result<Filter, Invalid> {
    wire.map(Filter::try_from).transpose().map(Option::unwrap_or_default).map_err(under_filter)
}

fn under_filter(mut invalid: Invalid) -> Invalid {
    for violation in &mut invalid.violations {
        // The tree itself is named by an empty path.
        let joint = if violation.field.is_empty() { "" } else { "." };
        violation.field = format!("filter{joint}{}", violation.field);
    }
    invalid
}

fn node(wire: v1::Filter, depth: usize, nodes: &mut usize) -> Result<Filter, Invalid> {
    *nodes += 1;
    if depth > FILTER_DEPTH_MAX {
        return Err(Invalid::one("", format!("is nested deeper than {FILTER_DEPTH_MAX} levels")));
    }
    if *nodes > FILTER_NODES_MAX {
        return Err(Invalid::one("", format!("has more than {FILTER_NODES_MAX} parts")));
    }
    let mut gather = Gather::default();
    let filter = Filter {
        kinds: gather.keep(words::list("kinds", &wire.kinds)),
        layers: gather.keep(words::list("layers", &wire.layers)),
        task_types: wire.task_types,
        statuses: gather.keep(words::list("statuses", &wire.statuses)),
        states: gather.keep(words::list("states", &wire.states)),
        tags: wire.tags,
        entities: wire.entities,
        tools: wire.tools,
        error_codes: wire.error_codes,
        root_causes: wire.root_causes,
        sessions: wire.sessions,
        agents: wire.agents,
        source_kinds: gather.keep(words::list("source_kinds", &wire.source_kinds)),
        from: gather.keep(time::optional("from", wire.from.as_ref())),
        to: gather.keep(time::optional("to", wire.to.as_ref())),
        last: gather.keep(wire.last.map(|last| time::span_from_wire("last", &last)).transpose()),
        min_importance: wire.min_importance,
        min_confidence: wire.min_confidence,
        transient: wire.transient,
        all: gather.keep(parts("all", wire.all, depth, nodes)),
        any: gather.keep(parts("any", wire.any, depth, nodes)),
        not: gather.keep(parts("not", wire.not, depth, nodes)),
    };
    gather.finish().map(|()| filter)
}

/// Reads the parts of one list; the first bad one ends it. Limits of the whole tree keep an empty path.
fn parts(name: &str, wire: Vec<v1::Filter>, depth: usize, nodes: &mut usize) -> Result<Vec<Filter>, Invalid> {
    let parts = wire.into_iter().enumerate();
    parts
        .map(|(index, part)| {
            node(part, depth + 1, nodes).map_err(|mut invalid| {
                for violation in &mut invalid.violations {
                    if !violation.field.is_empty() {
                        violation.field = format!("{name}[{index}].{}", violation.field);
                    }
                }
                invalid
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(levels: usize) -> v1::Filter {
        (1..levels)
            .fold(v1::Filter::default(), |inner, _| v1::Filter { not: vec![inner], ..Default::default() })
    }

    #[test]
    fn bad_words_are_named_by_their_path() {
        let inner = v1::Filter { statuses: vec![1, 77], ..Default::default() };
        let wire =
            v1::Filter { kinds: vec![0], any: vec![v1::Filter::default(), inner], ..Default::default() };
        let invalid = optional(Some(wire)).unwrap_err();
        let fields: Vec<&str> = invalid.violations.iter().map(|v| v.field.as_str()).collect();
        assert_eq!(fields, ["filter.kinds[0]", "filter.any[1].statuses[1]"]);
    }

    #[test]
    fn the_tree_ends_where_core_ends_it() {
        assert!(optional(Some(nested(FILTER_DEPTH_MAX))).unwrap().check("filter").is_ok());
        let invalid = optional(Some(nested(FILTER_DEPTH_MAX + 1))).unwrap_err();
        assert_eq!(invalid.to_string(), "filter: is nested deeper than 16 levels");
        let wide = |parts| v1::Filter { all: vec![v1::Filter::default(); parts], ..Default::default() };
        assert!(optional(Some(wide(FILTER_NODES_MAX - 1))).unwrap().check("filter").is_ok());
        let invalid = optional(Some(wide(FILTER_NODES_MAX))).unwrap_err();
        assert_eq!(invalid.to_string(), "filter: has more than 256 parts");
        assert_eq!(optional(None), Ok(Filter::default()));
    }
}
