//! Which program wrote a file, and files that are one JSON document rather than a line a memory.

use std::io::{self, BufRead, Cursor, Read as _};

use clap::ValueEnum;
use serde_json::Value;

/// Largest file that is one document, in bytes: it is held in memory, unlike one of lines.
const DOCUMENT_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Who wrote the file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// Each line is known by its fields.
    #[default]
    Auto,
    /// Lines of `export`, memories as `write --json` takes them, or generic lines.
    Jsonl,
    /// The file of the reference MCP memory server: entities and relations.
    McpMemory,
    /// What mem0 lists or exports.
    Mem0,
}

/// A file to be read line by line; one that is a document has each of its items on a line.
pub(crate) struct Rows {
    pub(crate) reader: Box<dyn BufRead>,
    /// Its bytes, where they are known.
    pub(crate) size: Option<u64>,
}

impl Form {
    /// Takes a document apart, and leaves a file of lines as it is.
    ///
    /// # Errors
    /// When the file can't be read, is too large for a document, or begins like one and is none.
    pub(crate) fn rows(self, mut reader: Box<dyn BufRead>, size: Option<u64>) -> io::Result<Rows> {
        let begins = reader.fill_buf()?.iter().copied().find(|byte| !byte.is_ascii_whitespace());
        let is_array = begins == Some(b'[') && self != Form::McpMemory;
        if !is_array && self != Form::Mem0 {
            return Ok(Rows { reader, size });
        }
        let mut bytes = Vec::new();
        reader.take(DOCUMENT_BYTES_MAX + 1).read_to_end(&mut bytes)?;
        if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > DOCUMENT_BYTES_MAX {
            let problem =
                format!("is one document of more than {DOCUMENT_BYTES_MAX} bytes: write one object a line");
            return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
        }
        let lines = match items(&bytes) {
            Ok(Some(items)) => lines_of(&items)?,
            // Several objects, a line each.
            Ok(None) | Err(_) if !is_array => bytes,
            Ok(None) => bytes,
            Err(error) => {
                return Err(io::Error::new(io::ErrorKind::InvalidData, format!("is no JSON: {error}")));
            }
        };
        let size = u64::try_from(lines.len()).ok();
        Ok(Rows { reader: Box::new(Cursor::new(lines)), size })
    }
}

/// The items of a document: those of an array, or of the list that an object names `results` or `memories`.
fn items(bytes: &[u8]) -> serde_json::Result<Option<Vec<Value>>> {
    Ok(match serde_json::from_slice(bytes)? {
        Value::Array(items) => Some(items),
        Value::Object(mut object) => {
            let list = ["results", "memories"].iter().find_map(|name| object.remove(*name));
            if let Some(Value::Array(items)) = list { Some(items) } else { None }
        }
        _ => None,
    })
}

fn lines_of(items: &[Value]) -> io::Result<Vec<u8>> {
    let mut lines = Vec::new();
    for item in items {
        serde_json::to_writer(&mut lines, item)?;
        lines.push(b'\n');
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(form: Form, text: &'static str) -> io::Result<String> {
        let mut rows = form.rows(Box::new(text.as_bytes()), None)?;
        let mut read = String::new();
        rows.reader.read_to_string(&mut read)?;
        Ok(read)
    }

    #[test]
    fn a_document_becomes_lines_and_lines_stay_as_they_are() {
        assert_eq!(rows(Form::Auto, " [\n{\"a\":1},\n {\"b\":2}]").unwrap(), "{\"a\":1}\n{\"b\":2}\n");
        assert_eq!(rows(Form::Mem0, "{\n\"results\": [{\"a\":1}]}").unwrap(), "{\"a\":1}\n");
        assert_eq!(rows(Form::Mem0, "{\"a\":1}\n{\"b\":2}\n").unwrap(), "{\"a\":1}\n{\"b\":2}\n");
        assert_eq!(rows(Form::Auto, "{\"a\":1}\n").unwrap(), "{\"a\":1}\n");
        assert!(rows(Form::Auto, "[1,").unwrap_err().to_string().contains("is no JSON"));
    }
}
