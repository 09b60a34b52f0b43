//! The parameters of a static model.

use serde::Deserialize;

use crate::error::LoadError;

/// What `config.json` says; its descriptive fields are for people.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct ModelConfig {
    /// The name stored beside every vector.
    pub(crate) name: String,
    /// Components of a vector.
    pub(crate) dimension: usize,
    /// Pieces of a text that count; the rest has no part in the vector.
    pub(crate) max_tokens: usize,
}

impl ModelConfig {
    pub(crate) fn from_json(json: &[u8]) -> Result<ModelConfig, LoadError> {
        serde_json::from_slice(json).map_err(|source| LoadError::Config { source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_field_is_refused() {
        let error = ModelConfig::from_json(br#"{"name": "m", "dimension": 4}"#).unwrap_err();
        let LoadError::Config { source } = &error else { panic!("{error}") };
        assert!(source.to_string().contains("max_tokens"), "{source}");
    }

    #[test]
    fn descriptive_fields_are_for_people() {
        let json = br#"{"name": "m", "dimension": 4, "max_tokens": 9, "pooling": "sum"}"#;
        let config = ModelConfig::from_json(json).unwrap();
        assert_eq!(config, ModelConfig { name: "m".into(), dimension: 4, max_tokens: 9 });
    }
}
