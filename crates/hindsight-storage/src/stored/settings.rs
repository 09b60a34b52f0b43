//! The settings of a namespace, on disk: keys and values, so that one more setting is no other form.

use bincode::{Decode, Encode};
use hindsight_core::Settings;

use crate::codec::CodecError;

#[derive(Debug, Encode, Decode)]
pub(crate) struct StoredSettings {
    /// In ascending order of the keys; none that has its default.
    pairs: Vec<(String, String)>,
}

impl From<&Settings> for StoredSettings {
    fn from(settings: &Settings) -> Self {
        StoredSettings { pairs: settings.pairs() }
    }
}

impl TryFrom<StoredSettings> for Settings {
    type Error = CodecError;

    fn try_from(StoredSettings { pairs }: StoredSettings) -> Result<Self, CodecError> {
        Settings::from_pairs(pairs).map_err(CodecError::field("settings"))
    }
}

#[cfg(test)]
mod tests {
    use hindsight_core::{Batch, Change, Durability, Timestamp};

    use super::*;
    use crate::codec::{decode_batch, decode_edits, encode_batch, encode_edits};
    use crate::{manifest::Edit, records::NamespaceId};

    fn settings() -> Settings {
        let unknown = [("zeal".to_owned(), "11".to_owned())].into();
        Settings { durability: Durability::Async, unknown, ..Settings::default() }
    }

    fn batch() -> Batch {
        let changes = vec![Change::Settings(Box::new(settings()))];
        Batch { namespace: "ops".parse().unwrap(), at: Timestamp::from_ms(12), request: None, changes }
    }

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Bytes that a release has written; they are never edited.
    #[test]
    fn schema_3_is_read_and_written_as_it_was() {
        let golden = include_str!("../../tests/golden/batch_settings_v3.hex");
        let bytes = encode_batch(&batch()).unwrap();
        assert_eq!(hex(&bytes), golden.split_whitespace().collect::<String>());
        assert_eq!(decode_batch(&bytes).unwrap(), batch());
        let golden = include_str!("../../tests/golden/edit_settings_v3.hex");
        let edits = vec![Edit::SetSettings { id: NamespaceId(7), settings: settings() }];
        let bytes = encode_edits(&edits).unwrap();
        assert_eq!(hex(&bytes), golden.split_whitespace().collect::<String>());
        assert_eq!(decode_edits(&bytes).unwrap(), edits);
    }

    #[test]
    fn a_value_that_means_nothing_is_refused_by_its_field() {
        let mut bytes = encode_batch(&batch()).unwrap();
        let at = bytes.windows(5).position(|word| word == b"async").unwrap();
        bytes[at] = b'A';
        let error = decode_batch(&bytes).unwrap_err();
        assert!(matches!(error, CodecError::Field { field: "settings", .. }), "{error}");
    }
}
