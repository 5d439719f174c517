//! The job as it travels from the harness to a box: lengths and little-endian numbers in one memory file, so that the init can
//! read it with nothing but this module. Both ends are the same executable, so there is no version to negotiate.

use crate::spec::Limits;

/// What init is told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Job {
    /// Namespaces and a private root, or the host's own.
    pub(crate) strong: bool,
    /// A cgroup counts memory, so the watchdog need not.
    pub(crate) counted: bool,
    /// Landlock must hold, or the box is not started.
    pub(crate) landlock: bool,
    /// Guards left out, see `guards.rs`.
    pub(crate) without: u32,
    pub(crate) argv: Vec<Vec<u8>>,
    pub(crate) env: Vec<Vec<u8>>,
    pub(crate) builtin: Vec<Vec<u8>>,
    /// Host path and inside path.
    pub(crate) binds: Vec<(Vec<u8>, Vec<u8>)>,
    /// A host directory for the work directory; empty for a private tmpfs.
    pub(crate) work: Vec<u8>,
    /// That directory is the caller's, who will read it.
    pub(crate) host_work: bool,
    pub(crate) files: Vec<JobFile>,
    pub(crate) cwd: Vec<u8>,
    pub(crate) proc: bool,
    /// Programs may be started after the first.
    pub(crate) exec: bool,
    /// Landlock leaves TCP alone.
    pub(crate) network: bool,
    /// Ports of the box's own loopback, see `doors.rs`.
    pub(crate) doors: Vec<u64>,
    pub(crate) limits: Vec<u64>,
    pub(crate) filters: Vec<Vec<u64>>,
    /// Relative path and size cap.
    pub(crate) collect: Vec<(Vec<u8>, u64)>,
}

/// A file to place. Without bytes it comes from the next descriptor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct JobFile {
    pub(crate) path: Vec<u8>,
    pub(crate) executable: bool,
    pub(crate) bytes: Option<Vec<u8>>,
}

/// Limits in the order of `Limits::rows`.
pub(crate) fn limits_to_wire(limits: &Limits) -> Vec<u64> {
    limits.rows().into_iter().map(|(_, value)| value).collect()
}

/// The other way round.
pub(crate) fn limits_from_wire(values: &[u64]) -> Option<Limits> {
    let [
        cpu_ms,
        wall_ms,
        memory_bytes,
        address,
        processes,
        open_files,
        disk_bytes,
        disk_inodes,
        file_bytes,
        output_bytes,
    ] = *values
    else {
        return None;
    };
    let address_bytes = (address > 0).then_some(address);
    Some(Limits {
        cpu_ms,
        wall_ms,
        memory_bytes,
        address_bytes,
        processes,
        open_files,
        disk_bytes,
        disk_inodes,
        file_bytes,
        output_bytes,
    })
}

impl Job {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(4096);
        for flag in
            [self.strong, self.counted, self.landlock, self.proc, self.exec, self.network, self.host_work]
        {
            out.push(u8::from(flag));
        }
        number(&mut out, u64::from(self.without));
        list(&mut out, &self.argv, |out, item| bytes(out, item));
        list(&mut out, &self.env, |out, item| bytes(out, item));
        list(&mut out, &self.builtin, |out, item| bytes(out, item));
        list(&mut out, &self.binds, |out, (host, inside)| {
            bytes(out, host);
            bytes(out, inside);
        });
        bytes(&mut out, &self.work);
        list(&mut out, &self.files, |out, file| {
            bytes(out, &file.path);
            out.push(u8::from(file.executable));
            out.push(u8::from(file.bytes.is_some()));
            bytes(out, file.bytes.as_deref().unwrap_or_default());
        });
        bytes(&mut out, &self.cwd);
        list(&mut out, &self.doors, |out, value| number(out, *value));
        list(&mut out, &self.limits, |out, value| number(out, *value));
        list(&mut out, &self.filters, |out, filter| list(out, filter, |out, value| number(out, *value)));
        list(&mut out, &self.collect, |out, (path, max)| {
            bytes(out, path);
            number(out, *max);
        });
        out
    }

    pub(crate) fn decode(input: &[u8]) -> Option<Job> {
        let mut reader = Reader(input);
        Some(Job {
            strong: reader.flag()?,
            counted: reader.flag()?,
            landlock: reader.flag()?,
            proc: reader.flag()?,
            exec: reader.flag()?,
            network: reader.flag()?,
            host_work: reader.flag()?,
            without: u32::try_from(reader.number()?).ok()?,
            argv: reader.list(Reader::bytes)?,
            env: reader.list(Reader::bytes)?,
            builtin: reader.list(Reader::bytes)?,
            binds: reader.list(|reader| Some((reader.bytes()?, reader.bytes()?)))?,
            work: reader.bytes()?,
            files: reader.list(Reader::file)?,
            cwd: reader.bytes()?,
            doors: reader.list(Reader::number)?,
            limits: reader.list(Reader::number)?,
            filters: reader.list(|reader| reader.list(Reader::number))?,
            collect: reader.list(|reader| Some((reader.bytes()?, reader.number()?)))?,
        })
    }
}

pub(crate) fn number(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(&value.to_le_bytes());
}

pub(crate) fn bytes(out: &mut Vec<u8>, value: &[u8]) {
    number(out, value.len() as u64);
    out.extend_from_slice(value);
}

fn list<T>(out: &mut Vec<u8>, items: &[T], mut write: impl FnMut(&mut Vec<u8>, &T)) {
    number(out, items.len() as u64);
    for item in items {
        write(out, item);
    }
}

/// Reads what the functions above wrote; `None` on anything else.
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl Reader<'_> {
    pub(crate) fn flag(&mut self) -> Option<bool> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first != 0)
    }

    pub(crate) fn number(&mut self) -> Option<u64> {
        let (first, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*first))
    }

    pub(crate) fn bytes(&mut self) -> Option<Vec<u8>> {
        let length = usize::try_from(self.number()?).ok()?;
        let (first, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(first.to_vec())
    }

    fn file(&mut self) -> Option<JobFile> {
        let path = self.bytes()?;
        let executable = self.flag()?;
        let inline = self.flag()?;
        let bytes = self.bytes()?;
        Some(JobFile { path, executable, bytes: inline.then_some(bytes) })
    }

    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.number()?;
        (0..count).map(|_| item(self)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_survives_the_wire_and_a_torn_one_does_not() {
        let job = Job {
            strong: true,
            argv: vec![b"a".to_vec(), Vec::new()],
            binds: vec![(b"/x".to_vec(), b"/y".to_vec())],
            files: vec![JobFile { path: b"p".to_vec(), executable: true, bytes: None }],
            doors: vec![8080],
            limits: limits_to_wire(&Limits::default()),
            filters: vec![vec![1, u64::MAX]],
            collect: vec![(b"out".to_vec(), 7)],
            ..Job::default()
        };
        let wire = job.encode();
        assert_eq!(Job::decode(&wire), Some(job.clone()));
        for cut in 0..wire.len() {
            assert_eq!(Job::decode(&wire[..cut]), None, "{cut}");
        }
        assert_eq!(limits_from_wire(&job.limits), Some(Limits::default()));
    }
}
