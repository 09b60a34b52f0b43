//! Defaults, file, environment and flags, laid over each other; each value keeps where it came from.

use std::{collections::BTreeMap, path::Path};

use toml::{Table, Value, de::DeTable};

use super::{Config, ConfigError, Origin, Overrides};
use crate::words::nearest;

/// How a variable of the environment that sets a key begins.
const PREFIX: &str = "HINDSIGHT__";

/// Where each key that was set came from, by its dotted path.
pub(super) type Origins = BTreeMap<String, Origin>;

/// One key with the value that it has, and where that was set.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// The key by its dotted path, as `limits.connections`.
    pub key: String,
    /// Its value.
    pub value: Value,
    /// Who set it.
    pub origin: Origin,
}

impl Setting {
    /// Whether anybody set it.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.origin != Origin::Default
    }
}

pub(super) struct Layers {
    /// Every key there is, with its default: a key outside of it is unknown.
    known: Table,
    merged: Table,
    origins: Origins,
}

impl Layers {
    pub(super) fn of_defaults() -> Result<Layers, ConfigError> {
        let known = Table::try_from(Config::default()).map_err(|error| ConfigError::BadValue {
            origin: Origin::Default,
            key: String::new(),
            problem: error.to_string(),
        })?;
        Ok(Layers { merged: known.clone(), known, origins: Origins::new() })
    }

    pub(super) fn add_file(&mut self, path: &Path, text: &str) -> Result<(), ConfigError> {
        let syntax = |source: toml::de::Error| {
            let line = source.span().map_or(1, |span| line_of(text, span.start));
            ConfigError::Syntax { path: path.to_owned(), line, source: Box::new(source) }
        };
        let spans = DeTable::parse(text).map_err(syntax)?;
        let values: Table = text.parse().map_err(syntax)?;
        let mut lines = Vec::new();
        collect_lines(spans.get_ref(), "", text, &mut lines);
        let line = |key: &str| lines.iter().find(|(found, _)| found == key).map_or(1, |(_, line)| *line);
        self.add_table(values, "", &|key| Origin::File { path: path.to_owned(), line: line(key) })
    }

    pub(super) fn add_environment(
        &mut self,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<(), ConfigError> {
        // Sorted, so that the same environment gives the same first error.
        let set: BTreeMap<String, String> =
            environment.into_iter().filter(|(name, _)| name.starts_with(PREFIX)).collect();
        for (name, text) in set {
            let key = name[PREFIX.len()..].to_lowercase().replace("__", ".");
            let origin = Origin::Environment(name);
            self.set_text(&key, &text, origin)?;
        }
        Ok(())
    }

    pub(super) fn add_flags(&mut self, flags: &Overrides) -> Result<(), ConfigError> {
        for (key, flag, path) in [
            ("data", "--data", &flags.data),
            ("tls.cert", "--tls-cert", &flags.tls_cert),
            ("tls.key", "--tls-key", &flags.tls_key),
            ("tls.client_ca", "--tls-client-ca", &flags.tls_client_ca),
            ("auth.token_file", "--auth-token-file", &flags.auth_token_file),
        ] {
            let Some(path) = path else { continue };
            // A path that is not Unicode can't be a TOML string; it is told, not mangled.
            let text = path.to_str().ok_or_else(|| ConfigError::BadValue {
                origin: Origin::Flag(flag),
                key: key.to_owned(),
                problem: format!("{} is not Unicode", path.display()),
            })?;
            self.set_text(key, text, Origin::Flag(flag))?;
        }
        if flags.insecure {
            self.set_text("insecure", "true", Origin::Flag("--insecure"))?;
        }
        for (key, flag, value) in [
            ("listen", "--listen", &flags.listen),
            ("http", "--http", &flags.http),
            ("log.level", "--log-level", &flags.log_level),
            ("log.format", "--log-format", &flags.log_format),
        ] {
            if let Some(value) = value {
                self.set_text(key, value, Origin::Flag(flag))?;
            }
        }
        Ok(())
    }

    /// Every key there is, in alphabetical order.
    pub(super) fn settings(&self) -> Vec<Setting> {
        let mut keys = leaves(&self.known, "");
        keys.sort_unstable();
        let setting = |key: String| {
            let value = find(&self.merged, &key)?.clone();
            let origin = self.origins.get(&key).cloned().unwrap_or(Origin::Default);
            Some(Setting { key, value, origin })
        };
        keys.into_iter().filter_map(setting).collect()
    }

    pub(super) fn into_config(self) -> Result<(Config, Origins), ConfigError> {
        let config = serde_path_to_error::deserialize(Value::Table(self.merged)).map_err(|error| {
            let key = error.path().to_string();
            ConfigError::BadValue {
                origin: self.origins.get(&key).cloned().unwrap_or(Origin::Default),
                key,
                problem: error.inner().message().trim().to_owned(),
            }
        })?;
        Ok((config, self.origins))
    }

    fn add_table(
        &mut self,
        table: Table,
        prefix: &str,
        origin: &dyn Fn(&str) -> Origin,
    ) -> Result<(), ConfigError> {
        for (name, value) in table {
            let key = if prefix.is_empty() { name } else { format!("{prefix}.{name}") };
            match (find(&self.known, &key), value) {
                (Some(Value::Table(_)), Value::Table(inner)) => self.add_table(inner, &key, origin)?,
                (_, value) => self.set(&key, value, origin(&key))?,
            }
        }
        Ok(())
    }

    /// Sets a key to a value that came as text; the type of the default says how to read it.
    fn set_text(&mut self, key: &str, text: &str, origin: Origin) -> Result<(), ConfigError> {
        let value = match find(&self.known, key) {
            Some(Value::Integer(_)) => text.trim().parse().map(Value::Integer).ok(),
            Some(Value::Boolean(_)) => text.trim().parse().map(Value::Boolean).ok(),
            _ => Some(Value::String(text.to_owned())),
        };
        match value {
            Some(value) => self.set(key, value, origin),
            None => Err(ConfigError::BadValue {
                origin,
                key: key.to_owned(),
                problem: match find(&self.known, key) {
                    Some(Value::Boolean(_)) => format!("{text:?} is neither true nor false"),
                    _ => format!("{text:?} is not a whole number"),
                },
            }),
        }
    }

    fn set(&mut self, key: &str, value: Value, origin: Origin) -> Result<(), ConfigError> {
        if find(&self.known, key).is_none() {
            let known = leaves(&self.known, "");
            return Err(ConfigError::UnknownKey {
                nearest: nearest(key, known.iter().map(String::as_str)).map(str::to_owned),
                key: key.to_owned(),
                origin,
            });
        }
        put(&mut self.merged, key, value);
        self.origins.insert(key.to_owned(), origin);
        Ok(())
    }
}

fn find<'a>(table: &'a Table, key: &str) -> Option<&'a Value> {
    let (first, rest) = key.split_once('.').map_or((key, None), |(first, rest)| (first, Some(rest)));
    let value = table.get(first)?;
    match rest {
        None => Some(value),
        Some(rest) => find(value.as_table()?, rest),
    }
}

/// Sets a key whose sections are there.
fn put(table: &mut Table, key: &str, value: Value) {
    match key.split_once('.') {
        None => {
            table.insert(key.to_owned(), value);
        }
        Some((section, rest)) => {
            if let Some(inner) = table.get_mut(section).and_then(Value::as_table_mut) {
                put(inner, rest, value);
            }
        }
    }
}

fn leaves(table: &Table, prefix: &str) -> Vec<String> {
    let mut keys = Vec::new();
    for (name, value) in table {
        let key = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        match value {
            Value::Table(inner) => keys.extend(leaves(inner, &key)),
            _ => keys.push(key),
        }
    }
    keys
}

fn collect_lines(table: &DeTable<'_>, prefix: &str, text: &str, lines: &mut Vec<(String, usize)>) {
    for (name, value) in table {
        let key = match prefix {
            "" => name.get_ref().to_string(),
            prefix => format!("{prefix}.{}", name.get_ref()),
        };
        if let Some(inner) = value.get_ref().as_table() {
            collect_lines(inner, &key, text, lines);
        }
        lines.push((key, line_of(text, name.span().start)));
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|byte| *byte == b'\n').count()
}
