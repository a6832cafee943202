use super::{Node, TomlFile, join};
use crate::error::{Error, ErrorKind, Result, nearest, suggestion};
use std::cell::RefCell;
use std::collections::HashSet;
use std::ops::Range;
use toml_edit::TableLike;

/// One table of a TOML file while it is read.
///
/// Asking for a key makes it known; [`finish`](Self::finish) refuses every other key.
pub struct Section<'a> {
    file: &'a TomlFile,
    table: &'a dyn TableLike,
    path: String,
    span: Range<usize>,
    known: RefCell<Known>,
}

/// Keys that were asked for, in that order, and as a set: files may have very many.
#[derive(Default)]
struct Known {
    order: Vec<String>,
    set: HashSet<String>,
}

impl Known {
    fn add(&mut self, key: &str) {
        if self.set.insert(key.to_owned()) {
            self.order.push(key.to_owned());
        }
    }
}

impl<'a> Section<'a> {
    pub(super) fn new(
        file: &'a TomlFile,
        table: &'a dyn TableLike,
        path: String,
        span: Range<usize>,
    ) -> Self {
        Self { file, table, path, span, known: RefCell::default() }
    }

    /// The file that the table is part of.
    pub fn file(&self) -> &'a TomlFile {
        self.file
    }

    /// The dotted path of the table; empty for the top table.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Line of the table's header, counted from 1.
    pub fn line(&self) -> usize {
        self.file.position(self.span.start).0
    }

    /// The value of `key` if it is there; the key is known from now on.
    pub fn get(&self, key: &str) -> Option<Node<'a>> {
        self.known.borrow_mut().add(key);
        let (written, item) = self.table.get_key_value(key)?;
        Some(Node::from_item(self.file, item, join(&self.path, key), written.span()))
    }

    /// Whether `key` is there. Does not make it known.
    pub fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// Reads `key`, which must be there.
    ///
    /// # Errors
    /// The key is missing, or its value is refused by `read`.
    pub fn req<T>(&self, key: &str, read: impl FnOnce(&Node<'a>) -> Result<T>) -> Result<T> {
        match self.get(key) {
            Some(node) => read(&node),
            None => Err(self.missing(key)),
        }
    }

    /// Reads `key` if it is there.
    ///
    /// # Errors
    /// The value is refused by `read`.
    pub fn opt<T>(
        &self,
        key: &str,
        read: impl FnOnce(&Node<'a>) -> Result<T>,
    ) -> Result<Option<T>> {
        self.get(key).map(|node| read(&node)).transpose()
    }

    /// Reads `key`, or takes `default` where it is not there.
    ///
    /// # Errors
    /// The value is refused by `read`.
    pub fn or<T>(
        &self,
        key: &str,
        default: T,
        read: impl FnOnce(&Node<'a>) -> Result<T>,
    ) -> Result<T> {
        Ok(self.opt(key, read)?.unwrap_or(default))
    }

    /// The section under `key`, if it is there.
    ///
    /// # Errors
    /// The value is not a table.
    pub fn section(&self, key: &str) -> Result<Option<Section<'a>>> {
        self.opt(key, Node::section)
    }

    /// The named entries of the table under `key` in the order of the file; none if it is absent.
    ///
    /// # Errors
    /// The value is not a table.
    pub fn entries(&self, key: &str) -> Result<Vec<(String, Node<'a>)>> {
        Ok(self.section(key)?.map(|s| s.all()).unwrap_or_default())
    }

    /// All entries of this table in the order of the file; all are known from now on.
    pub fn all(&self) -> Vec<(String, Node<'a>)> {
        let keys: Vec<String> = self.table.iter().map(|(k, _)| k.to_owned()).collect();
        let mut entries: Vec<(String, Node<'a>)> =
            keys.into_iter().filter_map(|k| self.get(&k).map(|n| (k, n))).collect();
        // Tables whose headers are scattered over the file are kept by parents in another order.
        entries.sort_by_key(|(_, n)| n.span().start);
        entries
    }

    /// Refuses two keys that exclude each other.
    ///
    /// # Errors
    /// More than one of `keys` is there; the error points to the second.
    pub fn exclusive(&self, keys: &[&str]) -> Result<()> {
        let mut there: Vec<(usize, &str, Node<'a>)> =
            keys.iter().filter_map(|&k| self.get(k).map(|n| (n.key_span().start, k, n))).collect();
        there.sort_by_key(|t| t.0);
        match there.as_slice() {
            [(_, first, _), (_, second, node), ..] => Err(node
                .error(ErrorKind::Conflict)
                .expected(format!("either \"{first}\" or \"{second}\""))
                .found("both")
                .advice("remove one of them")),
            _ => Ok(()),
        }
    }

    /// The error for a missing `key`.
    pub fn missing(&self, key: &str) -> Error {
        let e = self
            .file
            .error(ErrorKind::Missing, &self.span, &self.path)
            .expected(format!("the key \"{key}\""))
            .found("none");
        let known = self.known.borrow();
        let strangers = self.table.iter().map(|(k, _)| k).filter(|k| !known.set.contains(*k));
        match nearest(key, strangers) {
            Some(other) => e.advice(format!("is \"{other}\" a slip of the pen?")),
            None => e,
        }
    }

    /// An error about this table as a whole.
    pub fn error(&self, kind: ErrorKind) -> Error {
        self.file.error(kind, &self.span, &self.path)
    }

    /// Refuses every key that was not asked for.
    ///
    /// # Errors
    /// An unknown key, with the known key that is closest to it.
    pub fn finish(&self) -> Result<()> {
        let known = self.known.borrow();
        for (key, item) in self.table.iter() {
            if known.set.contains(key) {
                continue;
            }
            let span = self.table.key(key).and_then(|k| k.span()).or_else(|| item.span());
            let e = self
                .file
                .error(ErrorKind::UnknownKey, &span.unwrap_or(0..0), &join(&self.path, key))
                .found("an unknown key");
            return Err(match suggestion(key, known.order.iter().map(String::as_str)) {
                Some(advice) => e.advice(advice),
                None => e.advice("no keys are known here"),
            });
        }
        Ok(())
    }
}
