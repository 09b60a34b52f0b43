//! The file of the credentials: JSON lines below the data directory, with a checksum at the end.
//!
//! The first line names the format and holds the key that secrets are hashed under; each further one is a credential with its hash; the
//! last is BLAKE3 over all before it. Whoever changes the file holds the lock beside it and reads it again first, so that a server
//! and a command line on the same directory lose nothing of each other's.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use hindsight_core::Timestamp;
use serde::{Deserialize, Serialize};

use crate::credential::BadWish;
use crate::keyring::{CREDENTIALS_MAX, Entry};
use crate::{Credential, CredentialState, FOLDER, Keyring, Token, TokenId, Wish, file};

/// The version of the file's format.
const FORMAT: u32 = 1;
/// The file's name.
const FILE_NAME: &str = "tokens";
/// What is locked while it is changed.
const LOCK_NAME: &str = "lock";
/// A larger file is none of ours.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// Why the credentials can't be read or changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A call of the system failed.
    #[error("can't {op} {}", path.display())]
    Io {
        /// What was tried.
        op: &'static str,
        /// With which file.
        path: PathBuf,
        /// The answer of the system.
        source: io::Error,
    },
    /// What stands in the file is not what was written.
    #[error("{} is damaged at line {line}: {problem}; put a copy of it back, or remove it, which takes every token away", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// A newer program wrote it.
    #[error("{} has format {found}, and this program reads {FORMAT}: use the newer program", path.display())]
    TooNew {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u32,
    },
    /// The wish for a new credential is wrong.
    #[error(transparent)]
    Wish(#[from] BadWish),
    /// There are as many as there may be.
    #[error("there are {CREDENTIALS_MAX} tokens, and no more can be kept")]
    Full,
    /// There is none with this id.
    #[error("there is no token {id}: `hindsight token list` names those that there are")]
    Unknown {
        /// The id.
        id: TokenId,
    },
}

/// The first line.
#[derive(Serialize, Deserialize)]
struct Head {
    format: u32,
    key: String,
}

/// A credential's line.
#[derive(Serialize, Deserialize)]
struct Line {
    credential: Credential,
    hash: String,
}

/// The last line.
#[derive(Serialize, Deserialize)]
struct Tail {
    blake3: String,
}

/// The credentials of one data directory.
#[derive(Debug, Clone)]
pub struct TokenStore {
    folder: PathBuf,
    path: PathBuf,
}

/// Tells one state of the file from another without reading it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp(Option<(SystemTime, u64)>);

impl TokenStore {
    /// That of the data directory `data`. Nothing is touched before it is changed.
    #[must_use]
    pub fn of(data: &Path) -> TokenStore {
        let folder = data.join(FOLDER);
        TokenStore { path: folder.join(FILE_NAME), folder }
    }

    /// Where the credentials are.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A mark of the file as it is.
    #[must_use]
    pub fn stamp(&self) -> Stamp {
        let meta = std::fs::metadata(&self.path).ok();
        Stamp(meta.and_then(|meta| Some((meta.modified().ok()?, meta.len()))))
    }

    /// Reads all credentials; none where there is no file.
    ///
    /// # Errors
    /// When the file can't be read, is damaged or too new.
    pub fn load(&self) -> Result<Keyring, StoreError> {
        match std::fs::metadata(&self.path) {
            // Whatever else is wrong with the directory is told by whoever opens it.
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(Keyring::default());
            }
            Err(source) => return Err(self.io("read", source)),
            Ok(meta) if meta.len() > FILE_BYTES_MAX => return Err(self.damaged(1, "it is too large")),
            Ok(_) => {}
        }
        let bytes = std::fs::read(&self.path).map_err(|source| self.io("read", source))?;
        self.decode(&bytes)
    }

    /// Makes a new credential, and gives its token, which can't be had again.
    ///
    /// # Errors
    /// When the wish is wrong, there are too many, or the file can't be written.
    pub fn create(&self, wish: Wish, now: Timestamp) -> Result<(Token, Credential), StoreError> {
        wish.check(now)?;
        self.change(|keyring| {
            if keyring.entries.len() >= CREDENTIALS_MAX {
                return Err(StoreError::Full);
            }
            let token = loop {
                let token = Token::random().map_err(|source| self.io("make a token for", source))?;
                if !keyring.entries.contains_key(&token.id()) {
                    break token;
                }
            };
            let source = wish.grade();
            let Wish { name, grants, agent_id, expires_at, .. } = wish;
            let credential = Credential {
                id: token.id(),
                name: name.trim().to_owned(),
                grants,
                source,
                agent_id,
                created_at: now,
                expires_at,
                last_used_at: None,
                revoked_at: None,
            };
            keyring.add(&token, credential.clone());
            Ok((token, credential))
        })
    }

    /// Takes a credential back. Once taken back it stays so.
    ///
    /// # Errors
    /// When there is none with this id, or the file can't be written.
    pub fn revoke(&self, id: TokenId, now: Timestamp) -> Result<Credential, StoreError> {
        self.change(|keyring| {
            let entry = keyring.entries.get_mut(&id).ok_or(StoreError::Unknown { id })?;
            let credential = Arc::make_mut(&mut entry.credential);
            credential.revoked_at.get_or_insert(now);
            Ok(credential.clone())
        })
    }

    /// Notes when credentials were used last. One that is not there is left out.
    ///
    /// # Errors
    /// When the file can't be written.
    pub fn note_used(&self, used: &BTreeMap<TokenId, Timestamp>) -> Result<(), StoreError> {
        self.change(|keyring| {
            for (id, at) in used {
                if let Some(entry) = keyring.entries.get_mut(id) {
                    let credential = Arc::make_mut(&mut entry.credential);
                    credential.last_used_at = credential.last_used_at.max(Some(*at));
                }
            }
            Ok(())
        })
    }

    /// Changes the file under its lock.
    fn change<T>(&self, change: impl FnOnce(&mut Keyring) -> Result<T, StoreError>) -> Result<T, StoreError> {
        file::make_folder(&self.folder).map_err(|source| self.io("make the folder of", source))?;
        let _locked = self.lock().map_err(|source| self.io("lock", source))?;
        let mut keyring = self.load()?;
        if keyring.key == [0; 32] {
            getrandom::fill(&mut keyring.key)
                .map_err(|error| self.io("make a key for", io::Error::other(error)))?;
        }
        let done = change(&mut keyring)?;
        let bytes = self.encode(&keyring)?;
        file::replace(&self.path, &bytes).map_err(|source| self.io("write", source))?;
        Ok(done)
    }

    /// Waits until nobody else changes the file. The lock goes with the returned file.
    fn lock(&self) -> io::Result<File> {
        let path = self.folder.join(LOCK_NAME);
        let lock = file::private(OpenOptions::new().write(true).create(true).truncate(false)).open(path)?;
        lock.lock()?;
        Ok(lock)
    }

    fn encode(&self, keyring: &Keyring) -> Result<Vec<u8>, StoreError> {
        let failed = |error: serde_json::Error| self.io("write", error.into());
        let mut bytes = Vec::new();
        let head = Head { format: FORMAT, key: blake3::Hash::from_bytes(keyring.key).to_hex().to_string() };
        serde_json::to_writer(&mut bytes, &head).map_err(failed)?;
        bytes.push(b'\n');
        for entry in keyring.entries.values() {
            let line = Line {
                credential: Credential::clone(&entry.credential),
                hash: entry.hash.to_hex().to_string(),
            };
            serde_json::to_writer(&mut bytes, &line).map_err(failed)?;
            bytes.push(b'\n');
        }
        let tail = Tail { blake3: blake3::hash(&bytes).to_hex().to_string() };
        serde_json::to_writer(&mut bytes, &tail).map_err(failed)?;
        bytes.push(b'\n');
        Ok(bytes)
    }

    fn decode(&self, bytes: &[u8]) -> Result<Keyring, StoreError> {
        let mut lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        let count = lines.len();
        let read = |line: usize, error: serde_json::Error| self.damaged(line, &error.to_string());
        let last = lines.pop().ok_or_else(|| self.damaged(1, "it is empty"))?;
        let tail: Tail = serde_json::from_slice(last).map_err(|error| read(count, error))?;
        let body = bytes.len() - last.len();
        if blake3::hash(&bytes[..body]).to_hex().as_str() != tail.blake3 {
            return Err(self.damaged(count, "the checksum is that of another content"));
        }
        let mut lines = lines.into_iter().enumerate();
        let (_, first) = lines.next().ok_or_else(|| self.damaged(1, "it has no first line"))?;
        let head: Head = serde_json::from_slice(first).map_err(|error| read(1, error))?;
        if head.format != FORMAT {
            return Err(StoreError::TooNew { path: self.path.clone(), found: head.format });
        }
        let hash = |line: usize, text: &str| {
            blake3::Hash::from_hex(text).map_err(|error| self.damaged(line, &error.to_string()))
        };
        let mut keyring = Keyring { key: *hash(1, &head.key)?.as_bytes(), entries: BTreeMap::new() };
        for (index, line) in lines {
            let line: Line = serde_json::from_slice(line).map_err(|error| read(index + 1, error))?;
            let entry = Entry { hash: hash(index + 1, &line.hash)?, credential: Arc::new(line.credential) };
            keyring.entries.insert(entry.credential.id, entry);
        }
        Ok(keyring)
    }

    fn io(&self, op: &'static str, source: io::Error) -> StoreError {
        StoreError::Io { op, path: self.path.clone(), source }
    }

    fn damaged(&self, line: usize, problem: &str) -> StoreError {
        StoreError::Damaged { path: self.path.clone(), line, problem: problem.to_owned() }
    }
}

/// The credential of a token that stands in a file of its own: everything is allowed to it.
#[must_use]
pub fn administrator(token: &Token, now: Timestamp) -> Credential {
    Credential {
        id: token.id(),
        name: "the token file".to_owned(),
        grants: vec![crate::Grant {
            namespaces: crate::Pattern::all(),
            rights: [crate::Right::Admin].into_iter().collect(),
        }],
        source: hindsight_core::SourceKind::Admin,
        agent_id: None,
        created_at: now,
        expires_at: None,
        last_used_at: None,
        revoked_at: None,
    }
}

/// How a credential counts, as a word for people.
#[must_use]
pub fn state_word(credential: &Credential, now: Timestamp) -> &'static str {
    match credential.state(now) {
        CredentialState::Valid => "valid",
        CredentialState::Expired => "expired",
        CredentialState::Revoked => "revoked",
    }
}

#[cfg(test)]
mod tests;
