//! Seeded synthetic memories: the same on every machine.

use hindsight_core::draft::EpisodeDraft;
use hindsight_core::{Draft, Kind, RawVector, RawVectors, Status, Timestamp, VectorRole};
use hindsight_engine::WriteItem;

/// SplitMix64 (Steele, Lea and Flood 2014): enough randomness for a workload, and the same on every machine.
pub struct Random(pub u64);

impl Random {
    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.bits() % u64::try_from(limit).unwrap_or(1)).unwrap_or(0)
    }

    /// A number in −1–1.
    fn unit(&mut self) -> f32 {
        let part = u16::try_from(self.bits() >> 48).unwrap_or(0);
        f32::from(part) / f32::from(u16::MAX) * 2.0 - 1.0
    }

    /// A vector of so many numbers in −1–1.
    pub fn vector(&mut self, dimension: usize) -> Vec<f32> {
        (0..dimension).map(|_| self.unit()).collect()
    }

    /// A word; low numbers are frequent, as in real text.
    pub fn word(&mut self) -> String {
        let (a, b) = (self.below(20_000), self.below(20_000));
        format!("w{}", a * b / 20_000)
    }
}

/// An episode of 30–59 words with one vector, of the last 90 days.
#[must_use]
pub fn item(random: &mut Random, dimension: usize, now: Timestamp) -> WriteItem {
    let words: Vec<String> = (0..30 + random.below(30)).map(|_| random.word()).collect();
    let age_ms = i64::try_from(random.below(90 * 86_400)).unwrap_or(0) * 1_000;
    let status = [Status::Success, Status::Failure, Status::Partial][random.below(3)];
    let draft = Draft {
        kind: Some(Kind::Episode),
        task_type: Some(format!("task-{}", random.below(20))),
        status: Some(status),
        content: words.join(" "),
        episode: Some(EpisodeDraft::default()),
        occurred_at: Some(now.plus_ms(-age_ms)),
        ..Draft::default()
    };
    let vector = RawVector { role: VectorRole::Content, values: random.vector(dimension) };
    WriteItem::new(draft, Some(RawVectors { model: "synthetic".to_owned(), vectors: vec![vector] }))
}
