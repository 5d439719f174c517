//! Ed25519 keys as people keep them: PEM from a file or from the environment.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use camino::Utf8Path;
use proofhouse_ledger::{Digest, files};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};

use super::env;
use super::exit::Exit;
use super::failure::Failure;

/// What stands before the 32 bytes of an Ed25519 public key in DER (RFC 8410).
const PUBLIC_PREFIX: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

const MAKE_PRIVATE: &str = "`openssl genpkey -algorithm ed25519 -out key.pem` makes one";
const MAKE_PUBLIC: &str =
    "`openssl pkey -in key.pem -pubout -out key.pub.pem` gives the public half of a key";

/// A key that signs.
pub(super) struct PrivateKey(Ed25519KeyPair);

/// A key that checks.
pub(super) struct PublicKey([u8; 32]);

/// The DER inside a PEM text with this label. The text itself is never part of a message.
fn der(place: &str, label: &str, hint: &str) -> Result<Vec<u8>, Failure> {
    let refuse = |what: &str| Failure::say(Exit::Usage, format!("`{place}` {what}")).hint(hint);
    let text = match place.strip_prefix("env:") {
        Some(name) => {
            env::passed(name).ok_or_else(|| refuse("names a variable that the environment does not have"))?
        }
        None => {
            let bytes = files::read_facts(Utf8Path::new(place))?;
            String::from_utf8(bytes).map_err(|_| refuse("is no PEM file"))?
        }
    };
    let (begin, end) = (format!("-----BEGIN {label}-----"), format!("-----END {label}-----"));
    let body = text.split_once(&begin).and_then(|(_, rest)| rest.split_once(&end));
    let (body, _) = body.ok_or_else(|| refuse(&format!("holds no `{label}` in PEM")))?;
    let digits: String = body.chars().filter(|char| !char.is_whitespace()).collect();
    STANDARD.decode(digits).map_err(|_| refuse("is damaged: its content is not base64"))
}

impl PrivateKey {
    /// Reads a key from a file, or from `env:NAME`.
    pub(super) fn read(place: &str) -> Result<Self, Failure> {
        let der = der(place, "PRIVATE KEY", MAKE_PRIVATE)?;
        Ed25519KeyPair::from_pkcs8_maybe_unchecked(&der).map(PrivateKey).map_err(|_| {
            Failure::say(Exit::Usage, format!("`{place}` is not an Ed25519 key")).hint(MAKE_PRIVATE)
        })
    }

    /// Signs.
    pub(super) fn sign(&self, bytes: &[u8]) -> Vec<u8> {
        self.0.sign(bytes).as_ref().to_vec()
    }

    /// The public half.
    pub(super) fn public(&self) -> PublicKey {
        PublicKey(self.0.public_key().as_ref().try_into().expect("an Ed25519 public key has 32 bytes"))
    }
}

impl PublicKey {
    /// Reads a key from a file, or from `env:NAME`.
    pub(super) fn read(place: &str) -> Result<Self, Failure> {
        let der = der(place, "PUBLIC KEY", MAKE_PUBLIC)?;
        let bytes = der.strip_prefix(&PUBLIC_PREFIX[..]).and_then(|bytes| bytes.try_into().ok());
        bytes.map(PublicKey).ok_or_else(|| {
            Failure::say(Exit::Usage, format!("`{place}` is not an Ed25519 key")).hint(MAKE_PUBLIC)
        })
    }

    /// Whether this key made a signature.
    pub(super) fn fits(&self, signed: &[u8], signature: &[u8]) -> bool {
        UnparsedPublicKey::new(&ED25519, &self.0).verify(signed, signature).is_ok()
    }

    /// SHA-256 of the key in DER: `openssl pkey -pubin -in key.pub.pem -outform DER | sha256sum`.
    pub(super) fn id(&self) -> Digest {
        Digest::of_parts(&[&PUBLIC_PREFIX, &self.0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8032, section 7.1, the second test: key, public key, message and signature.
    #[test]
    fn keys_and_signatures_of_the_rfc() {
        let bytes = |text: &str| -> Vec<u8> {
            (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
        };
        let seed = bytes("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb");
        let public = bytes("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c");
        let signature = bytes(
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
        );
        let dir = tempfile::tempdir().unwrap();
        let place = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
        let pem = |label: &str, prefix: &[u8], key: &[u8]| {
            let der = STANDARD.encode([prefix, key].concat());
            format!("-----BEGIN {label}-----\n{der}\n-----END {label}-----\n")
        };
        let pkcs8 = bytes("302e020100300506032b657004220420");
        std::fs::write(place("key"), pem("PRIVATE KEY", &pkcs8, &seed)).unwrap();
        std::fs::write(place("pub"), pem("PUBLIC KEY", &PUBLIC_PREFIX, &public)).unwrap();
        let (private, known) =
            (PrivateKey::read(&place("key")).unwrap(), PublicKey::read(&place("pub")).unwrap());
        assert_eq!(private.sign(b"r"), signature);
        assert_eq!(private.public().id(), known.id());
        assert!(known.fits(b"r", &signature) && !known.fits(b"s", &signature));
        assert!(!PublicKey([7; 32]).fits(b"r", &signature));
        for (of, as_public) in [("key", true), ("pub", false)] {
            let refused = match as_public {
                true => PublicKey::read(&place(of)).err(),
                false => PrivateKey::read(&place(of)).err(),
            };
            let failure = refused.expect("the other half is refused");
            assert_eq!(failure.exit, Exit::Usage);
            assert!(!failure.message.contains(&STANDARD.encode(&seed)[..12]), "no key in a message");
        }
    }
}
