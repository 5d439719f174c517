//! What the user wrote, turned once into what it means: typed settings, checked, and a stream of cases.
//!
//! [`load`] makes one pass over everything before the first trial: it reads the suite, checks it, and streams through all
//! datasets to validate, hash and count them. [`Probe::cases`] makes the second pass, which gives the cases away one by
//! one and checks that the files are still the same. Nothing here knows of plans, runs or the network.

mod bounds;
mod cases;
mod check;
mod compose;
mod dataset;
mod de;
mod file;
mod identity;
mod keys;
mod kinds;
mod load;
mod model;
mod paths;
mod problem;
mod scalar;
mod scan;
mod schema;
#[cfg(test)]
mod tests;
mod tree;
pub mod yaml;

pub use bounds::{Fraction, Ordered, Weight, Whole};
pub use cases::{Case, CaseStream};
pub use file::{Fields, Format, Gate};
pub use kinds::{
    Answer, Asked, CodeBody, ContainmentBody, ContainmentCases, Edition, LanguageName, Primary, Probe,
    Recorded, Rejection, Rewriter, RobustnessBody, SampleSource, Scoring, ToolCase, ToolSetup, ToolVariant,
    VariantSpec, Wanted, Wording, Wordings, chosen_tasks,
};
pub use load::{CodeOverrides, DatasetFacts, Loaded, Overrides, load, load_text};
pub use model::{Body, Determinism, Slot, Suite};
pub use problem::{Code, Place, Problem, Problems};
pub use schema::schema;
