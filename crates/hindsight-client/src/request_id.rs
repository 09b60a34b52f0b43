//! Request ids: what makes a repeated request the same request.

/// A new id in the form of a random UUID; none when the system gives no randomness, and then the request is not
/// repeated.
pub(crate) fn new() -> Option<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).ok()?;
    // Version 4, variant 1 of RFC 9562.
    let number = u128::from_be_bytes(bytes) & !(0xf << 76) | 4 << 76;
    let number = number & !(0b11 << 62) | 0b10 << 62;
    let hex = format!("{number:032x}");
    let (a, b, c, d, e) = (&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]);
    Some(format!("{a}-{b}-{c}-{d}-{e}"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn ids_are_random_uuids() {
        let (first, second) = (super::new().unwrap(), super::new().unwrap());
        assert_ne!(first, second);
        assert_eq!(first.len(), 36);
        assert_eq!(&first[14..15], "4");
        assert!("89ab".contains(&first[19..20]));
        assert!(first.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-'));
    }
}
