//! Sizes beyond 2^28, 2^31 and 2^32, in sparse files: nothing of them is ever read.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};

use jvm::jfr::Recording;
use jvm::panels::{Question, digest};
use record::recording::RecordingDigest;

use super::writer::{Chunk, types};

/// A chunk with a hole behind its header: `events` are of no known type, each a size and the
/// bytes of its head.
fn with_holes(compressed: bool, events: &[(u64, Vec<u8>)]) -> RecordingDigest {
    let mut chunk = Chunk::new(compressed);
    chunk.named(1, "org/acme/Shop", "sell");
    chunk.allocation(types::SAMPLE, 200, [0, 1, 1], &[10]);
    let mut bytes = chunk.finish();
    let hole: u64 = events.iter().map(|(size, _)| size).sum();
    // Size and place of the metadata follow what was put in.
    for at in [8, 24] {
        let value = u64::from_be_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        bytes[at..at + 8].copy_from_slice(&(value + hole).to_be_bytes());
    }
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    let out: &mut File = file.as_file_mut();
    out.write_all(&bytes[..68]).expect("written");
    let mut at = 68;
    for (size, head) in events {
        out.seek(SeekFrom::Start(at)).expect("a place");
        out.write_all(head).expect("written");
        at += size;
    }
    out.seek(SeekFrom::Start(at)).expect("a place");
    out.write_all(&bytes[68..]).expect("written");
    let recording = Recording::open(file.path()).expect("a recording");
    assert_eq!(recording.bytes(), bytes.len() as u64 + hole);
    digest(&recording, &Question::default())
}

fn is_whole(digest: &RecordingDigest) {
    assert!(!digest.quality.truncated, "{:?}", digest.quality.faults);
    let panel = digest.panels.allocation_by_site.as_ref().expect("sites");
    assert_eq!((panel.total_bytes, panel.rows[0].name.as_str()), (10, "org.acme.Shop.sell"));
}

/// 13: a chunk of more than 4 GiB.
#[test]
fn a_chunk_of_five_gib() {
    let size = 5_u64 << 29;
    let head = [(size as u32).to_be_bytes().to_vec(), 777_u64.to_be_bytes().to_vec()].concat();
    let digest = with_holes(false, &[(size, head.clone()), (size, head)]);
    is_whole(&digest);
    assert_eq!(digest.panels.events.expect("events")["type 777"], 2);
}

/// 5: a size of 300 MiB padded to four bytes, the fourth with all its eight bits.
#[test]
fn a_padded_size_beyond_two_to_the_28() {
    let size = 300_u64 << 20;
    let head = vec![
        0x80 | (size & 0x7F) as u8,
        0x80 | (size >> 7 & 0x7F) as u8,
        0x80 | (size >> 14 & 0x7F) as u8,
        (size >> 21) as u8,
        // The type: 777.
        0x89,
        0x06,
    ];
    assert!(head[3] >= 0x80);
    let digest = with_holes(true, &[(size, head)]);
    is_whole(&digest);
    assert_eq!(digest.panels.events.expect("events")["type 777"], 1);
}
