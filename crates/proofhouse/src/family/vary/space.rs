//! From a space of possible variants to a list of distinct ones, with an exact shortfall.

use super::rng::{Key, Stream};
use super::{Ask, Edit, Lack, Settings, Shortfall, Variant, Variants, apply};

/// More variants of one instruction than this are never made at once.
pub const MAX_VARIANTS: u32 = 10_000;

/// How often a variant is drawn before the space is walked for one that is still free.
const MAX_DRAWS: u32 = 16;

/// All variants that a generator could make of one base: they can be drawn at random and walked one by one.
pub(super) trait Space {
    /// One possible variant.
    type Point;

    /// The first point of the walk: no space is empty.
    fn first(&self) -> Self::Point;

    /// Goes on to the next point, or says that there is none. The walk visits every point of the space.
    fn advance(&self, point: &mut Self::Point) -> bool;

    /// A point at random.
    fn draw(&self, stream: &mut Stream) -> Self::Point;

    /// What the point changes in the base.
    fn edits(&self, point: &Self::Point) -> Vec<Edit>;
}

/// Fills the ask from the space.
///
/// Each index draws on its own stream and only looks back, so the first `k` variants do not depend on how many follow.
/// When draws only repeat what is there, the walk finds the next free point, so a shortfall is never a matter of luck.
pub(super) fn fill<S: Settings>(ask: &Ask<'_>, space: &impl Space) -> Variants {
    let key = Key::of::<S>(ask);
    let mut walk = Some(space.first());
    let mut found = Distinct { base: ask.base, list: Vec::new(), sorted: Vec::new() };
    for index in 0..ask.count.min(MAX_VARIANTS) {
        let drawn = (0..MAX_DRAWS).any(|attempt| {
            let point = space.draw(&mut key.stream(index, attempt));
            found.take(space.edits(&point))
        });
        if drawn {
            continue;
        }
        while let Some(point) = &mut walk {
            let free = found.take(space.edits(point));
            if !space.advance(point) {
                walk = None;
            }
            if free {
                break;
            }
        }
        if found.list.len() == index as usize {
            return Variants::of(found.list, ask.count, Lack::Exhausted);
        }
    }
    Variants::of(found.list, ask.count, Lack::Limit)
}

impl Variants {
    /// The list, with a shortfall when it is shorter than what was asked for.
    pub(super) fn of(list: Vec<Variant>, requested: u32, reason: Lack) -> Variants {
        let produced = list.len() as u32;
        let shortfall = (produced < requested).then_some(Shortfall { requested, produced, reason });
        Variants { list, shortfall }
    }
}

/// Variants that differ from each other and from the base.
struct Distinct<'a> {
    base: &'a str,
    list: Vec<Variant>,
    /// Places in `list`, in the order of the texts.
    sorted: Vec<u32>,
}

impl Distinct<'_> {
    /// Keeps the variant if it is new.
    fn take(&mut self, edits: Vec<Edit>) -> bool {
        let text = apply(self.base, &edits).expect("a generator's edits fit its base");
        let place = self.sorted.binary_search_by(|index| self.list[*index as usize].text.cmp(&text));
        let Err(place) = place else { return false };
        if text == self.base {
            return false;
        }
        let index = self.list.len() as u32;
        self.sorted.insert(place, index);
        self.list.push(Variant { index, text, edits });
        true
    }
}
