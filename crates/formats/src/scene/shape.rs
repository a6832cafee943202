//! Where a body's vertices and elements come from.

use crate::error::{ErrorKind, Result};
use crate::mesh::{Group, Mesh};
use crate::toml_reader::{Node, Section};
use costate_model::{GridSplit, SoftBuilder};
use std::collections::BTreeMap;

/// Vertices that a grid in a scene file can have; a slip of the pen must not fill the memory.
const MAX_GRID_VERTICES: usize = 10_000_000;

/// What a shape has beside vertices and tetrahedra.
#[derive(Default)]
pub(super) struct Shape {
    /// Triangles of a mesh file or of the scene file, which a membrane may use.
    pub triangles: Vec<[u32; 3]>,
    /// Groups of a mesh file.
    pub groups: BTreeMap<String, Group>,
    /// Volume of a grid cell, m³.
    pub cell_volume: Option<f64>,
}

/// Reads the one of `grid`, `cloth`, `mesh` and `vertices` that is there.
pub(super) fn read(name: &str, body: &Section<'_>) -> Result<(SoftBuilder, Shape)> {
    let kinds = ["grid", "cloth", "mesh", "vertices"];
    body.exclusive(&kinds)?;
    if let Some(grid) = body.section("grid")? {
        return read_grid(name, &grid);
    }
    if let Some(cloth) = body.section("cloth")? {
        return read_cloth(name, &cloth);
    }
    if let Some(mesh) = body.section("mesh")? {
        return read_mesh(name, &mesh);
    }
    if body.has("vertices") {
        return read_inline(name, body);
    }
    Err(body
        .error(ErrorKind::Missing)
        .expected("a shape: grid, cloth, mesh or vertices")
        .found("none"))
}

/// Numbers of cells along each axis, bounded.
fn cells<const N: usize>(section: &Section<'_>) -> Result<[usize; N]> {
    section.req("cells", |node| {
        let cells = node.indices::<N>()?;
        let vertices = cells.iter().try_fold(1_usize, |n, &c| n.checked_mul(c.checked_add(1)?));
        if cells.contains(&0) {
            return Err(node.out_of_bounds("at least one cell along each axis"));
        }
        match vertices {
            Some(n) if n <= MAX_GRID_VERTICES => Ok(cells),
            _ => Err(node.out_of_bounds(format!("at most {MAX_GRID_VERTICES} vertices"))),
        }
    })
}

/// The size of one cell, given as `cell` or through the `size` of the whole.
fn cell<const N: usize>(section: &Section<'_>, cells: [usize; N]) -> Result<[f64; N]> {
    section.exclusive(&["cell", "size"])?;
    let positive = |n: &Node<'_>| n.tuple::<f64, N>(&format!("{N} lengths in m"), Node::positive);
    if let Some(size) = section.opt("size", positive)? {
        return Ok(std::array::from_fn(|k| size[k] / cells[k] as f64));
    }
    section.req("cell", positive)
}

fn read_grid(name: &str, grid: &Section<'_>) -> Result<(SoftBuilder, Shape)> {
    let cells = cells::<3>(grid)?;
    let cell = cell::<3>(grid, cells)?;
    let splits = [("five", GridSplit::Five), ("six", GridSplit::Six)];
    let split = grid.or("split", GridSplit::Five, |n| n.choice(&splits))?;
    grid.finish()?;
    let shape = Shape { cell_volume: Some(cell.iter().product()), ..Shape::default() };
    Ok((SoftBuilder::grid(name, cells, cell, split), shape))
}

fn read_cloth(name: &str, cloth: &Section<'_>) -> Result<(SoftBuilder, Shape)> {
    let cells = cells::<2>(cloth)?;
    let cell = cell::<2>(cloth, cells)?;
    let reverse = cloth.or("reverse", false, Node::boolean)?;
    cloth.finish()?;
    let builder = SoftBuilder::cloth_grid(name, cells, cell, reverse);
    let triangles = builder.triangles_so_far().to_vec();
    Ok((builder, Shape { triangles, ..Shape::default() }))
}

fn read_mesh(name: &str, section: &Section<'_>) -> Result<(SoftBuilder, Shape)> {
    let node = section.req("file", |n| Ok(n.clone()))?;
    let path = node.file_path()?;
    let scale = section.or("scale", 1.0, Node::positive)?;
    let origin = section.or("origin", [0.0; 3], Node::vector::<3>)?;
    section.finish()?;
    let mesh = Mesh::read(&path).map_err(|e| match e.kind() {
        // The place of a missing file's name is here.
        ErrorKind::Io => node.error(ErrorKind::Io).found(e.to_string()),
        _ => e,
    })?;
    let place = |x: &[f64; 3]| [0, 1, 2].map(|k| scale * (x[k] - origin[k]));
    let vertices = mesh.vertices.iter().map(place).collect();
    let builder = SoftBuilder::new(name, vertices).with_tetrahedra(mesh.tetrahedra);
    let shape = Shape { triangles: mesh.triangles, groups: mesh.groups, cell_volume: None };
    // Without tetrahedra the triangles are the body.
    if builder.tetrahedra_so_far().is_empty() {
        return Ok((builder.with_triangles(shape.triangles.clone()), shape));
    }
    Ok((builder, shape))
}

fn read_inline(name: &str, body: &Section<'_>) -> Result<(SoftBuilder, Shape)> {
    let vertices = body.req("vertices", |n| n.list("an array of [x, y, z]", Node::vector::<3>))?;
    let tetrahedra = body.or("tetrahedra", Vec::new(), |n| rows::<4>(n, vertices.len()))?;
    let triangles = body.or("triangles", Vec::new(), |n| rows::<3>(n, vertices.len()))?;
    let builder = SoftBuilder::new(name, vertices)
        .with_tetrahedra(tetrahedra)
        .with_triangles(triangles.clone());
    Ok((builder, Shape { triangles, ..Shape::default() }))
}

/// Elements by vertex indices, each at its own place in the file when one is wrong.
pub(super) fn rows<const N: usize>(node: &Node<'_>, vertices: usize) -> Result<Vec<[u32; N]>> {
    node.list(&format!("an array of elements of {N} vertices"), |row| {
        let element = row.indices::<N>()?;
        match element.iter().find(|&&v| v >= vertices) {
            None => Ok(element.map(|v| v as u32)),
            Some(v) => Err(row
                .error(ErrorKind::IndexOutOfRange)
                .expected(format!("vertices from 0 to {}", vertices as i64 - 1))
                .found(format!("{v}"))),
        }
    })
}
