//! The standard security handler (ISO 32000-2, 7.6), opened with the empty user password.
//!
//! What most encrypted documents forbid is printing and copying: they open without a password, and anyone may
//! read them. A document that asks for one stays closed.

use std::borrow::Cow;

use aes::cipher::{Block, BlockModeEncrypt as _, KeyIvInit as _};
use md5::Md5;
use sha2::{Digest as _, Sha256, Sha384, Sha512};

use crate::budget::PdfError;
use crate::object::{Dict, Object, Reference};

/// Fills up a password shorter than 32 bytes: all of the empty one (algorithm 2).
const PASSWORD_PADDING: [u8; 32] = [
    0x28, 0xBF, 0x4E, 0x5E, 0x4E, 0x75, 0x8A, 0x41, 0x64, 0x00, 0x4E, 0x56, 0xFF, 0xFA, 0x01, 0x08, 0x2E, 0x2E, 0x00,
    0xB6, 0xD0, 0x68, 0x3E, 0x80, 0x2F, 0x0C, 0xA9, 0xFE, 0x64, 0x53, 0x69, 0x7A,
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cipher {
    None,
    Rc4,
    Aes128,
    Aes256,
}

#[derive(Debug)]
pub(super) struct Decryptor {
    key: Vec<u8>,
    streams: Cipher,
    strings: Cipher,
}

impl Decryptor {
    /// From the `Encrypt` dictionary, its references followed, and the first half of the file's `ID`.
    pub(super) fn new(dict: &Dict, id: &[u8]) -> Result<Self, PdfError> {
        if dict.get(b"Filter").and_then(Object::name) != Some(b"Standard") {
            return Err(PdfError::Encryption("a security handler other than the standard one"));
        }
        let number = |key: &[u8]| dict.get(key).and_then(Object::index);
        let version = number(b"V").unwrap_or(0);
        let revision = number(b"R").unwrap_or(0);
        let (streams, strings, length) = match version {
            1 => (Cipher::Rc4, Cipher::Rc4, 5),
            // 40 bits unless it says something else (table 20).
            2 => (Cipher::Rc4, Cipher::Rc4, number(b"Length").unwrap_or(40) / 8),
            4 | 5 => {
                let length = if version == 4 { 16 } else { 32 };
                (crypt_filter(dict, b"StmF")?, crypt_filter(dict, b"StrF").unwrap_or(Cipher::None), length)
            }
            _ => return Err(PdfError::Encryption("an unknown version of the standard handler")),
        };
        let key = match revision {
            2..=4 => legacy_key(dict, id, revision, length.clamp(5, 32)),
            5 | 6 => modern_key(dict, revision),
            _ => return Err(PdfError::Encryption("an unknown revision of the standard handler")),
        };
        Ok(Self { key: key.ok_or(PdfError::Password)?, streams, strings })
    }

    pub(super) fn stream<'b>(&self, bytes: &'b [u8], reference: Reference) -> Cow<'b, [u8]> {
        self.decrypted(self.streams, bytes, reference)
    }

    pub(super) fn object(&self, part: Object, reference: Reference) -> Object {
        match part {
            Object::String(string) => Object::String(self.decrypted(self.strings, &string, reference).into_owned()),
            Object::Array(items) => Object::Array(items.into_iter().map(|item| self.object(item, reference)).collect()),
            Object::Dict(dict) => Object::Dict(dict.map(|value| self.object(value, reference))),
            other => other,
        }
    }

    fn decrypted<'b>(&self, cipher: Cipher, bytes: &'b [u8], reference: Reference) -> Cow<'b, [u8]> {
        match cipher {
            Cipher::None => Cow::Borrowed(bytes),
            Cipher::Rc4 => rc4(&self.object_key(reference, b""), bytes).into(),
            Cipher::Aes128 => {
                let key = self.object_key(reference, b"sAlT");
                aes_cbc(bytes, |iv| cbc::Decryptor::<aes::Aes128>::new_from_slices(&key, iv).ok()).into()
            }
            Cipher::Aes256 => {
                aes_cbc(bytes, |iv| cbc::Decryptor::<aes::Aes256>::new_from_slices(&self.key, iv).ok()).into()
            }
        }
    }

    /// Algorithm 1: each object has its own key.
    fn object_key(&self, reference: Reference, salt: &[u8]) -> Vec<u8> {
        let mut hash = Md5::new();
        hash.update(&self.key);
        hash.update(&reference.number.to_le_bytes()[..3]);
        hash.update(&reference.generation.to_le_bytes()[..2]);
        hash.update(salt);
        hash.finalize()[..(self.key.len() + 5).min(16)].to_vec()
    }
}

/// The cipher of streams or strings where the file names one (version 4 and 5).
fn crypt_filter(dict: &Dict, of: &[u8]) -> Result<Cipher, PdfError> {
    let Some(name) = dict.get(of).and_then(Object::name) else { return Ok(Cipher::None) };
    if name == b"Identity" {
        return Ok(Cipher::None);
    }
    let filters = if let Some(Object::Dict(filters)) = dict.get(b"CF") { filters.get(name) } else { None };
    let Some(Object::Dict(filter)) = filters else {
        return Err(PdfError::Damaged("its encryption names no cipher"));
    };
    match filter.get(b"CFM").and_then(Object::name) {
        Some(b"V2") => Ok(Cipher::Rc4),
        Some(b"AESV2") => Ok(Cipher::Aes128),
        Some(b"AESV3") => Ok(Cipher::Aes256),
        Some(b"None") | None => Ok(Cipher::None),
        _ => Err(PdfError::Encryption("an unknown cipher")),
    }
}

/// A string of the `Encrypt` dictionary; empty where there is none.
fn string<'d>(dict: &'d Dict, key: &[u8]) -> &'d [u8] {
    dict.get(key).and_then(Object::string).unwrap_or_default()
}

/// Revisions 2 to 4: the key of `length` bytes, if the empty password is the user's (algorithms 2, 4 and 5).
fn legacy_key(dict: &Dict, id: &[u8], revision: usize, length: usize) -> Option<Vec<u8>> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "32 bits, written as a signed or an unsigned number"
    )]
    let permissions = dict.get(b"P").and_then(Object::number).unwrap_or(0.0) as i64 as u32;
    let mut hash = Md5::new();
    hash.update(PASSWORD_PADDING);
    hash.update(string(dict, b"O").get(..32)?);
    hash.update(permissions.to_le_bytes());
    hash.update(id);
    if revision >= 4 && dict.get(b"EncryptMetadata") == Some(&Object::Bool(false)) {
        hash.update([0xFF; 4]);
    }
    let mut key = hash.finalize().to_vec();
    let length = if revision == 2 { 5 } else { length.min(16) };
    if revision >= 3 {
        for _ in 0..50 {
            key = Md5::digest(&key[..length]).to_vec();
        }
    }
    key.truncate(length);
    let user = string(dict, b"U");
    let is_right = if revision == 2 {
        rc4(&key, &PASSWORD_PADDING) == user.get(..32)?
    } else {
        let check = Md5::digest([&PASSWORD_PADDING[..], id].concat()).to_vec();
        let check = (0..20_u8).fold(check, |check, round| {
            let key: Vec<u8> = key.iter().map(|byte| byte ^ round).collect();
            rc4(&key, &check)
        });
        // The other 16 bytes of `U` may be anything (algorithm 5).
        check == user.get(..16)?
    };
    is_right.then_some(key)
}

/// Revisions 5 and 6 (algorithms 2.A and 11).
fn modern_key(dict: &Dict, revision: usize) -> Option<Vec<u8>> {
    let hash = |salt: &[u8]| if revision == 5 { Sha256::digest(salt).to_vec() } else { hardened_hash(salt) };
    let user = string(dict, b"U");
    if hash(user.get(32..40)?) != user.get(..32)? {
        return None;
    }
    let key = hash(user.get(40..48)?);
    let mut file_key = string(dict, b"UE").get(..32)?.to_vec();
    let mut decryptor = cbc::Decryptor::<aes::Aes256>::new_from_slices(&key, &[0; 16]).ok()?;
    decrypt_blocks(&mut decryptor, &mut file_key);
    Some(file_key)
}

/// Algorithm 2.B for the empty password: at most some 290 rounds.
fn hardened_hash(salt: &[u8]) -> Vec<u8> {
    let mut key = Sha256::digest(salt).to_vec();
    for round in 0_u32.. {
        let mut text = key.repeat(64);
        if let Ok(mut encryptor) = cbc::Encryptor::<aes::Aes128>::new_from_slices(&key[..16], &key[16..32]) {
            for block in text.chunks_exact_mut(16) {
                if let Ok(block) = <&mut Block<aes::Aes128>>::try_from(block) {
                    encryptor.encrypt_block(block);
                }
            }
        }
        // 256 is 1 modulo 3, so the number that these bytes are has the remainder of their sum.
        key = match text[..16].iter().map(|byte| u32::from(*byte)).sum::<u32>() % 3 {
            0 => Sha256::digest(&text).to_vec(),
            1 => Sha384::digest(&text).to_vec(),
            _ => Sha512::digest(&text).to_vec(),
        };
        // The standard counts rounds from 1: 64 of them, and more until the last byte is at most their number less 32.
        if round >= 63 && text.last().is_none_or(|last| u32::from(*last) <= round - 31) {
            break;
        }
    }
    key.truncate(32);
    key
}

/// The first 16 bytes are the initial vector, and the last block says how much of it is padding.
fn aes_cbc<D: aes::cipher::BlockModeDecrypt<BlockSize = aes::cipher::consts::U16>>(
    bytes: &[u8],
    decryptor: impl FnOnce(&[u8]) -> Option<D>,
) -> Vec<u8> {
    let Some((iv, data)) = bytes.split_at_checked(16) else { return Vec::new() };
    let Some(mut decryptor) = decryptor(iv) else { return Vec::new() };
    let mut data = data[..data.len() / 16 * 16].to_vec();
    decrypt_blocks(&mut decryptor, &mut data);
    if let Some(padding @ 1..=16) = data.last().copied() {
        data.truncate(data.len().saturating_sub(usize::from(padding)));
    }
    data
}

fn decrypt_blocks<D: aes::cipher::BlockModeDecrypt<BlockSize = aes::cipher::consts::U16>>(
    decryptor: &mut D,
    data: &mut [u8],
) {
    for block in data.chunks_exact_mut(16) {
        if let Ok(block) = <&mut Block<D>>::try_from(block) {
            decryptor.decrypt_block(block);
        }
    }
}

/// The stream cipher, which no longer protects anything: a crate for it would be longer than it is.
fn rc4(key: &[u8], bytes: &[u8]) -> Vec<u8> {
    let mut state: Vec<u8> = (0..=255).collect();
    let mut j = 0_u8;
    for i in 0..256 {
        // No key is empty: the shortest has five bytes.
        j = j.wrapping_add(state[i]).wrapping_add(key[i % key.len()]);
        state.swap(i, usize::from(j));
    }
    let (mut i, mut j) = (0_u8, 0_u8);
    bytes
        .iter()
        .map(|byte| {
            i = i.wrapping_add(1);
            j = j.wrapping_add(state[usize::from(i)]);
            state.swap(usize::from(i), usize::from(j));
            byte ^ state[usize::from(state[usize::from(i)].wrapping_add(state[usize::from(j)]))]
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_of_an_object_are_decrypted_wherever_they_are_in_it() {
        let reference = Reference { number: 7, generation: 0 };
        let decryptor = Decryptor { key: vec![1; 5], streams: Cipher::None, strings: Cipher::Rc4 };
        let plain = |text: &[u8]| Object::String(text.to_vec());
        let object = |secret: &[u8]| {
            let inner = Dict::of(vec![(b"Ordering".to_vec(), plain(secret)), (b"Name".to_vec(), Object::Null)]);
            Object::Array(vec![plain(secret), Object::Dict(inner), Object::Number(1.0)])
        };
        // The cipher is its own inverse.
        let secret = decryptor.decrypted(Cipher::Rc4, b"Japan1", reference).into_owned();
        assert_ne!(secret, b"Japan1");
        assert_eq!(decryptor.object(object(&secret), reference), object(b"Japan1"));
        let none = Decryptor { strings: Cipher::None, ..decryptor };
        assert_eq!(none.object(object(&secret), reference), object(&secret));
    }
}
