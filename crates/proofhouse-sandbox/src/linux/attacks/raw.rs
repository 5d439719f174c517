//! System calls for payloads, which exist only to misbehave.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Any system call with integer arguments. `Err` is the error number.
pub(crate) fn call(number: libc::c_long, args: [u64; 6]) -> Result<i64, i32> {
    let [a, b, c, d, e, f] = args;
    // SAFETY: a payload is a process of its own that ends after this; its callers pass pointers to live buffers or null, and what the
    // call breaks is nobody else's.
    let value = unsafe { libc::syscall(number, a, b, c, d, e, f) };
    if value < 0 { Err(super::super::last_errno()) } else { Ok(value) }
}

/// The same with up to three arguments.
pub(crate) fn call3(number: libc::c_long, a: u64, b: u64, c: u64) -> Result<i64, i32> {
    call(number, [a, b, c, 0, 0, 0])
}

/// A path for a call.
pub(crate) fn c_path(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).unwrap_or_default()
}

/// The address of a C string, which must outlive the call.
pub(crate) fn at(text: &std::ffi::CStr) -> u64 {
    text.as_ptr() as u64
}

/// Forks; `true` in the child, `None` when refused.
pub(crate) fn forked() -> Option<bool> {
    // SAFETY: payloads have one thread.
    match unsafe { libc::fork() } {
        -1 => None,
        0 => Some(true),
        _ => Some(false),
    }
}

/// Waits for all children.
pub(crate) fn wait_all() {
    while !matches!(super::super::sys::reap(true), Err(error) if error.raw_os_error() == Some(libc::ECHILD)) {
    }
}

/// Sleeps.
pub(crate) fn sleep_ms(millis: u64) {
    std::thread::sleep(std::time::Duration::from_millis(millis));
}

/// Takes the name by which the outside looks for survivors.
pub(crate) fn take_name(tag: &str) {
    let name = CString::new(tag).unwrap_or_default();
    let _ = rustix::thread::set_name(&name);
}

/// Ends the payload's process without unwinding.
pub(crate) fn leave() -> ! {
    super::super::sys::exit_now(0)
}
