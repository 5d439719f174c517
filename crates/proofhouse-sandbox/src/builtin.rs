//! Functions of this executable that run as a payload: the probes, and the attacks of `doctor --attack`. They need no program and
//! no library inside the box.

/// Runs the named function and returns its exit code.
pub(crate) fn run(words: &[String]) -> i32 {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        #[cfg(target_os = "linux")]
        ["probe", rest @ ..] => crate::linux::probe::payload(rest),
        #[cfg(target_os = "linux")]
        ["attack", name, rest @ ..] => crate::linux::attacks::payload(name, rest),
        #[cfg(target_os = "linux")]
        ["honest", "borrow"] => crate::linux::attacks::honest(),
        _ => 126,
    }
}
