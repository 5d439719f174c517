//! Which types have values that can be carried over the border, and how a type is written there: by absolute paths, so that no name
//! means anything but what the standard library calls so.

use super::types::{Definition, Fields, Type, Variant};

/// Whether a value of the type can be sent and read: it has a size, and nothing in it is borrowed to be changed.
pub(super) fn is_value(each: &Type) -> bool {
    match each {
        Type::Own(_) | Type::AnyError(_) | Type::Shown => true,
        Type::Std("::std::borrow::Cow", inner) => match inner.as_slice() {
            [Type::Slice(item)] => is_value(item),
            _ => true,
        },
        Type::Std("::std::boxed::Box" | "::std::rc::Rc" | "::std::sync::Arc", inner) => {
            match inner.as_slice() {
                [Type::Str] | [Type::Slice(_)] if matches!(each, Type::Std("::std::boxed::Box", _)) => true,
                [inner] => is_value(inner),
                _ => false,
            }
        }
        Type::Std(_, inner) | Type::Tuple(inner) => inner.len() <= 12 && inner.iter().all(is_value),
        Type::Array(inner, _) => is_value(inner),
        Type::Ref(inner) => match &**inner {
            Type::Str => true,
            Type::Slice(inner) => is_value(inner),
            other => is_value(other),
        },
        Type::Slice(_) | Type::Str | Type::RefMut(_) | Type::Items(..) => false,
    }
}

pub(super) fn has_reference(each: &Type) -> bool {
    match each {
        Type::Ref(_) | Type::RefMut(_) => true,
        Type::Std(_, inner) | Type::Tuple(inner) => inner.iter().any(has_reference),
        Type::Array(inner, _) | Type::Slice(inner) | Type::Items(inner, _) => has_reference(inner),
        Type::Own(_) | Type::Str | Type::AnyError(_) | Type::Shown => false,
    }
}

pub(super) fn has_cell(each: &Type) -> bool {
    match each {
        Type::Std("::std::cell::RefCell" | "::std::cell::Cell", _) => true,
        Type::Std(_, inner) | Type::Tuple(inner) => inner.iter().any(has_cell),
        Type::Array(inner, _)
        | Type::Slice(inner)
        | Type::Items(inner, _)
        | Type::Ref(inner)
        | Type::RefMut(inner) => has_cell(inner),
        Type::Own(_) | Type::Str | Type::AnyError(_) | Type::Shown => false,
    }
}

/// Whether an argument of the second type is turned into the first by itself: `&Vec<T>` into `&[T]`, `&String` into `&str`.
pub(super) fn is_borrowed_view(own: &Type, wanted: &Type) -> bool {
    let (Type::Ref(own), Type::Ref(wanted)) = (own, wanted) else { return false };
    match (&**own, &**wanted) {
        (Type::Slice(item), Type::Std("::std::vec::Vec", items)) => items.as_slice() == [(**item).clone()],
        (Type::Slice(item), Type::Array(of, _)) => item == of,
        (Type::Str, Type::Std("::std::string::String", _)) => true,
        _ => false,
    }
}

/// A result in the words of a function's declaration.
pub(super) fn result_text(result: &Type, own: &str) -> String {
    match result {
        Type::Items(item, false) => {
            format!("impl ::std::iter::Iterator<Item = {}>", text(item, own, "'static "))
        }
        Type::Items(item, true) => {
            format!("::std::boxed::Box<dyn ::std::iter::Iterator<Item = {}>>", text(item, own, "'static "))
        }
        other => text(other, own, "'static "),
    }
}

/// A type by absolute paths; `own` stands before the names of types of the text, `lifetime` behind every `&`.
pub(super) fn text(each: &Type, own: &str, lifetime: &str) -> String {
    let list =
        |inner: &[Type]| inner.iter().map(|each| text(each, own, lifetime)).collect::<Vec<_>>().join(", ");
    match each {
        Type::Std("::std::borrow::Cow", inner) => {
            let life = if lifetime.is_empty() { "'_" } else { "'static" };
            format!("::std::borrow::Cow<{life}, {}>", list(inner))
        }
        Type::Std(path, inner) if inner.is_empty() => (*path).to_owned(),
        Type::Std(path, inner) => format!("{path}<{}>", list(inner)),
        Type::Own(name) => format!("{own}{name}"),
        Type::Tuple(inner) if inner.len() == 1 => format!("({},)", list(inner)),
        Type::Tuple(inner) => format!("({})", list(inner)),
        Type::Array(inner, length) => format!("[{}; {length}]", text(inner, own, lifetime)),
        Type::Slice(inner) => format!("[{}]", text(inner, own, lifetime)),
        Type::Str => "::core::primitive::str".to_owned(),
        Type::Ref(inner) => format!("&{lifetime}{}", text(inner, own, lifetime)),
        // What is changed in place is the test's own, however long that lives.
        Type::RefMut(inner) => format!("&mut {}", text(inner, own, lifetime)),
        Type::Items(..) => result_text(each, own),
        Type::Shown => "::__proofhouse_border::Shown".to_owned(),
        Type::AnyError(false) => "::std::boxed::Box<dyn ::std::error::Error>".to_owned(),
        Type::AnyError(true) => {
            "::std::boxed::Box<dyn ::std::error::Error + ::std::marker::Send + ::std::marker::Sync>"
                .to_owned()
        }
    }
}

/// Whether a type has a list of values that are all one and the same.
pub(super) fn has_hollow_list(kind: &Type, own: &[Definition]) -> bool {
    match kind {
        Type::Std(path, parts) => {
            let list = path.contains("::vec::") || path.contains("::collections::");
            parts.iter().any(|each| (list && is_hollow(each, own)) || has_hollow_list(each, own))
        }
        Type::Tuple(parts) => parts.iter().any(|each| has_hollow_list(each, own)),
        Type::Array(inner, _) | Type::Slice(inner) | Type::Ref(inner) | Type::RefMut(inner) => {
            has_hollow_list(inner, own)
        }
        Type::Own(_) | Type::Str | Type::Items(..) | Type::AnyError(_) | Type::Shown => false,
    }
}

/// Whether all values of a type are one and the same.
fn is_hollow(kind: &Type, own: &[Definition]) -> bool {
    let empty = |variant: &Variant| match &variant.fields {
        Fields::Named(fields) => fields.iter().all(|(_, field)| is_hollow(field, own)),
        Fields::Numbered(fields) => fields.iter().all(|field| is_hollow(field, own)),
        Fields::None => true,
    };
    match kind {
        Type::Tuple(parts) => parts.iter().all(|each| is_hollow(each, own)),
        Type::Array(inner, length) => length.trim() == "0" || is_hollow(inner, own),
        Type::Own(name) => own
            .iter()
            .any(|own| own.name == *name && own.variants.len() == 1 && own.variants.iter().all(empty)),
        _ => false,
    }
}
