//! The memories that are written: each says in its first words which one it is, and the rest follows from that.

use std::fmt;

use hindsight_client::Draft;

/// How many words a memory has at most; one in 64 has [`LONG`] times as many.
const WORDS_MAX: usize = 40;
const LONG: usize = 20;

const ENGLISH: &[&str] = &[
    "deploy",
    "failed",
    "with",
    "permission",
    "denied",
    "after",
    "the",
    "certificate",
    "rotation",
    "billing",
    "service",
    "restarted",
    "agent",
    "asked",
    "for",
    "a",
    "window",
    "seat",
    "peanuts",
    "allergy",
    "timeout",
    "retry",
    "succeeded",
];
const CHINESE: &[&str] = &[
    "部署", "失败", "权限", "不足", "重启", "之后", "恢复", "用户", "喜欢", "靠窗", "座位", "对", "花生",
    "过敏", "证书", "轮换", "超时", "重试", "成功", "账单", "服务",
];

/// A memory: whose it is, and the how manieth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// The writer.
    pub writer: usize,
    /// Its number among the writer's memories, from 0.
    pub number: u64,
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "w{}-{}", self.writer, self.number)
    }
}

impl Key {
    /// The memory that a content says it is.
    #[must_use]
    pub fn of(content: &str) -> Option<Key> {
        let (writer, number) = content.split_ascii_whitespace().next()?.strip_prefix('w')?.split_once('-')?;
        Some(Key { writer: writer.parse().ok()?, number: number.parse().ok()? })
    }

    fn random(self, revision: u64) -> fastrand::Rng {
        let writer = u64::try_from(self.writer).unwrap_or_default();
        fastrand::Rng::with_seed(writer << 48 ^ self.number << 16 ^ revision)
    }
}

/// The content of a memory after `revision` changes of it.
#[must_use]
pub fn content(key: Key, revision: u64) -> String {
    let mut random = key.random(revision);
    let mut count = random.usize(4..=WORDS_MAX);
    if random.u8(..) < 4 {
        count *= LONG;
    }
    let (words, space) = if random.u8(..) < 86 { (CHINESE, "") } else { (ENGLISH, " ") };
    let mut text = format!("{key} r{revision} ");
    for _ in 0..count {
        text.push_str(words.get(random.usize(..words.len())).copied().unwrap_or_default());
        text.push_str(space);
    }
    text.trim_end().to_owned()
}

/// Letters that make a memory `bytes` larger without any meaning.
#[must_use]
pub fn ballast(key: Key, bytes: usize) -> String {
    let mut random = key.random(u64::MAX);
    (0..bytes).map(|_| random.alphanumeric()).collect()
}

/// The one tag of a memory: that of its batch, or of its writer.
#[must_use]
pub fn tag(writer: usize, batch: Option<u64>) -> String {
    batch.map_or_else(|| format!("w{writer}"), |first| format!("w{writer}-batch-{first}"))
}

/// A new memory as it is sent.
#[must_use]
pub fn draft(key: Key, batch: Option<u64>, ballast_bytes: usize) -> Draft {
    let mut draft =
        Draft { content: content(key, 0), tags: vec![tag(key.writer, batch)], ..Draft::default() };
    if ballast_bytes > 0 {
        draft.metadata.insert("ballast".to_owned(), ballast(key, ballast_bytes).into());
    }
    draft
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_says_which_memory_it_is_and_is_the_same_each_time() {
        let key = Key { writer: 3, number: 17 };
        assert_eq!(Key::of(&content(key, 2)), Some(key));
        assert_eq!(content(key, 2), content(key, 2));
        assert_ne!(content(key, 2), content(key, 3));
        for junk in ["", "w3", "3-17", "wx-1 r0", "refused w3"] {
            assert_eq!(Key::of(junk), None, "{junk}");
        }
    }

    #[test]
    fn both_languages_are_written_and_a_few_long_texts() {
        let all: Vec<String> = (0..500).map(|number| content(Key { writer: 0, number }, 0)).collect();
        let chinese = all.iter().filter(|text| !text.is_ascii()).count();
        assert!((100..250).contains(&chinese), "{chinese}");
        assert!(all.iter().any(|text| text.len() > 2_000));
    }
}
