use super::{Mesh, Source};
use crate::error::{Error, ErrorKind, Result};
use std::collections::HashMap;

/// Below this ratio of six volumes to the cube of the longest edge (two areas to its square) an
/// element counts as degenerate. A regular tetrahedron has 0.71, a triangle 0.87; meshers give up
/// on elements long before 1e-9, while rounding of coordinates alone stays near 1e-16.
const DEGENERATE: f64 = 1e-9;

impl Mesh {
    /// Refuses what a simulation could not run on.
    ///
    /// # Errors
    /// A mesh without elements; coordinates that are not finite; an index out of range; an element
    /// that is inverted, degenerate or repeated; a vertex that no element uses. The error names
    /// file, line and index.
    pub fn check(&self) -> Result<()> {
        if self.tetrahedra.is_empty() && self.triangles.is_empty() {
            return Err(Error::new(ErrorKind::Missing)
                .in_file(&self.file)
                .expected("tetrahedra or triangles")
                .found("none"));
        }
        for (i, x) in self.vertices.iter().enumerate() {
            if !x.iter().all(|c| c.is_finite()) {
                return Err(self
                    .at(ErrorKind::NotANumber, "vertex", i, &self.vertex_sources)
                    .expected("finite coordinates")
                    .found(format!("{x:?}")));
            }
        }
        self.check_tetrahedra()?;
        self.check_triangles()?;
        self.check_used()
    }

    fn at(&self, kind: ErrorKind, what: &str, index: usize, sources: &[Source]) -> Error {
        let e = Error::new(kind).in_file(&self.file);
        match sources.get(index) {
            Some(s) => {
                let e = e.element(format!("{what} {index} (number {} in the file)", s.number));
                if s.line > 0 { e.at_line(s.line as usize) } else { e }
            }
            None => e.element(format!("{what} {index}")),
        }
    }

    fn in_range(&self, what: &str, i: usize, element: &[u32], sources: &[Source]) -> Result<()> {
        let count = self.vertices.len();
        match element.iter().find(|&&v| v as usize >= count) {
            Some(v) => Err(self
                .at(ErrorKind::IndexOutOfRange, what, i, sources)
                .expected(format!("vertex indices below {count}"))
                .found(format!("{v}"))),
            None => Ok(()),
        }
    }

    fn check_tetrahedra(&self) -> Result<()> {
        let sources = &self.tetrahedron_sources;
        let mut seen: HashMap<[u32; 4], usize> = HashMap::with_capacity(self.tetrahedra.len());
        for (i, t) in self.tetrahedra.iter().enumerate() {
            self.in_range("tetrahedron", i, t, sources)?;
            let x = t.map(|v| self.vertices[v as usize]);
            let shape = scaled_volume(x);
            if shape.abs() <= DEGENERATE {
                return Err(self
                    .at(ErrorKind::Degenerate, "tetrahedron", i, sources)
                    .expected(format!("a volume (6 V above {DEGENERATE} of the longest edge³)"))
                    .found(format!("6 V = {shape:.2e} of it"))
                    .advice("remove the element or mesh again"));
            }
            if shape < 0.0 {
                return Err(self
                    .at(ErrorKind::Inverted, "tetrahedron", i, sources)
                    .expected("a positive volume, vertex 3 on the side that 0, 1, 2 turn to")
                    .found(format!("6 V = {shape:.2e} of the longest edge³"))
                    .advice("swap two of its vertices"));
            }
            let mut key = *t;
            key.sort_unstable();
            if let Some(first) = seen.insert(key, i) {
                return Err(self.duplicate("tetrahedron", i, first, sources));
            }
        }
        Ok(())
    }

    fn check_triangles(&self) -> Result<()> {
        let sources = &self.triangle_sources;
        let mut seen: HashMap<[u32; 3], usize> = HashMap::with_capacity(self.triangles.len());
        for (i, t) in self.triangles.iter().enumerate() {
            self.in_range("triangle", i, t, sources)?;
            let x = t.map(|v| self.vertices[v as usize]);
            let shape = scaled_area(x);
            if shape <= DEGENERATE {
                return Err(self
                    .at(ErrorKind::Degenerate, "triangle", i, sources)
                    .expected(format!("an area (2 A above {DEGENERATE} of the longest edge²)"))
                    .found(format!("2 A = {shape:.2e} of it"))
                    .advice("remove the element or mesh again"));
            }
            let mut key = *t;
            key.sort_unstable();
            if let Some(first) = seen.insert(key, i) {
                return Err(self.duplicate("triangle", i, first, sources));
            }
        }
        Ok(())
    }

    fn duplicate(&self, what: &str, i: usize, first: usize, sources: &[Source]) -> Error {
        let place = match sources.get(first) {
            Some(s) if s.line > 0 => format!(" in line {}", s.line),
            _ => String::new(),
        };
        self.at(ErrorKind::Duplicate, what, i, sources)
            .expected("every element once")
            .found(format!("the vertices of {what} {first}{place} again"))
            .advice("remove one of the two")
    }

    fn check_used(&self) -> Result<()> {
        let mut used = vec![false; self.vertices.len()];
        let all = self.tetrahedra.iter().flatten().chain(self.triangles.iter().flatten());
        for &v in all {
            used[v as usize] = true;
        }
        match used.iter().position(|u| !u) {
            Some(i) => Err(self
                .at(ErrorKind::Unreferenced, "vertex", i, &self.vertex_sources)
                .expected("every vertex in a tetrahedron or triangle")
                .found("a vertex that none uses and that would have no mass")
                .advice("remove it")),
            None => Ok(()),
        }
    }
}

/// Edge vectors from the first vertex, in units of the longest edge; none without an extent.
fn scaled_edges<const N: usize>(x: [[f64; 3]; N]) -> Option<[[f64; 3]; N]> {
    let mut longest = 0.0_f64;
    for i in 0..N {
        for j in 0..i {
            let d = [0, 1, 2].map(|k| x[i][k] - x[j][k]);
            let largest = d[0].abs().max(d[1].abs()).max(d[2].abs());
            // Scaled by the largest component so that squares neither overflow nor vanish.
            let length = largest * d.map(|c| (c / largest).powi(2)).iter().sum::<f64>().sqrt();
            if largest > 0.0 {
                longest = longest.max(length);
            }
        }
    }
    if longest > 0.0 && longest.is_finite() {
        Some(x.map(|p| [0, 1, 2].map(|k| (p[k] - x[0][k]) / longest)))
    } else {
        None
    }
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// Six times the signed volume over the cube of the longest edge.
fn scaled_volume(x: [[f64; 3]; 4]) -> f64 {
    scaled_edges(x).map_or(0.0, |e| {
        let n = cross(e[2], e[3]);
        e[1][0] * n[0] + e[1][1] * n[1] + e[1][2] * n[2]
    })
}

/// Twice the area over the square of the longest edge.
fn scaled_area(x: [[f64; 3]; 3]) -> f64 {
    scaled_edges(x).map_or(0.0, |e| {
        let n = cross(e[1], e[2]);
        (n[0] * n[0] + n[1] * n[1] + n[2] * n[2]).sqrt()
    })
}
