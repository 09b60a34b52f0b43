//! What can be wrong with a configuration, with the place where the value came from.

use std::{fmt, path::PathBuf};

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Nobody set it.
    Default,
    /// A line of the file.
    File {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// A variable of the environment.
    Environment(String),
    /// A flag of the command line.
    Flag(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::File { path, line } => write!(f, "{}:{line}", path.display()),
            Origin::Environment(name) => f.write_str(name),
            Origin::Flag(name) => f.write_str(name),
        }
    }
}

/// Why a configuration can't be used. Each ends the program with exit code 78, before anything is opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file can't be read.
    #[error("can't read the configuration {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The answer of the system.
        source: std::io::Error,
    },
    /// The file is not TOML.
    #[error("{}:{line}: {}", path.display(), source.message())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What the TOML reader says.
        source: Box<toml::de::Error>,
    },
    /// A key that does not exist.
    #[error("{origin}: there is no key {key:?}{}", hint(nearest.as_deref()))]
    UnknownKey {
        /// Where it stands.
        origin: Origin,
        /// The key, with its section.
        key: String,
        /// The key that is spelled most alike.
        nearest: Option<String>,
    },
    /// A value of the wrong type.
    #[error("{origin}: {key}: {problem}")]
    BadValue {
        /// Where it stands.
        origin: Origin,
        /// The key, with its section.
        key: String,
        /// What was found and what would be right.
        problem: String,
    },
    /// A number outside its range.
    #[error("{origin}: {key} is {value}: expected {least} to {most}")]
    OutOfRange {
        /// Where it stands.
        origin: Origin,
        /// The key, with its section.
        key: &'static str,
        /// The number.
        value: u64,
        /// The least that is right.
        least: u64,
        /// The most that is right.
        most: u64,
    },
}

fn hint(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |nearest| format!(": did you mean {nearest:?}?"))
}
