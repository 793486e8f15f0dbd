//! Files with shared blocks, on file systems that support them: a copy is made without writing, and occupies no space
//! until one of the files changes.

use std::fs::File;
use std::io;

/// Alignment of shared blocks: a multiple of the block size of all supported file systems.
pub(super) const ALIGNMENT: u64 = 64 * 1024;

/// `true` if files on the file system of this one share blocks: btrfs, XFS, bcachefs and OCFS2. An XFS may have been
/// created without that; there the system copies.
#[cfg(target_os = "linux")]
pub(super) fn are_shared_on(file: &File) -> bool {
    const KINDS: [u64; 4] = [0x9123_683e, 0x5846_5342, 0xca45_1a4e, 0x7461_636f];
    // The numbers have 32 bits, and a sign on some systems.
    rustix::fs::fstatfs(file).is_ok_and(|system| KINDS.contains(&(system.f_type as u64 & 0xffff_ffff)))
}

/// Always `false`: other systems have no call for a part of a file.
#[cfg(not(target_os = "linux"))]
pub(super) fn are_shared_on(_: &File) -> bool {
    false
}

/// Copies the first `length` bytes of a file into another one, at the offset `at`: a multiple of [`ALIGNMENT`] after
/// its end. The system shares the blocks if it can, and copies them otherwise.
///
/// # Errors
/// The file is shorter (`UnexpectedEof`), or the system does neither: the content at the offset is undefined then.
#[cfg(target_os = "linux")]
pub(super) fn share(from: &File, to: &File, at: u64, length: u64) -> io::Result<()> {
    let (mut read, mut written) = (0, at);
    while read < length {
        let remaining = usize::try_from(length - read).unwrap_or(usize::MAX);
        match rustix::fs::copy_file_range(from, Some(&mut read), to, Some(&mut written), remaining) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
pub(super) fn share(_: &File, _: &File, _: u64, _: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
