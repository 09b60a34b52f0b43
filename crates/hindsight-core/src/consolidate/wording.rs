//! What a rule says: a template in English, or in Chinese where most of its episodes are, that names the type of task, the
//! tool, the error code, the cause and the remedy. It holds no count: those change, and the text and its vectors stay.

use super::weigh::{Lesson, failing};
use crate::limits::{SUMMARY_CHARS_MAX, WORD_CHARS_MAX};
use crate::memory::Condition;
use crate::{Memory, Polarity};

/// The texts of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wording {
    /// When it applies.
    pub condition: Condition,
    /// What to do, or what to leave.
    pub advice: String,
    /// Both in a sentence: the text of the memory.
    pub content: String,
}

impl Wording {
    /// The texts of a lesson. Names and remedy are worded as the first of its episodes words them; tool and error code stand
    /// there only where all episodes have the same.
    #[must_use]
    pub fn of(lesson: &Lesson<'_>) -> Option<Wording> {
        let first = lesson.first()?;
        let failures = || lesson.episodes.iter().filter_map(|memory| failing(memory));
        let condition = Condition {
            task_type: first.task_type.clone(),
            root_cause: first.episode.as_deref().and_then(|episode| episode.root_cause.clone()),
            error_code: common(failures().map(|action| action.error_code.as_deref())),
            tool: common(failures().map(|action| Some(action.tool.as_str()))),
        };
        let chinese = lesson.episodes.iter().filter(|memory| is_chinese(memory)).count() * 2;
        let is_chinese = chinese > lesson.episodes.len();
        let remedy = first.episode.as_deref().and_then(|episode| episode.resolution.as_deref());
        let advice = match (lesson.polarity, remedy) {
            (Polarity::Do, Some(remedy)) => remedy.trim().to_owned(),
            _ => warning(&condition, is_chinese),
        };
        let content = sentence(&condition, &advice, is_chinese);
        Some(Wording { condition, advice, content })
    }

    /// A number by which texts that were changed by hand are told from these.
    pub(super) fn mark(&self) -> u64 {
        mark(&self.content, &self.advice)
    }
}

/// FNV-1a over both texts: small, and the same in every build.
pub(super) fn mark(content: &str, advice: &str) -> u64 {
    let bytes = content.bytes().chain([0xff]).chain(advice.bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The text of a rule that somebody proposes with a condition and an advice alone.
#[must_use]
pub fn proposed(condition: &Condition, advice: &str, polarity: Polarity) -> String {
    let is_chinese = has_mostly_han(advice);
    let advice = match (polarity, is_chinese) {
        (Polarity::Do, _) => advice.trim().to_owned(),
        (Polarity::Avoid, false) => format!("avoid: {}", advice.trim()),
        (Polarity::Avoid, true) => format!("避免：{}", advice.trim()),
    };
    sentence(condition, &advice, is_chinese)
}

/// The value that all have who have one; none where two differ.
fn common<'a>(values: impl Iterator<Item = Option<&'a str>>) -> Option<String> {
    let mut values = values.flatten().filter(|value| value.chars().nth(WORD_CHARS_MAX).is_none());
    let first = values.next()?;
    values.all(|value| value == first).then(|| first.to_owned())
}

fn warning(condition: &Condition, is_chinese: bool) -> String {
    let tool = condition.tool.as_deref();
    let text = match (is_chinese, tool) {
        (false, Some(tool)) => format!(
            "do not call {tool} the same way again: no remedy is known. Take another way, or ask first."
        ),
        (false, None) => {
            "do not try the same way again: no remedy is known. Take another way, or ask first.".to_owned()
        }
        (true, Some(tool)) => {
            format!("不要照原样再调用 {tool}：目前没有已知的解决办法，请换一种做法，或先询问。")
        }
        (true, None) => "不要照原样重试：目前没有已知的解决办法，请换一种做法，或先询问。".to_owned(),
    };
    text.chars().take(SUMMARY_CHARS_MAX).collect()
}

fn sentence(condition: &Condition, advice: &str, is_chinese: bool) -> String {
    let Condition { task_type, root_cause, error_code, tool } = condition;
    let or = |value: &Option<String>, before: &str, after: &str| {
        value.as_ref().map(|value| format!("{before}{value}{after}")).unwrap_or_default()
    };
    if is_chinese {
        let place = or(task_type, "执行 ", " 时，");
        let what = or(tool, " ", " ");
        let code = or(error_code, "报错 ", " ");
        let code = if code.is_empty() { "失败".to_owned() } else { code };
        let cause = or(root_cause, "（原因：", "）");
        return format!("{place}若{what}{}{cause}：{advice}", code.trim_end());
    }
    let place = or(task_type, "In ", ", ");
    let what = tool.as_deref().unwrap_or("a step");
    let code = or(error_code, " with ", "");
    let cause = or(root_cause, " (cause: ", ")");
    let when = if place.is_empty() { "When" } else { "when" };
    format!("{place}{when} {what} fails{code}{cause}: {advice}")
}

fn is_chinese(memory: &Memory) -> bool {
    let episode = memory.episode.as_deref();
    let remedy = episode.and_then(|episode| episode.resolution.as_deref()).unwrap_or_default();
    let cause = episode.and_then(|episode| episode.root_cause.as_deref()).unwrap_or_default();
    has_mostly_han(&format!("{remedy} {cause} {} {}", memory.summary, memory.content))
}

/// Whether at least a quarter of the letters are Chinese: names of tools and codes stay Latin in Chinese texts.
pub(crate) fn has_mostly_han(text: &str) -> bool {
    let letters = text.chars().filter(|c| c.is_alphanumeric()).count();
    let han = text.chars().filter(|c| matches!(c, '\u{4E00}'..='\u{9FFF}' | '\u{3400}'..='\u{4DBF}')).count();
    han > 0 && han * 4 >= letters
}
