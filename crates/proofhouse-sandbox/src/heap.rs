//! How the C library's allocator gives memory back, which can be told only by a call that Rust calls unsafe.

/// Blocks from this size on are mapped by themselves, and unmapped when they are freed.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const MAPPED_BYTES: i32 = 256 << 10;
/// So much may be free at the end of the heap before it is given back.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const KEPT_BYTES: i32 = 1 << 20;

/// Makes large blocks go back to the system as soon as they are freed, for a process that runs for days.
///
/// Left to itself, the GNU allocator takes the first large block that is freed for a sign that more will come: from then on blocks of up
/// to 32 MB lie in the heap among small ones that live on, and the process stays as large as its worst moment, which a worse one
/// replaces. Other allocators do it right already.
pub fn give_memory_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it takes two integers and changes settings of the allocator alone. A refusal leaves them as they were.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, MAPPED_BYTES);
        libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT_BYTES);
    }
}

#[cfg(test)]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod tests {
    use super::*;

    /// Bytes in blocks that are mapped by themselves.
    fn mapped() -> usize {
        // SAFETY: it only reads the allocator's counters.
        unsafe { libc::mallinfo2() }.hblkhd
    }

    #[test]
    fn a_large_block_is_mapped_even_after_another_was_freed() {
        give_memory_back();
        drop(std::hint::black_box(vec![1u8; 24 << 20]));
        let before = mapped();
        let block = std::hint::black_box(vec![1u8; 8 << 20]);
        assert!(mapped() >= before + (8 << 20), "it lies in the heap, from which nothing goes back");
        drop(block);
        assert!(mapped() < before + (8 << 20));
    }
}
