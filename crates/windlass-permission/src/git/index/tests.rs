use super::*;

const FILE: u32 = 0o100_644;
const REPOSITORY: u32 = 0o160_000;

fn index(version: u32, entries: &[(u32, &str)], hash_bytes: usize, tail: &[u8]) -> Vec<u8> {
    let mut bytes =
        [b"DIRC".as_slice(), &version.to_be_bytes(), &u32::try_from(entries.len()).unwrap().to_be_bytes()].concat();
    let mut before = "";
    for (mode, name) in entries {
        let start = bytes.len();
        bytes.extend([0; 24]);
        bytes.extend(mode.to_be_bytes());
        bytes.extend(vec![7; 12 + hash_bytes]);
        bytes.extend([if version > 2 { 0x40 } else { 0 }, 9]);
        if version > 2 {
            bytes.extend([0, 0]);
        }
        if version == 4 {
            let same = before.bytes().zip(name.bytes()).take_while(|(a, b)| a == b).count();
            bytes.push(u8::try_from(before.len() - same).unwrap());
            bytes.extend(&name.as_bytes()[same..]);
            bytes.push(0);
        } else {
            bytes.extend(name.as_bytes());
            let length = bytes.len() - start;
            bytes.extend(vec![0; 8 - length % 8]);
        }
        before = name;
    }
    bytes.extend(tail);
    bytes.extend(vec![1; hash_bytes]);
    bytes
}

#[test]
fn every_version_names_its_repositories_and_attributes() {
    let entries = [
        (FILE, ".gitattributes"),
        (FILE, "a"),
        (FILE, "dir/.GitAttributes"),
        (FILE, "dir/seven77"),
        (REPOSITORY, "dir/sub"),
        (0o120_000, "link"),
        (0o100_755, "run"),
    ];
    for version in 2..=4 {
        for hash_bytes in [20, 32] {
            let read = read_index(&index(version, &entries, hash_bytes, b"TREE\0\0\0\x03abc"), hash_bytes).unwrap();
            assert_eq!(read.repositories, [b"dir/sub"], "version {version}");
            assert_eq!(read.attributes, [b".gitattributes".to_vec(), b"dir/.GitAttributes".to_vec()]);
        }
    }
}

#[test]
fn a_damaged_or_unknown_index_is_none() {
    let plain = index(2, &[(FILE, "a"), (REPOSITORY, "b")], 20, b"");
    for length in 0..plain.len() - 20 {
        assert_eq!(read_index(&plain[..length], 20), None, "cut at {length}");
    }
    for bytes in [
        index(5, &[], 20, b""),
        index(1, &[], 20, b""),
        index(2, &[(0o040_000, "dir/")], 20, b""),
        index(2, &[(FILE, "a")], 20, b"link\0\0\0\x01a"),
        index(2, &[(FILE, "a")], 20, b"sdir\0\0\0\0"),
        index(2, &[(FILE, "a")], 20, b"TREE\xff\xff\xff\xff"),
    ] {
        assert_eq!(read_index(&bytes, 20), None);
    }
}

proptest::proptest! {
    #[test]
    fn any_bytes_have_an_answer(bytes: Vec<u8>, version in 0_u32..6, count: u32) {
        let bytes = [b"DIRC".as_slice(), &version.to_be_bytes(), &count.to_be_bytes(), &bytes].concat();
        let _ = read_index(&bytes, 20);
        let _ = super::super::inert_config(&bytes);
        let _ = super::super::attributes_are_inert(&bytes);
    }
}
