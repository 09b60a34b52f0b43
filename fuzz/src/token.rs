//! Texts of the locks: tokens, grants, anchors of the audit trail.

use hindsight_auth::audit::Anchor;
use hindsight_auth::{Grant, Keyring, Rejected, Token, TokenId};
use hindsight_core::Timestamp;

/// Any text is read or refused; what is read is written as it was; and no text opens what nobody was given a token for.
pub fn token_parse(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(token) = Token::parse(text) {
        assert_eq!(token.expose(), text.trim());
        assert!(!format!("{token:?}").contains(text.trim()));
    }
    if let Ok(id) = text.parse::<TokenId>() {
        assert_eq!(id.to_string(), text);
    }
    if let Ok(grant) = text.parse::<Grant>() {
        assert_eq!(grant.to_string().parse(), Ok(grant));
    }
    if let Ok(anchor) = text.parse::<Anchor>() {
        assert_eq!(anchor.to_string().parse(), Ok(anchor));
    }
    let nobody = Keyring::default().authenticate(text, Timestamp::from_ms(0));
    assert_eq!(nobody.err(), Some(Rejected::Invalid));
}
