//! The elements of an MJCF model, with includes put in their place.

use crate::error::{Error, ErrorKind, Result};
use crate::text::{line_column, read_text};
use std::collections::HashSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// How deep files may include each other.
const MAX_INCLUDE_DEPTH: usize = 64;

/// Handle of an element in its [`Document`].
pub(crate) type ElementId = usize;

/// An attribute as it is written.
#[derive(Clone, Debug)]
pub(crate) struct Attribute {
    pub name: String,
    pub value: String,
    /// Where the value stands between its quotes, in bytes of its file.
    pub span: Range<usize>,
}

/// An element.
#[derive(Clone, Debug)]
pub(crate) struct Element {
    pub name: String,
    pub attributes: Vec<Attribute>,
    pub children: Vec<ElementId>,
    pub file: usize,
    /// Its start tag's first byte in its file.
    pub start: usize,
}

/// One of the files that a model is written in.
#[derive(Clone, Debug)]
pub(crate) struct File {
    pub path: PathBuf,
    pub text: String,
    /// The file that includes it, and where that include stands there; none of the main file.
    pub included: Option<(usize, Range<usize>)>,
    /// What stands between the tags of its root element.
    pub content: Range<usize>,
}

/// All elements of a model; element 0 is the root.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    pub files: Vec<File>,
    pub elements: Vec<Element>,
}

impl Document {
    /// Reads the main file and all that it includes; `root` is the name of its root element.
    pub fn read(path: &Path, root: &str) -> Result<Self> {
        Self::parse(path, &read_text(path)?, root)
    }

    /// Reads the main file from text; included files come from the directory of `path`.
    pub fn parse(path: &Path, text: &str, root: &str) -> Result<Self> {
        let mut document = Self { files: Vec::new(), elements: Vec::new() };
        let mut seen = HashSet::new();
        seen.insert(identity(path));
        document.load(path, text.to_owned(), None, None, &mut seen, 0)?;
        let found = &document.elements[0].name;
        if found != root {
            return Err(document
                .error(0, ErrorKind::Syntax)
                .element("")
                .expected(format!("<{root}> as the root element"))
                .found(format!("<{found}>")));
        }
        Ok(document)
    }

    /// Appends the elements of a file: all of them, or where `parent` is given those below the root,
    /// as children of `parent`.
    fn load(
        &mut self,
        path: &Path,
        text: String,
        parent: Option<ElementId>,
        included: Option<(usize, Range<usize>)>,
        seen: &mut HashSet<PathBuf>,
        depth: usize,
    ) -> Result<()> {
        let file = self.files.len();
        let own = File { path: path.to_path_buf(), text: text.clone(), included, content: 0..0 };
        self.files.push(own);
        let tree = roxmltree::Document::parse(&text).map_err(|e| {
            let at = e.pos();
            Error::new(ErrorKind::Syntax)
                .in_file(path)
                .at(at.row as usize, at.col as usize)
                .found(clean(&e))
        })?;
        let root = tree.root_element();
        if let (Some(first), Some(last)) = (root.first_child(), root.last_child()) {
            self.files[file].content = first.range().start..last.range().end;
        }
        // Pairs of a node and the element that it becomes a child of, the next one last.
        let mut stack: Vec<(roxmltree::Node<'_, '_>, Option<ElementId>)> = match parent {
            None => vec![(tree.root_element(), None)],
            Some(parent) => children(tree.root_element()).map(|n| (n, Some(parent))).collect(),
        };
        while let Some((node, parent)) = stack.pop() {
            let start = node.range().start;
            let name = node.tag_name().name().to_owned();
            let attributes: Vec<Attribute> = node
                .attributes()
                .map(|a| Attribute {
                    name: a.name().to_owned(),
                    value: a.value().to_owned(),
                    span: a.range_value(),
                })
                .collect();
            if name == "include" {
                let Some(parent) = parent else {
                    return Err(place(path, &text, start).element("include"));
                };
                let name = attributes.iter().find(|a| a.name == "file").ok_or_else(|| {
                    place(path, &text, start).element("include").expected("an attribute file")
                })?;
                if let Some(other) = attributes.iter().find(|a| a.name != "file") {
                    return Err(place(path, &text, other.span.start)
                        .element("include")
                        .expected("only an attribute file")
                        .found(format!("{:?}", other.name)));
                }
                let main = self.files[0].path.parent().unwrap_or(Path::new(""));
                let target = main.join(&name.value);
                let refused = |why: &str| {
                    place(path, &text, name.span.start)
                        .element("include")
                        .found(format!("\"{}\" {why}", target.display()))
                };
                if !seen.insert(identity(&target)) {
                    return Err(refused("a second time; a file can be included once"));
                }
                if depth == MAX_INCLUDE_DEPTH {
                    return Err(refused("too deep in other included files"));
                }
                let included = read_text(&target).map_err(|e| {
                    if e.kind() == ErrorKind::Io { refused(&e.message()) } else { e }
                })?;
                let from = Some((file, node.range()));
                self.load(&target, included, Some(parent), from, seen, depth + 1)?;
                continue;
            }
            let id = self.elements.len();
            self.elements.push(Element { name, attributes, children: Vec::new(), file, start });
            if let Some(parent) = parent {
                self.elements[parent].children.push(id);
            }
            let first = stack.len();
            stack.extend(children(node).map(|n| (n, Some(id))));
            stack[first..].reverse();
        }
        Ok(())
    }

    /// An element.
    pub fn element(&self, id: ElementId) -> &Element {
        &self.elements[id]
    }

    /// The children of an element that have a name, in order.
    pub fn named<'a>(
        &'a self,
        id: ElementId,
        name: &'a str,
    ) -> impl Iterator<Item = ElementId> + 'a {
        self.elements[id].children.iter().copied().filter(move |&c| self.elements[c].name == name)
    }

    /// An attribute of an element.
    pub fn attribute(&self, id: ElementId, name: &str) -> Option<&Attribute> {
        self.elements[id].attributes.iter().find(|a| a.name == name)
    }

    /// `file:line:column` of an element.
    pub fn place(&self, id: ElementId) -> String {
        let element = &self.elements[id];
        let file = &self.files[element.file];
        let (line, column) = line_column(&file.text, element.start);
        format!("{}:{line}:{column}", file.path.display())
    }

    /// An error at an element.
    pub fn error(&self, id: ElementId, kind: ErrorKind) -> Error {
        let element = &self.elements[id];
        self.error_at(id, kind, element.start)
    }

    /// An error at the value of an attribute, or at the element where it has none of that name.
    pub fn error_attribute(&self, id: ElementId, name: &str, kind: ErrorKind) -> Error {
        let Some(attribute) = self.attribute(id, name) else { return self.error(id, kind) };
        let label = format!("{} {name}", self.label(id));
        self.error_at(id, kind, attribute.span.start).element(label)
    }

    fn error_at(&self, id: ElementId, kind: ErrorKind, offset: usize) -> Error {
        let file = &self.files[self.elements[id].file];
        let (line, column) = line_column(&file.text, offset);
        Error::new(kind).in_file(&file.path).at(line, column).element(self.label(id))
    }

    /// `<joint name="knee">`, for messages.
    pub fn label(&self, id: ElementId) -> String {
        let element = &self.elements[id];
        match self.attribute(id, "name") {
            Some(name) => {
                let short: String = name.value.chars().take(60).collect();
                format!("<{} name={short:?}>", element.name)
            }
            None => format!("<{}>", element.name),
        }
    }
}

fn children<'a, 'i>(
    node: roxmltree::Node<'a, 'i>,
) -> impl DoubleEndedIterator<Item = roxmltree::Node<'a, 'i>> {
    node.children().filter(roxmltree::Node::is_element)
}

/// What tells one file from another.
fn identity(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
}

fn place(path: &Path, text: &str, offset: usize) -> Error {
    let (line, column) = line_column(text, offset);
    Error::new(ErrorKind::Syntax).in_file(path).at(line, column)
}

/// The parser's message without the place at its end.
fn clean(e: &roxmltree::Error) -> String {
    let text = e.to_string();
    match text.rfind(" at ") {
        Some(at) if text[at + 4..].contains(':') => text[..at].to_owned(),
        _ => text,
    }
}
