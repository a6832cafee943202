//! A changed model as the user's own file with only the changed values replaced.

use super::fields::DEFAULT;
use super::{Scene, locate, robot};
use crate::error::{Error, ErrorKind, Result};
use crate::toml_reader::{Node, Patch, TomlFile, shortest};
use crate::write::write_atomically;
use costate_model::{Extent, Leaf, Model};
use std::io::Write;
use std::path::{Component, Path, PathBuf};

/// Another view of the same quantity: the leaves of a model and the keys that they replace.
const VIEWS: [[[&str; 2]; 2]; 2] =
    [[["young", "mu"], ["poisson", "lambda"]], [["mu", "young"], ["lambda", "poisson"]]];

impl Scene {
    /// The scene's text with the values of `model`, which has the same structure: only the numbers
    /// that differ are replaced, comments and layout stay, and reading the text gives the same
    /// values to the bit. `target` is where the text will stand; paths of meshes follow.
    ///
    /// # Errors
    /// A leaf that the file cannot hold (the rest shape of a mesh file, a total mass that stands
    /// for uneven densities), named with its place.
    pub fn with_values(&self, model: &Model, target: &Path) -> Result<String> {
        // A value that the file leaves to follow from another (a rest length from the vertices) moves
        // with it, and must be said although it is the old one.
        let mut said: Vec<&str> = Vec::new();
        loop {
            let text = self.with_changes(model, target, &said)?;
            let Some(other) = self.read_differently(model, &text)? else { return Ok(text) };
            if said.contains(&other.path.as_str()) {
                return Err(Error::new(ErrorKind::Unsupported)
                    .in_file(self.file.path())
                    .element(other.path.as_str())
                    .expected("a value that the scene file can hold")
                    .found("one that does not read back the same"));
            }
            said.push(&other.path);
        }
    }

    /// The text with all values that differ and with those of the leaves `said`.
    fn with_changes(&self, model: &Model, target: &Path, said: &[&str]) -> Result<String> {
        let mut patch = Patch::new();
        let mut inserts = Inserts::default();
        for (_, leaf) in model.leaves.iter() {
            let old = self.model.leaves.find(&leaf.path).map(|id| self.model.leaves.get(id));
            match old {
                Ok(old) if same(old, leaf) && !said.contains(&leaf.path.as_str()) => {}
                Ok(_) => match locate::leaf(&self.file, &leaf.path) {
                    Some(node) => set(&mut patch, &node, leaf)?,
                    None if self.elsewhere(&leaf.path) => {
                        return Err(robot::not_here(&self.file.root(), &leaf.path));
                    }
                    None => match normal_of(&self.file, &leaf.path) {
                        Some(normal) => replace(&mut patch, &normal, "quat", leaf)?,
                        None => inserts.add(&self.file, leaf)?,
                    },
                },
                Err(_) => self.set_view(&mut patch, leaf)?,
            }
        }
        self.move_meshes(&mut patch, target)?;
        inserts.into_patch(&self.file, &mut patch);
        Ok(patch.apply(&self.file))
    }

    /// Whether a leaf stands in the robot's file and not in the scene's.
    fn elsewhere(&self, path: &str) -> bool {
        let root = self.file.root();
        root.has("robot") && !robot::in_scene(&root, path)
    }

    /// Writes [`with_values`](Self::with_values) to `target`.
    ///
    /// # Errors
    /// As there, or the file cannot be written.
    pub fn write_with_values(&self, model: &Model, target: &Path) -> Result<()> {
        let text = self.with_values(model, target)?;
        write_atomically(target, |w| w.write_all(text.as_bytes()))
    }

    /// Replaces key and value of a quantity that the model gives in another view.
    fn set_view(&self, patch: &mut Patch, leaf: &Leaf) -> Result<()> {
        let (body, name) = leaf.path.rsplit_once('.').unwrap_or(("", &leaf.path));
        let mut pairs = VIEWS.concat();
        pairs.extend([["mass", "density"], ["density", "mass"]]);
        for [new, old] in pairs {
            if name != new {
                continue;
            }
            let Some(node) = locate::leaf(&self.file, &format!("{body}.{old}")) else { continue };
            // A total mass stands for the densities' ratios too, which one number cannot hold.
            if new == "mass" && !node.is_number() {
                return Err(node
                    .error(ErrorKind::Unsupported)
                    .expected("one density, to be replaced by a total mass")
                    .found(node.described())
                    .advice("identify the density instead of the mass"));
            }
            return replace(patch, &node, new, leaf);
        }
        Err(Error::new(ErrorKind::UnknownName)
            .in_file(self.file.path())
            .expected("leaves of the scene")
            .found(format!("`{}`, which has no place in it", leaf.path)))
    }

    /// Makes the paths of mesh files start from the new place.
    fn move_meshes(&self, patch: &mut Patch, target: &Path) -> Result<()> {
        let folder = |p: &Path| {
            let folder = p.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
            std::path::absolute(folder).map_err(|e| Error::io(p, "has no absolute path", e))
        };
        let (from, to) = (folder(self.file.path())?, folder(target)?);
        if normal(&from) == normal(&to) {
            return Ok(());
        }
        let mut follow = |node: &Node<'_>| {
            let written = Path::new(node.string()?);
            if written.is_relative() {
                let path = relative(&normal(&from.join(written)), &normal(&to));
                let path = path.to_string_lossy().replace('\\', "/");
                patch.set_text(node.span(), quoted(&path));
            }
            Ok(())
        };
        self.file.root().opt("robot", &mut follow)?;
        for (_, body) in self.file.root().entries("soft")? {
            let Some(mesh) = body.section()?.section("mesh")? else { continue };
            mesh.opt("file", &mut follow)?;
        }
        Ok(())
    }

    /// Reads the new text from the old place: a leaf that does not come back as it is.
    fn read_differently<'a>(&self, model: &'a Model, text: &str) -> Result<Option<&'a Leaf>> {
        // The meshes stand where they stood: with their former paths the text must read.
        let mut file = TomlFile::parse(self.file.path(), text)?;
        let mut back = Patch::new();
        if let (Some(new), Some(old)) = (file.root().get("robot"), self.file.root().get("robot")) {
            back.set_text(new.span(), quoted(old.string()?));
        }
        for (name, body) in file.root().entries("soft")? {
            let Some(mesh) = body.section()?.section("mesh")? else { continue };
            let old = locate::leaf(&self.file, &format!("soft.{name}.mesh.file"));
            if let (Some(new), Some(old)) = (mesh.get("file"), old) {
                back.set_text(new.span(), quoted(old.string()?));
            }
        }
        file = TomlFile::parse(self.file.path(), &back.apply(&file))?;
        let (read, _) = super::read_model(&file)?;
        let differs = |leaf: &Leaf| {
            let again = read.leaves.find(&leaf.path).map(|id| read.leaves.get(id));
            !again.is_ok_and(|again| same(again, leaf))
        };
        Ok(model.leaves.iter().map(|(_, leaf)| leaf).find(|leaf| differs(leaf)))
    }
}

/// Whether two leaves say the same, one perhaps in one number what the other says per element.
fn same(a: &Leaf, b: &Leaf) -> bool {
    let n = a.values.len().max(b.values.len());
    let fits = |l: &Leaf| l.values.len() == n || l.values.len() == 1;
    fits(a) && fits(b) && (0..n).all(|i| a.at(i).to_bits() == b.at(i).to_bits())
}

/// Puts the values of a leaf where the file has others.
fn set(patch: &mut Patch, node: &Node<'_>, leaf: &Leaf) -> Result<()> {
    let mut members = Vec::new();
    numbers(node, &mut members);
    if members.len() == leaf.values.len() {
        for (member, &value) in members.iter().zip(&leaf.values) {
            if member.limit().ok().is_none_or(|old| old.to_bits() != value.to_bits()) {
                patch.set(member, value);
            }
        }
        return Ok(());
    }
    if let Some(by_group) = group_values(node, leaf)? {
        for (member, value) in by_group {
            patch.set(&member, value);
        }
        return Ok(());
    }
    check_one_line(node)?;
    patch.set_text(node.span(), value_text(leaf));
    Ok(())
}

/// Puts another key with the values of a leaf in the place of a key and its value.
fn replace(patch: &mut Patch, node: &Node<'_>, key: &str, leaf: &Leaf) -> Result<()> {
    check_one_line(node)?;
    patch.set_text(node.key_span(), key.to_owned());
    patch.set_text(node.span(), value_text(leaf));
    Ok(())
}

/// The normal that says a plane's orientation where the leaf is its quaternion.
fn normal_of<'a>(file: &'a TomlFile, path: &str) -> Option<Node<'a>> {
    let plane = path.strip_prefix("geom.")?.strip_suffix(".quat")?;
    locate::leaf(file, &format!("geom.{plane}.normal"))
}

/// A table with a header of its own is no value that an array could replace.
fn check_one_line(node: &Node<'_>) -> Result<()> {
    if !node.is_table() || node.file().text()[node.span()].starts_with('{') {
        return Ok(());
    }
    Err(node
        .error(ErrorKind::Unsupported)
        .expected("a number, an array or an inline table, to be replaced by an array")
        .found("a table with a header")
        .advice("write it in one line as { group = value, … }"))
}

/// All numbers in an array of arrays, in order; a number by itself counts as one.
fn numbers<'a>(node: &Node<'a>, found: &mut Vec<Node<'a>>) {
    if node.is_number() {
        found.push(node.clone());
    } else if node.is_array() {
        for item in node.items().unwrap_or_default() {
            numbers(&item, found);
        }
    }
}

/// New values for a table of groups, if each group has one value.
fn group_values<'a>(node: &Node<'a>, leaf: &Leaf) -> Result<Option<Vec<(Node<'a>, f64)>>> {
    let Extent::Field { count, groups, .. } = &leaf.extent else { return Ok(None) };
    if !node.is_table() {
        return Ok(None);
    }
    let mut covered = vec![false; *count];
    let mut changes = Vec::new();
    let entries = node.section()?.all();
    let one_value = |members: &mut dyn Iterator<Item = usize>| {
        let mut values = members.map(|i| leaf.at(i));
        let first = values.next()?;
        values.all(|v| v.to_bits() == first.to_bits()).then_some(first)
    };
    for (name, value) in entries.iter().filter(|(name, _)| name != DEFAULT) {
        let Some(members) = groups.get(name) else { continue };
        members.iter().for_each(|&i| covered[i as usize] = true);
        match one_value(&mut members.iter().map(|&i| i as usize)) {
            Some(v) => changes.push((value.clone(), v)),
            None => return Ok(None),
        }
    }
    let mut rest = (0..*count).filter(|&i| !covered[i]).peekable();
    if rest.peek().is_some() {
        let default = entries.iter().find(|(name, _)| name == DEFAULT);
        match (default, one_value(&mut rest)) {
            (Some((_, value)), Some(v)) => changes.push((value.clone(), v)),
            _ => return Ok(None),
        }
    }
    Ok(Some(changes))
}

/// The values of a leaf as TOML; one number for a field that is the same everywhere.
fn value_text(leaf: &Leaf) -> String {
    let uniform = leaf.values.windows(2).all(|w| w[0].to_bits() == w[1].to_bits());
    match leaf.values.first() {
        Some(&first) if uniform && matches!(leaf.extent, Extent::Field { .. }) => shortest(first),
        _ => array(&leaf.values, &leaf.shape),
    }
}

/// An array, nested as the shape says; one number for an empty shape.
fn array(values: &[f64], shape: &[usize]) -> String {
    let rows = |width: usize| {
        let rows = values.chunks(width.max(1)).map(|row| {
            let row: Vec<String> = row.iter().copied().map(shortest).collect();
            format!("[{}]", row.join(", "))
        });
        rows.collect::<Vec<String>>()
    };
    match shape {
        [] => values.first().copied().map(shortest).unwrap_or_default(),
        [_] => rows(values.len()).concat(),
        [.., last] => format!("[\n  {},\n]", rows(*last).join(",\n  ")),
    }
}

/// Values for keys that the file leaves at their defaults.
#[derive(Default)]
struct Inserts {
    /// Place, text before, keys with values.
    lines: Vec<(usize, String)>,
    /// What comes at the end of the file, by table header.
    tables: Vec<(String, Vec<String>)>,
}

impl Inserts {
    fn add(&mut self, file: &TomlFile, leaf: &Leaf) -> Result<()> {
        let keys = locate::keys(&leaf.path);
        if leaf.path.ends_with(".rest_position") {
            return Err(Error::new(ErrorKind::Unsupported)
                .in_file(file.path())
                .element(leaf.path.as_str())
                .expected("a rest shape given by vertices in the scene file")
                .found("one from a grid or a mesh file, which cannot hold other positions"));
        }
        let value = value_text(leaf);
        // The deepest table that is written out; what remains becomes a dotted key in it.
        let mut section = file.root();
        let mut best = None;
        for depth in 1..keys.len() {
            let Some(node) = section.get(&keys[depth - 1]) else { break };
            let Ok(next) = node.section() else { break };
            let text = &file.text()[node.span()];
            if text.starts_with('{') || text.starts_with('[') {
                best = Some((depth, node));
            }
            section = next;
        }
        match best {
            Some((depth, node)) => {
                let key = keys[depth..].join(".");
                let text = file.text();
                if text[node.span()].starts_with('{') {
                    let empty = node.section()?.all().is_empty();
                    let comma = if empty { "" } else { "," };
                    self.lines.push((node.span().start + 1, format!(" {key} = {value}{comma}")));
                } else {
                    let end = text[node.span().end..].find('\n').map(|i| node.span().end + i);
                    let end = end.unwrap_or(text.len());
                    self.lines.push((end, format!("\n{key} = {value}")));
                }
            }
            // The table exists through dotted keys at the top of the file only.
            None if file.root().has(&keys[0]) => {
                self.lines.push((0, format!("{} = {value}\n", keys.join("."))));
            }
            None => {
                let line = format!("{} = {value}", keys[1..].join("."));
                match self.tables.iter_mut().find(|t| t.0 == keys[0]) {
                    Some(table) => table.1.push(line),
                    None => self.tables.push((keys[0].clone(), vec![line])),
                }
            }
        }
        Ok(())
    }

    fn into_patch(self, file: &TomlFile, patch: &mut Patch) {
        for (at, text) in self.lines {
            patch.set_text(at..at, text);
        }
        let end = file.text().len();
        for (header, lines) in self.tables {
            let line_end = if file.text().ends_with('\n') { "" } else { "\n" };
            patch.set_text(end..end, format!("{line_end}\n[{header}]\n{}\n", lines.join("\n")));
        }
    }
}

/// A path without `.` and `..` where they can be resolved by the text alone.
fn normal(path: &Path) -> PathBuf {
    let mut result = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                result.pop();
            }
            part => result.push(part),
        }
    }
    result
}

/// The way from a folder to a file; the file itself where they have no common root.
fn relative(file: &Path, folder: &Path) -> PathBuf {
    let mut file_parts = file.components().peekable();
    let mut folder_parts = folder.components().peekable();
    let mut common = false;
    while let (Some(a), Some(b)) = (file_parts.peek(), folder_parts.peek()) {
        if a != b {
            break;
        }
        common = true;
        file_parts.next();
        folder_parts.next();
    }
    if !common {
        return file.to_path_buf();
    }
    let mut way = PathBuf::new();
    folder_parts.for_each(|_| way.push(".."));
    file_parts.for_each(|part| way.push(part));
    way
}

/// A TOML string.
fn quoted(text: &str) -> String {
    let mut result = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => result.extend(['\\', c]),
            c if c.is_control() => result += &format!("\\u{:04X}", u32::from(c)),
            c => result.push(c),
        }
    }
    result + "\""
}
