//! Orders of questions: a condition before, behind or inside, and phrases that belong to the verb of the question.

use std::ops::Range;

use super::sentence::{Kind, is_function_word};
use super::turns::{First, Order, Part, Turning};
use super::words::{
    ADJUNCTS, AUXILIARIES, BEING, COMPARING, CONDITIONS, DETERMINERS, POSSESSIVES, QUANTITIES,
    QUESTION_PREPOSITIONS, TIMES, UNITS,
};

/// Where the question begins, and where the verb stands before which a phrase in commas may stand.
struct Asked {
    start: usize,
    verb: usize,
}

impl Turning<'_, '_> {
    /// The question of a sentence that ends with a question mark: all of it, or what comes after a clause.
    fn asked(&self) -> Option<Asked> {
        let words = &self.sentence.words;
        if words[self.sentence.last()].tail != "?" {
            return None;
        }
        let opens = |at: usize| matches!(self.word(at), "how" | "what" | "when" | "where" | "who" | "why");
        let after = |at: usize| {
            let before = words[at - 1].tail;
            opens(at) && (before == "," || (before.is_empty() && CONDITIONS.contains(&self.word(0))))
        };
        let start = if opens(0) { 0 } else { (3..self.end().saturating_sub(2)).find(|&at| after(at))? };
        let verb = |at: usize| {
            words[at].is(AUXILIARIES) && words[at].small != "there"
                || matches!(self.word(at), "is" | "are" | "was" | "were")
        };
        let verb = (start + 1..self.end() - 1).find(|&at| verb(at))?;
        let plain = (start..verb).all(|at| words[at].tail.is_empty() && !words[at].bracket);
        plain.then_some(Asked { start, verb })
    }
}

/// Every other order of a question.
pub(super) fn orders(turning: &Turning<'_, '_>) -> Vec<Order> {
    let Some(asked) = turning.asked() else { return Vec::new() };
    let mut found = condition(turning, &asked);
    found.extend(phrase(turning, &asked));
    found.extend(sum(turning, &asked));
    found.extend(share(turning, &asked));
    found.extend(aim(turning, &asked));
    found.extend(answer_last(turning, &asked));
    found
}

/// `If she walks 3 miles an hour how far does she walk?`: the clause goes to the end, or in commas before the verb.
fn condition(turning: &Turning<'_, '_>, asked: &Asked) -> Vec<Order> {
    let sentence = turning.sentence;
    if asked.start == 0 {
        return Vec::new();
    }
    let (lead, main) = (0..asked.start, asked.start..turning.end());
    let head = asked.start..asked.verb;
    let comma = sentence.words[asked.start - 1].tail;
    // Without a comma nothing says where a quantifier of the clause ends.
    let ends = !comma.is_empty() || !sentence.has_scope(lead.clone());
    // `where` and `when` may go on with the clause: `If they stand in rows, where 4 are in front, how …`
    let goes_on = matches!(turning.word(asked.start), "where" | "when");
    if !ends
        || goes_on
        || !is_whole_clause(turning, lead.clone())
        || sentence.has_scope(head.clone())
        || sentence.any(main.clone(), CONDITIONS)
    {
        return Vec::new();
    }
    let mut found = Vec::new();
    let keeps = sentence.keeps_references(lead.clone(), main.clone());
    // In commas before the verb, the clause crosses no more than `how many jars`: what comes after still comes after.
    let crosses = sentence.pronouns(head.clone()).is_empty()
        && (keeps || !sentence.has_name(head.clone()))
        && !sentence.any(head.clone(), COMPARING);
    if crosses && (head.len() >= 2 || turning.word(asked.start) == "what") {
        found.push(turning.order(vec![
            turning.span(head, First::Large),
            Part::Glue(", "),
            turning.span(lead.clone(), First::Small),
            Part::Glue(", "),
            turning.span(asked.verb..turning.end(), First::Kept),
        ]));
    }
    if comma.is_empty() && keeps && turning.is_main(main.clone()) {
        let back = vec![turning.span(main, First::Large), Part::Glue(" "), turning.span(lead, First::Small)];
        found.push(turning.order(back));
    }
    found
}

/// Whether these words are one clause of condition that ends where they end: a comma in it stands in a list, or before `and`.
pub(super) fn is_whole_clause(turning: &Turning<'_, '_>, lead: Range<usize>) -> bool {
    let sentence = turning.sentence;
    let last = lead.end - 1;
    // What comes after a comma could be taken for another clause, so that a quantifier there would reach elsewhere.
    let goes_on = |at: usize| {
        let joins = matches!(turning.word(at + 1), "and" | "but");
        (turning.listed(at) || turning.in_date(at) || joins) && !sentence.has_scope(at + 1..lead.end)
    };
    let turns = ["because", "except", "if", "instead", "so", "then", "though", "unless", "until", "when"];
    CONDITIONS.contains(&turning.word(0))
        && (lead.start..last).all(|at| {
            let tail = sentence.words[at].tail;
            (tail.is_empty() || (tail == "," && goes_on(at))) && !sentence.words[at].bracket
        })
        && !sentence.any(1..lead.end, &turns)
}

/// What a question can ask for.
const ASKED: &[&str] = &[
    "amount",
    "balance",
    "capital",
    "cost",
    "count",
    "date",
    "day",
    "depth",
    "difference",
    "discount",
    "fraction",
    "name",
    "percentage",
    "probability",
    "profit",
    "revenue",
    "temperature",
    "time",
    "value",
];

/// `What is the price of a pen?` becomes `The price of a pen is what?`
fn answer_last(turning: &Turning<'_, '_>, asked: &Asked) -> Vec<Order> {
    let sentence = turning.sentence;
    let be = asked.verb;
    let told = be + 1..turning.end();
    let asks = turning.word(asked.start) == "what"
        && be == asked.start + 1
        && matches!(turning.word(be), "is" | "are" | "was" | "were")
        && (3..=14).contains(&told.len());
    if !asks {
        return Vec::new();
    }
    let opens = &sentence.words[told.start];
    let noun = DETERMINERS.contains(&opens.small.as_str())
        || POSSESSIVES.contains(&opens.small.as_str())
        || opens.small.ends_with("'s");
    let head = (told.start + 1..told.end.min(told.start + 4))
        .find(|&at| ASKED.contains(&turning.word(at)) || QUANTITIES.contains(&turning.word(at)));
    let plain = |at: usize| !is_function_word(turning.word(at)) && !ADJUNCTS.contains(&turning.word(at));
    let holds = noun
        && head.is_some_and(|head| (told.start + 1..head).all(plain))
        && !turning.broken(told.clone())
        && !sentence.has_scope(told.clone())
        && !sentence.any(told.clone(), CONDITIONS)
        && !sentence.any(told.clone(), &["is", "are", "was", "were", "that", "who", "than"])
        && !matches!(
            turning.word(turning.end() - 1),
            "about" | "at" | "doing" | "for" | "from" | "in" | "like" | "of" | "on" | "to" | "with" | "worth"
        );
    if !holds {
        return Vec::new();
    }
    let first = if asked.start == 0 { First::Large } else { First::Kept };
    let last = if asked.start == 0 { First::Small } else { First::Kept };
    vec![Order {
        range: sentence.span(asked.start..turning.end()),
        parts: vec![
            turning.span(told, first),
            Part::Glue(" "),
            turning.span(be..be + 1, First::Kept),
            Part::Glue(" "),
            turning.span(asked.start..be, last),
        ],
        moves: 1,
    }]
}

/// `How much does she earn in a year?`: the phrase opens the question, or stands in commas before its verb.
fn phrase(turning: &Turning<'_, '_>, asked: &Asked) -> Vec<Order> {
    let sentence = turning.sentence;
    let Some(at) = turning.asked_end(asked) else { return Vec::new() };
    let (main, phrase) = (asked.start..at, at..turning.end());
    let known = sentence.pronouns(main.clone());
    let holds = at > asked.verb + 1
        && !turning.broken(main.clone())
        && !sentence.has_scope(main.clone())
        && !sentence.has_scope(phrase.clone())
        && !sentence.joins_clauses(main.clone())
        && !sentence.joins_clauses(phrase.clone())
        && !turning.joined(main.clone())
        && !turning.joined(phrase.clone())
        && !sentence.any(main.clone(), &["as", "than", "if", "when"])
        && sentence.pronouns(phrase.clone()).iter().all(|family| known.contains(family));
    if !holds {
        return Vec::new();
    }
    let head = asked.start..asked.verb;
    let order =
        |parts: Vec<Part>| Order { range: sentence.span(asked.start..turning.end()), parts, moves: 1 };
    let mut found = Vec::new();
    // After a condition, the phrase would join the clause before it.
    if asked.start == 0 {
        let parts = vec![
            turning.span(phrase.clone(), First::Large),
            Part::Glue(", "),
            turning.span(main, First::Small),
        ];
        found.push(order(parts));
    }
    let aside = |cut: usize| {
        order(vec![
            turning.span(asked.start..cut, First::Kept),
            Part::Glue(", "),
            turning.span(phrase.clone(), First::Kept),
            Part::Glue(", "),
            turning.span(cut..at, First::Kept),
        ])
    };
    if head.len() >= 2 || turning.word(asked.start) == "what" {
        found.push(aside(asked.verb));
    }
    let be = matches!(turning.word(asked.verb), "is" | "are" | "was" | "were");
    if be && DETERMINERS.contains(&turning.word(asked.verb + 1)) && at > asked.verb + 2 {
        found.push(aside(asked.verb + 1));
    }
    found.extend(before_time(turning, asked, at));
    found
}

/// `What is the date tomorrow in MM/DD/YYYY?`: the measure changes places with the time.
fn before_time(turning: &Turning<'_, '_>, asked: &Asked, at: usize) -> Option<Order> {
    let date = (asked.verb + 1..at).find(|&at| matches!(turning.word(at), "date" | "day"))?;
    let time = date + 1..at;
    let known = |at: usize| {
        let word = &turning.sentence.words[at];
        TIMES.contains(&word.small.as_str())
            || word.is_number()
            || matches!(word.small.as_str(), "a" | "one" | "ago" | "later" | "from" | "now")
    };
    (!time.is_empty() && time.clone().all(known) && turning.word(at).starts_with("in")).then(|| Order {
        range: turning.sentence.span(asked.start..turning.end()),
        parts: vec![
            turning.span(asked.start..date + 1, First::Kept),
            Part::Glue(" "),
            turning.span(at..turning.end(), First::Kept),
            Part::Glue(" "),
            turning.span(time, First::Kept),
        ],
        moves: 1,
    })
}

impl Turning<'_, '_> {
    /// The last phrase of a question that has its verb before it.
    pub(super) fn asked_phrase(&self) -> Option<usize> {
        let last = self.sentence.last();
        let asks = (0..last).find(|&at| self.sentence.words[at].is(AUXILIARIES))?;
        let at = (asks + 2..last).rev().find(|&at| self.sentence.words[at].is(QUESTION_PREPOSITIONS))?;
        let next = &self.sentence.words[at + 1];
        let noun = self.word(at) != "to"
            || DETERMINERS.contains(&next.small.as_str())
            || next.is_number()
            || next.capital;
        let free =
            !BEING.contains(&self.word(at - 1)) && !self.sentence.any(at..last + 1, &["of", "each", "per"]);
        // `from the gate to the door` stays one.
        let reach = self.word(at) == "to" && self.sentence.any(asks..at, &["from"]);
        (self.kind == Kind::Question && noun && free && !reach && last - at <= 6 && at - asks >= 2)
            .then_some(at)
    }

    /// Where the last phrase of the question begins.
    fn asked_end(&self, asked: &Asked) -> Option<usize> {
        let last = self.sentence.last();
        if self.ends_in_time(last) {
            return Some(last);
        }
        let at =
            (asked.verb + 2..last).rev().find(|&at| self.sentence.words[at].is(QUESTION_PREPOSITIONS))?;
        let next = &self.sentence.words[at + 1];
        let unit = self.word(at) == "in"
            && last == at + 1
            && (UNITS.contains(&self.word(last))
                || self.word(last).contains('/')
                || matches!(self.word(last), "total" | "all"));
        if unit {
            return Some(at);
        }
        // `are there in the jar`, `were sold at the fair`: here the phrase says where, and is not what is asked for.
        let before = self.word(at - 1);
        let passive = (before.len() > 4 && before.ends_with("ed"))
            || matches!(before, "there" | "left" | "sold" | "made" | "taken" | "bought" | "eaten");
        let be = matches!(self.word(asked.verb), "is" | "are" | "was" | "were") && !passive;
        let noun = DETERMINERS.contains(&next.small.as_str()) || next.is_number() || next.capital;
        let tied = BEING.contains(&self.word(at - 1))
            || self.sentence.any(at..last + 1, &["of", "each", "per", "left"])
            // `in a photo of ducks at the zoo`: who knows what is at the zoo.
            || self.sentence.any(asked.verb..at, &["of"])
            || self.word(at) == "with";
        // `to` belongs to its verb: `How many times, to the fair, can he go?` is broken.
        let lead =
            matches!(self.word(at), "in" | "during" | "on" | "at" | "for" | "from" | "by" | "over" | "after");
        (!be && lead && noun && !tied && last - at <= 6).then_some(at)
    }
}

/// `How many jars in total are there?` becomes `In total, how many jars are there?`
fn sum(turning: &Turning<'_, '_>, asked: &Asked) -> Option<Order> {
    let words = &turning.sentence.words;
    let last = asked.verb.checked_sub(1)?;
    let single = turning.word(last) == "altogether";
    let phrase: Range<usize> = if single { last..asked.verb } else { last.checked_sub(1)?..asked.verb };
    let known =
        single || (turning.word(phrase.start) == "in" && matches!(turning.word(last), "total" | "all"));
    let head = asked.start..phrase.start;
    (known && head.len() >= 2 && words[phrase.start].tail.is_empty()).then(|| Order {
        range: turning.sentence.span(asked.start..asked.verb + 1),
        parts: vec![
            turning.span(phrase, if asked.start == 0 { First::Large } else { First::Kept }),
            Part::Glue(", "),
            turning.span(head, if asked.start == 0 { First::Small } else { First::Kept }),
            Part::Glue(" "),
            turning.span(asked.verb..asked.verb + 1, First::Kept),
        ],
        moves: 1,
    })
}

/// `How many of the rows are odd?` becomes `Of the rows, how many are odd?`
fn share(turning: &Turning<'_, '_>, asked: &Asked) -> Option<Order> {
    let sentence = turning.sentence;
    let of = asked.start + 2;
    let counts = match (turning.word(asked.start), turning.word(asked.start + 1)) {
        ("how", "many" | "much") => true,
        ("what", share) => matches!(share, "percent" | "percentage" | "fraction" | "portion" | "proportion"),
        _ => false,
    };
    let whole = of..asked.verb;
    let holds = counts
        && whole.len() >= 3
        && turning.word(of) == "of"
        && (DETERMINERS.contains(&turning.word(of + 1)) || sentence.words[of + 1].is_number())
        && !sentence.has_scope(whole.clone())
        && !turning.joined(whole.clone())
        && !sentence.joins_clauses(whole.clone())
        && sentence.pronouns(whole.clone()).is_empty();
    let (first, inner) =
        if asked.start == 0 { (First::Large, First::Small) } else { (First::Kept, First::Kept) };
    holds.then(|| Order {
        range: sentence.span(asked.start..asked.verb + 1),
        parts: vec![
            turning.span(whole, first),
            Part::Glue(", "),
            turning.span(asked.start..of, inner),
            Part::Glue(" "),
            turning.span(asked.verb..asked.verb + 1, First::Kept),
        ],
        moves: 1,
    })
}

/// `How long will it take Ann to paint the fence?` becomes `To paint the fence, how long will it take Ann?`
fn aim(turning: &Turning<'_, '_>, asked: &Asked) -> Vec<Order> {
    let sentence = turning.sentence;
    let takes = |at: usize| {
        turning.word(at) == "it" && matches!(turning.word(at + 1), "take" | "cost")
            || matches!(turning.word(at), "need" | "have") && turning.word(at + 1) == "to"
    };
    let Some(verb) = (asked.verb + 1..turning.end().saturating_sub(3)).find(|&at| takes(at)) else {
        return Vec::new();
    };
    let opens = |at: &usize| turning.word(*at) == "to" && turning.has_infinitive(*at..*at + 1);
    let Some(to) = (verb + 2..turning.end() - 2).find(opens) else { return Vec::new() };
    let (main, aim) = (asked.start..to, to..turning.end());
    let known = sentence.pronouns(main.clone());
    // `get to school`, `drive to work`: no infinitive.
    let goes =
        matches!(turning.word(to - 1), "get" | "go" | "walk" | "drive" | "travel" | "run" | "come" | "add");
    let holds = to <= verb + 5
        && !goes
        && sentence.words[to + 1].lower
        && !turning.broken(main.clone())
        && !turning.broken(aim.clone())
        && !sentence.has_scope(main.clone())
        && !sentence.any(main.clone(), CONDITIONS)
        && !sentence.any(aim.clone(), CONDITIONS)
        && !sentence.any(main.clone(), &["than", "as", "for"])
        && sentence.pronouns(aim.clone()).iter().all(|family| known.contains(family))
        && (asked.start == 0 || sentence.words[asked.start - 1].tail == ",");
    if !holds {
        return Vec::new();
    }
    let (first, inner) =
        if asked.start == 0 { (First::Large, First::Small) } else { (First::Kept, First::Kept) };
    let order =
        |parts: Vec<Part>| Order { range: sentence.span(asked.start..turning.end()), parts, moves: 1 };
    let mut found = vec![order(vec![
        turning.span(aim.clone(), first),
        Part::Glue(", "),
        turning.span(main.clone(), inner),
    ])];
    if asked.verb >= asked.start + 2 {
        found.push(order(vec![
            turning.span(asked.start..asked.verb, First::Kept),
            Part::Glue(", "),
            turning.span(aim, First::Kept),
            Part::Glue(", "),
            turning.span(asked.verb..to, First::Kept),
        ]));
    }
    found
}
