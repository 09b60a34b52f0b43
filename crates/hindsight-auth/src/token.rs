//! The text of a token: `hs_<id>_<secret and check>`, in lower-case base32 without padding.

use std::fmt;
use std::str::FromStr;

use data_encoding::{BASE32_NOPAD, DecodeError};

/// How every token begins, so that a scanner for secrets knows one when it sees it.
const PREFIX: &str = "hs_";
/// Bytes of the id.
const ID_BYTES: usize = 5;
/// Letters of the id.
const ID_CHARS: usize = 8;
/// Bytes of the secret.
const SECRET_BYTES: usize = 32;
/// Bytes of the check.
const CHECK_BYTES: usize = 4;
/// Letters of secret and check.
const SECRET_CHARS: usize = 58;
/// Letters of a token.
pub const TOKEN_CHARS: usize = PREFIX.len() + ID_CHARS + 1 + SECRET_CHARS;
/// What the check is a hash of, before the id and the secret.
const CHECK_CONTEXT: &[u8] = b"hindsight token check v1";

/// The public part of a token: it names the credential in lists, logs and the audit trail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenId([u8; ID_BYTES]);

/// A token. Neither `Debug` nor `Display` shows the secret; [`Token::expose`] does.
#[derive(Clone)]
pub struct Token {
    id: TokenId,
    secret: [u8; SECRET_BYTES],
}

/// A text that is no token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "is no token: expected hs_, {ID_CHARS} letters and digits, _, and {SECRET_CHARS} letters and digits, as `hindsight token create` prints it"
)]
pub struct BadToken;

/// A text that is no id of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("is no id of a token: expected {ID_CHARS} of a-z and 2-7, as `hindsight token list` prints it")]
pub struct BadTokenId;

impl Token {
    /// A new one, of the system's randomness.
    ///
    /// # Errors
    /// When the system has none.
    pub fn random() -> std::io::Result<Token> {
        let (mut id, mut secret) = ([0; ID_BYTES], [0; SECRET_BYTES]);
        getrandom::fill(&mut id)?;
        getrandom::fill(&mut secret)?;
        Ok(Token { id: TokenId(id), secret })
    }

    /// Reads a token. White space around it is left away, since it often comes from a file.
    ///
    /// # Errors
    /// When it is none, or one letter of it is wrong.
    pub fn parse(text: &str) -> Result<Token, BadToken> {
        let text = text.trim();
        if text.len() != TOKEN_CHARS || !text.is_ascii() {
            return Err(BadToken);
        }
        let (id, rest) = text.strip_prefix(PREFIX).and_then(|rest| rest.split_once('_')).ok_or(BadToken)?;
        let id = TokenId::from_str(id).map_err(|_| BadToken)?;
        let bytes = decode(rest).map_err(|_| BadToken)?;
        let (secret, check) = bytes.split_at_checked(SECRET_BYTES).ok_or(BadToken)?;
        let token = Token { id, secret: secret.try_into().map_err(|_| BadToken)? };
        if token.check() == check { Ok(token) } else { Err(BadToken) }
    }

    /// Its public part.
    #[must_use]
    pub fn id(&self) -> TokenId {
        self.id
    }

    /// The whole text. Show it to whoever it is for, once, and to no log.
    #[must_use]
    pub fn expose(&self) -> String {
        let mut bytes = self.secret.to_vec();
        bytes.extend(self.check());
        format!("{PREFIX}{}_{}", self.id, encode(&bytes))
    }

    /// What is stored of the secret: BLAKE3 under the key of the file. The secret is as random as a hash, so a fast one is
    /// right. `blake3::Hash` compares in constant time.
    #[must_use]
    pub fn hash(&self, key: &[u8; 32]) -> blake3::Hash {
        blake3::keyed_hash(key, &self.secret)
    }

    fn check(&self) -> [u8; CHECK_BYTES] {
        let mut hasher = blake3::Hasher::new();
        hasher.update(CHECK_CONTEXT).update(&self.id.0).update(&self.secret);
        let mut check = [0; CHECK_BYTES];
        hasher.finalize_xof().fill(&mut check);
        check
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token({})", self.id)
    }
}

impl fmt::Display for TokenId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&encode(&self.0))
    }
}

impl FromStr for TokenId {
    type Err = BadTokenId;

    fn from_str(text: &str) -> Result<TokenId, BadTokenId> {
        if text.len() != ID_CHARS {
            return Err(BadTokenId);
        }
        let bytes = decode(text).map_err(|_| BadTokenId)?;
        Ok(TokenId(bytes.try_into().map_err(|_| BadTokenId)?))
    }
}

impl serde::Serialize for TokenId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for TokenId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<TokenId, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

fn encode(bytes: &[u8]) -> String {
    BASE32_NOPAD.encode(bytes).to_ascii_lowercase()
}

/// Only lower case is read, so that each token has one text.
fn decode(text: &str) -> Result<Vec<u8>, DecodeError> {
    if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return Err(DecodeError { position: 0, kind: data_encoding::DecodeKind::Symbol });
    }
    BASE32_NOPAD.decode(text.to_ascii_uppercase().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn s6_a_token_is_read_as_it_is_written_and_hides_its_secret() {
        let token = Token::random().unwrap();
        let text = token.expose();
        assert_eq!(text.len(), TOKEN_CHARS);
        assert!(text.starts_with(&format!("hs_{}_", token.id())), "{text}");
        let read = Token::parse(&format!(" {text}\n")).unwrap();
        assert_eq!((read.id(), read.secret), (token.id(), token.secret));
        assert_eq!(format!("{token:?}"), format!("Token({})", token.id()));
        assert_ne!(token.hash(&[1; 32]), token.hash(&[2; 32]));
        assert_ne!(Token::random().unwrap().secret, token.secret);
    }

    #[test]
    fn s6_one_wrong_letter_is_no_token() {
        let text = Token::random().unwrap().expose();
        for place in 0..text.len() {
            for letter in ["a", "b", "_", "1", "Z", "é"] {
                let mut wrong = text.clone();
                wrong.replace_range(place..=place, letter);
                assert!(wrong == text || Token::parse(&wrong).is_err(), "{wrong}");
            }
        }
        assert!(Token::parse(&text.to_uppercase()).is_err());
        assert!(Token::parse(&text[..text.len() - 1]).is_err());
        assert!(Token::parse(&format!("{text}a")).is_err());
        assert!(Token::parse("").is_err());
    }

    proptest! {
        #[test]
        fn s6_any_text_is_read_or_refused(text in "(hs_[a-z2-7]{0,9}_)?\\PC{0,80}") {
            if let Ok(token) = Token::parse(&text) {
                prop_assert_eq!(token.expose(), text.trim());
            }
        }
    }
}
