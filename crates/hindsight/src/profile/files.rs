//! The two files: the user's own, with profiles, and the project's, which may say little.
//!
//! ```toml
//! # ~/.config/hindsight/config.toml, or $XDG_CONFIG_HOME/hindsight/config.toml
//! default = "work"
//!
//! [profiles.work]
//! server = "https://memory.example:7420"
//! namespace = "ops"
//! token_file = "/home/mei/.config/hindsight/work.token"
//! ```

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use hindsight_core::{Namespace, time::Span};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

use crate::failure::Failure;
use crate::output::Format;

/// The project's file, in the folder that one stands in.
const PROJECT: &str = "hindsight.toml";

/// What is known under one name.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Profile {
    pub(super) server: Option<String>,
    #[serde(deserialize_with = "word")]
    pub(super) namespace: Option<Namespace>,
    pub(super) token_file: Option<PathBuf>,
    pub(super) tls_ca: Option<PathBuf>,
    pub(super) tls_domain: Option<String>,
    pub(super) tls_client_cert: Option<PathBuf>,
    pub(super) tls_client_key: Option<PathBuf>,
    #[serde(deserialize_with = "format")]
    pub(super) output: Option<Format>,
    #[serde(deserialize_with = "word")]
    pub(super) timeout: Option<Span>,
}

/// The user's own file.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct User {
    /// The profile that is used when none is named.
    default: Option<String>,
    profiles: BTreeMap<String, Profile>,
}

/// The project's file.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Project {
    /// The profile of the user's file that is meant here.
    profile: Option<String>,
    #[serde(deserialize_with = "word")]
    pub(super) namespace: Option<Namespace>,
    #[serde(deserialize_with = "format")]
    pub(super) output: Option<Format>,
}

/// Both files; one that is not there says nothing.
#[derive(Debug, Clone, Default)]
pub(super) struct Files {
    user: User,
    user_path: PathBuf,
    pub(super) project: Project,
}

impl Files {
    pub(super) fn read() -> Result<Files, Failure> {
        let user_path = user_path().unwrap_or_default();
        let user = match user_path.as_os_str().is_empty() {
            true => User::default(),
            false => parsed(&user_path, "")?,
        };
        let only = ": a project's file names a profile, a namespace and an output; servers and tokens stand in the user's own file";
        Ok(Files { user, user_path, project: parsed(Path::new(PROJECT), only)? })
    }

    /// Where the project's values stand.
    pub(super) fn project_place(&self) -> &'static str {
        PROJECT
    }

    /// The profile to use: the one that is named, else the project's, else the user's default, else none.
    pub(super) fn profile(&self, named: Option<&str>) -> Result<Option<(&str, &Profile)>, Failure> {
        let wanted = named.or(self.project.profile.as_deref()).or(self.user.default.as_deref());
        let Some(wanted) = wanted else { return Ok(None) };
        match self.user.profiles.get_key_value(wanted) {
            Some((name, profile)) => Ok(Some((name, profile))),
            None => Err(Failure::NoProfile {
                name: wanted.to_owned(),
                path: self.user_path.clone(),
                known: self.user.profiles.keys().cloned().collect(),
            }),
        }
    }
}

fn user_path() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let config = folder("XDG_CONFIG_HOME").or_else(|| folder("HOME").map(|home| home.join(".config")))?;
    Some(config.join("hindsight").join("config.toml"))
}

fn parsed<T: DeserializeOwned + Default>(path: &Path, note: &str) -> Result<T, Failure> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(T::default());
        }
        Err(source) => return Err(Failure::Read { name: path.display().to_string(), source }),
    };
    toml::from_str(&text).map_err(|error| {
        let line = error.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count());
        Failure::Profile {
            place: format!("{}:{line}", path.display()),
            problem: format!("{}{note}", error.message()),
        }
    })
}

/// A value that is written as text, such as a namespace.
fn word<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: std::str::FromStr<Err: std::fmt::Display>,
{
    let text = String::deserialize(deserializer)?;
    text.parse().map(Some).map_err(serde::de::Error::custom)
}

fn format<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Format>, D::Error> {
    let text = String::deserialize(deserializer)?;
    clap::ValueEnum::from_str(&text, false)
        .map(Some)
        .map_err(|_| serde::de::Error::custom(format!("{text:?} is none of table, json, jsonl")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_may_not_name_a_server() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(PROJECT);
        std::fs::write(&path, "namespace = \"ops\"\nserver = \"https://elsewhere\"\n").unwrap();
        let refused = parsed::<Project>(&path, " (note)").unwrap_err().to_string();
        assert!(refused.contains("hindsight.toml:2: unknown field `server`"), "{refused}");
        std::fs::write(&path, "namespace = \"ops\"\noutput = \"jsonl\"").unwrap();
        let project: Project = parsed(&path, "").unwrap();
        assert_eq!(project.namespace.unwrap().as_str(), "ops");
        assert_eq!(project.output, Some(Format::Jsonl));
    }

    #[test]
    fn the_profile_that_is_named_goes_before_the_default_and_an_unknown_one_is_refused() {
        let text = "default = \"home\"\n[profiles.home]\nserver = \"http://a:1\"\n[profiles.work]\nnamespace = \"w\"\ntimeout = \"3s\"";
        let files = Files { user: toml::from_str(text).unwrap(), ..Files::default() };
        assert_eq!(files.profile(None).unwrap().unwrap().0, "home");
        assert_eq!(files.profile(Some("work")).unwrap().unwrap().1.timeout.unwrap().to_string(), "3s");
        let refused = files.profile(Some("away")).unwrap_err().to_string();
        assert!(refused.contains("away") && refused.contains("home, work"), "{refused}");
    }
}
