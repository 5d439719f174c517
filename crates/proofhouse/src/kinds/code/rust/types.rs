//! The types of a signature, as far as their values can cross the border: read from tokens, resolved in the scope of the text
//! they stand in, and written down again by absolute paths, so that no name means anything but what the standard library calls so.

use std::collections::BTreeMap;

use super::imports;
use super::items::{Item, Kind};
use super::library::{LIBRARY, PRELUDE};
use super::tokens::{Lexed, What};

/// Deeper types are nobody's.
const MAX_DEPTH: usize = 24;
/// Longer chains of aliases neither.
const MAX_ALIASES: usize = 8;

/// A type whose values can cross.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Type {
    /// A type of the standard library, by its absolute path, with its arguments.
    Std(&'static str, Vec<Type>),
    /// One that the task or the completion defines.
    Own(String),
    Tuple(Vec<Type>),
    Array(Box<Type>, String),
    Slice(Box<Type>),
    Str,
    Ref(Box<Type>),
    RefMut(Box<Type>),
    /// A sequence that stays where it is; `true` where it is boxed.
    Items(Box<Type>, bool),
    /// A boxed error of any kind; `true` where it may be sent to other threads.
    AnyError(bool),
    /// An error that cannot be carried: what it shows of itself.
    Shown,
}

/// A type that a text defines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Definition {
    pub(super) name: String,
    /// The traits that it derives.
    pub(super) derives: Vec<String>,
    /// One nameless variant for a struct.
    pub(super) variants: Vec<Variant>,
    pub(super) is_enum: bool,
}

/// The fields of a struct or of one variant of an enum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Variant {
    pub(super) name: String,
    pub(super) fields: Fields,
}

/// Fields with or without names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fields {
    Named(Vec<(String, Type)>),
    Numbered(Vec<Type>),
    None,
}

/// What names mean in a text: its imports, aliases and types.
pub(super) struct Scope<'a> {
    lexed: &'a Lexed<'a>,
    items: &'a [Item],
    imports: BTreeMap<String, String>,
    /// Modules of which everything is imported.
    globs: Vec<String>,
    /// Whether an error that cannot be carried may cross by what it shows of itself.
    shows: bool,
}

impl<'a> Scope<'a> {
    /// The scope of the outermost level of a text.
    pub(super) fn of(lexed: &'a Lexed<'a>, items: &'a [Item]) -> Scope<'a> {
        let (mut imports, mut globs) = (BTreeMap::new(), Vec::new());
        for leaf in imports::leaves(lexed, items) {
            match leaf.name.as_str() {
                "*" => globs.push(leaf.path.trim_end_matches("::*").to_owned()),
                _ => drop(imports.insert(leaf.name, leaf.path)),
            }
        }
        Scope { lexed, items, imports, globs, shows: false }
    }

    /// The same, where an error that cannot be carried crosses by what it shows of itself.
    pub(super) fn showing(self) -> Scope<'a> {
        Scope { shows: true, ..self }
    }

    /// Whether errors may cross by what they show.
    pub(super) fn shows(&self) -> bool {
        self.shows
    }

    /// Reads the type between two tokens; `None` if its values cannot cross.
    pub(super) fn read(&self, from: usize, to: usize) -> Option<Type> {
        let mut reader = Reader { scope: self, at: from, to, depth: 0, aliases: 0, bound: Vec::new() };
        let found = reader.one()?;
        (reader.at == to).then_some(found)
    }

    fn item(&self, name: &str) -> Option<&'a Item> {
        self.items.iter().find(|item| item.kind == Kind::Type && item.name == name)
    }

    /// The definition of a type of this text, if its values can cross.
    pub(super) fn definition(&self, name: &str) -> Option<Definition> {
        let item = self.item(name)?;
        let is_enum = match self.lexed.word(item.keyword) {
            "struct" => false,
            "enum" => true,
            _ => return None,
        };
        let behind = item.keyword + 2;
        let definition = |variants| {
            Some(Definition { name: name.to_owned(), derives: self.derives(item), variants, is_enum })
        };
        if !is_enum {
            let fields = self.fields(behind)?;
            return definition(vec![Variant { name: String::new(), fields }]);
        }
        let close = self.lexed.group(behind, '{')?;
        let mut variants = Vec::new();
        for (from, to) in parts(self.lexed, behind + 1, close) {
            let at = self.after_attributes(from);
            let name = self.lexed.word(at);
            let fields = self.fields(at + 1)?;
            let ends = match (&fields, self.lexed.tokens.get(at + 1).map(|token| token.what)) {
                (Fields::None, _) => at + 1,
                (_, Some(What::Open(_, close))) => close + 1,
                _ => return None,
            };
            // A number behind a variant means nothing to its value.
            if name.is_empty() || (ends != to && !self.lexed.is_mark(ends, '=')) {
                return None;
            }
            variants.push(Variant { name: name.to_owned(), fields });
        }
        definition(variants)
    }

    /// The fields that open at this token.
    fn fields(&self, at: usize) -> Option<Fields> {
        match self.lexed.tokens.get(at).map(|token| token.what) {
            Some(What::Open('{', close)) => {
                let field = |(from, to): (usize, usize)| {
                    let at = self.after_visibility(self.after_attributes(from));
                    let name = self.lexed.at(at);
                    let typed = self.lexed.is_mark(at + 1, ':').then(|| self.read(at + 2, to)).flatten()?;
                    Some((name.to_owned(), typed))
                };
                parts(self.lexed, at + 1, close)
                    .into_iter()
                    .map(field)
                    .collect::<Option<_>>()
                    .map(Fields::Named)
            }
            Some(What::Open('(', close)) => {
                let field = |(from, to): (usize, usize)| {
                    self.read(self.after_visibility(self.after_attributes(from)), to)
                };
                parts(self.lexed, at + 1, close)
                    .into_iter()
                    .map(field)
                    .collect::<Option<_>>()
                    .map(Fields::Numbered)
            }
            // Generic parameters: not one type but many.
            _ if self.lexed.is_mark(at, '<') => None,
            _ => Some(Fields::None),
        }
    }

    fn after_attributes(&self, mut at: usize) -> usize {
        while let (true, Some(close)) = (self.lexed.is_mark(at, '#'), self.lexed.group(at + 1, '[')) {
            at = close + 1;
        }
        at
    }

    fn after_visibility(&self, at: usize) -> usize {
        match (self.lexed.word(at), self.lexed.group(at + 1, '(')) {
            ("pub", Some(close)) if matches!(self.lexed.word(at + 2), "crate" | "super" | "self" | "in") => {
                close + 1
            }
            ("pub", _) => at + 1,
            _ => at,
        }
    }

    fn derives(&self, item: &Item) -> Vec<String> {
        // What somebody writes out for people to read is as good as derived: nothing is compared by it.
        let says = |each: &Item| {
            let head = each.body.map_or(0..0, |(open, _)| each.keyword..open);
            let has = |word: &str| head.clone().any(|at| self.lexed.word(at) == word);
            each.kind == Kind::Impl && has("Debug") && has("for") && has(&item.name)
        };
        let debug = self.items.iter().any(says).then(|| "Debug".to_owned());
        let words = item.attributes.clone().filter(|at| self.lexed.word(*at) == "derive");
        let lists = words.filter_map(|at| Some((at + 1, self.lexed.group(at + 1, '(')?)));
        lists
            .flat_map(|(from, to)| (from..to).map(|at| self.lexed.word(at).to_owned()))
            .filter(|word| !word.is_empty())
            .chain(debug)
            .collect()
    }
}

/// The pieces between commas that are in no bracket, from one token to another.
pub(super) fn parts(lexed: &Lexed<'_>, from: usize, to: usize) -> Vec<(usize, usize)> {
    let (mut parts, mut start, mut at, mut angles) = (Vec::new(), from, from, 0_i32);
    while at < to {
        match lexed.tokens[at].what {
            What::Open(_, close) => at = close,
            What::Mark('<') => angles += 1,
            What::Mark('>') if !lexed.is_mark(at.wrapping_sub(1), '-') => angles -= 1,
            What::Mark(',') if angles == 0 => {
                parts.push((start, at));
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    if start < to {
        parts.push((start, to));
    }
    parts
}

/// A parameter of an alias, and where the type stands that it is by default.
type Parameter = (String, Option<(usize, usize)>);

/// The type parameters between an alias's name and its `=`, with where the type stands that each is by default; `None` where they
/// are more than that.
fn alias_parameters(lexed: &Lexed<'_>, from: usize, to: usize) -> Option<Vec<Parameter>> {
    if from == to {
        return Some(Vec::new());
    }
    let last = to.checked_sub(1).filter(|last| lexed.is_mark(from, '<') && lexed.is_mark(*last, '>'))?;
    let mut names = Vec::new();
    for (from, to) in parts(lexed, from + 1, last) {
        match to - from {
            1 if !lexed.word(from).is_empty() => names.push((lexed.word(from).to_owned(), None)),
            3.. if !lexed.word(from).is_empty() && lexed.is_mark(from + 1, '=') => {
                names.push((lexed.word(from).to_owned(), Some((from + 2, to))));
            }
            2 if lexed.is_mark(from, '\'') => {}
            _ => return None,
        }
    }
    Some(names)
}

/// The `=` of an alias, behind those of its parameters.
fn alias_equals(lexed: &Lexed<'_>, from: usize, to: usize) -> Option<usize> {
    let mut angles = 0_i32;
    (from..to).find(|at| {
        match lexed.tokens[*at].what {
            What::Mark('<') => angles += 1,
            What::Mark('>') if !lexed.is_mark(at - 1, '-') => angles -= 1,
            _ => {}
        }
        angles == 0 && lexed.is_mark(*at, '=')
    })
}

struct Reader<'s, 'a> {
    scope: &'s Scope<'a>,
    at: usize,
    to: usize,
    depth: usize,
    aliases: usize,
    /// What the parameters of the alias that is read stand for.
    bound: Vec<(String, Type)>,
}

impl Reader<'_, '_> {
    fn word(&self) -> &str {
        if self.at < self.to { self.scope.lexed.word(self.at) } else { "" }
    }

    fn is_mark(&self, mark: char) -> bool {
        self.at < self.to && self.scope.lexed.is_mark(self.at, mark)
    }

    fn skip_mark(&mut self, mark: char) -> bool {
        let found = self.is_mark(mark);
        self.at += usize::from(found);
        found
    }

    fn skip_lifetime(&mut self) -> bool {
        let found = self.is_mark('\'');
        self.at += 2 * usize::from(found);
        found
    }

    fn inner(&self, from: usize, to: usize) -> Option<Type> {
        let (scope, aliases, bound) = (self.scope, self.aliases, self.bound.clone());
        let mut reader = Reader { scope, at: from, to, depth: self.depth + 1, aliases, bound };
        let found = reader.one()?;
        (reader.at == to).then_some(found)
    }

    fn one(&mut self) -> Option<Type> {
        if self.depth > MAX_DEPTH || self.at >= self.to {
            return None;
        }
        let lexed = self.scope.lexed;
        if self.skip_mark('&') {
            self.skip_lifetime();
            let mutable = self.word() == "mut";
            self.at += usize::from(mutable);
            let inner = self.deeper()?;
            return Some(if mutable { Type::RefMut(Box::new(inner)) } else { Type::Ref(Box::new(inner)) });
        }
        match lexed.tokens[self.at].what {
            What::Open('(', close) => {
                let pieces = parts(lexed, self.at + 1, close);
                let alone = pieces.len() == 1 && !lexed.is_mark(close - 1, ',');
                let mut inner = Vec::new();
                for (from, to) in pieces {
                    inner.push(self.inner(from, to)?);
                }
                self.at = close + 1;
                if alone { inner.pop() } else { Some(Type::Tuple(inner)) }
            }
            What::Open('[', close) => {
                let open = self.at;
                self.at = close + 1;
                match (open..close).find(|at| lexed.is_mark(*at, ';')) {
                    Some(semicolon) => {
                        let length = (semicolon + 2 == close
                            && lexed.tokens[semicolon + 1].what == What::Literal)
                            .then(|| lexed.at(semicolon + 1).to_owned())?;
                        Some(Type::Array(Box::new(self.inner(open + 1, semicolon)?), length))
                    }
                    None => Some(Type::Slice(Box::new(self.inner(open + 1, close)?))),
                }
            }
            What::Word if self.word() == "impl" => {
                self.at += 1;
                self.items().map(|items| Type::Items(Box::new(items), false))
            }
            What::Word => self.path(),
            What::Mark(':') => self.path(),
            _ => None,
        }
    }

    fn deeper(&mut self) -> Option<Type> {
        self.depth += 1;
        let found = self.one();
        self.depth -= 1;
        found
    }

    /// `Iterator<Item = T>`, perhaps with a lifetime behind it.
    fn items(&mut self) -> Option<Type> {
        let name = self.segments()?;
        if !matches!(name.last()?.as_str(), "Iterator" | "DoubleEndedIterator" | "ExactSizeIterator")
            || name.len() != 1 && !name[0].starts_with("std")
        {
            return None;
        }
        // Only what every sequence can do crosses.
        if name.last()?.as_str() != "Iterator" || !self.skip_mark('<') || self.word() != "Item" {
            return None;
        }
        self.at += 1;
        let item = self.skip_mark('=').then(|| self.deeper())??;
        let closed = self.skip_mark('>');
        while self.is_mark('+') {
            self.at += 1;
            if !self.skip_lifetime() {
                return None;
            }
        }
        closed.then_some(item)
    }

    /// The segments of a path, without what stands in angle brackets behind it.
    fn segments(&mut self) -> Option<Vec<String>> {
        let mut segments = Vec::new();
        if self.is_mark(':') {
            self.at += 2;
        }
        loop {
            let word = self.word();
            if word.is_empty() {
                return None;
            }
            segments.push(word.to_owned());
            self.at += 1;
            let goes_on = self.is_mark(':') && self.scope.lexed.is_mark(self.at + 1, ':');
            if !goes_on {
                return Some(segments);
            }
            self.at += 2;
            // A turbofish in a type is just its arguments.
            if self.is_mark('<') {
                return Some(segments);
            }
        }
    }

    fn path(&mut self) -> Option<Type> {
        let absolute = self.is_mark(':');
        let segments = self.segments()?;
        if let [name] = segments.as_slice()
            && !absolute
        {
            if let Some((_, bound)) = self.bound.iter().find(|(parameter, _)| parameter == name) {
                return Some(bound.clone());
            }
            if let Some(item) = self.scope.item(name) {
                return self.own(name, item);
            }
        }
        let path = self.resolve(&segments, absolute)?;
        if path == "::std::boxed::Box" {
            return self.boxed();
        }
        if path == "::std::result::Result" && self.scope.shows {
            return self.result();
        }
        let mut arguments = self.arguments()?;
        let result =
            |value, error| Type::Std("::std::result::Result", vec![value, Type::Std(error, Vec::new())]);
        Some(match path {
            "::std::io::Result" if arguments.len() == 1 => result(arguments.remove(0), "::std::io::Error"),
            "::std::fmt::Result" if arguments.is_empty() => {
                result(Type::Tuple(Vec::new()), "::std::fmt::Error")
            }
            "::std::io::Result" | "::std::fmt::Result" => return None,
            "::core::primitive::str" => Type::Str,
            "::std::borrow::Cow" if matches!(arguments[..], [Type::Str | Type::Slice(_)]) => {
                Type::Std(path, arguments)
            }
            "::std::borrow::Cow" => return None,
            _ => Type::Std(path, arguments),
        })
    }

    /// A result whose error may be one that only shows itself.
    fn result(&mut self) -> Option<Type> {
        let before = self.at;
        let known = self.arguments().filter(|arguments| arguments.len() == 2);
        if let Some(arguments) = known {
            return Some(Type::Std("::std::result::Result", arguments));
        }
        self.at = before;
        let value = self.skip_mark('<').then(|| self.deeper())??;
        if !self.skip_mark(',') {
            return None;
        }
        let mut angles = 1_i32;
        while angles > 0 {
            if self.at >= self.to {
                return None;
            }
            match self.scope.lexed.tokens[self.at].what {
                What::Mark('<') => angles += 1,
                What::Mark('>') if !self.scope.lexed.is_mark(self.at - 1, '-') => angles -= 1,
                What::Open(_, close) => self.at = close,
                _ => {}
            }
            self.at += 1;
        }
        Some(Type::Std("::std::result::Result", vec![value, Type::Shown]))
    }

    fn own(&mut self, name: &str, item: &Item) -> Option<Type> {
        let lexed = self.scope.lexed;
        if lexed.word(item.keyword) != "type" {
            return (!self.is_mark('<')).then(|| Type::Own(name.to_owned()));
        }
        let to = (item.keyword..lexed.tokens.len()).find(|at| lexed.is_mark(*at, ';'))?;
        let equals = alias_equals(lexed, item.keyword + 2, to)?;
        let names = alias_parameters(lexed, item.keyword + 2, equals)?;
        let mut arguments = self.arguments()?;
        if self.aliases >= MAX_ALIASES || names.len() < arguments.len() {
            return None;
        }
        for (_, default) in &names[arguments.len()..] {
            let (from, to) = (*default)?;
            arguments.push(self.inner(from, to)?);
        }
        let bound = names.into_iter().map(|(name, _)| name).zip(arguments).collect();
        let (scope, depth, aliases) = (self.scope, self.depth + 1, self.aliases + 1);
        let mut reader = Reader { scope, at: equals + 1, to, depth, aliases, bound };
        let found = reader.one()?;
        (reader.at == to).then_some(found)
    }

    /// The absolute path of what a path means here.
    fn resolve(&self, segments: &[String], absolute: bool) -> Option<&'static str> {
        let library = |path: &str| LIBRARY.iter().find(|(known, _)| *known == path).map(|(_, path)| *path);
        let below_std = |path: &str| {
            let path = path.trim_start_matches("::");
            let rest = ["std::", "core::", "alloc::"].iter().find_map(|root| path.strip_prefix(root))?;
            library(rest)
        };
        let joined = segments.join("::");
        if absolute {
            return below_std(&joined);
        }
        let first = segments.first()?;
        if let Some(path) = self.scope.imports.get(first) {
            let rest = &joined[first.len()..];
            return below_std(&format!("{path}{rest}"));
        }
        if let Some(found) = below_std(&joined) {
            return Some(found);
        }
        // Names of other items of the text are not the prelude's.
        let taken = self.scope.items.iter().any(|item| item.name == *first && item.kind != Kind::Use);
        if segments.len() != 1 || taken {
            return None;
        }
        let of_glob = self.scope.globs.iter().find_map(|module| below_std(&format!("{module}::{first}")));
        let prelude =
            || PRELUDE.iter().find(|(name, path)| name == first && !path.is_empty()).map(|(_, path)| *path);
        // A glob of anything else could bring any name.
        let known_globs =
            self.scope.globs.iter().all(|module| module.starts_with("std::") || module.starts_with("core::"));
        of_glob.or_else(|| prelude().filter(|path| known_globs || path.starts_with("::core")))
    }

    /// What stands in angle brackets behind a path.
    fn arguments(&mut self) -> Option<Vec<Type>> {
        let mut arguments = Vec::new();
        if !self.skip_mark('<') {
            return Some(arguments);
        }
        while !self.is_mark('>') {
            if !self.skip_lifetime() {
                arguments.push(self.deeper()?);
            }
            if !self.skip_mark(',') {
                break;
            }
        }
        self.skip_mark('>').then_some(arguments)
    }

    /// A box: of a value, of a sequence, or of an error of any kind.
    fn boxed(&mut self) -> Option<Type> {
        if !self.skip_mark('<') {
            return None;
        }
        if self.word() != "dyn" {
            let inner = self.deeper()?;
            return self.skip_mark('>').then(|| Type::Std("::std::boxed::Box", vec![inner]));
        }
        self.at += 1;
        let before = self.at;
        if let Some(item) = self.items() {
            return self.skip_mark('>').then(|| Type::Items(Box::new(item), true));
        }
        self.at = before;
        let segments = self.segments()?.join("::");
        let imported = self.scope.imports.get(&segments).map_or(segments.as_str(), String::as_str);
        if !matches!(imported, "std::error::Error" | "core::error::Error" | "error::Error") {
            return None;
        }
        let mut shared = 0;
        while self.skip_mark('+') {
            if matches!(self.word(), "Send" | "Sync") {
                shared += 1;
                self.at += 1;
            } else if !self.skip_lifetime() {
                return None;
            }
        }
        (shared != 1 && self.skip_mark('>')).then_some(Type::AnyError(shared == 2))
    }
}
