//! Importance by rule, never by a model (W4): `0.2 + 0.3 failure + 0.3 permissions or money + 0.4 user feedback`, at most 1.

use crate::{Source, SourceKind, Status};

/// Words that tell of permissions or money, in lower case. A Latin word matches a whole word, or a part between `_` and `-`.
const SENSITIVE_WORDS: &[&str] = &[
    "permission",
    "permissions",
    "permitted",
    "unauthorized",
    "unauthorised",
    "forbidden",
    "credential",
    "credentials",
    "authorization",
    "authorisation",
    "authentication",
    "privilege",
    "privileges",
    "payment",
    "payments",
    "pay",
    "paid",
    "refund",
    "refunds",
    "refunded",
    "invoice",
    "invoices",
    "billing",
    "charge",
    "charged",
    "money",
    "price",
    "prices",
    "salary",
    "bank",
    "401",
    "403",
];

/// The same of two words.
const SENSITIVE_PHRASES: &[&str] = &["access denied", "api token"];

/// The same for text without spaces: a match anywhere counts.
const SENSITIVE_TEXTS: &[&str] = &[
    "权限",
    "未授权",
    "无权",
    "授权",
    "凭证",
    "支付",
    "付款",
    "退款",
    "金额",
    "账单",
    "转账",
    "发票",
    "工资",
    "银行",
    "价格",
];

/// Phrases by which a user tells an agent to keep something.
const FEEDBACK_TEXTS: &[&str] = &[
    "remember that",
    "remember this",
    "please remember",
    "don't forget",
    "do not forget",
    "never again",
    "from now on",
    "记住",
    "别忘",
    "不要忘",
    "以后都",
    "以后请",
    "下次不要",
    "再也不要",
];

/// A tag by which a caller marks explicit feedback.
const FEEDBACK_TAG: &str = "feedback";

/// What the rule looks at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ImportanceSignals {
    /// The task failed.
    pub failure: bool,
    /// It touches permissions or money.
    pub permissions_or_money: bool,
    /// A user gave explicit feedback.
    pub user_feedback: bool,
}

impl ImportanceSignals {
    /// Reads the signals off a memory's outcome, source and texts (content, tags, error codes …).
    #[must_use]
    pub fn of(status: Option<Status>, source: &Source, texts: &[&str]) -> ImportanceSignals {
        let from_user = source.kind == SourceKind::UserInput;
        ImportanceSignals {
            failure: status == Some(Status::Failure),
            permissions_or_money: texts.iter().any(|text| is_sensitive(text)),
            user_feedback: texts.contains(&FEEDBACK_TAG)
                || (from_user && texts.iter().any(|text| is_feedback(text))),
        }
    }
}

fn is_sensitive(text: &str) -> bool {
    let is_ascii = text.is_ascii();
    let lower = if is_ascii { text.to_ascii_lowercase() } else { text.to_lowercase() };
    let has = |texts: &[&str]| texts.iter().any(|part| lower.contains(part));
    let is_sensitive = |word: &str| word.len() > 2 && SENSITIVE_WORDS.contains(&word);
    has(SENSITIVE_PHRASES)
        || (!is_ascii && has(SENSITIVE_TEXTS))
        || if is_ascii {
            // One look at a byte instead of the properties of a character.
            lower.split(|c: char| !c.is_ascii_alphanumeric()).any(is_sensitive)
        } else {
            lower.split(|c: char| !c.is_alphanumeric()).any(is_sensitive)
        }
}

fn is_feedback(text: &str) -> bool {
    let lower = text.to_lowercase();
    FEEDBACK_TEXTS.iter().any(|part| lower.contains(part))
}

/// The importance that the rule gives, 0.2–1.
#[must_use]
pub fn importance(signals: &ImportanceSignals) -> f32 {
    let mut tenths: u8 = 2;
    tenths += if signals.failure { 3 } else { 0 };
    tenths += if signals.permissions_or_money { 3 } else { 0 };
    tenths += if signals.user_feedback { 4 } else { 0 };
    f32::from(tenths.min(10)) / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(kind: SourceKind) -> Source {
        Source { kind, speaker: None, conversation_id: None, turns: Vec::new() }
    }

    #[test]
    fn w4_reference_values() {
        let agent = source(SourceKind::Agent);
        let of = |status, texts: &[&str]| importance(&ImportanceSignals::of(status, &agent, texts));
        assert_eq!(of(Some(Status::Failure), &["order update", "permission_denied"]), 0.8);
        assert_eq!(of(None, &["the cat sleeps"]), 0.2);
        assert_eq!(of(Some(Status::Failure), &["timeout"]), 0.5);
        assert_eq!(of(Some(Status::Success), &["已为客户办理退款"]), 0.5);
        assert_eq!(of(Some(Status::Failure), &["refund", "feedback"]), 1.0);
        assert_eq!(of(None, &["the company has employees; a paying guest"]), 0.2);
    }

    #[test]
    fn w4_feedback_counts_when_the_user_speaks() {
        let text = ["Please remember that I hate coriander"];
        let by = |kind| ImportanceSignals::of(None, &source(kind), &text).user_feedback;
        assert!(by(SourceKind::UserInput));
        assert!(!by(SourceKind::External));
        assert!(
            ImportanceSignals::of(None, &source(SourceKind::UserInput), &["记住我不吃香菜"]).user_feedback
        );
    }
}
