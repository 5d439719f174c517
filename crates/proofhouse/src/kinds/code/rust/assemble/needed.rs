//! What a piece of code needs from the other pieces of the same answer: helpers, types and imports that a model shows in
//! blocks of their own, before or after the function.

use std::collections::BTreeSet;

use crate::kinds::code::rust::imports;
use crate::kinds::code::rust::items::{Item, Kind};
use crate::kinds::code::rust::tokens::Lexed;

/// What other pieces give to one of them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Needed {
    /// Items that stand before it: those of earlier pieces, and macros, which must be defined before they are used.
    pub(super) before: String,
    /// Items that stand behind it.
    pub(super) behind: String,
}

/// An item that could be taken.
struct Offer {
    piece: usize,
    text: String,
    /// The names that it defines; for an `impl`, those that it is about.
    names: Vec<String>,
    kind: Kind,
    taken: bool,
}

/// Looks for what `pieces[at]` uses and does not define. `known` are the names that are there already.
pub(super) fn needed(pieces: &[&str], at: usize, known: &BTreeSet<String>, entry: Option<&str>) -> Needed {
    let mut offers: Vec<Offer> = Vec::new();
    for (number, piece) in pieces.iter().enumerate().filter(|(number, _)| *number != at) {
        offers.extend(offered(number, piece, entry));
    }
    let mut defined = known.clone();
    let mut used = BTreeSet::new();
    note(pieces[at], &mut defined, &mut used);
    let imports_only: Vec<usize> = (0..pieces.len()).filter(|number| is_imports(&offers, *number)).collect();
    while let Some(index) = next(&offers, &defined, &used, &imports_only) {
        offers[index].taken = true;
        let text = offers[index].text.clone();
        note(&text, &mut defined, &mut used);
    }
    let mut found = Needed::default();
    for offer in offers.iter().filter(|offer| offer.taken) {
        let early = offer.piece < at || offer.kind == Kind::Macro;
        let place = if early { &mut found.before } else { &mut found.behind };
        place.push_str(&offer.text);
        place.push('\n');
    }
    found
}

fn offered(number: usize, piece: &str, entry: Option<&str>) -> Vec<Offer> {
    let Some(lexed) = Lexed::of(piece) else { return Vec::new() };
    let mut offers = Vec::new();
    for item in Item::all(&lexed).unwrap_or_default() {
        let mut offer = |text: String, names: Vec<String>| {
            offers.push(Offer { piece: number, text, names, kind: item.kind, taken: false });
        };
        let text = || piece[item.from..item.to].to_owned();
        match item.kind {
            Kind::Use => {
                for leaf in imports::of_item(&lexed, &item) {
                    offer(leaf.item(), vec![leaf.name]);
                }
            }
            Kind::Impl => {
                let end = item.body.map_or(item.keyword, |(open, _)| open);
                let about = (item.keyword..end).map(|at| lexed.word(at)).filter(|word| !word.is_empty());
                offer(text(), about.map(str::to_owned).collect());
            }
            Kind::Inner => {}
            _ if item.name.is_empty() || item.name == "main" || Some(item.name.as_str()) == entry => {}
            _ => offer(text(), vec![item.name.clone()]),
        }
    }
    offers
}

fn is_imports(offers: &[Offer], piece: usize) -> bool {
    let mut of_piece = offers.iter().filter(|offer| offer.piece == piece).peekable();
    of_piece.peek().is_some() && of_piece.all(|offer| offer.kind == Kind::Use)
}

/// The next offer to take.
fn next(
    offers: &[Offer],
    defined: &BTreeSet<String>,
    used: &BTreeSet<String>,
    imports_only: &[usize],
) -> Option<usize> {
    offers.iter().position(|offer| {
        let wanted = |name: &String| used.contains(name) && !defined.contains(name);
        let taken_with = |name: &String| {
            let gives = |other: &Offer| {
                other.piece == offer.piece && other.kind == Kind::Type && other.names.contains(name)
            };
            match offers.iter().find(|other| gives(other)) {
                // The piece has the type too: its `impl` belongs to that one.
                Some(other) => other.taken,
                None => defined.contains(name),
            }
        };
        !offer.taken
            && match offer.kind {
                Kind::Impl => offer.names.iter().any(taken_with),
                Kind::Use => {
                    let beside = || {
                        let taken = |other: &Offer| other.piece == offer.piece && other.taken;
                        imports_only.contains(&offer.piece) || offers.iter().any(taken)
                    };
                    offer.names.iter().any(wanted)
                        || (!offer.names.iter().any(|name| name != "_" && defined.contains(name)) && beside())
                }
                _ => offer.names.iter().any(wanted),
            }
    })
}

/// Notes what a text defines and which words it uses.
fn note(text: &str, defined: &mut BTreeSet<String>, used: &mut BTreeSet<String>) {
    let Some(lexed) = Lexed::of(text).or_else(|| Lexed::of(text.trim_end().strip_suffix('}')?)) else {
        return;
    };
    used.extend(lexed.words().map(|(_, word)| word.to_owned()));
    let items = Item::all(&lexed).unwrap_or_default();
    defined.extend(items.iter().filter(|item| !item.name.is_empty()).map(|item| item.name.clone()));
    defined.extend(imports::leaves(&lexed, &items).into_iter().map(|leaf| leaf.name));
}
