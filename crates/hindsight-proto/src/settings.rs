//! The settings of a namespace, and a change of them. The mask says which fields of a change count: a named field that is
//! absent goes back to its default. Without a mask every field that is present counts.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Display;
use std::str::FromStr;

use hindsight_core::consolidate::RuleKey;
use hindsight_core::kind::UnknownWord;
use hindsight_core::likeness::LikenessKey;
use hindsight_core::{Invalid, LifeKey, Settings, SettingsPatch};
use prost_types::FieldMask;

use crate::{text, v1, words};

/// The fields of the settings, as a mask names them.
const FIELDS: [&str; 4] = ["durability", LIFE, RULES, LIKENESS];
const LIFE: &str = "life";
const RULES: &str = "rules";
const LIKENESS: &str = "likeness";

/// Settings for the wire.
#[must_use]
pub fn to_wire(settings: &Settings) -> v1::NamespaceSettings {
    fn named<K: ToString>(set: &BTreeMap<K, u32>) -> HashMap<String, u32> {
        set.iter().map(|(key, value)| (key.to_string(), *value)).collect()
    }
    v1::NamespaceSettings {
        durability: words::number(Some(settings.durability)),
        life: named(&settings.life),
        rules: named(&settings.rules),
        likeness: named(&settings.likeness),
    }
}

/// Reads settings. What is absent has its default.
///
/// # Errors
/// A field that can't be read.
pub fn from_wire(wire: Option<v1::NamespaceSettings>) -> Result<Settings, Invalid> {
    let patch = patch_from_wire(wire, None)?;
    Ok(patch.apply(&Settings::default()))
}

/// Reads a change and its mask.
///
/// # Errors
/// A mask that names an unknown field, and a field that can't be read.
pub fn patch_from_wire(
    settings: Option<v1::NamespaceSettings>,
    mask: Option<FieldMask>,
) -> Result<SettingsPatch, Invalid> {
    let wire = settings.unwrap_or_default();
    let mask = mask.map(|mask| mask.paths);
    let is_known = |path: &str| {
        FIELDS.contains(&path)
            || key::<LifeKey>(LIFE, path).is_some()
            || key::<RuleKey>(RULES, path).is_some()
            || key::<LikenessKey>(LIKENESS, path).is_some()
    };
    if let Some(unknown) = mask.iter().flatten().find(|path| !is_known(path)) {
        let problem = format!("names {unknown:?}, which is no setting: expected {}", FIELDS.join(", "));
        return Err(Invalid::one("update_mask", problem));
    }
    let counts = |field: &str, is_present: bool| match &mask {
        Some(paths) => paths.iter().any(|path| path == field),
        None => is_present,
    };
    let durability = words::optional("settings.durability", wire.durability)?;
    let rules = changed(RuleKey::ALL, RULES, wire.rules, &counts)?;
    let life = changed(LifeKey::ALL, LIFE, wire.life, &counts)?;
    let likeness = changed(LikenessKey::ALL, LIKENESS, wire.likeness, &counts)?;
    let durability = counts("durability", durability.is_some()).then_some(durability);
    Ok(SettingsPatch { durability, life, rules, likeness })
}

/// What a change says of the settings of one group. `counts` says whether a field does, by whether it is present.
fn changed<K>(
    all: &[K],
    group: &str,
    wire: HashMap<String, u32>,
    counts: &impl Fn(&str, bool) -> bool,
) -> Result<BTreeMap<K, Option<u32>>, Invalid>
where
    K: Copy + Ord + Display + FromStr<Err = UnknownWord>,
{
    let given: BTreeMap<K, u32> = numbers_from_wire(&format!("settings.{group}"), wire)?;
    let named = |key: &&K| counts(group, given.contains_key(key)) || counts(&format!("{group}.{key}"), false);
    Ok(all.iter().filter(named).map(|key| (*key, given.get(key).copied())).collect())
}

/// The setting of a group that a path of a mask names.
fn key<K: FromStr>(group: &str, path: &str) -> Option<K> {
    path.strip_prefix(group)?.strip_prefix('.')?.parse().ok()
}

fn numbers_from_wire<K>(field: &str, wire: HashMap<String, u32>) -> Result<BTreeMap<K, u32>, Invalid>
where
    K: Ord + FromStr<Err = UnknownWord>,
{
    // Sorted, so that the same request gives the same first error.
    let sorted: BTreeMap<String, u32> = wire.into_iter().collect();
    sorted.into_iter().map(|(key, value)| Ok((text::parsed(field, &key)?, value))).collect()
}

/// A change for the wire, with a mask that names each of its fields.
#[must_use]
pub fn patch_to_wire(patch: &SettingsPatch) -> (v1::NamespaceSettings, FieldMask) {
    fn named<K: Display>(
        group: &str,
        set: &BTreeMap<K, Option<u32>>,
        paths: &mut Vec<String>,
    ) -> HashMap<String, u32> {
        paths.extend(set.keys().map(|key| format!("{group}.{key}")));
        set.iter().filter_map(|(key, value)| Some((key.to_string(), (*value)?))).collect()
    }
    let SettingsPatch { durability, life, rules, likeness } = patch;
    let mut paths: Vec<String> = durability.iter().map(|_| "durability".to_owned()).collect();
    let settings = v1::NamespaceSettings {
        durability: words::number(durability.flatten()),
        life: named(LIFE, life, &mut paths),
        rules: named(RULES, rules, &mut paths),
        likeness: named(LIKENESS, likeness, &mut paths),
    };
    (settings, FieldMask { paths })
}

#[cfg(test)]
mod tests {
    use hindsight_core::Durability;

    use super::*;

    #[test]
    fn a_change_comes_back() {
        for durability in [None, Some(None), Some(Some(Durability::Async)), Some(Some(Durability::Sync))] {
            let life = [(LifeKey::FactDays, None), (LifeKey::EpisodeDays, Some(0))].into();
            let rules = [(RuleKey::TrustAgents, Some(1)), (RuleKey::MinTrust, None)].into();
            let likeness = [(LikenessKey::Duplicate, Some(95)), (LikenessKey::Conflict, None)].into();
            let patch = SettingsPatch { durability, life, rules, likeness };
            let (settings, mask) = patch_to_wire(&patch);
            assert_eq!(patch_from_wire(Some(settings), Some(mask)).unwrap(), patch);
        }
        let life = [(LifeKey::ForgottenDays, 3)].into();
        let rules = [(RuleKey::MinEpisodes, 4)].into();
        let likeness = [(LikenessKey::Conflict, 50)].into();
        let settings =
            Settings { durability: Durability::Async, life, rules, likeness, ..Settings::default() };
        assert_eq!(from_wire(Some(to_wire(&settings))).unwrap(), settings);
    }

    #[test]
    fn without_a_mask_what_is_present_counts() {
        let async_ = v1::NamespaceSettings { durability: v1::Durability::Async.into(), ..Default::default() };
        let patch = patch_from_wire(Some(async_), None).unwrap();
        assert_eq!(patch.durability, Some(Some(Durability::Async)));
        assert!(patch_from_wire(None, None).unwrap().is_empty());
        let wrong = FieldMask { paths: vec!["ttl".to_owned()] };
        let invalid = patch_from_wire(None, Some(wrong)).unwrap_err();
        assert_eq!(invalid.violations[0].field, "update_mask");
        let wrong = v1::NamespaceSettings { durability: 9, ..Default::default() };
        let invalid = patch_from_wire(Some(wrong), None).unwrap_err();
        assert_eq!(invalid.violations[0].field, "settings.durability");
    }
}
