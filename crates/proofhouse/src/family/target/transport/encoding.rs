//! Bodies that endpoints and the proxies before them pack: unpacked here, within the limit of a body.

use std::io::Read;

use brotli_decompressor::Decompressor;
use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

/// What is asked for and read.
pub(crate) const ENCODINGS: &str = "gzip, deflate, br";

/// Why a body cannot be unpacked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NotUnpacked {
    /// Nobody here knows the encoding.
    Unknown(String),
    /// It is larger than is taken.
    TooLarge,
    /// It is not what its header says.
    Broken(String),
}

/// Undoes the encodings of a `Content-Encoding` header, the last one first; at most `most` bytes come out of each.
pub(crate) fn unpacked(body: Vec<u8>, header: &str, most: u64) -> Result<Vec<u8>, NotUnpacked> {
    let names = header.split(',').map(|name| name.trim().to_ascii_lowercase());
    let names: Vec<String> = names.filter(|name| !name.is_empty() && name != "identity").collect();
    names.iter().rev().try_fold(body, |body, name| match name.as_str() {
        "gzip" | "x-gzip" => whole(MultiGzDecoder::new(&*body), most),
        // Some servers mean the bare stream, some the one with a header: the first byte tells them apart.
        "deflate" if body.first().is_some_and(|first| first & 0x0f == 8) => {
            whole(ZlibDecoder::new(&*body), most)
        }
        "deflate" => whole(DeflateDecoder::new(&*body), most),
        "br" => whole(Decompressor::new(&*body, 4096), most),
        other => Err(NotUnpacked::Unknown(other.to_owned())),
    })
}

fn whole(reader: impl Read, most: u64) -> Result<Vec<u8>, NotUnpacked> {
    let mut out = Vec::new();
    let read = reader.take(most + 1).read_to_end(&mut out);
    match read {
        Err(error) => Err(NotUnpacked::Broken(error.to_string())),
        Ok(_) if out.len() as u64 > most => Err(NotUnpacked::TooLarge),
        Ok(_) => Ok(out),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

    use super::*;

    const TEXT: &[u8] = b"{\"answer\": \"four four four four\"}";

    #[test]
    fn every_encoding_that_is_asked_for_is_read() {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(TEXT).unwrap();
        let gzip = gzip.finish().unwrap();
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
        zlib.write_all(TEXT).unwrap();
        let mut bare = DeflateEncoder::new(Vec::new(), Compression::fast());
        bare.write_all(TEXT).unwrap();
        // "hello", as the reference encoder writes it.
        let brotli = vec![0x0b, 0x02, 0x80, 0x68, 0x65, 0x6c, 0x6c, 0x6f, 0x03];
        assert_eq!(unpacked(gzip.clone(), "gzip", 100).unwrap(), TEXT);
        assert_eq!(unpacked(zlib.finish().unwrap(), "Deflate", 100).unwrap(), TEXT);
        assert_eq!(unpacked(bare.finish().unwrap(), "deflate", 100).unwrap(), TEXT);
        assert_eq!(unpacked(brotli, "br", 100).unwrap(), b"hello");
        assert_eq!(unpacked(TEXT.to_vec(), "identity", 100).unwrap(), TEXT);
        assert_eq!(unpacked(gzip.clone(), "gzip", 10), Err(NotUnpacked::TooLarge));
        assert_eq!(unpacked(TEXT.to_vec(), "zstd", 100), Err(NotUnpacked::Unknown("zstd".into())));
        assert!(matches!(unpacked(gzip[..9].to_vec(), "gzip", 100), Err(NotUnpacked::Broken(_))));
        assert!(matches!(unpacked(TEXT.to_vec(), "gzip", 100), Err(NotUnpacked::Broken(_))));
    }
}
