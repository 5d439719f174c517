//! Choices at places: the space behind every generator that changes a few of many possible places.

use super::rng::Stream;
use super::space::{Space, fill};
use super::{Ask, Edit, Lack, Settings, Variants};

/// Places, each with some alternatives to what stands there; between `least` and `most` of them are changed.
pub(super) struct Slots {
    alternatives: Vec<usize>,
    least: usize,
    most: usize,
}

/// The places that are changed, in order, each with the number of its alternative.
pub(super) type Choice = Vec<(usize, usize)>;

impl Slots {
    /// Takes the number of alternatives at each place; none when not even `least` places can be changed.
    pub(super) fn new(alternatives: Vec<usize>, least: usize, most: usize) -> Option<Slots> {
        debug_assert!(
            alternatives.iter().all(|count| *count > 0),
            "a place without alternatives is no place"
        );
        let most = most.min(alternatives.len());
        let least = least.max(1);
        (least <= most).then_some(Slots { alternatives, least, most })
    }

    /// One place that is always changed: a plain list of variants.
    pub(super) fn one_of(count: usize) -> Option<Slots> {
        let alternatives = if count == 0 { Vec::new() } else { vec![count] };
        Slots::new(alternatives, 1, 1)
    }

    fn first(&self) -> Choice {
        (0..self.least).map(|place| (place, 0)).collect()
    }

    /// Goes on to the next choice: first other alternatives, then other places, then more places.
    fn advance(&self, choice: &mut Choice) -> bool {
        for (place, alternative) in choice.iter_mut().rev() {
            *alternative += 1;
            if *alternative < self.alternatives[*place] {
                return true;
            }
            *alternative = 0;
        }
        let (places, chosen) = (self.alternatives.len(), choice.len());
        let movable = (0..chosen).rev().find(|&rank| choice[rank].0 < places - chosen + rank);
        if let Some(rank) = movable {
            let start = choice[rank].0 + 1;
            for (offset, slot) in choice[rank..].iter_mut().enumerate() {
                *slot = (start + offset, 0);
            }
            return true;
        }
        if chosen == self.most {
            return false;
        }
        *choice = (0..=chosen).map(|place| (place, 0)).collect();
        true
    }

    /// How many places change is drawn first, so that light and heavy variants are equally likely.
    fn draw(&self, stream: &mut Stream) -> Choice {
        let mut wanted = self.least + stream.below(self.most - self.least + 1);
        let mut choice = Vec::with_capacity(wanted);
        for (place, &alternatives) in self.alternatives.iter().enumerate() {
            if stream.below(self.alternatives.len() - place) < wanted {
                choice.push((place, stream.below(alternatives)));
                wanted -= 1;
            }
            if wanted == 0 {
                break;
            }
        }
        choice
    }
}

/// Fills the ask with choices; `edits` turns one into what changes, and `lack` is the reason when there is none.
pub(super) fn choose<S: Settings>(
    ask: &Ask<'_>,
    slots: Option<Slots>,
    lack: Lack,
    edits: impl Fn(&Choice) -> Vec<Edit>,
) -> Variants {
    match slots {
        Some(slots) => fill::<S>(ask, &Choices { slots, edits }),
        None => Variants::of(Vec::new(), ask.count, lack),
    }
}

struct Choices<F> {
    slots: Slots,
    edits: F,
}

impl<F: Fn(&Choice) -> Vec<Edit>> Space for Choices<F> {
    type Point = Choice;

    fn first(&self) -> Choice {
        self.slots.first()
    }

    fn advance(&self, point: &mut Choice) -> bool {
        self.slots.advance(point)
    }

    fn draw(&self, stream: &mut Stream) -> Choice {
        self.slots.draw(stream)
    }

    fn edits(&self, point: &Choice) -> Vec<Edit> {
        (self.edits)(point)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_walk_visits_every_choice_once() {
        let slots = Slots::new(vec![1, 2, 3], 1, 2).expect("there are places");
        let mut choice = slots.first();
        let mut seen = BTreeSet::from([choice.clone()]);
        while slots.advance(&mut choice) {
            assert!(seen.insert(choice.clone()), "{choice:?} twice");
        }
        assert_eq!(seen.len(), (1 + 2 + 3) + (2 + 3 + 6));
    }

    #[test]
    fn too_few_places_are_no_space() {
        assert!(Slots::new(vec![3, 3], 3, 9).is_none());
        assert!(Slots::new(Vec::new(), 0, 9).is_none());
        assert!(Slots::one_of(0).is_none());
    }
}
