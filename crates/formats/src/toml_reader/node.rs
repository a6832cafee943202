use super::{Section, TomlFile};
use crate::error::{Error, ErrorKind, Result, suggestion};
use std::ops::Range;
use std::path::PathBuf;
use toml_edit::{ArrayOfTables, Item, TableLike, Value};

/// One value of a TOML file with its path and its place.
#[derive(Clone)]
pub struct Node<'a> {
    file: &'a TomlFile,
    view: View<'a>,
    path: String,
    key: Range<usize>,
    span: Range<usize>,
}

#[derive(Clone, Copy)]
enum View<'a> {
    Value(&'a Value),
    Table(&'a dyn TableLike),
    Tables(&'a ArrayOfTables),
    Nothing,
}

impl<'a> Node<'a> {
    pub(super) fn from_item(
        file: &'a TomlFile,
        item: &'a Item,
        path: String,
        key: Option<Range<usize>>,
    ) -> Self {
        let view = match item {
            Item::Value(Value::InlineTable(t)) => View::Table(t),
            Item::Value(v) => View::Value(v),
            Item::Table(t) => View::Table(t),
            Item::ArrayOfTables(a) => View::Tables(a),
            Item::None => View::Nothing,
        };
        // Tables that only exist through their children have no place of their own.
        let span = item.span().or_else(|| key.clone()).or_else(|| first_span(item));
        let span = span.unwrap_or(0..0);
        Self { file, view, path, key: key.unwrap_or_else(|| span.clone()), span }
    }

    fn from_value(file: &'a TomlFile, value: &'a Value, path: String, near: &Range<usize>) -> Self {
        let view = match value {
            Value::InlineTable(t) => View::Table(t),
            v => View::Value(v),
        };
        let span = value.span().unwrap_or_else(|| near.clone());
        Self { file, view, path, key: span.clone(), span }
    }

    /// The file that the value is part of.
    pub fn file(&self) -> &'a TomlFile {
        self.file
    }

    /// The dotted path of the value, as in `soft.beam.vertices[3][1]`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Bytes of the file that the value takes, without white space and comments around it.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// Bytes of the file that the value's key takes.
    pub fn key_span(&self) -> Range<usize> {
        self.key.clone()
    }

    /// Line of the value, counted from 1.
    pub fn line(&self) -> usize {
        self.file.position(self.span.start).0
    }

    /// An error at this value.
    pub fn error(&self, kind: ErrorKind) -> Error {
        self.file.error(kind, &self.span, &self.path)
    }

    /// The error that says that the value should be something else.
    pub fn unexpected(&self, expected: impl Into<String>) -> Error {
        self.error(ErrorKind::WrongType).expected(expected).found(self.described())
    }

    /// The error that says that the value should be in other bounds.
    pub fn out_of_bounds(&self, expected: impl Into<String>) -> Error {
        self.error(ErrorKind::OutOfBounds).expected(expected).found(self.described())
    }

    /// The value as an error message shows it: its text if that is short, and its type.
    pub fn described(&self) -> String {
        let kind = match self.view {
            View::Value(Value::String(_)) => "a string",
            View::Value(Value::Integer(_)) | View::Value(Value::Float(_)) => "",
            View::Value(Value::Boolean(_)) => "a boolean",
            View::Value(Value::Datetime(_)) => "a date",
            View::Value(Value::Array(_)) => "an array",
            View::Value(Value::InlineTable(_)) | View::Table(_) => "a table",
            View::Tables(_) => "an array of tables",
            View::Nothing => "nothing",
        };
        let text = self.file.text().get(self.span.clone()).unwrap_or_default();
        let short = !text.is_empty() && text.len() <= 40 && !text.contains('\n');
        match (short, kind) {
            (true, "") => text.to_owned(),
            (false, "") => "a number".to_owned(),
            (true, kind) if !matches!(self.view, View::Table(_) | View::Tables(_)) => {
                format!("{text} ({kind})")
            }
            (_, kind) => kind.to_owned(),
        }
    }

    /// Whether the value is a table.
    pub fn is_table(&self) -> bool {
        matches!(self.view, View::Table(_))
    }
    /// Whether the value is an array, of tables or of anything else.
    pub fn is_array(&self) -> bool {
        matches!(self.view, View::Tables(_) | View::Value(Value::Array(_)))
    }
    /// Whether the value is a string.
    pub fn is_string(&self) -> bool {
        matches!(self.view, View::Value(Value::String(_)))
    }
    /// Whether the value is a number.
    pub fn is_number(&self) -> bool {
        matches!(self.view, View::Value(Value::Integer(_) | Value::Float(_)))
    }

    /// The value as a table to be read.
    ///
    /// # Errors
    /// The value is something else.
    pub fn section(&self) -> Result<Section<'a>> {
        match self.view {
            View::Table(t) => Ok(Section::new(self.file, t, self.path.clone(), self.span.clone())),
            _ => Err(self.unexpected("a table")),
        }
    }

    /// The members of an array.
    ///
    /// # Errors
    /// The value is something else.
    pub fn items(&self) -> Result<Vec<Node<'a>>> {
        match self.view {
            View::Value(Value::Array(a)) => Ok(a
                .iter()
                .enumerate()
                .map(|(i, v)| {
                    Node::from_value(self.file, v, format!("{}[{i}]", self.path), &self.span)
                })
                .collect()),
            View::Tables(a) => Ok(a
                .iter()
                .enumerate()
                .map(|(i, t)| {
                    let span = t.span().unwrap_or_else(|| self.span.clone());
                    Node {
                        file: self.file,
                        view: View::Table(t),
                        path: format!("{}[{i}]", self.path),
                        key: span.clone(),
                        span,
                    }
                })
                .collect()),
            _ => Err(self.unexpected("an array")),
        }
    }

    /// Text.
    ///
    /// # Errors
    /// The value is something else.
    pub fn string(&self) -> Result<&'a str> {
        match self.view {
            View::Value(Value::String(s)) => Ok(s.value()),
            _ => Err(self.unexpected("a string")),
        }
    }

    /// The path of another file; relative ones start from this file's folder.
    ///
    /// # Errors
    /// The value is not a string or empty.
    pub fn file_path(&self) -> Result<PathBuf> {
        match self.string()? {
            "" => Err(self.out_of_bounds("the path of a file")),
            written => Ok(self.file.resolve(written)),
        }
    }

    /// True or false.
    ///
    /// # Errors
    /// The value is something else.
    pub fn boolean(&self) -> Result<bool> {
        match self.view {
            View::Value(Value::Boolean(b)) => Ok(*b.value()),
            _ => Err(self.unexpected("true or false")),
        }
    }

    /// A finite number.
    ///
    /// # Errors
    /// The value is something else, infinite or not a number.
    pub fn number(&self) -> Result<f64> {
        let x = self.limit().map_err(|e| e.expected("a number"))?;
        if x.is_finite() { Ok(x) } else { Err(self.out_of_bounds("a finite number")) }
    }

    /// A number that may be infinite, such as the end of an interval.
    ///
    /// # Errors
    /// The value is something else or not a number.
    pub fn limit(&self) -> Result<f64> {
        let x = match self.view {
            View::Value(Value::Float(x)) => *x.value(),
            // Integers beyond 2^53 lose digits here as in any other program.
            View::Value(Value::Integer(i)) => *i.value() as f64,
            _ => return Err(self.unexpected("a number, inf or -inf")),
        };
        if x.is_nan() { Err(self.out_of_bounds("a number, inf or -inf")) } else { Ok(x) }
    }

    /// A number above zero.
    ///
    /// # Errors
    /// The value is no number or out of bounds.
    pub fn positive(&self) -> Result<f64> {
        self.bounded("a number above 0", |x| x > 0.0)
    }

    /// A number not below zero.
    ///
    /// # Errors
    /// The value is no number or out of bounds.
    pub fn non_negative(&self) -> Result<f64> {
        self.bounded("a number not below 0", |x| x >= 0.0)
    }

    /// A number within closed bounds.
    ///
    /// # Errors
    /// The value is no number or out of bounds.
    pub fn within(&self, low: f64, high: f64) -> Result<f64> {
        self.bounded(&format!("a number from {low} to {high}"), |x| x >= low && x <= high)
    }

    /// A number that `accepts` takes; `expected` is what the error says of it.
    ///
    /// # Errors
    /// The value is no number or not accepted.
    pub fn bounded(&self, expected: &str, accepts: impl FnOnce(f64) -> bool) -> Result<f64> {
        let x = self.number().map_err(|e| e.expected(expected))?;
        if accepts(x) { Ok(x) } else { Err(self.out_of_bounds(expected)) }
    }

    /// An integer.
    ///
    /// # Errors
    /// The value is something else.
    pub fn integer(&self) -> Result<i64> {
        match self.view {
            View::Value(Value::Integer(i)) => Ok(*i.value()),
            _ => Err(self.unexpected("an integer")),
        }
    }

    /// An integer from 0 that serves as an index or a number of things.
    ///
    /// # Errors
    /// The value is no integer, negative or above 2³² − 1.
    pub fn count(&self) -> Result<usize> {
        let i = self.integer()?;
        u32::try_from(i)
            .map(|i| i as usize)
            .map_err(|_| self.out_of_bounds("an integer from 0 to 4294967295"))
    }

    /// One of the given names.
    ///
    /// # Errors
    /// The value is no string or another name; the closest name is suggested.
    pub fn choice<T: Copy>(&self, names: &[(&str, T)]) -> Result<T> {
        let name = self.string()?;
        names.iter().find(|(n, _)| *n == name).map(|&(_, value)| value).ok_or_else(|| {
            let list: Vec<String> = names.iter().map(|(n, _)| format!("\"{n}\"")).collect();
            let e = self
                .error(ErrorKind::UnknownName)
                .expected(list.join(" or "))
                .found(self.described());
            match crate::error::nearest(name, names.iter().map(|(n, _)| *n)) {
                Some(best) => e.advice(format!("did you mean \"{best}\"?")),
                None => e,
            }
        })
    }

    /// The error for a name that refers to nothing among `known`; `what` says of which sort.
    pub fn unknown_name<'b>(
        &self,
        what: &str,
        known: impl IntoIterator<Item = &'b str> + Clone,
    ) -> Error {
        let e = self
            .error(ErrorKind::UnknownName)
            .expected(format!("the name of {what}"))
            .found(self.described());
        match suggestion(self.string().unwrap_or_default(), known) {
            Some(advice) => e.advice(advice),
            None => e.advice("there is none"),
        }
    }

    /// An array of finite numbers.
    ///
    /// # Errors
    /// The value or a member is something else.
    pub fn numbers(&self) -> Result<Vec<f64>> {
        self.list("an array of numbers", Node::number)
    }

    /// An array of strings.
    ///
    /// # Errors
    /// The value or a member is something else.
    pub fn strings(&self) -> Result<Vec<&'a str>> {
        self.list("an array of strings", Node::string)
    }

    /// An array of indices or counts.
    ///
    /// # Errors
    /// The value or a member is something else.
    pub fn counts(&self) -> Result<Vec<usize>> {
        self.list("an array of integers", Node::count)
    }

    /// An array with each member read by `read`; `expected` describes it.
    ///
    /// # Errors
    /// The value is no array, or a member is refused.
    pub fn list<T>(&self, expected: &str, read: impl Fn(&Node<'a>) -> Result<T>) -> Result<Vec<T>> {
        let items = self.items().map_err(|e| e.expected(expected))?;
        items.iter().map(read).collect()
    }

    /// An array of exactly `N` finite numbers.
    ///
    /// # Errors
    /// The value, its length or a member is something else.
    pub fn vector<const N: usize>(&self) -> Result<[f64; N]> {
        self.tuple(&format!("an array of {N} numbers"), Node::number)
    }

    /// An array of exactly `N` indices or counts.
    ///
    /// # Errors
    /// The value, its length or a member is something else.
    pub fn indices<const N: usize>(&self) -> Result<[usize; N]> {
        self.tuple(&format!("an array of {N} integers"), Node::count)
    }

    /// An array of exactly `N` members, each read by `read`.
    ///
    /// # Errors
    /// The value is no array, has another length, or a member is refused.
    pub fn tuple<T, const N: usize>(
        &self,
        expected: &str,
        read: impl Fn(&Node<'a>) -> Result<T>,
    ) -> Result<[T; N]> {
        let members = self.list(expected, read)?;
        members.try_into().map_err(|wrong: Vec<T>| {
            self.error(ErrorKind::WrongLength)
                .expected(expected)
                .found(format!("{} members", wrong.len()))
        })
    }
}

/// The first place that anything within an item has.
fn first_span(item: &Item) -> Option<Range<usize>> {
    let table = item.as_table_like()?;
    table
        .iter()
        .filter_map(|(k, child)| {
            table
                .key(k)
                .and_then(|k| k.span())
                .or_else(|| child.span())
                .or_else(|| first_span(child))
        })
        .min_by_key(|s| s.start)
}
