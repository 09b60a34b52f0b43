//! Chinese text as characters, where spaces do not count: "3 天前" and "3天前" read the same.

/// One character of the query.
#[derive(Debug, Clone, Copy)]
struct Glyph {
    /// The character in its common form: ASCII digits, simplified.
    c: char,
    /// Its first byte in the query, and the byte after it.
    start: usize,
    end: usize,
    /// Whether a space stands before it.
    spaced: bool,
}

/// Traditional characters that occur in time words, each with its simplified form.
const SIMPLIFIED: &[(char, char)] = &[
    ('週', '周'),
    ('個', '个'),
    ('這', '这'),
    ('禮', '礼'),
    ('兩', '两'),
    ('幾', '几'),
    ('過', '过'),
    ('剛', '刚'),
    ('號', '号'),
    ('內', '内'),
    ('來', '来'),
    ('開', '开'),
    ('從', '从'),
    ('鐘', '钟'),
    ('時', '时'),
    ('間', '间'),
    ('頭', '头'),
    ('陣', '阵'),
    ('歲', '岁'),
    ('氣', '气'),
];

/// The characters of a query, without its spaces.
pub(crate) struct Glyphs(Vec<Glyph>);

impl Glyphs {
    pub(crate) fn of(text: &str) -> Glyphs {
        let mut glyphs = Vec::new();
        let mut spaced = false;
        for (start, c) in text.char_indices() {
            if c.is_whitespace() {
                spaced = true;
                continue;
            }
            glyphs.push(Glyph { c: common(c), start, end: start + c.len_utf8(), spaced });
            spaced = false;
        }
        Glyphs(glyphs)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn at(&self, at: usize) -> Option<char> {
        self.0.get(at).map(|glyph| glyph.c)
    }

    /// The character that touches the one at `at` from the left.
    pub(crate) fn before(&self, at: usize) -> Option<char> {
        let here = self.0.get(at)?;
        if here.spaced { None } else { self.at(at.checked_sub(1)?) }
    }

    /// Whether the character at `at` is one of `any`.
    pub(crate) fn is_any(&self, at: usize, any: &str) -> bool {
        self.at(at).is_some_and(|c| any.contains(c))
    }

    /// Whether the character before `at` is one of `any`.
    pub(crate) fn is_before_any(&self, at: usize, any: &str) -> bool {
        self.before(at).is_some_and(|c| any.contains(c))
    }

    /// The place after `words`, if they stand at `at`.
    pub(crate) fn follows(&self, at: usize, words: &str) -> Option<usize> {
        let mut next = at;
        for c in words.chars() {
            if self.at(next) != Some(c) {
                return None;
            }
            next += 1;
        }
        Some(next)
    }

    /// The place after the first of `words` that stands at `at`; longer words come first in such lists.
    pub(crate) fn follows_any(&self, at: usize, words: &[&str]) -> Option<usize> {
        words.iter().find_map(|word| self.follows(at, word))
    }

    /// The bytes of the query from the character at `at` to the one before `next`.
    pub(crate) fn bytes(&self, at: usize, next: usize) -> Option<(usize, usize)> {
        Some((self.0.get(at)?.start, self.0.get(next.checked_sub(1)?)?.end))
    }
}

fn common(c: char) -> char {
    if let '０'..='９' = c {
        let digit = u32::from(c) - u32::from('０');
        return char::from_digit(digit, 10).unwrap_or(c);
    }
    SIMPLIFIED.iter().find(|(traditional, _)| *traditional == c).map_or(c, |(_, simplified)| *simplified)
}
