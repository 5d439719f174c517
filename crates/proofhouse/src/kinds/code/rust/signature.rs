//! The wanted function's signature, where its values can cross the border, and the code that carries them: a stub for the tests
//! and a shim for the completion.

use std::fmt::Write as _;

use super::carried::{
    has_cell, has_hollow_list, has_reference, is_borrowed_view, is_value, result_text, text,
};
use super::items::Item;
use super::tokens::{Lexed, What};
use super::types::{Definition, Fields, Scope, Type, parts};

/// The library of the border, as generated code names it.
const BORDER: &str = "::__proofhouse_border";

/// More types than this are no signature.
const MAX_TYPES: usize = 32;

/// A signature whose values can cross.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Signature {
    name: String,
    parameters: Vec<Type>,
    result: Type,
    /// The types that the text itself defines, those of other definitions included.
    own: Vec<Definition>,
    is_unsafe: bool,
}

/// What is known of the function in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Declared {
    /// There is no such function, or it is not declared in words that can be read.
    Nowhere,
    /// It takes many types: what it can be called with is not told by its declaration.
    Generic,
    /// Its values cannot cross.
    Closed,
    Open(Signature),
}

impl Declared {
    /// Looks for a function at the outermost level of a text.
    pub(super) fn of(text: &str, name: &str) -> Declared {
        Declared::read(text, name, false)
    }

    /// The same in an answer, whose error may be one that only shows itself.
    pub(super) fn of_answer(text: &str, name: &str) -> Declared {
        match Declared::of(text, name) {
            Declared::Closed => Declared::read(text, name, true),
            other => other,
        }
    }

    fn read(text: &str, name: &str, shows: bool) -> Declared {
        let Some(lexed) = Lexed::of(text) else { return Declared::Nowhere };
        let Some(items) = Item::all(&lexed) else { return Declared::Nowhere };
        let Some(item) = items.iter().find(|item| item.is_function(name)) else { return Declared::Nowhere };
        let scope = Scope::of(&lexed, &items);
        let scope = if shows { scope.showing() } else { scope };
        if is_generic(&lexed, item) {
            return Declared::Generic;
        }
        Signature::read(&lexed, item, &scope).map_or(Declared::Closed, Declared::Open)
    }
}

/// Whether a function has type parameters, or parameters of hidden types.
fn is_generic(lexed: &Lexed<'_>, item: &Item) -> bool {
    let Some((list, close)) = parameter_list(lexed, item) else { return false };
    let generics =
        (item.keyword + 2..list).any(|at| !lexed.word(at).is_empty() && !lexed.is_mark(at - 1, '\''));
    generics || (list..close).any(|at| lexed.word(at) == "impl")
}

/// The brackets around a function's parameters, behind those of its type parameters.
pub(super) fn parameter_list(lexed: &Lexed<'_>, item: &Item) -> Option<(usize, usize)> {
    let (open, _) = item.body?;
    let (mut at, mut angles) = (item.keyword + 2, 0_i32);
    while at < open {
        match lexed.tokens[at].what {
            What::Open('(', close) if angles == 0 => return Some((at, close)),
            What::Open(_, close) => at = close,
            What::Mark('<') => angles += 1,
            What::Mark('>') if !lexed.is_mark(at - 1, '-') => angles -= 1,
            _ => {}
        }
        at += 1;
    }
    None
}

/// What a function of a text gives, by absolute paths, where that is of the standard library alone and nothing in it is borrowed.
pub(super) fn plain_result(source: &str, name: &str) -> Option<String> {
    let lexed = Lexed::of(source)?;
    let items = Item::all(&lexed)?;
    let item = items.iter().find(|item| item.is_function(name))?;
    let (open, _) = item.body?;
    let (_, close) = parameter_list(&lexed, item)?;
    let end = (close..open).find(|at| lexed.word(*at) == "where").unwrap_or(open);
    let scope = Scope::of(&lexed, &items);
    let result = if close + 1 == end { None } else { scope.read(close + 3, end) }?;
    let mut own = Vec::new();
    collect_own(&result, &scope, &mut own)?;
    (own.is_empty() && is_value(&result) && !has_reference(&result)).then(|| text(&result, "", ""))
}

impl Signature {
    fn read(lexed: &Lexed<'_>, item: &Item, scope: &Scope<'_>) -> Option<Signature> {
        let (open, _) = item.body?;
        let (list, close) = parameter_list(lexed, item)?;
        let words: Vec<&str> = (item.attributes.end..item.keyword).map(|at| lexed.word(at)).collect();
        if words.contains(&"async") || (close..open).any(|at| lexed.word(at) == "where") {
            return None;
        }
        let mut parameters = Vec::new();
        for (from, to) in parts(lexed, list + 1, close) {
            parameters.push(scope.read(colon(lexed, from, to)? + 1, to)?);
        }
        let mut result = match close + 1 == open {
            true => Type::Tuple(Vec::new()),
            // Behind the arrow.
            false => scope.read(close + 3, open)?,
        };
        if scope.shows() {
            show_error(&mut result, scope);
        }
        let mut own = Vec::new();
        for each in parameters.iter().chain([&result]) {
            collect_own(each, scope, &mut own)?;
        }
        let is_unsafe = words.contains(&"unsafe");
        let signature = Signature { name: item.name.clone(), parameters, result, own, is_unsafe };
        signature.crosses().then_some(signature)
    }

    /// Whether every type stands where its values can be carried.
    fn crosses(&self) -> bool {
        let parameter = |each: &Type| match each {
            Type::RefMut(inner) => match &**inner {
                Type::Slice(item) => is_value(item),
                other => is_value(other),
            },
            // What a call changes inside of a cell would stay on the other side.
            other => is_value(other) && !has_cell(other),
        };
        let result = match &self.result {
            Type::Items(item, _) => is_value(item),
            other => is_value(other),
        };
        let borrows = self.parameters.iter().any(|each| matches!(each, Type::RefMut(_)));
        let fields = self.own.iter().flat_map(|own| &own.variants).all(|variant| match &variant.fields {
            Fields::Named(fields) => fields.iter().all(|(_, each)| is_value(each)),
            Fields::Numbered(fields) => fields.iter().all(is_value),
            Fields::None => true,
        });
        self.parameters.iter().all(parameter) && result && fields && !(borrows && has_reference(&self.result))
    }

    /// The same with an error of the completion's own that only shows itself.
    pub(super) fn showing_its_error(&self) -> Option<Signature> {
        let Type::Std(path @ "::std::result::Result", parts) = &self.result else { return None };
        let [value, Type::Own(_)] = parts.as_slice() else { return None };
        let result = Type::Std(path, vec![value.clone(), Type::Shown]);
        let named = |kind: &Type, name: &str| {
            text(kind, "", "").split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name)
        };
        let used =
            |own: &&Definition| self.parameters.iter().chain([value]).any(|kind| named(kind, &own.name));
        let own: Vec<Definition> = self.own.iter().filter(used).cloned().collect();
        Some(Signature { result, own, ..self.clone() })
    }

    /// Whether its error only shows itself.
    pub(super) fn shows_its_error(&self) -> bool {
        matches!(&self.result, Type::Std("::std::result::Result", parts) if parts.last() == Some(&Type::Shown))
    }

    /// The types that a completion's own text defines, by name.
    pub(super) fn own_names(&self) -> impl Iterator<Item = &str> {
        self.own.iter().map(|own| own.name.as_str())
    }

    /// What tells signatures apart, but for the name of the function and the bodies of types.
    pub(super) fn key(&self) -> String {
        let parameters: Vec<String> = self.parameters.iter().map(|each| text(each, "", "")).collect();
        let own: Vec<String> = self.own.iter().map(|own| format!("{own:?}")).collect();
        format!("({}) -> {} {}", parameters.join(", "), result_text(&self.result, ""), own.join(" "))
    }

    /// Whether a function of this signature can be called as the other one is: the same types, or borrowed ones to which the
    /// other's arguments are turned without a word.
    pub(super) fn answers_for(&self, task: &Signature) -> bool {
        let fits = |(own, wanted): (&Type, &Type)| own == wanted || is_borrowed_view(own, wanted);
        self.result == task.result
            && self.own == task.own
            && self.parameters.len() == task.parameters.len()
            && self.parameters.iter().zip(&task.parameters).all(fits)
    }

    /// Whether its result is a list of nothing where the task's is one of something: for nothing there is room without end.
    pub(super) fn lists_nothing(&self, task: &Signature) -> bool {
        has_hollow_list(&self.result, &self.own) && !has_hollow_list(&task.result, &task.own)
    }

    /// Whether only what its result can do is said, not what it is: then a completion may return what it likes.
    pub(super) fn hides_its_result(&self) -> bool {
        matches!(self.result, Type::Items(_, false))
    }

    /// The function that the tests call in place of the completion's.
    pub(super) fn stub(&self) -> String {
        let own = "self::";
        let mut out = String::new();
        let mut named = Vec::new();
        let (mut sent, mut back) = (String::new(), String::new());
        for (at, each) in self.parameters.iter().enumerate() {
            named.push(format!("a{at}: {}", text(each, own, "")));
            match each {
                Type::RefMut(inner) => {
                    let _ = write!(sent, "{BORDER}::put(&*a{at}, &mut ask); ");
                    match &**inner {
                        Type::Slice(item) => {
                            let item = text(item, own, "'static ");
                            let _ = write!(
                                back,
                                "for (to, one) in a{at}.iter_mut().zip({BORDER}::get::<::std::vec::Vec<{item}>>(from)) {{ *to = one; }} "
                            );
                        }
                        _ => {
                            let _ = write!(back, "*a{at} = {BORDER}::get(from); ");
                        }
                    }
                }
                _ => {
                    let _ = write!(sent, "{BORDER}::put(&a{at}, &mut ask); ");
                }
            }
        }
        let value = match &self.result {
            Type::Items(item, boxed) => {
                let items =
                    format!("{BORDER}::get::<{BORDER}::Items<{}>>(from)", text(item, own, "'static "));
                if *boxed { format!("::std::boxed::Box::new({items})") } else { items }
            }
            other => format!("{BORDER}::get::<{}>(from)", text(other, own, "'static ")),
        };
        let _ = writeln!(
            out,
            "#[allow(warnings)] pub(crate) {}fn {}({}) -> {} {{ let mut ask = {BORDER}::ask(); {sent}\
             {BORDER}::answer(ask, |from| {{ let value = {value}; {back}value }}) }}",
            if self.is_unsafe { "unsafe " } else { "" },
            self.name,
            named.join(", "),
            result_text(&self.result, own),
        );
        out
    }

    /// A type whose function calls the stub.
    pub(super) fn under(&self, owner: &str) -> String {
        let types = self.parameters.iter().enumerate();
        let named: Vec<String> =
            types.map(|(at, each)| format!("a{at}: {}", text(each, "self::", ""))).collect();
        let names: Vec<String> = (0..named.len()).map(|at| format!("a{at}")).collect();
        let (qualifier, call) = match self.is_unsafe {
            true => ("unsafe ", format!("unsafe {{ {}({}) }}", self.name, names.join(", "))),
            false => ("", format!("{}({})", self.name, names.join(", "))),
        };
        format!(
            "#[allow(warnings)] pub(crate) struct {owner}; #[allow(warnings)] impl {owner} {{ pub(crate) {qualifier}fn {}({}) -> {} {{ {call} }} }}\n",
            self.name,
            named.join(", "),
            result_text(&self.result, "self::"),
        )
    }

    /// The code that takes a call apart, calls the completion's function and puts its answer together. It is the same for all
    /// completions of one signature, unless that has types of the completion's own.
    pub(super) fn glue(&self) -> String {
        let own = "super::";
        let (mut taken, mut given, mut back) = (String::new(), Vec::new(), String::new());
        let mut types = Vec::new();
        for (at, each) in self.parameters.iter().enumerate() {
            let (held, passed, typed) = match each {
                Type::RefMut(inner) => match &**inner {
                    Type::Slice(item) => {
                        let item = text(item, own, "'static ");
                        (
                            format!("::std::vec::Vec<{item}>"),
                            format!("&mut a{at}[..]"),
                            format!("&mut [{item}]"),
                        )
                    }
                    inner => {
                        let inner = text(inner, own, "'static ");
                        (inner.clone(), format!("&mut a{at}"), format!("&mut {inner}"))
                    }
                },
                other => {
                    let typed = text(other, own, "'static ");
                    (typed.clone(), format!("a{at}"), typed)
                }
            };
            let _ = write!(taken, "let mut a{at}: {held} = {BORDER}::get(from); ");
            if matches!(each, Type::RefMut(_)) {
                let _ = write!(back, "{BORDER}::put(&a{at}, &mut out); ");
            }
            given.push(passed);
            types.push(typed);
        }
        let result = match &self.result {
            Type::Items(item, _) => format!("{BORDER}::Items<{}>", text(item, own, "'static ")),
            other => text(other, own, "'static "),
        };
        format!(
            "#[inline(never)] pub(crate) fn call(f: fn({}) -> {result}, from: &mut {BORDER}::In<'_>) -> ::std::vec::Vec<u8> {{ \
             {taken}let value = f({}); let mut out = ::std::vec::Vec::new(); {BORDER}::put(&value, &mut out); {back}out }}\n",
            types.join(", "),
            given.join(", "),
        )
    }

    /// Whether completions of this signature can use one and the same glue.
    pub(super) fn has_common_glue(&self) -> bool {
        self.own.is_empty()
    }

    /// The shim behind a completion: its entry calls the completion's function through the glue at this path.
    pub(super) fn shim(&self, glue: Option<&str>) -> String {
        let names: Vec<String> = (0..self.parameters.len()).map(|at| format!("a{at}")).collect();
        let names = names.join(", ");
        let mut call = format!("super::{}({names})", self.name);
        if self.is_unsafe {
            call = format!("unsafe {{ {call} }}");
        }
        if matches!(self.result, Type::Items(..)) {
            call = format!("{BORDER}::Items::new({call})");
        }
        if self.shows_its_error() {
            call = format!(
                "{{ use {BORDER}::{{Displays as _, Debugs as _}}; {call}.map_err(|error| (&{BORDER}::Showing(&error)).shown()) }}"
            );
        }
        let (own, path) = match glue {
            Some(path) => (String::new(), path),
            None => (self.glue() + &self.carriers("super::"), "self::call"),
        };
        format!(
            "#![allow(warnings, clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)]\n{own}\
             pub(crate) fn entry(from: &mut {BORDER}::In<'_>) -> ::std::vec::Vec<u8> {{ {path}(|{names}| {call}, from) }}\n"
        )
    }

    /// How the types that the text defines cross, on the side where they have this prefix.
    pub(super) fn carriers(&self, prefix: &str) -> String {
        let mut out = String::new();
        for own in &self.own {
            let (mut sent, mut read) = (String::new(), String::new());
            for (number, variant) in own.variants.iter().enumerate() {
                let path = match own.is_enum {
                    true => format!("{prefix}{}::{}", own.name, variant.name),
                    false => format!("{prefix}{}", own.name),
                };
                let (pattern, value, count) = match &variant.fields {
                    Fields::Named(fields) => {
                        let names = |value: &dyn Fn(usize) -> String| {
                            let each = fields
                                .iter()
                                .enumerate()
                                .map(|(at, (name, _))| format!("{name}: {}", value(at)));
                            each.collect::<Vec<_>>().join(", ")
                        };
                        let pattern = format!("{path} {{ {} }}", names(&|at| format!("f{at}")));
                        (
                            pattern,
                            format!("{path} {{ {} }}", names(&|_| format!("{BORDER}::get(from)"))),
                            fields.len(),
                        )
                    }
                    Fields::Numbered(fields) => {
                        let each = |value: &dyn Fn(usize) -> String| {
                            (0..fields.len()).map(value).collect::<Vec<_>>().join(", ")
                        };
                        let pattern = format!("{path}({})", each(&|at| format!("f{at}")));
                        (
                            pattern,
                            format!("{path}({})", each(&|_| format!("{BORDER}::get(from)"))),
                            fields.len(),
                        )
                    }
                    Fields::None => (path.clone(), path, 0),
                };
                let puts: String = (0..count).map(|at| format!("{BORDER}::put(f{at}, out); ")).collect();
                let _ = write!(sent, "{pattern} => {{ {BORDER}::put(&{number}u32, out); {puts}}} ");
                let _ = write!(read, "{number}u32 => {value}, ");
            }
            let name = format!("{prefix}{}", own.name);
            let sent = if own.variants.is_empty() { "_ => {}".to_owned() } else { sent };
            let _ = write!(
                out,
                "#[allow(warnings, clippy::all)] impl {BORDER}::Put for {name} {{ fn put(&self, out: &mut ::std::vec::Vec<u8>) {{ match self {{ {sent} }} }} }}\n\
                 #[allow(warnings, clippy::all)] impl {BORDER}::Get for {name} {{ fn get(from: &mut {BORDER}::In<'_>) -> Self {{ \
                 match {BORDER}::get::<u32>(from) {{ {read}_ => {BORDER}::garbled() }} }} }}\n"
            );
        }
        out
    }

    /// The completion's own types as the tests see them: their fields and what the compiler itself derives, and nothing that
    /// the completion says of them.
    pub(super) fn copies(&self, known: &dyn Fn(&str) -> bool) -> String {
        const DERIVED: [&str; 9] =
            ["Debug", "Clone", "Copy", "PartialEq", "Eq", "PartialOrd", "Ord", "Hash", "Default"];
        let mut out = String::new();
        for own in self.own.iter().filter(|own| !known(&own.name)) {
            // The default of an enum is marked in a way that a copy does not have.
            let derived = |name: &&str| {
                own.derives.iter().any(|own| own == name) && !(own.is_enum && *name == "Default")
            };
            let derives: Vec<&str> = DERIVED.into_iter().filter(derived).collect();
            let fields = |fields: &Fields, visible: &str| match fields {
                Fields::Named(fields) => {
                    let each = fields
                        .iter()
                        .map(|(name, each)| format!("{visible}{name}: {}", text(each, "self::", "'static ")));
                    format!(" {{ {} }}", each.collect::<Vec<_>>().join(", "))
                }
                Fields::Numbered(fields) => {
                    let each =
                        fields.iter().map(|each| format!("{visible}{}", text(each, "self::", "'static ")));
                    format!("({})", each.collect::<Vec<_>>().join(", "))
                }
                Fields::None => String::new(),
            };
            let body = match own.is_enum {
                true => {
                    let each = own
                        .variants
                        .iter()
                        .map(|variant| format!("{}{}", variant.name, fields(&variant.fields, "")));
                    format!("enum {} {{ {} }}", own.name, each.collect::<Vec<_>>().join(", "))
                }
                false => {
                    let of = &own.variants[0].fields;
                    let end = if matches!(of, Fields::Named(_)) { "" } else { ";" };
                    format!("struct {}{}{end}", own.name, fields(of, "pub(crate) "))
                }
            };
            let _ = writeln!(out, "#[allow(warnings)] #[derive({})] pub(crate) {body}", derives.join(", "));
        }
        out
    }
}

/// The colon between a parameter's pattern and its type.
pub(super) fn colon(lexed: &Lexed<'_>, from: usize, to: usize) -> Option<usize> {
    let mut at = from;
    while at < to {
        if let What::Open(_, close) = lexed.tokens[at].what {
            at = close;
        } else if lexed.is_mark(at, ':') {
            if !lexed.is_mark(at + 1, ':') {
                return Some(at);
            }
            at += 1;
        }
        at += 1;
    }
    None
}

/// Has the error of a result show itself, where its definition cannot cross.
fn show_error(result: &mut Type, scope: &Scope<'_>) {
    if let Type::Std("::std::result::Result", parts) = result
        && let [_, error] = parts.as_mut_slice()
        && collect_own(error, scope, &mut Vec::new()).is_none()
    {
        *error = Type::Shown;
    }
}

/// Collects the definitions behind a type; `None` if one of them cannot cross.
fn collect_own(each: &Type, scope: &Scope<'_>, own: &mut Vec<Definition>) -> Option<()> {
    let inner: Vec<Type> = match each {
        Type::Own(name) => {
            if own.iter().any(|known| known.name == *name) {
                return Some(());
            }
            let definition = scope.definition(name)?;
            let fields = |variant: &super::types::Variant| match &variant.fields {
                Fields::Named(fields) => fields.iter().map(|(_, each)| each.clone()).collect(),
                Fields::Numbered(fields) => fields.clone(),
                Fields::None => Vec::new(),
            };
            let inner = definition.variants.iter().flat_map(fields).collect();
            own.push(definition);
            inner
        }
        Type::Std(_, inner) | Type::Tuple(inner) => inner.clone(),
        Type::Array(inner, _)
        | Type::Slice(inner)
        | Type::Ref(inner)
        | Type::RefMut(inner)
        | Type::Items(inner, _) => {
            vec![(**inner).clone()]
        }
        Type::Str | Type::AnyError(_) | Type::Shown => Vec::new(),
    };
    if own.len() > MAX_TYPES {
        return None;
    }
    inner.iter().try_for_each(|each| collect_own(each, scope, own))
}

#[cfg(test)]
mod tests;
