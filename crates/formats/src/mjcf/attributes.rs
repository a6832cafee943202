//! Reading values of attributes.

use super::xml::{Attribute, Document, ElementId};
use crate::error::{Error, ErrorKind, Result, suggestion};
use costate_model::ModelError;

/// An element whose attributes are read.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    pub document: &'a Document,
    pub id: ElementId,
}

impl<'a> Reader<'a> {
    pub fn new(document: &'a Document, id: ElementId) -> Self {
        Self { document, id }
    }

    /// The element's name.
    pub fn tag(&self) -> &'a str {
        &self.document.element(self.id).name
    }

    /// Readers of the children.
    pub fn children(&self) -> impl Iterator<Item = Reader<'a>> + use<'a> {
        let document = self.document;
        document.element(self.id).children.iter().map(move |&id| Reader { document, id })
    }

    pub fn has(&self, name: &str) -> bool {
        self.attribute(name).is_some()
    }

    pub fn attribute(&self, name: &str) -> Option<&'a Attribute> {
        self.document.attribute(self.id, name)
    }

    /// The text of an attribute.
    pub fn text(&self, name: &str) -> Option<&'a str> {
        self.attribute(name).map(|a| a.value.as_str())
    }

    /// The text of an attribute that must be there.
    pub fn required(&self, name: &str) -> Result<&'a str> {
        self.text(name)
            .ok_or_else(|| self.error(ErrorKind::Missing).expected(format!("an attribute {name}")))
    }

    /// An error at this element.
    pub fn error(&self, kind: ErrorKind) -> Error {
        self.document.error(self.id, kind)
    }

    /// An error at an attribute's value.
    pub fn wrong(&self, name: &str, kind: ErrorKind) -> Error {
        self.document.error_attribute(self.id, name, kind)
    }

    /// What the model says against this element.
    pub fn refused(&self, e: ModelError) -> Error {
        let kind = match e {
            ModelError::DuplicateName { .. } => ErrorKind::Duplicate,
            ModelError::OutOfBounds { .. } => ErrorKind::OutOfBounds,
            _ => ErrorKind::Conflict,
        };
        if let ModelError::OutOfBounds { path, .. } = &e
            && let Some((_, name)) = path.rsplit_once('.')
        {
            return self.wrong(name, kind).found(e.to_string());
        }
        self.error(kind).found(e.to_string())
    }

    /// All numbers of an attribute.
    pub fn numbers(&self, name: &str) -> Result<Option<Vec<f64>>> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let mut values = Vec::new();
        for word in text.split_ascii_whitespace() {
            let value: f64 =
                word.parse().ok().filter(|x: &f64| x.is_finite()).ok_or_else(|| {
                    self.wrong(name, ErrorKind::NotANumber)
                        .expected("finite numbers")
                        .found(format!("{:?}", short(word)))
                })?;
            values.push(value);
        }
        Ok(Some(values))
    }

    /// From `least` to `into.len()` numbers, which replace the first of `into`; whether there are
    /// any.
    pub fn fill(&self, name: &str, least: usize, into: &mut [f64]) -> Result<bool> {
        let Some(values) = self.numbers(name)? else { return Ok(false) };
        if values.len() < least || values.len() > into.len() {
            let expected = if least == into.len() {
                format!("{least} number{}", if least == 1 { "" } else { "s" })
            } else {
                format!("{least} to {} numbers", into.len())
            };
            return Err(self
                .wrong(name, ErrorKind::WrongLength)
                .expected(expected)
                .found(format!("{}", values.len())));
        }
        into[..values.len()].copy_from_slice(&values);
        Ok(true)
    }

    /// Exactly N numbers.
    pub fn vector<const N: usize>(&self, name: &str) -> Result<Option<[f64; N]>> {
        let mut values = [0.0; N];
        Ok(self.fill(name, N, &mut values)?.then_some(values))
    }

    /// Replaces `into` where the attribute is there.
    pub fn set<const N: usize>(&self, name: &str, into: &mut [f64; N]) -> Result<()> {
        self.fill(name, N, into).map(|_| ())
    }

    /// One number.
    pub fn number(&self, name: &str) -> Result<Option<f64>> {
        Ok(self.vector::<1>(name)?.map(|[x]| x))
    }

    /// Replaces `into` where the attribute is there.
    pub fn set_number(&self, name: &str, into: &mut f64) -> Result<()> {
        if let Some(x) = self.number(name)? {
            *into = x;
        }
        Ok(())
    }

    /// One integer.
    pub fn integer(&self, name: &str) -> Result<Option<i64>> {
        let Some(text) = self.text(name) else { return Ok(None) };
        text.trim().parse().map(Some).map_err(|_| {
            self.wrong(name, ErrorKind::NotANumber)
                .expected("an integer")
                .found(format!("{:?}", short(text)))
        })
    }

    /// One integer of another type.
    pub fn small<T: TryFrom<i64>>(&self, name: &str) -> Result<Option<T>> {
        let Some(value) = self.integer(name)? else { return Ok(None) };
        T::try_from(value).map(Some).map_err(|_| {
            self.wrong(name, ErrorKind::OutOfBounds)
                .expected("a smaller integer of the right sign")
                .found(format!("{value}"))
        })
    }

    /// One of several words.
    pub fn choice<T: Copy>(&self, name: &str, words: &[(&str, T)]) -> Result<Option<T>> {
        let Some(text) = self.text(name) else { return Ok(None) };
        if let Some((_, value)) = words.iter().find(|(word, _)| *word == text) {
            return Ok(Some(*value));
        }
        let all: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let e = self
            .wrong(name, ErrorKind::WrongType)
            .expected(format!("one of {}", all.join(", ")))
            .found(format!("{:?}", short(text)));
        Err(e)
    }

    /// `true` or `false`.
    pub fn flag(&self, name: &str) -> Result<Option<bool>> {
        self.choice(name, &[("true", true), ("false", false)])
    }

    /// The place of a name in a list of names.
    pub fn lookup(
        &self,
        attribute: &str,
        what: &str,
        name: &str,
        find: impl Fn(&str) -> Option<usize>,
        names: &dyn Fn() -> Vec<String>,
    ) -> Result<usize> {
        find(name).ok_or_else(|| {
            let e = self
                .wrong(attribute, ErrorKind::UnknownName)
                .expected(format!("the name of a {what}"))
                .found(format!("{:?}", short(name)));
            let names = names();
            match suggestion(name, names.iter().take(50).map(String::as_str)) {
                Some(advice) => e.advice(advice),
                None => e,
            }
        })
    }
}

/// Text as a message shows it.
pub(crate) fn short(text: &str) -> String {
    if text.chars().count() > 60 {
        text.chars().take(60).chain(['…']).collect()
    } else {
        text.to_owned()
    }
}
