//! The change of an update. The mask says which fields of the patch count: a named field that is absent is taken
//! away. Without a mask every field that is present counts.

use hindsight_core::{Invalid, Patch};
use prost_types::FieldMask;

use crate::gather::Gather;
use crate::{struct_json, text, time, v1, words};

/// The fields of a patch, as a mask names them.
const FIELDS: [&str; 19] = [
    "content",
    "summary",
    "keywords",
    "tags",
    "entities",
    "claims",
    "metadata",
    "task_type",
    "status",
    "importance",
    "confidence",
    "occurred_at",
    "valid_from",
    "valid_to",
    "expires_at",
    "root_cause",
    "resolution",
    "transient",
    "rule_state",
];

/// Reads a patch and its mask.
///
/// # Errors
/// A mask that names an unknown field, a named field that is absent and can't be taken away, and every field that
/// can't be read.
pub fn from_wire(patch: Option<v1::MemoryPatch>, mask: Option<FieldMask>) -> Result<Patch, Invalid> {
    let mask = Mask::read(mask)?;
    let wire = patch.unwrap_or_default();
    let mut gather = Gather::default();
    let patch = Patch {
        content: mask.text("content", wire.content),
        summary: mask.text("summary", wire.summary),
        keywords: mask.list("keywords", wire.keywords),
        tags: mask.list("tags", wire.tags),
        entities: mask.list("entities", wire.entities.into_iter().map(Into::into).collect()),
        claims: mask.list("claims", wire.claims.into_iter().map(Into::into).collect()),
        metadata: mask
            .counts("metadata", wire.metadata.is_some())
            .then(|| gather.keep(struct_json::from_wire("metadata", wire.metadata))),
        // An empty text is absent here as everywhere on the wire.
        task_type: mask.text("task_type", wire.task_type).map(text::optional),
        status: mask
            .counts("status", wire.status != 0)
            .then(|| gather.keep(words::optional("status", wire.status))),
        importance: gather.keep(mask.kept("importance", wire.importance)),
        confidence: gather.keep(mask.kept("confidence", wire.confidence)),
        occurred_at: gather.keep(
            time::optional("occurred_at", wire.occurred_at.as_ref())
                .and_then(|time| mask.kept("occurred_at", time)),
        ),
        valid_from: gather.keep(mask.time("valid_from", wire.valid_from.as_ref())),
        valid_to: gather.keep(mask.time("valid_to", wire.valid_to.as_ref())),
        expires_at: gather.keep(mask.time("expires_at", wire.expires_at.as_ref())),
        root_cause: mask.text("root_cause", wire.root_cause).map(text::optional),
        resolution: mask.text("resolution", wire.resolution).map(text::optional),
        transient: gather.keep(mask.kept("transient", wire.transient)),
        rule_state: gather.keep(
            words::optional("rule_state", wire.rule_state).and_then(|state| mask.kept("rule_state", state)),
        ),
    };
    gather.finish().map(|()| patch)
}

/// A patch for the wire, with a mask that names each of its fields.
#[must_use]
pub fn to_wire(patch: Patch) -> (v1::MemoryPatch, FieldMask) {
    let named = [
        patch.content.is_some(),
        patch.summary.is_some(),
        patch.keywords.is_some(),
        patch.tags.is_some(),
        patch.entities.is_some(),
        patch.claims.is_some(),
        patch.metadata.is_some(),
        patch.task_type.is_some(),
        patch.status.is_some(),
        patch.importance.is_some(),
        patch.confidence.is_some(),
        patch.occurred_at.is_some(),
        patch.valid_from.is_some(),
        patch.valid_to.is_some(),
        patch.expires_at.is_some(),
        patch.root_cause.is_some(),
        patch.resolution.is_some(),
        patch.transient.is_some(),
        patch.rule_state.is_some(),
    ];
    let names = FIELDS.iter().zip(named).filter(|(_, named)| *named);
    let mask = FieldMask { paths: names.map(|(field, _)| (*field).to_owned()).collect() };
    let wire = v1::MemoryPatch {
        content: patch.content,
        summary: patch.summary,
        keywords: patch.keywords.unwrap_or_default(),
        tags: patch.tags.unwrap_or_default(),
        entities: patch.entities.unwrap_or_default().into_iter().map(Into::into).collect(),
        claims: patch.claims.unwrap_or_default().into_iter().map(Into::into).collect(),
        metadata: patch.metadata.and_then(struct_json::to_wire),
        task_type: patch.task_type.flatten(),
        status: words::number(patch.status.flatten()),
        importance: patch.importance,
        confidence: patch.confidence,
        occurred_at: patch.occurred_at.map(time::to_wire),
        valid_from: patch.valid_from.flatten().map(time::to_wire),
        valid_to: patch.valid_to.flatten().map(time::to_wire),
        expires_at: patch.expires_at.flatten().map(time::to_wire),
        root_cause: patch.root_cause.flatten(),
        resolution: patch.resolution.flatten(),
        transient: patch.transient,
        rule_state: words::number(patch.rule_state),
    };
    (wire, mask)
}

/// The fields that count; none means those that are present.
struct Mask(Option<Vec<String>>);

impl Mask {
    fn read(mask: Option<FieldMask>) -> Result<Mask, Invalid> {
        let paths = mask.map(|mask| mask.paths).filter(|paths| !paths.is_empty());
        for path in paths.iter().flatten() {
            if !FIELDS.contains(&path.as_str()) {
                let shown: String = path.chars().take(40).collect();
                let expected = FIELDS.join(", ");
                return Err(Invalid::one(
                    "update_mask",
                    format!("unknown field {shown:?}: expected fields of {expected}"),
                ));
            }
        }
        Ok(Mask(paths))
    }

    fn counts(&self, field: &str, present: bool) -> bool {
        self.0.as_ref().map_or(present, |paths| paths.iter().any(|path| path == field))
    }

    /// A text; empty when it is taken away.
    fn text(&self, field: &str, value: Option<String>) -> Option<String> {
        self.counts(field, value.is_some()).then(|| value.unwrap_or_default())
    }

    /// A whole list; empty when it is taken away.
    fn list<T>(&self, field: &str, values: Vec<T>) -> Option<Vec<T>> {
        self.counts(field, !values.is_empty()).then_some(values)
    }

    /// A time that may be taken away.
    fn time(
        &self,
        field: &str,
        time: Option<&prost_types::Timestamp>,
    ) -> Result<Option<Option<hindsight_core::Timestamp>>, Invalid> {
        if self.counts(field, time.is_some()) { time::optional(field, time).map(Some) } else { Ok(None) }
    }

    /// A value that every memory has: it can be changed, not taken away.
    fn kept<T>(&self, field: &str, value: Option<T>) -> Result<Option<T>, Invalid> {
        match (self.counts(field, value.is_some()), value) {
            (true, None) => {
                Err(Invalid::one(field, "is missing: it can be changed, not taken away; give a value"))
            }
            (true, value) => Ok(value),
            (false, _) => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mask(paths: &[&str]) -> Option<FieldMask> {
        Some(FieldMask { paths: paths.iter().map(|path| (*path).to_owned()).collect() })
    }

    fn wire() -> v1::MemoryPatch {
        v1::MemoryPatch {
            content: Some("新".to_owned()),
            tags: vec!["t".to_owned()],
            importance: Some(0.5),
            status: 2,
            ..Default::default()
        }
    }

    #[test]
    fn without_a_mask_what_is_present_counts() {
        let patch = from_wire(Some(wire()), None).unwrap();
        assert_eq!(patch.content.as_deref(), Some("新"));
        assert_eq!((patch.tags.as_ref().map(Vec::len), patch.importance), (Some(1), Some(0.5)));
        assert_eq!(patch.status, Some(Some(hindsight_core::Status::Failure)));
        assert_eq!((patch.summary, patch.keywords, patch.valid_to), (None, None, None));
        assert_eq!(from_wire(Some(wire()), mask(&[])).unwrap().content.as_deref(), Some("新"));
        assert!(from_wire(None, None).unwrap().is_empty());
    }

    #[test]
    fn a_named_field_that_is_absent_is_taken_away_and_an_unnamed_one_stays() {
        let paths = ["valid_to", "keywords", "summary", "root_cause", "metadata", "status"];
        let patch = from_wire(
            Some(v1::MemoryPatch { content: Some("x".to_owned()), ..Default::default() }),
            mask(&paths),
        );
        let patch = patch.unwrap();
        assert_eq!(patch.content, None);
        assert_eq!((patch.valid_to, patch.keywords), (Some(None), Some(Vec::new())));
        assert_eq!((patch.summary.as_deref(), patch.root_cause), (Some(""), Some(None)));
        assert_eq!((patch.metadata.map(|m| m.len()), patch.status), (Some(0), Some(None)));
    }

    #[test]
    fn a_mask_names_known_fields_and_only_what_may_go_goes() {
        let invalid = from_wire(Some(wire()), mask(&["content", "colour"])).unwrap_err();
        assert_eq!(invalid.violations[0].field, "update_mask");
        assert!(
            invalid.to_string().contains("unknown field \"colour\": expected fields of content, summary")
        );
        let invalid =
            from_wire(None, mask(&["importance", "transient", "occurred_at", "rule_state"])).unwrap_err();
        let fields: Vec<String> = invalid.violations.into_iter().map(|v| v.field).collect();
        assert_eq!(fields, ["importance", "occurred_at", "transient", "rule_state"]);
    }

    #[test]
    fn every_field_of_the_message_can_be_named() {
        use prost::Message as _;
        let files = prost_types::FileDescriptorSet::decode(crate::DESCRIPTOR_SET).unwrap();
        let messages = files.file.iter().flat_map(|file| &file.message_type);
        let patch = messages.into_iter().find(|message| message.name() == "MemoryPatch").unwrap();
        let names: Vec<&str> = patch.field.iter().map(|field| field.name()).collect();
        assert_eq!(names, FIELDS);
    }
}
