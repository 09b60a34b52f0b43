//! Lines of a file, one at a time, however long the file is. A line beyond the limit is skipped, not read.

use std::io::{self, BufRead};

/// Longest line, in bytes.
pub(crate) const LINE_BYTES_MAX: usize = hindsight_core::limits::MESSAGE_BYTES_MAX;

/// What stands at a line's place.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    /// Its bytes, without the line end.
    Text(&'a [u8]),
    /// It is longer than [`LINE_BYTES_MAX`]; this many bytes were skipped.
    TooLong(u64),
}

/// Reads lines and counts them.
pub(crate) struct Lines<R> {
    reader: R,
    buffer: Vec<u8>,
    number: u64,
    bytes_read: u64,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(reader: R) -> Lines<R> {
        Lines { reader, buffer: Vec::new(), number: 0, bytes_read: 0 }
    }

    /// The number of the line that was read last, from 1.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// How far the file was read, in bytes.
    pub(crate) fn bytes_read(&self) -> u64 {
        self.bytes_read
    }

    /// The next line, or nothing at the end.
    pub(crate) fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        self.buffer.clear();
        let mut length: u64 = 0;
        loop {
            let available = match self.reader.fill_buf() {
                Ok(available) => available,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let end = available.iter().position(|byte| *byte == b'\n');
            let piece = end.map_or(available, |end| available.get(..end).unwrap_or_default());
            let room = LINE_BYTES_MAX + 1 - self.buffer.len();
            self.buffer.extend_from_slice(piece.get(..room.min(piece.len())).unwrap_or_default());
            let used = piece.len() + usize::from(end.is_some());
            length += u64::try_from(piece.len()).unwrap_or(u64::MAX);
            self.reader.consume(used);
            self.bytes_read += u64::try_from(used).unwrap_or(u64::MAX);
            if used == 0 && length == 0 {
                return Ok(None);
            }
            if end.is_some() || used == 0 {
                break;
            }
        }
        self.number += 1;
        if self.buffer.len() > LINE_BYTES_MAX {
            return Ok(Some(Line::TooLong(length)));
        }
        let text = self.buffer.strip_suffix(b"\r").unwrap_or(&self.buffer);
        // Some editors begin a file with the mark of its encoding.
        let text = if self.number == 1 { text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text) } else { text };
        Ok(Some(Line::Text(text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8], buffer: usize) -> Vec<String> {
        let mut lines = Lines::new(io::BufReader::with_capacity(buffer, bytes));
        let mut found = Vec::new();
        while let Some(line) = lines.next_line().unwrap() {
            found.push(match line {
                Line::Text(text) => String::from_utf8(text.to_vec()).unwrap(),
                Line::TooLong(bytes) => format!("<{bytes}>"),
            });
        }
        assert_eq!(lines.number(), u64::try_from(found.len()).unwrap());
        assert_eq!(lines.bytes_read(), u64::try_from(bytes.len()).unwrap());
        found
    }

    #[test]
    fn lines_end_in_any_way() {
        for buffer in [1, 3, 4096] {
            assert_eq!(all("\u{feff}一\r\n\nb".as_bytes(), buffer), ["一", "", "b"]);
            assert_eq!(all(b"a\n", buffer), ["a"]);
            assert!(all(b"", buffer).is_empty());
        }
    }

    #[test]
    fn a_line_beyond_the_limit_is_skipped_and_the_next_is_read() {
        let mut bytes = vec![b'x'; LINE_BYTES_MAX];
        bytes.push(b'\n');
        bytes.extend(vec![b'y'; LINE_BYTES_MAX + 1]);
        bytes.extend(b"\nafter");
        let found = all(&bytes, 64 * 1024);
        assert_eq!(found[0].len(), LINE_BYTES_MAX);
        assert_eq!(found[1..], [format!("<{}>", LINE_BYTES_MAX + 1), "after".to_owned()]);
    }
}
