//! The start of a box's program. Where no other program may follow, the filter lets `execve` pass only with the three addresses that
//! are drawn here at random: they are gone with this address space, the program never learns them, and to guess them it would have
//! to try more often than any budget of time allows (some 2^100 times).

use std::ffi::CString;
use std::io;

use super::{Step, sys};

/// Path, arguments and environment of the program, each at an address of its own.
pub(crate) struct Start {
    program: CString,
    candidates: Vec<CString>,
    path: sys::Drawn,
    argv: sys::Drawn,
    env: sys::Drawn,
    /// What the two arrays point to.
    _text: [Vec<CString>; 2],
}

impl Start {
    /// Lays everything out, at addresses that nobody can guess if `secret`. The error is that of a program which cannot be started.
    pub(crate) fn new(argv: &[Vec<u8>], env: &[Vec<u8>], secret: bool) -> Result<Start, Step> {
        let (Some(argv), Some(env)) = (c_strings(argv), c_strings(env)) else {
            return Err(Step { step: "a NUL byte in argument or environment".into(), errno: libc::EINVAL });
        };
        let none = || Step { step: "(no program)".into(), errno: libc::ENOENT };
        let program = argv.first().ok_or_else(none)?.clone();
        let candidates = candidates(&program, &env);
        let longest = candidates.iter().map(|path| path.as_bytes_with_nul().len()).max().unwrap_or(1);
        let draw = |length| {
            let place = if secret { sys::Drawn::new(length) } else { sys::Drawn::anywhere(length) };
            place.map_err(|error| Step {
                step: "lay out the program's start".into(),
                errno: error.raw_os_error().unwrap_or(libc::ENOMEM),
            })
        };
        let path = draw(longest)?;
        let (mut for_argv, mut for_env) = (draw((argv.len() + 1) * 8)?, draw((env.len() + 1) * 8)?);
        for_argv.write(&pointers(&argv));
        for_env.write(&pointers(&env));
        Ok(Start { program, candidates, path, argv: for_argv, env: for_env, _text: [argv, env] })
    }

    /// Where path, arguments and environment are.
    pub(crate) fn addresses(&self) -> [u64; 3] {
        [self.path.address(), self.argv.address(), self.env.address()]
    }

    /// Becomes the program; returns only on failure.
    pub(crate) fn exec(&mut self) -> Step {
        let mut error = io::Error::from_raw_os_error(libc::ENOENT);
        for candidate in std::mem::take(&mut self.candidates) {
            self.path.write(candidate.as_bytes_with_nul());
            error = sys::execve(&self.path, &self.argv, &self.env);
            if error.raw_os_error() != Some(libc::ENOENT) {
                break;
            }
        }
        let errno = error.raw_os_error().unwrap_or(libc::EIO);
        Step { step: self.program.to_string_lossy().into_owned(), errno }
    }
}

/// Addresses of the strings, and the null at the end.
fn pointers(strings: &[CString]) -> Vec<u8> {
    let addresses = strings.iter().map(|text| text.as_ptr() as u64).chain([0]);
    addresses.flat_map(u64::to_ne_bytes).collect()
}

/// The path itself when it has a slash, else the program in each directory of the box's `PATH`.
fn candidates(program: &CString, env: &[CString]) -> Vec<CString> {
    if program.to_bytes().contains(&b'/') {
        return vec![program.clone()];
    }
    let path = env.iter().find_map(|line| line.to_bytes().strip_prefix(b"PATH=")).unwrap_or_default();
    path.split(|byte| *byte == b':')
        .filter(|directory| !directory.is_empty())
        .filter_map(|directory| CString::new([directory, b"/", program.to_bytes()].concat()).ok())
        .collect()
}

fn c_strings(items: &[Vec<u8>]) -> Option<Vec<CString>> {
    items.iter().map(|item| CString::new(item.as_slice()).ok()).collect()
}
