//! Vectors that others published for RFC 8785: its own example, the files beside its reference implementation, and the prefixes of
//! the hundred million numbers whose digests stand in that implementation's `testdata/README.md`.

use crate::Digest;
use crate::digest::Hasher;
use crate::json::{Strictness, parse};

/// Input and output: the example of section 3.2.2, then `arrays`, `french`, `structures`, `unicode` and `weird`.
const FILES: [(&str, &str); 6] = [
    (
        r#"{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
            "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/", "literals": [null, true, false]}"#,
        r#"{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}"#,
    ),
    (r#"[56, {"d": true, "10": null, "1": [ ]}]"#, r#"[56,{"1":[],"10":null,"d":true}]"#),
    (
        r#"{"peach": "This sorting order", "péché": "is wrong according to French",
            "pêche": "but canonicalization MUST", "sin": "ignore locale"}"#,
        r#"{"peach":"This sorting order","péché":"is wrong according to French","pêche":"but canonicalization MUST","sin":"ignore locale"}"#,
    ),
    (
        r#"{"1": {"f": {"f": "hi", "F": 5}, "\n": 56.0}, "10": { }, "": "empty", "a": { },
            "111": [{"e": "yes", "E": "no"}], "A": { }}"#,
        r#"{"":"empty","1":{"\n":56,"f":{"F":5,"f":"hi"}},"10":{},"111":[{"E":"no","e":"yes"}],"A":{},"a":{}}"#,
    ),
    (r#"{"Unnormalized Unicode": "A\u030a"}"#, "{\"Unnormalized Unicode\":\"A\u{30a}\"}"),
    (
        r#"{"\u20ac": "Euro Sign", "\r": "Carriage Return", "\u000a": "Newline", "1": "One", "\u0080": "Control\u007f",
            "\ud83d\ude02": "Smiley", "\u00f6": "Latin Small Letter O With Diaeresis",
            "\ufb33": "Hebrew Letter Dalet With Dagesh", "</script>": "Browser Challenge"}"#,
        "{\"\\n\":\"Newline\",\"\\r\":\"Carriage Return\",\"1\":\"One\",\"</script>\":\"Browser Challenge\",\"\u{80}\":\"Control\u{7f}\",\
         \"ö\":\"Latin Small Letter O With Diaeresis\",\"€\":\"Euro Sign\",\"😂\":\"Smiley\",\"\u{fb33}\":\"Hebrew Letter Dalet With Dagesh\"}",
    ),
];

#[test]
fn files_of_the_reference_implementation() {
    for (input, expected) in FILES {
        let value = parse(input.as_bytes(), Strictness::Strict).expect(input);
        assert_eq!(value.to_string(), expected);
        assert_eq!(parse(expected.as_bytes(), Strictness::Canonical).expect(expected).to_string(), expected);
    }
}

/// How many lines, and the SHA-256 of so many.
const DIGESTS: [(usize, &str); 3] = [
    (1_000, "be18b62b6f69cdab33a7e0dae0d9cfa869fda80ddc712221570f9f40a5878687"),
    (10_000, "b9f7a8e75ef22a835685a52ccba7f7d6bdc99e34b010992cbc5864cd12be6892"),
    (100_000, "22776e6d4b49fa294a0d0f349268e5c28808fe7e0cb2bcbe28f63894e494d4c7"),
];

/// A third of powers of ten, which the sequence has with both signs.
const THIRDS: &str = "
    446696695dbd1cc3 443211ede4974a35 43fce97ca0f21056 43c7213080c1a6ac 439280f39a348556 435d9b1f5d20d557 4327af4c4a80aaac
    42f2f2a36ecd5556 42be51057e155558 428840d131aaaaac 4253670dc1555557 421f0b4935555557 41e8d5d42aaaaaac 41b3de4355555556
    417fca0555555556 41496e6aaaaaaaab 4114585555555555 40e046aaaaaaaaab 40aa0aaaaaaaaaaa 4074d55555555555 4040aaaaaaaaaaab
    400aaaaaaaaaaaab 3fd5555555555555 3fa1111111111111 3f6b4e81b4e81b4f 3f35d867c3ece2a5 3f0179ec9cbd821e 3ecbf647612f3696
    3e965e9f80f29212 3e61e54c672874db 3e2ca213d840baf8 3df6e80fe033c8c6 3dc2533fe68fd3d2 3d8d51ffd74c861c 3d5774ccac3d3817
    3d22c3d6f030f9ac 3cee0624b3818f79 3cb804ea293472c7 3c833721ba905bd3 3c4ebe9c5db3c61e 3c18987d17c304e5 3be3ad30dfcf371d
    3baf7b816618582f 3b792f9ab81379bf 3b442615600f9499 3b101e77800c76e1 3ad9ca58cce0be35 3aa4a1e0a3e6fe90 3a708180831f320d
    3a3a68cd9e985016";

/// Numbers near powers of ten, near one, and at the borders of doubles and of exponents.
const BORDERS: &str = "
    4024000000000000 4014000000000000 3fe0000000000000 3fa999999999999a 3f747ae147ae147b 3f40624dd2f1a9fc 3f0a36e2eb1c432d
    3ed4f8b588e368f1 3ea0c6f7a0b5ed8d 3e6ad7f29abcaf48 3e35798ee2308c3a 3ed539223589fa95 3ed4ff26cd5a7781 3ed4f95a762283ff
    3ed4f8c60703520c 3ed4f8b72f19cd0d 3ed4f8b5b31c0c8d 3ed4f8b58d1c461a 3ed4f8b5894f7f0e 3ed4f8b588ee37f3 3ed4f8b588e47da4
    3ed4f8b588e3849c 3ed4f8b588e36bb5 3ed4f8b588e36937 3ed4f8b588e368f8 3ed4f8b588e368f1 3ff0000000000000 bff0000000000000
    bfeffffffffffffa bfeffffffffffffb 3feffffffffffffa 3feffffffffffffb 3feffffffffffffc 3feffffffffffffe bfefffffffffffff
    bfefffffffffffff 3fefffffffffffff 3fefffffffffffff 3fd3333333333332 3fd3333333333333 3fd3333333333334 0010000000000000
    000ffffffffffffd 000fffffffffffff 7fefffffffffffff ffefffffffffffff 4340000000000000 c340000000000000 4430000000000000
    44b52d02c7e14af5 44b52d02c7e14af6 44b52d02c7e14af7 444b1ae4d6e2ef4e 444b1ae4d6e2ef4f 444b1ae4d6e2ef50 3eb0c6f7a0b5ed8c
    3eb0c6f7a0b5ed8d 41b3de4355555553 41b3de4355555554 41b3de4355555555 41b3de4355555556 41b3de4355555557 becbf647612f3696
    43143ff3c1cb0959";

/// The published sequence: what is listed, two thousand neighbours of the smallest normal number, then doubles out of a chain of
/// SHA-256 digests that begins with 32 zero bytes.
fn sequence() -> impl Iterator<Item = u64> {
    const SIGN: u64 = 1 << 63;
    let listed = |text: &'static str| {
        text.split_whitespace().map(|bits| u64::from_str_radix(bits, 16).expect("hexadecimal digits"))
    };
    let zeros = [0, SIGN, 1, SIGN | 1].into_iter();
    let serial = (0..2_000).map(|step| 0x0010_0000_0000_0000 + step);
    let mut block = [0; 32];
    let chain = std::iter::repeat_with(move || {
        block = Digest::of(&block).0;
        block
    });
    let random = chain.flat_map(|block| {
        let parts =
            block.chunks_exact(8).map(|part| u64::from_le_bytes(part.try_into().expect("eight bytes")));
        parts.collect::<Vec<_>>()
    });
    let random = random.filter(|bits| f64::from_bits(*bits).is_finite() && f64::from_bits(*bits) != 0.0);
    zeros
        .chain(listed(THIRDS).map(|bits| bits | SIGN))
        .chain(listed(THIRDS))
        .chain(listed(BORDERS))
        .chain(serial)
        .chain(random)
}

#[test]
fn a_hundred_thousand_numbers_have_their_published_digests() {
    let mut lines = Hasher::default();
    let mut line = Vec::new();
    let mut next = DIGESTS.iter().peekable();
    for (place, bits) in sequence().take(DIGESTS[DIGESTS.len() - 1].0).enumerate() {
        line.clear();
        line.extend_from_slice(format!("{bits:x},").as_bytes());
        super::push_number(&mut line, f64::from_bits(bits));
        line.push(b'\n');
        lines.update(&line);
        if let Some((count, digest)) = next.next_if(|(count, _)| *count == place + 1) {
            assert_eq!(lines.clone().finish().to_string(), *digest, "the first {count} lines");
        }
    }
    assert!(next.next().is_none());
}
