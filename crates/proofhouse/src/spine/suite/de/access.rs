//! Serde's access to the items of a list, the entries of a map and the one key of an enum.

use serde::de::{self, DeserializeSeed, Visitor};

use super::error::Error;
use super::{De, Path, Res};
use crate::spine::suite::problem::Code;
use crate::spine::suite::tree::{Kind, NodeId, Step};

pub(super) struct Items<'a, 't> {
    pub(super) de: De<'a, 't>,
    pub(super) items: &'t [NodeId],
    pub(super) at: usize,
}

impl<'de> de::SeqAccess<'de> for Items<'_, '_> {
    type Error = Box<Error>;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Res<Option<T::Value>> {
        while let Some(node) = self.items.get(self.at) {
            let (index, slot) = (self.at, (self.de.node, self.at));
            self.at += 1;
            if self.de.cx.dropped.borrow().contains(&slot) {
                continue;
            }
            let path = Path::Below(self.de.path, Step::Index(index));
            return seed
                .deserialize(De { cx: self.de.cx, node: *node, slot: Some(slot), path: &path })
                .map(Some);
        }
        Ok(None)
    }
}

pub(super) struct Entries<'a, 't> {
    pub(super) de: De<'a, 't>,
    pub(super) known: Option<&'static [&'static str]>,
    pub(super) at: usize,
    pub(super) value: Option<usize>,
}

impl<'de> de::MapAccess<'de> for Entries<'_, '_> {
    type Error = Box<Error>;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Res<Option<K::Value>> {
        let Kind::Map(entries) = self.de.kind() else { unreachable!("only made for maps") };
        while let Some(entry) = entries.get(self.at) {
            let at = self.at;
            self.at += 1;
            let unknown = self.known.is_some_and(|known| !known.contains(&entry.key.as_str()));
            if unknown || self.de.cx.dropped.borrow().contains(&(self.de.node, at)) {
                continue;
            }
            self.value = Some(at);
            let key = de::value::StrDeserializer::<Box<Error>>::new(&entry.key);
            return seed.deserialize(key).map(Some);
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Res<V::Value> {
        let Kind::Map(entries) = self.de.kind() else { unreachable!("only made for maps") };
        let at = self.value.take().expect("serde asks for a value after its key");
        let path = Path::Below(self.de.path, Step::Key(&entries[at].key));
        let slot = Some((self.de.node, at));
        seed.deserialize(De { cx: self.de.cx, node: entries[at].value, slot, path: &path })
    }
}

pub(super) struct Variant<'a, 't> {
    pub(super) name: &'a str,
    pub(super) value: Option<De<'a, 't>>,
    pub(super) at: De<'a, 't>,
}

impl<'a, 'de, 't> de::EnumAccess<'de> for Variant<'a, 't> {
    type Error = Box<Error>;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Res<(V::Value, Self)> {
        let name = seed.deserialize(de::value::StrDeserializer::<Box<Error>>::new(self.name))?;
        Ok((name, self))
    }
}

impl Variant<'_, '_> {
    fn bare(&self) -> Box<Error> {
        Error::boxed(Code::WrongType, format!("`{}` needs settings", self.name))
            .hint(format!("write `{}: {{}}`, or its settings instead of `{{}}`", self.name))
    }
}

impl<'de> de::VariantAccess<'de> for Variant<'_, '_> {
    type Error = Box<Error>;

    fn unit_variant(self) -> Res<()> {
        match self.value {
            None => Ok(()),
            Some(_) => {
                let error = Error::boxed(Code::WrongType, format!("`{}` takes no settings", self.name));
                self.at.located(Err(error.hint(format!("write `{}` alone", self.name))))
            }
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Res<T::Value> {
        match self.value {
            Some(value) => seed.deserialize(value),
            None => self.at.located(Err(self.bare())),
        }
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Res<V::Value> {
        match self.value {
            Some(value) => de::Deserializer::deserialize_any(value, visitor),
            None => self.at.located(Err(self.bare())),
        }
    }

    fn struct_variant<V: Visitor<'de>>(self, fields: &'static [&'static str], visitor: V) -> Res<V::Value> {
        match self.value {
            Some(value) => de::Deserializer::deserialize_struct(value, "", fields, visitor),
            None => self.at.located(Err(self.bare())),
        }
    }
}
