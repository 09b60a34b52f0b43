//! The filter as flags: which memories `recall`, `list` and `forget` speak of.

use clap::Args;
use hindsight_core::{Filter, Kind, Layer, SourceKind, State, Status, Timestamp, time::Span};

use crate::document;
use crate::failure::Failure;

/// Conditions; within one flag any value may match, and all flags must hold together.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Which memories (repeat a flag for alternatives)")]
pub(crate) struct FilterFlags {
    /// episode, fact, preference, procedure, rule
    #[arg(long = "kind", value_name = "KIND", value_delimiter = ',')]
    pub(crate) kinds: Vec<Kind>,
    /// episodic, semantic, procedural
    #[arg(long = "layer", value_name = "LAYER", value_delimiter = ',')]
    pub(crate) layers: Vec<Layer>,
    /// The kind of task, letter for letter
    #[arg(long = "task-type", value_name = "TYPE")]
    pub(crate) task_types: Vec<String>,
    /// success, failure, partial
    #[arg(long = "status", value_name = "STATUS", value_delimiter = ',')]
    pub(crate) statuses: Vec<Status>,
    /// active, superseded, archived, quarantined, forgotten
    #[arg(long = "state", value_name = "STATE", value_delimiter = ',')]
    pub(crate) states: Vec<State>,
    /// A label, letter for letter
    #[arg(long = "tag", value_name = "TAG")]
    pub(crate) tags: Vec<String>,
    /// Whom or what it is about
    #[arg(long = "entity", value_name = "NAME")]
    pub(crate) entities: Vec<String>,
    /// A tool that an action called
    #[arg(long = "tool", value_name = "TOOL")]
    pub(crate) tools: Vec<String>,
    /// An error code that an action ended with
    #[arg(long = "error-code", value_name = "CODE")]
    pub(crate) error_codes: Vec<String>,
    /// A root cause, letter for letter
    #[arg(long = "root-cause", value_name = "CAUSE")]
    pub(crate) root_causes: Vec<String>,
    /// A session
    #[arg(long = "session", value_name = "ID")]
    pub(crate) sessions: Vec<String>,
    /// The agent that wrote it
    #[arg(long = "written-by", value_name = "AGENT")]
    pub(crate) agents: Vec<String>,
    /// The grade of its source
    #[arg(long = "source", value_name = "GRADE", value_delimiter = ',')]
    pub(crate) source_kinds: Vec<SourceKind>,
    /// Happened within this span before now, such as 7d or 12h
    #[arg(long, value_name = "SPAN")]
    pub(crate) last: Option<Span>,
    /// Happened at this time or later
    #[arg(long, value_name = "TIME")]
    pub(crate) from: Option<Timestamp>,
    /// Happened before this time
    #[arg(long, value_name = "TIME")]
    pub(crate) to: Option<Timestamp>,
    /// At least this important, 0 to 1
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub(crate) min_importance: Option<f32>,
    /// At least this sure, 0 to 1
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub(crate) min_confidence: Option<f32>,
    /// A whole filter as JSON, with all, any and not; the other flags must hold beside it
    #[arg(long, value_name = "JSON")]
    pub(crate) filter: Option<String>,
}

impl FilterFlags {
    /// The filter that the flags stand for.
    pub(crate) fn into_filter(self) -> Result<Filter, Failure> {
        let mut filter = Filter {
            kinds: self.kinds,
            layers: self.layers,
            task_types: self.task_types,
            statuses: self.statuses,
            states: self.states,
            tags: self.tags,
            entities: self.entities,
            tools: self.tools,
            error_codes: self.error_codes,
            root_causes: self.root_causes,
            sessions: self.sessions,
            agents: self.agents,
            source_kinds: self.source_kinds,
            from: self.from,
            to: self.to,
            last: self.last,
            min_importance: self.min_importance,
            min_confidence: self.min_confidence,
            ..Filter::default()
        };
        if let Some(json) = self.filter {
            let given: Filter = document::object(json.as_bytes())
                .and_then(document::typed)
                .map_err(|invalid| invalid.under("filter."))?;
            filter = if filter == Filter::default() { given } else { Filter { all: vec![given], ..filter } };
        }
        Ok(filter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_json_filter_holds_beside_the_flags() {
        let json = Some(r#"{"any":[{"kind":"fact"},{"kind":"rule"}]}"#.to_owned());
        let alone = FilterFlags { filter: json.clone(), ..FilterFlags::default() }.into_filter().unwrap();
        assert_eq!((alone.any.len(), alone.all.len()), (2, 0));
        let flags = FilterFlags { filter: json, tags: vec!["urgent".to_owned()], ..FilterFlags::default() };
        let both = flags.into_filter().unwrap();
        assert_eq!(both.tags, ["urgent"]);
        assert_eq!(both.all, [alone]);
    }

    #[test]
    fn a_bad_json_filter_names_the_field() {
        let flags = FilterFlags { filter: Some(r#"{"colour":"red"}"#.to_owned()), ..FilterFlags::default() };
        let message = flags.into_filter().unwrap_err().to_string();
        assert!(message.contains("filter.colour"), "{message}");
    }
}
