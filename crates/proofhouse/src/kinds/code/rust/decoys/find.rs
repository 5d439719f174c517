//! The places of tests where something else can be expected.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::other::others;
use super::values::{Literal, Values, arguments, enums, is_literal};
use super::{Dice, MAX_DECOYS, MAX_OTHERS, Shape, Site, Weight};
use crate::kinds::code::rust::checks::LIST;
use crate::kinds::code::rust::tokens::{Lexed, What};

/// Words of expressions that are nothing but the values in them, beside the names of types and fields.
const PLAIN: [&str; 7] = ["vec", "from", "to_string", "to_owned", "into", "true", "false"];
/// Places beside assertions that are looked at where those have no value of their own.
const MAX_LOOSE: usize = 4;

/// A literal that may be changed, and with it what else belongs to the same value.
struct Changeable {
    literal: Literal,
    value: Range<usize>,
    weight: Weight,
}

/// Tests as they are searched.
struct Search<'a> {
    lexed: &'a Lexed<'a>,
    entry: &'a str,
    open: bool,
    values: &'a Values<'a>,
    found: Vec<Changeable>,
    /// Claims that have no value, or that are turned round all the same.
    denials: Vec<Site>,
    /// Whether an assertion has no value of its own.
    bare: bool,
}

/// Tests whose places are looked for.
pub(in crate::kinds::code::rust) struct Source<'a> {
    /// Their text.
    pub(in crate::kinds::code::rust) text: &'a str,
    /// What the prompt defines.
    pub(in crate::kinds::code::rust) before: &'a str,
    /// The function that they call.
    pub(in crate::kinds::code::rust) entry: &'a str,
    /// Whether only the completion says what that takes and gives: then its results are compared with one another.
    pub(in crate::kinds::code::rust) open: bool,
}

/// The places of these tests, drawn from all of their assertions; `keep` is told what each says and where it is.
pub(in crate::kinds::code::rust) fn find(
    Source { text: source, before, entry, open }: Source<'_>,
    keep: impl Fn(Weight, usize) -> bool,
    dice: &mut Dice,
) -> Vec<Site> {
    let Some(lexed) = Lexed::of(source) else { return Vec::new() };
    let values = Values { lexed: &lexed, enums: enums([before, source]) };
    let mut search = Search {
        lexed: &lexed,
        entry,
        open,
        values: &values,
        found: Vec::new(),
        denials: Vec::new(),
        bare: false,
    };
    let asserted = search.assertions();
    if search.bare {
        search.loosely(&asserted);
    }
    let Search { mut found, mut denials, .. } = search;
    found.retain(|each| keep(each.weight, lexed.tokens[each.literal.at].from));
    denials.retain(|each| keep(each.weight, each.from));
    dice.shuffle(&mut found);
    // One of each value before a second of any.
    let mut taken: BTreeMap<usize, usize> = BTreeMap::new();
    found.sort_by_cached_key(|each| {
        let rank = taken.entry(each.value.start).or_default();
        *rank += 1;
        (each.weight == Weight::Loose, *rank)
    });
    let mut loose = 0;
    found.retain(|each| {
        loose += usize::from(each.weight == Weight::Loose);
        each.weight != Weight::Loose || loose <= MAX_LOOSE
    });
    found.truncate(MAX_DECOYS - usize::from(!denials.is_empty()));
    let most = (MAX_DECOYS / found.len().max(1)).clamp(1, MAX_OTHERS);
    // What is expected elsewhere is more like it than what the function is given.
    let expected: Vec<&str> = found.iter().map(|found| lexed.at(found.literal.at)).collect();
    // Names in the list of tests are nobody's values: drawn for a name that has to be missing, they are missing too.
    let lists = lists(&lexed);
    let listed = |at: usize| lists.iter().any(|list| list.contains(&at));
    let all = (0..lexed.tokens.len()).filter(|at| is_literal(&lexed, *at) && !listed(*at));
    let all = all.map(|at| lexed.at(at));
    let pools = [expected, all.collect()];
    let mut sites: Vec<Site> =
        found.iter().filter_map(|found| site(&values, found, &pools, most, dice)).collect();
    dice.shuffle(&mut denials);
    sites.extend(denials.into_iter().next());
    sites
}

/// The bodies of the functions that list the tests, which we wrote.
fn lists(lexed: &Lexed<'_>) -> Vec<Range<usize>> {
    let names = lexed.words().filter(|(_, word)| *word == LIST);
    let bodies = names.filter_map(|(at, _)| {
        let open = (at..lexed.tokens.len()).find(|at| lexed.group(*at, '{').is_some())?;
        Some(open..lexed.group(open, '{')?)
    });
    bodies.collect()
}

fn site(
    Values { lexed, enums }: &Values<'_>,
    found: &Changeable,
    pools: &[Vec<&str>; 2],
    most: usize,
    dice: &mut Dice,
) -> Option<Site> {
    let Literal { at, signed, variant } = found.literal;
    if variant {
        let name = lexed.word(at);
        let mut others: Vec<String> = enums.get(name)?.iter().map(|each| format!("{name}::{each}")).collect();
        let own = format!("{name}::{}", lexed.word(at + 3));
        others.retain(|other| *other != own);
        dice.shuffle(&mut others);
        others.truncate(most);
        let texts: Vec<String> = std::iter::once(own).chain(others).collect();
        let (from, to) = (lexed.tokens[at].from, lexed.tokens[at + 3].to);
        let site = Site { from, to, shape: Shape::Variant, texts, weight: found.weight };
        return (site.texts.len() > 1).then_some(site);
    }
    let literal = lexed.at(at);
    let beside = found.value.clone().filter(|at| is_literal(lexed, *at)).map(|at| lexed.at(at));
    let others = others(literal, pools, &beside.collect::<Vec<_>>(), most, dice);
    if others.is_empty() {
        return None;
    }
    let sign = if signed { "-" } else { "" };
    let texts =
        std::iter::once(literal.to_owned()).chain(others).map(|text| format!("{sign}{text}")).collect();
    let shape = match literal.as_bytes() {
        [b'b', b'"' | b'r', ..] => Shape::Bytes,
        [b'"', ..] | [b'r', b'"' | b'#', ..] => Shape::Text,
        [b'c', ..] => return None,
        _ => Shape::Number,
    };
    let from = lexed.tokens[at - usize::from(signed)].from;
    Some(Site { from, to: lexed.tokens[at].to, shape, texts, weight: found.weight })
}

impl<'a> Search<'a> {
    /// Looks at every assertion; where they are is given back.
    fn assertions(&mut self) -> Vec<Range<usize>> {
        let lexed = self.lexed;
        let mut asserted = Vec::new();
        for (at, word) in lexed.words().filter(|(at, _)| lexed.is_mark(at + 1, '!')) {
            let Some(close) = ['(', '[', '{'].iter().find_map(|open| lexed.group(at + 2, *open)) else {
                continue;
            };
            let parts = arguments(lexed, at + 3, close);
            match (word, parts.as_slice()) {
                ("assert_eq" | "debug_assert_eq", [left, right, ..]) => {
                    self.equation(left.clone(), right.clone())
                }
                ("assert" | "debug_assert", [claim, ..]) => self.claim(claim.clone()),
                _ => continue,
            }
            asserted.push(at..close);
        }
        asserted
    }

    /// An equation: another value on the side that does not call the function.
    fn equation(&mut self, left: Range<usize>, right: Range<usize>) {
        let sides: Vec<Range<usize>> =
            [right.clone(), left.clone()].into_iter().filter(|side| !self.calls(side)).collect();
        for side in &sides {
            let literals = self.values.literals(side.clone());
            if !literals.is_empty() {
                let weight = if self.is_value(side) { Weight::Whole } else { Weight::Loose };
                return self.take(literals, side, weight);
            }
        }
        for side in &sides {
            if let Some(bound) = self.bound(side) {
                let literals = self.values.literals(bound.clone());
                let whole = self.is_only_bound_here(&bound, side) && self.is_value(&bound);
                if !literals.is_empty() {
                    let weight = if whole { Weight::Whole } else { Weight::Told };
                    return self.take(literals, &bound, weight);
                }
            }
        }
        if self.open && sides.is_empty() {
            let literals = self.values.literals(right.clone());
            self.take(literals, &right, Weight::Loose);
        }
        self.bare = true;
        let [left, right] = [left, right].map(|side| self.bytes(&side));
        let shape = Shape::Equation(right.start, right.end);
        self.denials.push(denial(left, shape));
    }

    /// A claim: another value in it, outside of what the function is given.
    fn claim(&mut self, claim: Range<usize>) {
        let lexed = self.lexed;
        self.denials.push(denial(self.bytes(&claim), Shape::Claim));
        let near = claim.clone().any(|at| lexed.word(at) == "abs");
        let bounds =
            claim.clone().any(|at| lexed.is_mark(at, '<') && !lexed.is_mark(at.wrapping_sub(1), ':'));
        if bounds && !near {
            self.bare = true;
            return;
        }
        let given = self.given(&claim);
        let literals = self.values.literals(claim.clone());
        let mut literals: Vec<Literal> = literals
            .into_iter()
            .filter(|literal| !given.iter().any(|group| group.contains(&literal.at)))
            .collect();
        if literals.is_empty() {
            self.bare = true;
            return;
        }
        let unclear = |at: usize| ['|', '!', '<', '>'].iter().any(|mark| lexed.is_mark(at, *mark));
        let equal =
            |at: usize| lexed.is_mark(at, '=') && lexed.is_mark(at + 1, '=') || lexed.word(at) == "eq";
        if near {
            // The first is what it is near to, the last how near.
            literals.truncate(1);
            return self.take(literals, &claim, Weight::Told);
        }
        let equation = claim.clone().find(|at| equal(*at));
        if let Some(middle) = equation.filter(|_| !claim.clone().any(unclear)) {
            // The side that does not call the function; of two the right one.
            let is_left = !self.calls(&(claim.start..middle)) && self.calls(&(middle..claim.end));
            literals.retain(|literal| (literal.at < middle) == is_left);
            self.bare |= literals.is_empty();
            let side = if is_left { claim.start..middle } else { middle..claim.end };
            let weight = if self.computes(&side) { Weight::Loose } else { Weight::Whole };
            return self.take(literals, &claim, weight);
        }
        let told: Vec<Literal> =
            literals.iter().copied().filter(|literal| self.is_told(literal.at, &claim, &given)).collect();
        match told.is_empty() {
            true => self.take(literals, &claim, Weight::Loose),
            false => self.take(told, &claim, Weight::Told),
        }
    }

    fn take(&mut self, literals: Vec<Literal>, value: &Range<usize>, weight: Weight) {
        let found = literals.into_iter().map(|literal| Changeable { literal, value: value.clone(), weight });
        self.found.extend(found);
    }

    /// What stands beside the assertions.
    fn loosely(&mut self, asserted: &[Range<usize>]) {
        let lexed = self.lexed;
        let all = 0..lexed.tokens.len();
        let skipped: Vec<Range<usize>> =
            lists(lexed).into_iter().chain(asserted.iter().cloned()).chain(self.given(&all)).collect();
        let known: BTreeSet<usize> = self.found.iter().map(|found| found.literal.at).collect();
        for literal in self.values.literals(all) {
            let taken = known.contains(&literal.at);
            let free = skipped.iter().all(|range| !range.contains(&literal.at));
            if free && !taken {
                self.found.push(Changeable {
                    literal,
                    value: literal.at..literal.at + 1,
                    weight: Weight::Loose,
                });
            }
        }
    }

    fn bytes(&self, range: &Range<usize>) -> Range<usize> {
        self.lexed.tokens[range.start].from..self.lexed.tokens[range.end - 1].to
    }

    fn calls(&self, range: &Range<usize>) -> bool {
        range.clone().any(|at| self.lexed.word(at) == self.entry)
    }

    /// What the function is given.
    fn given(&self, range: &Range<usize>) -> Vec<Range<usize>> {
        let calls = range.clone().filter(|at| self.lexed.word(*at) == self.entry);
        calls.filter_map(|at| Some(at + 1..self.lexed.group(at + 1, '(')?)).collect()
    }

    /// Whether an expression is nothing but the values in it, so that another one there is another result.
    fn is_value(&self, range: &Range<usize>) -> bool {
        range.clone().all(|at| self.is_plain(at)) && !self.computes(range)
    }

    /// Whether an expression may come to the same with another value in it: `[7; 0]`, `5 * 0`, `6 & 1`, `1e20 + 1.0`.
    fn computes(&self, range: &Range<usize>) -> bool {
        let lexed = self.lexed;
        let floats = range.clone().any(|at| is_literal(lexed, at) && lexed.at(at).contains('.'));
        // Before a value `&` and `*` are a reference and what it refers to.
        let behind_value = |at: usize| {
            let before = at.wrapping_sub(1);
            range.contains(&before)
                && (is_literal(lexed, before)
                    || !lexed.word(before).is_empty()
                    || matches!(lexed.tokens[before].what, What::Close(_)))
        };
        range.clone().any(|at| {
            let is = |marks: &[char]| marks.iter().any(|mark| lexed.is_mark(at, *mark));
            let twice = |mark: char| lexed.is_mark(at, mark) && lexed.is_mark(at + 1, mark);
            let masks = lexed.is_mark(at, '&') && !twice('&');
            let operates = is(&['*']) || masks || twice('<') || twice('>') || floats && is(&['+', '-']);
            // `[7; 3]` is what stands in it, three times.
            let repeats = lexed.is_mark(at, ';')
                && !(is_literal(lexed, at + 1)
                    && lexed.at(at + 1).starts_with(|c: char| ('1'..='9').contains(&c)));
            repeats || is(&['/', '%', '|', '^']) || behind_value(at) && operates
        })
    }

    fn is_plain(&self, at: usize) -> bool {
        let lexed = self.lexed;
        let word = lexed.word(at);
        let field = lexed.is_mark(at + 1, ':') && !lexed.is_mark(at + 2, ':');
        word.is_empty() || field || word.starts_with(char::is_uppercase) || PLAIN.contains(&word)
    }

    /// The value that a side is bound to, where it is nothing but a name that no call is given.
    fn bound(&self, side: &Range<usize>) -> Option<Range<usize>> {
        let lexed = self.lexed;
        let at = side.clone().find(|at| !lexed.is_mark(*at, '&') && !lexed.is_mark(*at, '*'))?;
        let name = lexed.word(at);
        if name.is_empty() || at + 1 != side.end {
            return None;
        }
        let all = 0..lexed.tokens.len();
        if self.given(&all).into_iter().flatten().any(|at| lexed.word(at) == name) {
            return None;
        }
        let binds = |at: &usize| {
            lexed.word(*at) == name
                && (lexed.word(at.wrapping_sub(1)) == "let"
                    || lexed.word(at.wrapping_sub(1)) == "mut" && lexed.word(at.wrapping_sub(2)) == "let")
        };
        let name = (0..side.start).rev().find(binds)?;
        let end = (name..lexed.tokens.len()).find(|at| lexed.is_mark(*at, ';'))?;
        let equals = (name..end).find(|at| lexed.is_mark(*at, '='))?;
        let value = equals + 1..end;
        (!value.is_empty() && !self.calls(&value)).then_some(value)
    }

    /// Whether a value has a name for this side alone, and stands in the same block.
    fn is_only_bound_here(&self, value: &Range<usize>, side: &Range<usize>) -> bool {
        let lexed = self.lexed;
        let name = lexed.word(side.end - 1);
        let uses = lexed.words().filter(|(_, word)| *word == name).count();
        let around = |at: &usize| matches!(lexed.tokens[*at].what, What::Open(_, close) if close >= side.end);
        // The brackets of the assertion are the only ones around it.
        uses == 2 && (value.end..side.start).filter(around).count() == 1
    }

    /// Whether what stands here is given to the result of the function: `f(1).is(here)`, `f(1)(here)`.
    fn is_told(&self, at: usize, claim: &Range<usize>, given: &[Range<usize>]) -> bool {
        let lexed = self.lexed;
        let results = claim.clone().filter(|at| self.is_result(*at));
        let ends = given.iter().map(|group| group.end).chain(results);
        ends.into_iter().any(|end| {
            let mut next = end + 1;
            loop {
                if let Some(close) = lexed.group(next, '(') {
                    if (next..close).contains(&at) {
                        return true;
                    }
                    next = close + 1;
                } else if lexed.is_mark(next, '.') && !lexed.word(next + 1).is_empty() {
                    next += 2;
                } else {
                    return false;
                }
            }
        })
    }

    /// Whether here stands a name of what the function gave.
    fn is_result(&self, at: usize) -> bool {
        let lexed = self.lexed;
        let name = lexed.word(at);
        let bound = |each: usize| {
            lexed.word(each) == name
                && matches!(lexed.word(each.wrapping_sub(1)), "let" | "mut")
                && self.calls(&(each..(each..at).find(|at| lexed.is_mark(*at, ';')).unwrap_or(each)))
        };
        !name.is_empty() && name != self.entry && (0..at).any(bound)
    }
}

fn denial(claim: Range<usize>, shape: Shape) -> Site {
    let texts = vec!["false".to_owned(), "true".to_owned()];
    Site { from: claim.start, to: claim.end, shape, texts, weight: Weight::Denial }
}

#[cfg(test)]
mod tests;
