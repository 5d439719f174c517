//! What the user wrote, turned once into what it means: typed settings, checked, and a stream of cases.
//!
//! Loading makes one pass over everything before the first trial: it reads the suite, checks it, and streams through all
//! datasets to validate, hash and count them. A second pass gives the cases away one by one and checks that the files are
//! still the same. Nothing here knows of plans, runs, the network, or of any kind of suite by name.

pub(crate) mod bounds;
pub(crate) mod cases;
pub(crate) mod check;
mod compose;
pub(crate) mod dataset;
pub(crate) mod de;
pub(crate) mod file;
pub(crate) mod generators;
pub(crate) mod identity;
pub(crate) mod keys;
pub(crate) mod kind;
pub(crate) mod load;
pub(crate) mod model;
mod named;
pub(crate) mod paths;
mod peers;
pub(crate) mod problem;
pub(crate) mod prompt;
mod scalar;
pub(crate) mod scan;
mod silent;
pub(crate) mod tree;
pub(crate) mod wordings;
pub mod yaml;

pub use bounds::{Fraction, KOfN, Ordered, Sureness, Weight, Whole};
pub use cases::{Case, CaseStream};
pub use file::{Fields, Format, Gate};
pub use load::{Chosen, DatasetFacts, Loaded, Overrides, PriceFile};
pub use model::{Determinism, Slot, Suite};
pub use named::named_files;
pub use problem::{Code, Place, Problem, Problems};
pub use prompt::{Sent, Talk};
pub use wordings::{Lacking, Wordable, Wording, Wordings};
