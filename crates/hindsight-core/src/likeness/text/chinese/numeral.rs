//! Numerals: 三十五, 一百二, 二〇二四, 1.5万, 百分之五.

use crate::likeness::text::numeric::times_ten_to;
use crate::likeness::text::token::{Sort, Token, spells};

const DIGITS: &str = "零一二三四五六七八九";

/// Units of numerals and how many zeros they stand for.
const POWERS: &[(char, usize)] = &[('十', 1), ('百', 2), ('千', 3), ('万', 4), ('亿', 8)];

/// Behind a number in digits these multiply, unless what follows makes a unit of them: 3千克.
const MULTIPLY: &[(&str, usize)] = &[("百", 2), ("千", 3), ("万", 4), ("亿", 8)];

/// Makes numbers of numerals: 三十五, 一百二, 二〇二四, 1.5万, 百分之五.
pub(in crate::likeness::text) fn join_numerals(tokens: &[Token]) -> Vec<Token> {
    let mut joined: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let rest = tokens.get(at..).unwrap_or_default();
        if let Some((key, count)) = numeral(rest).or_else(|| multiplied(rest)) {
            joined.push(Token::instead_of(rest.get(..count).unwrap_or_default(), Sort::Number, key));
            at += count;
        } else {
            joined.push(token.clone());
            at += 1;
        }
    }
    join_percent(joined)
}

/// 百分之 before a number is the unit behind it.
fn join_percent(tokens: Vec<Token>) -> Vec<Token> {
    let mut joined: Vec<Token> = Vec::with_capacity(tokens.len());
    for token in tokens {
        let percent = joined.len().checked_sub(3).filter(|from| {
            let words = joined.get(*from..).unwrap_or_default();
            token.sort == Sort::Number && spells(words, "百分之", |key, part| key == part).is_some()
        });
        if let Some(from) = percent {
            let words = joined.split_off(from);
            let unit = Token::instead_of(&words, Sort::Unit, "%");
            joined.push(token);
            joined.push(unit);
        } else {
            joined.push(token);
        }
    }
    joined
}

fn numeral(tokens: &[Token]) -> Option<(String, usize)> {
    let glyph = |token: &Token| token.key.chars().next().filter(|_| token.sort == Sort::Han);
    let is_part = |c: &char| value(*c).is_some() || power(*c).is_some();
    let run: Vec<char> = tokens.iter().map_while(|token| glyph(token).filter(is_part)).collect();
    let key = read_numeral(&run)?;
    Some((key, run.len()))
}

/// Whether a numeral may begin here.
pub(super) fn begins_numeral(token: &Token) -> bool {
    token.sort == Sort::Han && token.key.chars().all(|c| value(c).is_some() || power(c).is_some())
}

fn value(c: char) -> Option<u64> {
    match c {
        '两' => Some(2),
        '〇' => Some(0),
        c => (0..).zip(DIGITS.chars()).find(|(_, digit)| *digit == c).map(|(value, _)| value),
    }
}

fn power(c: char) -> Option<usize> {
    POWERS.iter().find(|(unit, _)| *unit == c).map(|(_, zeros)| *zeros)
}

/// The number that a run of numerals writes. 三四 is none: it may be "three or four".
fn read_numeral(run: &[char]) -> Option<String> {
    if !run.iter().any(|c| power(*c).is_some()) {
        let digits: String = run.iter().filter_map(|c| value(*c)).map(|digit| digit.to_string()).collect();
        let sure = run.len() == 1 || run.len() >= 4 || run.iter().any(|c| matches!(c, '零' | '〇'));
        return (sure && !run.is_empty()).then_some(digits);
    }
    let (mut total, mut section, mut digit) = (0_u64, 0_u64, None);
    let mut last_power = None;
    for (at, c) in run.iter().enumerate() {
        if let Some(found) = value(*c) {
            if digit.is_some_and(|digit| digit != 0) {
                return None;
            }
            digit = Some(found);
            continue;
        }
        let zeros = power(*c)?;
        let scale = 10_u64.pow(u32::try_from(zeros).ok()?);
        let count = match digit.take().filter(|digit| *digit != 0) {
            None if *c == '十' && (at == 0 || section > 0 || total > 0) => 1,
            None if zeros >= 4 && (section > 0 || total > 0) => 0,
            found => found?,
        };
        if zeros >= 4 {
            // 三万五千亿 counts all before it in 亿; 三亿五千万 only what follows 亿.
            let counted = section.checked_add(count)?;
            total = if total < scale {
                total.checked_add(counted)?.checked_mul(scale)?
            } else {
                total.checked_add(counted.checked_mul(scale)?)?
            };
            section = 0;
        } else {
            section = section.checked_add(count * scale)?;
        }
        last_power = Some((at, scale));
    }
    // 一百五 is a hundred and fifty; 一百零五 names the zero.
    let digit = digit.unwrap_or(0);
    let rest = match last_power {
        Some((at, scale)) if at + 2 == run.len() && scale > 10 => digit * (scale / 10),
        _ => digit,
    };
    Some((total + section + rest).to_string())
}

fn multiplied(tokens: &[Token]) -> Option<(String, usize)> {
    let number = tokens.first().filter(|token| token.sort == Sort::Number)?;
    let unit = tokens.get(1)?;
    if unit.is_word("千") && tokens.get(2).is_some_and(|token| token.is_one_of(&["克", "米", "瓦", "卡"]))
    {
        return None;
    }
    let (_, zeros) = MULTIPLY.iter().find(|(name, _)| unit.is_word(name))?;
    Some((times_ten_to(&number.key, *zeros)?, 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numerals() {
        let read = |text: &str| read_numeral(&text.chars().collect::<Vec<_>>());
        for (text, number) in [
            ("三", "3"),
            ("两", "2"),
            ("十", "10"),
            ("十二", "12"),
            ("三十五", "35"),
            ("一百零五", "105"),
            ("一百五", "150"),
            ("一百五十", "150"),
            ("三千二百", "3200"),
            ("两万五", "25000"),
            ("一百万", "1000000"),
            ("三亿五千万", "350000000"),
            ("三万五千亿", "3500000000000"),
            ("一万亿", "1000000000000"),
            ("二〇二四", "2024"),
        ] {
            assert_eq!(read(text).as_deref(), Some(number), "{text}");
        }
        for text in ["三四", "万一", "千万", "百"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
