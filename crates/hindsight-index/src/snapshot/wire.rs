//! Numbers and texts as bytes, little endian.

use super::{SnapshotError, unsound};

/// Bytes being written.
#[derive(Debug, Default)]
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    pub(crate) fn u8(&mut self, number: u8) {
        self.0.push(number);
    }

    pub(crate) fn u32(&mut self, number: u32) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    pub(crate) fn i64(&mut self, number: i64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    pub(crate) fn u128(&mut self, number: u128) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    pub(crate) fn f32(&mut self, number: f32) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    /// How many things follow, at most 2^32 - 1.
    pub(crate) fn count(&mut self, count: usize) {
        self.u32(u32::try_from(count).unwrap_or(u32::MAX));
    }

    /// A number that is mostly small: seven bits to the byte, the lowest first, the highest bit set in all but the last.
    pub(crate) fn short(&mut self, mut number: u32) {
        while number >= 0x80 {
            self.0.push((number & 0x7f) as u8 | 0x80);
            number >>= 7;
        }
        self.0.push((number & 0x7f) as u8);
    }

    /// Its length in bytes, short, then its UTF-8.
    pub(crate) fn text(&mut self, text: &str) {
        self.short(u32::try_from(text.len()).unwrap_or(u32::MAX));
        self.0.extend_from_slice(text.as_bytes());
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    pub(crate) fn signed(&mut self, numbers: &[i8]) {
        self.0.extend(numbers.iter().map(|number| number.to_le_bytes()[0]));
    }
}

/// Bytes being read.
#[derive(Debug)]
pub(crate) struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Self {
        Reader(bytes)
    }

    /// The next `count` bytes.
    pub(crate) fn take(&mut self, count: usize) -> Result<&'b [u8], SnapshotError> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(SnapshotError::CutOff)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], SnapshotError> {
        let (taken, rest) = self.0.split_first_chunk::<N>().ok_or(SnapshotError::CutOff)?;
        self.0 = rest;
        Ok(*taken)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, SnapshotError> {
        Ok(u8::from_le_bytes(self.array()?))
    }

    pub(crate) fn u32(&mut self) -> Result<u32, SnapshotError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub(crate) fn i64(&mut self) -> Result<i64, SnapshotError> {
        Ok(i64::from_le_bytes(self.array()?))
    }

    pub(crate) fn u128(&mut self) -> Result<u128, SnapshotError> {
        Ok(u128::from_le_bytes(self.array()?))
    }

    /// A finite number.
    pub(crate) fn f32(&mut self) -> Result<f32, SnapshotError> {
        let number = f32::from_le_bytes(self.array()?);
        if number.is_finite() { Ok(number) } else { Err(unsound("a number without end")) }
    }

    /// How many things follow, of at least `least` bytes each: so no more than there can be.
    pub(crate) fn count(&mut self, least: usize) -> Result<usize, SnapshotError> {
        let count = usize::try_from(self.u32()?).unwrap_or(usize::MAX);
        if count > self.0.len() / least.max(1) { Err(SnapshotError::CutOff) } else { Ok(count) }
    }

    /// See [`Writer::short`].
    pub(crate) fn short(&mut self) -> Result<u32, SnapshotError> {
        let mut number = 0_u32;
        for shift in [0, 7, 14, 21, 28] {
            let byte = self.u8()?;
            if shift == 28 && byte > 0x0f {
                break;
            }
            number |= u32::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(unsound("a number of more than 32 bits"))
    }

    /// See [`Writer::short`]; so many things of at least `least` bytes each follow.
    pub(crate) fn short_count(&mut self, least: usize) -> Result<usize, SnapshotError> {
        let count = usize::try_from(self.short()?).unwrap_or(usize::MAX);
        if count > self.0.len() / least.max(1) { Err(SnapshotError::CutOff) } else { Ok(count) }
    }

    pub(crate) fn text(&mut self) -> Result<&'b str, SnapshotError> {
        let length = self.short_count(1)?;
        std::str::from_utf8(self.take(length)?).map_err(|_| unsound("a text that is not UTF-8"))
    }

    /// Numbers of 32 bits, one after the other.
    pub(crate) fn numbers(
        &mut self,
        count: usize,
    ) -> Result<impl ExactSizeIterator<Item = u32> + use<'b>, SnapshotError> {
        let bytes = self.take(count.checked_mul(4).ok_or(SnapshotError::CutOff)?)?;
        let number = |bytes: &[u8]| bytes.try_into().map_or(0, u32::from_le_bytes);
        Ok(bytes.chunks_exact(4).map(number))
    }

    /// Nothing may be left.
    pub(crate) fn end(&self) -> Result<(), SnapshotError> {
        if self.0.is_empty() { Ok(()) } else { Err(unsound("bytes after the end")) }
    }
}
