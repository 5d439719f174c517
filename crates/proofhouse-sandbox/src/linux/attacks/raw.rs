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

/// Runs this in a child that borrows our address space until it ends, as `vfork` does; whether it ended well.
pub(crate) fn borrowing(run: impl FnOnce()) -> bool {
    extern "C" fn enter<F: FnOnce()>(place: *mut libc::c_void) -> i32 {
        // SAFETY: the caller passes its own `Option`, and waits until this process is gone.
        let run = unsafe { (*place.cast::<Option<F>>()).take() };
        if let Some(run) = run {
            run();
        }
        leave()
    }
    fn entry<F: FnOnce()>(_: &Option<F>) -> extern "C" fn(*mut libc::c_void) -> i32 {
        enter::<F>
    }
    let mut stack = vec![0u8; 256 << 10];
    let mut place = Some(run);
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    let child = entry(&place);
    // SAFETY: the child has a stack of its own, aligned at its top, and this thread sleeps until it is gone.
    let pid = unsafe {
        let top = stack.as_mut_ptr().add(stack.len() - 64);
        let top = top.sub(top as usize % 16);
        libc::clone(child, top.cast(), flags, (&raw mut place).cast())
    };
    pid > 0 && super::super::sys::reap_one(pid) == Some(0)
}
