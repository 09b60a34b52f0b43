//! JSON that a caller hands over: read from a file or standard input, and refused with the field's path.

use std::io::Read as _;
use std::path::Path;

use hindsight_core::limits::MESSAGE_BYTES_MAX;
use hindsight_core::{Invalid, RawVector, RawVectors};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::failure::Failure;

/// Reads text from `path`, or from standard input when it is `-`. At most as much as one message may carry.
pub(crate) fn read_text(path: &Path) -> Result<String, Failure> {
    let name = path.display();
    let failed = |source| Failure::Read { name: name.to_string(), source };
    let most = u64::try_from(MESSAGE_BYTES_MAX).unwrap_or(u64::MAX);
    let mut text = String::new();
    let read = if path == Path::new("-") {
        std::io::stdin().lock().take(most + 1).read_to_string(&mut text)
    } else {
        std::fs::File::open(path).map_err(failed)?.take(most + 1).read_to_string(&mut text)
    };
    if read.map_err(failed)? > MESSAGE_BYTES_MAX {
        let problem = format!("is larger than {MESSAGE_BYTES_MAX} bytes: store it in parts");
        return Err(Invalid::one(name.to_string(), problem).into());
    }
    Ok(text)
}

/// The JSON object that `text` holds.
pub(crate) fn object(text: &[u8]) -> Result<Map<String, Value>, Invalid> {
    match serde_json::from_slice(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(Invalid::one("json", "is no object: expected { … }")),
        Err(error) => Err(Invalid::one("json", format!("can't be read: {error}"))),
    }
}

/// The value that a JSON object stands for; an error names the field by its path.
pub(crate) fn typed<T: DeserializeOwned>(object: Map<String, Value>) -> Result<T, Invalid> {
    serde_path_to_error::deserialize(Value::Object(object)).map_err(|error| {
        let path = error.path().to_string();
        let problem = error.into_inner().to_string();
        // For a field that the type does not have, the path is that of the object around it.
        let unknown = problem.strip_prefix("unknown field `").and_then(|rest| rest.split('`').next());
        let field = match (path.as_str(), unknown) {
            (".", Some(name)) => name.to_owned(),
            (".", None) => "json".to_owned(),
            (path, Some(name)) if !path.ends_with(name) => format!("{path}.{name}"),
            (path, _) => path.to_owned(),
        };
        Invalid::one(field, problem)
    })
}

/// Takes the vectors out of an object: `vectors` (as on the wire) and the `embedding_model` that made them.
pub(crate) fn take_vectors(object: &mut Map<String, Value>) -> Result<Option<RawVectors>, Invalid> {
    let Some(vectors) = object.remove("vectors") else { return Ok(None) };
    let model = match object.remove("embedding_model") {
        Some(Value::String(model)) => model,
        Some(_) => return Err(Invalid::one("embedding_model", "is no text: expected the model's name")),
        None => String::new(),
    };
    let vectors: Vec<RawVector> = serde_path_to_error::deserialize(vectors)
        .map_err(|error| Invalid::one(format!("vectors{}", error.path()), error.into_inner().to_string()))?;
    Ok(Some(RawVectors { model, vectors }))
}

#[cfg(test)]
mod tests {
    use hindsight_core::Draft;

    use super::*;

    fn refused(json: &str) -> String {
        object(json.as_bytes()).and_then(typed::<Draft>).unwrap_err().to_string()
    }

    #[test]
    fn an_error_names_the_field_by_its_path() {
        assert!(refused(r#"{"content":"a","colour":"red"}"#).starts_with("colour: unknown field `colour`"));
        assert!(refused(r#"{"content":"a","kind":"diary"}"#).starts_with("kind: unknown variant `diary`"));
        assert!(
            refused(r#"{"episode":{"actions":[{"tool":"a"},{"tool":7}]}}"#)
                .starts_with("episode.actions[1].tool:")
        );
        assert!(refused(r#"{"episode":{"why":1}}"#).starts_with("episode.why: unknown field `why`"));
        assert!(refused("[1]").starts_with("json: is no object"));
        assert!(refused(r#"{"content":"a"#).starts_with("json: can't be read"));
    }

    #[test]
    fn vectors_are_taken_with_their_model() {
        let mut json =
            object(br#"{"content":"a","vectors":[{"values":[1,0]}],"embedding_model":"m"}"#).unwrap();
        let vectors = take_vectors(&mut json).unwrap().unwrap();
        assert_eq!((vectors.model.as_str(), vectors.vectors[0].values.as_slice()), ("m", &[1.0, 0.0][..]));
        assert_eq!(json.len(), 1);
        let mut json = object(br#"{"vectors":[{"values":["a"]}]}"#).unwrap();
        assert!(take_vectors(&mut json).unwrap_err().to_string().starts_with("vectors[0].values[0]:"));
    }
}
