//! What can be set about one namespace. Settings are logged like everything else, and stored as keys and values of text:
//! so a version that knows one more key needs no new form on disk, and one that does not know it keeps it.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};

use crate::Invalid;
use crate::consolidate::{RuleKey, RuleTuning};
use crate::kind::{UnknownWord, words};
use crate::life::LifeKey;
use crate::likeness::LikenessKey;
use crate::limits::{SETTING_KEY_CHARS_MAX, SETTING_VALUE_CHARS_MAX, SETTINGS_MAX};

words! {
    /// When a write is acknowledged.
    Durability, "durability" {
        /// When it is durable: no crash takes it back.
        Sync = "sync",
        /// When it is applied and in the log's buffer. It is durable soon after; a crash before that takes back the newest
        /// of such writes, and never one of them without all that came later.
        Async = "async",
    }
}

/// The settings of a namespace. One that was never set has its default.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Settings {
    /// When a write is acknowledged.
    pub durability: Durability,
    /// How long its memories live, where that differs from the server's own rules.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub life: BTreeMap<LifeKey, u32>,
    /// How its rules are found and live, where that differs from the server's own numbers.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub rules: BTreeMap<RuleKey, u32>,
    /// From which cosine on its memories are compared, in hundredths, where that differs from the server's own numbers.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub likeness: BTreeMap<LikenessKey, u32>,
    /// What a newer version has set and this one does not know: kept as it is.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub unknown: BTreeMap<String, String>,
}

impl Default for Settings {
    fn default() -> Self {
        let (life, rules, likeness) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Settings { durability: Durability::Sync, life, rules, likeness, unknown: BTreeMap::new() }
    }
}

/// Why stored settings can't be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadSettings {
    /// A value of a known key that means nothing.
    #[error("{key} can't be read")]
    Word {
        /// The key.
        key: &'static str,
        /// The value, and what would be right.
        #[source]
        source: UnknownWord,
    },
    /// A value of a known key that is no whole number up to 1,000,000.
    #[error("{key} is no whole number from 0 to {LIFE_VALUE_MAX}")]
    Number {
        /// The key.
        key: &'static str,
    },
    /// More, or longer, than settings can be.
    #[error(
        "more than {SETTINGS_MAX} settings, or one that is longer than {SETTING_KEY_CHARS_MAX} and {SETTING_VALUE_CHARS_MAX} characters"
    )]
    TooMany,
    /// A key twice.
    #[error("the setting {key:?} stands there twice")]
    Twice {
        /// The key.
        key: String,
    },
}

const DURABILITY: &str = "durability";
/// What stands before the key of a life setting.
const LIFE: &str = "life.";
/// What stands before the key of a setting of rules.
const RULES: &str = "rules.";
/// What stands before the key of a setting of likeness.
const LIKENESS: &str = "likeness.";
/// The largest value of a life setting.
pub const LIFE_VALUE_MAX: u32 = 1_000_000;

impl Settings {
    /// Everything that differs from the defaults, as keys and values in the order of the keys.
    #[must_use]
    pub fn pairs(&self) -> Vec<(String, String)> {
        let Settings { durability, life, rules, likeness, unknown } = self;
        let mut pairs = unknown.clone();
        pairs.extend(life.iter().map(|(key, value)| (format!("{LIFE}{key}"), value.to_string())));
        pairs.extend(rules.iter().map(|(key, value)| (format!("{RULES}{key}"), value.to_string())));
        pairs.extend(likeness.iter().map(|(key, value)| (format!("{LIKENESS}{key}"), value.to_string())));
        if *durability != Settings::default().durability {
            pairs.insert(DURABILITY.to_owned(), durability.as_str().to_owned());
        }
        pairs.into_iter().collect()
    }

    /// The settings that [`Settings::pairs`] made these of.
    ///
    /// # Errors
    /// When they are too many or too long, or a value means nothing.
    pub fn from_pairs(pairs: Vec<(String, String)>) -> Result<Settings, BadSettings> {
        let is_long = |(key, value): &(String, String)| {
            key.chars().count() > SETTING_KEY_CHARS_MAX || value.chars().count() > SETTING_VALUE_CHARS_MAX
        };
        if pairs.len() > SETTINGS_MAX || pairs.iter().any(is_long) {
            return Err(BadSettings::TooMany);
        }
        let mut unknown = BTreeMap::new();
        for (key, value) in pairs {
            if unknown.insert(key.clone(), value).is_some() {
                return Err(BadSettings::Twice { key });
            }
        }
        let mut settings = Settings::default();
        if let Some(word) = unknown.remove(DURABILITY) {
            settings.durability =
                word.parse().map_err(|source| BadSettings::Word { key: DURABILITY, source })?;
        }
        for key in LifeKey::ALL {
            if let Some(text) = unknown.remove(&format!("{LIFE}{key}")) {
                let value = text.parse().ok().filter(|value| *value <= LIFE_VALUE_MAX);
                settings.life.insert(*key, value.ok_or(BadSettings::Number { key: key.as_str() })?);
            }
        }
        for key in RuleKey::ALL {
            if let Some(text) = unknown.remove(&format!("{RULES}{key}")) {
                let value = text.parse().ok().filter(|value| *value <= LIFE_VALUE_MAX);
                settings.rules.insert(*key, value.ok_or(BadSettings::Number { key: key.as_str() })?);
            }
        }
        for key in LikenessKey::ALL {
            if let Some(text) = unknown.remove(&format!("{LIKENESS}{key}")) {
                let value = text.parse().ok().filter(|value| *value <= LIFE_VALUE_MAX);
                settings.likeness.insert(*key, value.ok_or(BadSettings::Number { key: key.as_str() })?);
            }
        }
        Ok(Settings { unknown, ..settings })
    }
}

/// The settings to change; what is absent stays. In JSON, `null` brings one back to its default.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SettingsPatch {
    /// When a write is acknowledged.
    #[serde(deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub durability: Option<Option<Durability>>,
    /// How long its memories live.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub life: BTreeMap<LifeKey, Option<u32>>,
    /// How its rules are found and live.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub rules: BTreeMap<RuleKey, Option<u32>>,
    /// From which cosine on its memories are compared.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub likeness: BTreeMap<LikenessKey, Option<u32>>,
}

impl SettingsPatch {
    /// Whether it changes nothing, whatever the settings are.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == SettingsPatch::default()
    }

    /// The settings with the change.
    #[must_use]
    pub fn apply(&self, settings: &Settings) -> Settings {
        let SettingsPatch { durability, life, rules, likeness } = self;
        let default = Settings::default();
        Settings {
            durability: durability.map_or(settings.durability, |word| word.unwrap_or(default.durability)),
            life: changed(&settings.life, life),
            rules: changed(&settings.rules, rules),
            likeness: changed(&settings.likeness, likeness),
            unknown: settings.unknown.clone(),
        }
    }

    /// Whether every value can be set.
    ///
    /// # Errors
    /// The first that is too large.
    pub fn check(&self) -> Result<(), Invalid> {
        let above_one =
            |(key, value): (&LikenessKey, &Option<u32>)| Some((*key, (*value)?)).filter(|set| set.1 > 100);
        if let Some((key, value)) = self.likeness.iter().find_map(above_one) {
            let right =
                format!("is {value}: at most 100, since it is a cosine in hundredths; 0 for the model's own");
            return Err(Invalid::one(format!("likeness.{key}"), right));
        }
        let too_large = |(key, value): (&LifeKey, &Option<u32>)| Some((*key, (*value)?));
        match self.life.iter().filter_map(too_large).find(|(_, value)| *value > LIFE_VALUE_MAX) {
            None => {
                let set = self.rules.iter().filter_map(|(key, value)| Some((*key, (*value)?))).collect();
                RuleTuning::default().with(&set).check().map_err(|invalid| invalid.under("rules."))
            }
            Some((key, value)) => Err(Invalid::one(
                format!("life.{key}"),
                format!("is {value}: at most {LIFE_VALUE_MAX}, 0 for ever"),
            )),
        }
    }
}

/// What is set, with a change of it.
fn changed<K: Ord + Copy>(set: &BTreeMap<K, u32>, change: &BTreeMap<K, Option<u32>>) -> BTreeMap<K, u32> {
    let mut set = set.clone();
    for (key, value) in change {
        match value {
            Some(value) => drop(set.insert(*key, *value)),
            None => drop(set.remove(key)),
        }
    }
    set
}

/// Tells a field that is `null` (`Some(None)`) from one that is absent (`None`).
fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::<T>::deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(key: &str, value: &str) -> (String, String) {
        (key.to_owned(), value.to_owned())
    }

    #[test]
    fn what_is_not_known_is_kept_and_defaults_are_not_stored() {
        assert_eq!(Settings::default().pairs(), []);
        let pairs = vec![pair("durability", "async"), pair("zeal", "11")];
        let settings = Settings::from_pairs(pairs.clone()).unwrap();
        assert_eq!(settings.durability, Durability::Async);
        assert_eq!(settings.pairs(), pairs);
        let back = SettingsPatch { durability: Some(None), ..SettingsPatch::default() }.apply(&settings);
        assert_eq!((back.durability, back.pairs()), (Durability::Sync, vec![pair("zeal", "11")]));
        assert_eq!(SettingsPatch::default().apply(&settings), settings);
    }

    #[test]
    fn what_means_nothing_is_refused_by_its_key() {
        let error = Settings::from_pairs(vec![pair("durability", "maybe")]).unwrap_err();
        assert!(matches!(error, BadSettings::Word { key: "durability", .. }), "{error}");
        let twice = vec![pair("a", "1"), pair("a", "2")];
        assert_eq!(Settings::from_pairs(twice).unwrap_err(), BadSettings::Twice { key: "a".to_owned() });
        let many = (0..=SETTINGS_MAX).map(|number| pair(&number.to_string(), "")).collect();
        assert_eq!(Settings::from_pairs(many).unwrap_err(), BadSettings::TooMany);
        let long = vec![pair("a", &"名".repeat(SETTING_VALUE_CHARS_MAX + 1))];
        assert_eq!(Settings::from_pairs(long).unwrap_err(), BadSettings::TooMany);
    }

    #[test]
    fn l5_rules_are_set_and_unset_key_by_key() {
        let read = |json: &str| serde_json::from_str::<SettingsPatch>(json).unwrap();
        let settings =
            read(r#"{"rules":{"trust_agents":1,"min_confidence":70}}"#).apply(&Settings::default());
        assert_eq!(settings.pairs(), [pair("rules.min_confidence", "70"), pair("rules.trust_agents", "1")]);
        assert_eq!(Settings::from_pairs(settings.pairs()).unwrap(), settings);
        let tuning = RuleTuning::default().with(&settings.rules);
        assert_eq!((tuning.trust_agents, tuning.min_confidence), (true, 0.7));
        let settings = read(r#"{"rules":{"trust_agents":null}}"#).apply(&settings);
        assert_eq!(settings.rules, [(RuleKey::MinConfidence, 70)].into());
        let error = read(r#"{"rules":{"min_episodes":1,"min_trust":101}}"#).check().unwrap_err();
        let fields: Vec<&str> = error.violations.iter().map(|violation| violation.field.as_str()).collect();
        assert_eq!(fields, ["rules.min_trust", "rules.min_episodes"]);
    }

    #[test]
    fn l2_life_is_set_and_unset_key_by_key() {
        let read = |json: &str| serde_json::from_str::<SettingsPatch>(json).unwrap();
        let patch = read(r#"{"life":{"episode_days":7,"forgotten_days":0}}"#);
        let settings = patch.apply(&Settings::default());
        assert_eq!(settings.pairs(), [pair("life.episode_days", "7"), pair("life.forgotten_days", "0")]);
        assert_eq!(Settings::from_pairs(settings.pairs()).unwrap(), settings);
        let settings = read(r#"{"life":{"episode_days":null}}"#).apply(&settings);
        assert_eq!(settings.life, [(LifeKey::ForgottenDays, 0)].into());
        assert!(serde_json::from_str::<SettingsPatch>(r#"{"life":{"epoch_days":7}}"#).is_err());
        let error = Settings::from_pairs(vec![pair("life.episode_days", "-1")]).unwrap_err();
        assert_eq!(error, BadSettings::Number { key: "episode_days" });
        let error = read(r#"{"life":{"fact_days":1000001}}"#).check().unwrap_err();
        assert_eq!(error.violations[0].field, "life.fact_days");
    }

    #[test]
    fn null_is_the_default_and_absent_is_no_change() {
        let read = |json: &str| serde_json::from_str::<SettingsPatch>(json).unwrap();
        assert!(read("{}").is_empty());
        assert_eq!(read(r#"{"durability":null}"#).durability, Some(None));
        assert_eq!(read(r#"{"durability":"async"}"#).durability, Some(Some(Durability::Async)));
    }
}
