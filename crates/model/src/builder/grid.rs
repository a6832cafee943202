//! Regular grids of cells.

use super::SoftBuilder;

/// How a box cell is cut into tetrahedra.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GridSplit {
    /// Five tetrahedra, alternating from cell to cell (warp.sim's split).
    #[default]
    Five,
    /// Six tetrahedra around the main diagonal (Kuhn), the same in every cell.
    Six,
}

/// Corner c of a cell in warp.sim's order: bottom ring then top ring about the y axis.
const CORNERS: [[usize; 3]; 8] =
    [[0, 0, 0], [1, 0, 0], [1, 0, 1], [0, 0, 1], [0, 1, 0], [1, 1, 0], [1, 1, 1], [0, 1, 1]];
const FIVE_ODD: [[usize; 4]; 5] =
    [[0, 1, 4, 3], [2, 3, 6, 1], [5, 4, 1, 6], [7, 6, 3, 4], [4, 1, 6, 3]];
const FIVE_EVEN: [[usize; 4]; 5] =
    [[1, 2, 5, 0], [3, 0, 7, 2], [4, 7, 0, 5], [6, 5, 2, 7], [5, 2, 7, 0]];

impl SoftBuilder {
    /// A box of `cells` cells of size `cell` (m) with one corner at the origin of the body's
    /// frame. Vertex (x, y, z) has index ((nx+1)(ny+1)) z + (nx+1) y + x, the cells run with x
    /// innermost.
    pub fn grid(name: &str, cells: [usize; 3], cell: [f64; 3], split: GridSplit) -> Self {
        let [nx, ny, nz] = cells;
        let mut vertices = Vec::with_capacity((nx + 1) * (ny + 1) * (nz + 1));
        for z in 0..=nz {
            for y in 0..=ny {
                for x in 0..=nx {
                    vertices.push([x as f64 * cell[0], y as f64 * cell[1], z as f64 * cell[2]]);
                }
            }
        }
        let mut tetrahedra = Vec::new();
        for z in 0..nz {
            for y in 0..ny {
                for x in 0..nx {
                    let vertex = |c: [usize; 3]| {
                        ((nx + 1) * (ny + 1) * (z + c[2]) + (nx + 1) * (y + c[1]) + x + c[0]) as u32
                    };
                    match split {
                        GridSplit::Five => {
                            let odd = (x ^ y ^ z) & 1 == 1;
                            for t in if odd { FIVE_ODD } else { FIVE_EVEN } {
                                tetrahedra.push(t.map(|c| vertex(CORNERS[c])));
                            }
                        }
                        GridSplit::Six => tetrahedra.extend(kuhn().map(|t| t.map(vertex))),
                    }
                }
            }
        }
        Self::new(name, vertices).with_tetrahedra(tetrahedra)
    }

    /// A rectangular cloth of `cells` cells of size `cell` (m) in the xy plane of the body's
    /// frame, vertex (x, y) at index y (nx+1) + x. `reverse` flips the diagonal's triangles as
    /// warp.sim's `reverse_winding` does.
    pub fn cloth_grid(name: &str, cells: [usize; 2], cell: [f64; 2], reverse: bool) -> Self {
        let [nx, ny] = cells;
        let mut vertices = Vec::new();
        for y in 0..=ny {
            for x in 0..=nx {
                vertices.push([x as f64 * cell[0], y as f64 * cell[1], 0.0]);
            }
        }
        let mut triangles = Vec::new();
        for y in 1..=ny {
            for x in 1..=nx {
                let at = |x: usize, y: usize| (y * (nx + 1) + x) as u32;
                let (a, b, c, d) = (at(x - 1, y - 1), at(x, y - 1), at(x, y), at(x - 1, y));
                if reverse {
                    triangles.extend([[a, b, c], [a, c, d]]);
                } else {
                    triangles.extend([[a, b, d], [b, c, d]]);
                }
            }
        }
        Self::new(name, vertices).with_triangles(triangles)
    }
}

/// Corners of the six tetrahedra along the paths from (0,0,0) to (1,1,1), positively oriented.
fn kuhn() -> [[[usize; 3]; 4]; 6] {
    let axes = [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [2, 1, 0], [1, 0, 2]];
    let mut out = [[[0; 3]; 4]; 6];
    for (i, order) in axes.iter().enumerate() {
        let mut corner = [0; 3];
        for (step, &axis) in order.iter().enumerate() {
            corner[axis] = 1;
            out[i][step + 1] = corner;
        }
        // The last three orders are odd permutations: swap to keep the volume positive.
        if i >= 3 {
            out[i].swap(1, 2);
        }
    }
    out
}
