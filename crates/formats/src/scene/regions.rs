//! Named parts of a body, and the vertices that something acts on.

use super::shape::Shape;
use crate::error::{ErrorKind, Result};
use crate::toml_reader::{Node, Section};
use costate_model::{Region, SoftBuilder};
use std::collections::{BTreeMap, HashMap};

/// Positions count as inside a box or sphere, or as on a side, within this part of the body's
/// extent: cell sizes are no exact binary fractions.
const TOLERANCE: f64 = 1e-9;

/// The body whose parts are named.
pub(super) struct Parts<'a> {
    builder: &'a SoftBuilder,
    shape: &'a Shape,
    tetrahedra_at: Incidence,
    triangles_at: Incidence,
}

/// The elements at each vertex.
struct Incidence {
    starts: Vec<usize>,
    elements: Vec<u32>,
}

impl Incidence {
    fn new<const N: usize>(vertices: usize, elements: &[[u32; N]]) -> Self {
        let mut starts = vec![0; vertices + 1];
        for &v in elements.iter().flatten() {
            starts[v as usize + 1] += 1;
        }
        for i in 0..vertices {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut list = vec![0; N * elements.len()];
        for (i, element) in elements.iter().enumerate() {
            for &v in element {
                list[next[v as usize]] = i as u32;
                next[v as usize] += 1;
            }
        }
        Self { starts, elements: list }
    }

    /// Elements with all their vertices among `vertices`, which `inside` marks.
    fn enclosed<const N: usize>(
        &self,
        vertices: &[u32],
        inside: &[bool],
        elements: &[[u32; N]],
    ) -> Vec<u32> {
        let at = |&v: &u32| &self.elements[self.starts[v as usize]..self.starts[v as usize + 1]];
        let mut found: Vec<u32> = vertices.iter().flat_map(at).copied().collect();
        found.sort_unstable();
        found.dedup();
        found.retain(|&i| elements[i as usize].iter().all(|&v| inside[v as usize]));
        found
    }
}

impl<'a> Parts<'a> {
    pub fn new(builder: &'a SoftBuilder, shape: &'a Shape) -> Self {
        let n = builder.vertices().len();
        Self {
            builder,
            shape,
            tetrahedra_at: Incidence::new(n, builder.tetrahedra_so_far()),
            triangles_at: Incidence::new(n, builder.triangles_so_far()),
        }
    }

    /// All regions: the mesh's groups, then those of the file.
    pub fn read_all(&self, body: &Section<'_>) -> Result<BTreeMap<String, Region>> {
        let mut regions = BTreeMap::new();
        let (index, mut marks) = (self.membrane_index(), self.no_marks());
        for name in self.shape.groups.keys() {
            regions.insert(name.clone(), self.of_group(name, &index, &mut marks));
        }
        for (name, node) in body.entries("regions")? {
            let region = self.read(&node)?;
            if region.vertices.is_empty() {
                return Err(node
                    .error(ErrorKind::Missing)
                    .expected("a region with vertices in it")
                    .found("none")
                    .advice("regions are given in the body's own frame, in m, at rest"));
            }
            regions.insert(name, region);
        }
        Ok(regions)
    }

    /// Membrane triangles by their sorted vertices.
    fn membrane_index(&self) -> HashMap<[u32; 3], u32> {
        let membrane = self.builder.triangles_so_far();
        membrane.iter().enumerate().map(|(i, t)| (sorted(*t), i as u32)).collect()
    }

    fn of_group(
        &self,
        name: &str,
        membrane: &HashMap<[u32; 3], u32>,
        marks: &mut [bool],
    ) -> Region {
        let Some(group) = self.shape.groups.get(name) else { return Region::default() };
        let mut region = self.made_of(group.vertices.clone(), marks);
        // What the file tags goes before what its vertices enclose.
        if !group.tetrahedra.is_empty() || !group.triangles.is_empty() {
            region.tetrahedra.clone_from(&group.tetrahedra);
        }
        if !group.triangles.is_empty() {
            let tagged = group.triangles.iter().map(|&t| sorted(self.shape.triangles[t as usize]));
            region.triangles = tagged.filter_map(|t| membrane.get(&t).copied()).collect();
            region.triangles.sort_unstable();
        }
        region
    }

    /// The region of some vertices, sorted here, and the elements that they make up.
    fn made_of(&self, mut vertices: Vec<u32>, marks: &mut [bool]) -> Region {
        vertices.sort_unstable();
        vertices.dedup();
        vertices.iter().for_each(|&v| marks[v as usize] = true);
        let (tetrahedra, triangles) =
            (self.builder.tetrahedra_so_far(), self.builder.triangles_so_far());
        let region = Region {
            tetrahedra: self.tetrahedra_at.enclosed(&vertices, marks, tetrahedra),
            triangles: self.triangles_at.enclosed(&vertices, marks, triangles),
            vertices,
        };
        region.vertices.iter().for_each(|&v| marks[v as usize] = false);
        region
    }

    /// No vertex marked yet.
    fn no_marks(&self) -> Vec<bool> {
        vec![false; self.builder.vertices().len()]
    }

    fn within(&self, inside: impl Fn(&[f64; 3]) -> bool) -> Region {
        let vertices = self.builder.vertices().iter().enumerate();
        let vertices = vertices.filter(|(_, x)| inside(x)).map(|(i, _)| i as u32).collect();
        self.made_of(vertices, &mut self.no_marks())
    }

    /// Smallest and largest coordinates, and the tolerance that follows.
    fn extent(&self) -> ([f64; 3], [f64; 3], f64) {
        let mut low = [f64::INFINITY; 3];
        let mut high = [f64::NEG_INFINITY; 3];
        for x in self.builder.vertices() {
            for k in 0..3 {
                low[k] = low[k].min(x[k]);
                high[k] = high[k].max(x[k]);
            }
        }
        let size = (0..3).map(|k| high[k] - low[k]).fold(0.0, f64::max);
        (low, high, TOLERANCE * size)
    }

    /// A region as a table: `{ box = … }`, `{ sphere = … }`, `{ side = … }`, `{ group = … }` or
    /// `{ vertices = … }`.
    pub fn read(&self, node: &Node<'_>) -> Result<Region> {
        let table = node.section()?;
        let kinds = ["box", "sphere", "side", "group", "vertices"];
        table.exclusive(&kinds)?;
        let (low, high, tolerance) = self.extent();
        let region = if let Some(corners) = table.get("box") {
            let corner = |n: &Node<'_>| n.tuple::<f64, 3>("three numbers", Node::limit);
            let [a, b] = corners.tuple::<_, 2>("two corners [[x, y, z], [x, y, z]]", corner)?;
            if (0..3).any(|k| a[k] > b[k]) {
                return Err(corners.out_of_bounds("the lower corner before the upper one"));
            }
            let inside =
                |x: &[f64; 3]| (0..3).all(|k| x[k] >= a[k] - tolerance && x[k] <= b[k] + tolerance);
            self.within(inside)
        } else if let Some(sphere) = table.section("sphere")? {
            let c = sphere.req("center", Node::vector::<3>)?;
            let r = sphere.req("radius", Node::non_negative)? + tolerance;
            sphere.finish()?;
            self.within(|x| (0..3).map(|k| (x[k] - c[k]).powi(2)).sum::<f64>() <= r * r)
        } else if let Some(side) = table.get("side") {
            let (axis, upper) = side.choice(&[
                ("x-", (0, false)),
                ("x+", (0, true)),
                ("y-", (1, false)),
                ("y+", (1, true)),
                ("z-", (2, false)),
                ("z+", (2, true)),
            ])?;
            let at = if upper { high[axis] } else { low[axis] };
            self.within(|x| (x[axis] - at).abs() <= tolerance)
        } else if let Some(group) = table.get("group") {
            let name = group.string()?;
            if !self.shape.groups.contains_key(name) {
                let known = self.shape.groups.keys().map(String::as_str);
                return Err(group.unknown_name("a group of the mesh file", known));
            }
            self.of_group(name, &self.membrane_index(), &mut self.no_marks())
        } else if let Some(list) = table.get("vertices") {
            self.made_of(self.indices(&list)?, &mut self.no_marks())
        } else {
            table.finish()?;
            return Err(table
                .error(ErrorKind::Missing)
                .expected("box, sphere, side, group or vertices")
                .found("none"));
        };
        table.finish()?;
        Ok(region)
    }

    fn indices(&self, list: &Node<'_>) -> Result<Vec<u32>> {
        let count = self.builder.vertices().len();
        list.list("an array of vertex indices", |n| match n.count()? {
            i if i < count => Ok(i as u32),
            _ => Err(n
                .error(ErrorKind::IndexOutOfRange)
                .expected(format!("a vertex from 0 to {}", count as i64 - 1))
                .found(n.described())),
        })
    }

    /// Vertices that something acts on: the name of a region, an array of names, an array of
    /// indices, or a region as a table.
    pub fn vertices(
        &self,
        regions: &BTreeMap<String, Region>,
        node: &Node<'_>,
    ) -> Result<Vec<u32>> {
        let named = |n: &Node<'_>| {
            let known = regions.keys().map(String::as_str);
            match regions.get(n.string()?) {
                Some(region) => Ok(region.vertices.clone()),
                None => Err(n.unknown_name("a region", known)),
            }
        };
        let mut vertices = if node.is_table() {
            self.read(node)?.vertices
        } else if node.is_string() {
            named(node)?
        } else if !node.is_array() {
            return Err(node.unexpected("the name of a region, vertex indices or a region"));
        } else if node.items()?.first().is_some_and(Node::is_string) {
            node.list("an array of names of regions", named)?.concat()
        } else {
            self.indices(node)?
        };
        vertices.sort_unstable();
        vertices.dedup();
        Ok(vertices)
    }
}

fn sorted(mut t: [u32; 3]) -> [u32; 3] {
    t.sort_unstable();
    t
}
