//! The programs that run inside boxes, put together from parts: what a candidate's box gets has no part of a tests' box.

/// What both sides share: how values cross, and how an answer is read.
macro_rules! both {
    ($($more:expr),*) => {
        concat!(
            include_str!("start.py.txt"),
            include_str!("values.py.txt"),
            include_str!("library.py.txt"),
            include_str!("claims.py.txt"),
            include_str!("border.py.txt"),
            include_str!("answer.py.txt"),
            include_str!("candidate.py.txt"),
            $($more),*
        )
    };
}

/// Runs one answer and does what the tests ask over the link.
pub(super) const CANDIDATE: &str = both!(
    "\nnumber = link_from_standard_input()\nenter_folder()\nclose_folder_above()\nbecome_candidate(number)\n"
);

/// Forks one candidate for each answer that is handed over.
pub(super) const ZYGOTE: &str = both!(include_str!("zygote.py.txt"));

/// Forks one process of tests for each link that is handed over.
pub(super) const CHECKER: &str = both!(
    include_str!("tests.py.txt"),
    include_str!("rules.py.txt"),
    include_str!("told.py.txt"),
    include_str!("held.py.txt"),
    include_str!("methods.py.txt"),
    include_str!("lent.py.txt"),
    include_str!("evaluated.py.txt"),
    include_str!("checker.py.txt"),
    include_str!("decoys.py.txt"),
    include_str!("doubts.py.txt"),
    include_str!("judge.py.txt")
);

/// Tests and answer in one process.
pub(super) const SHARED: &str = both!(
    include_str!("tests.py.txt"),
    include_str!("shared.py.txt"),
    "\nnumber = link_from_standard_input()\nenter_folder()\nin_one_process(number)\n"
);
