//! Height fields: grids of heights over a rectangle.

use std::sync::Arc;

/// Heights over a grid of points, with solid ground below.
#[derive(Clone, Debug, PartialEq)]
pub struct HeightField {
    /// Name.
    pub name: String,
    /// How many points along y, at least 2.
    pub rows: usize,
    /// How many points along x, at least 2.
    pub columns: usize,
    /// Heights above z = 0 of the geom's frame, m; row after row from the lowest y, in each from the
    /// lowest x.
    pub heights: Arc<Vec<f64>>,
    /// Half lengths along x and y, m.
    pub half: [f64; 2],
    /// How deep the ground reaches below z = 0, m.
    pub depth: f64,
}

impl HeightField {
    /// A point of the grid in the geom's frame.
    pub fn point(&self, row: usize, column: usize) -> [f64; 3] {
        let along =
            |k: usize, count: usize, half: f64| 2.0 * half * k as f64 / (count - 1) as f64 - half;
        [
            along(column, self.columns, self.half[0]),
            along(row, self.rows, self.half[1]),
            self.heights[row * self.columns + column],
        ]
    }

    /// The two triangles of the cell whose lowest corner is a point of the grid: they meet along the diagonal from
    /// there.
    pub fn triangles(&self, row: usize, column: usize) -> [[[f64; 3]; 3]; 2] {
        let [p, q] = [self.point(row, column), self.point(row + 1, column)];
        let [r, s] = [self.point(row, column + 1), self.point(row + 1, column + 1)];
        [[q, p, s], [p, s, r]]
    }

    /// The surface: its points and the triangles between them, counterclockwise seen from above.
    pub fn surface(&self) -> (Vec<[f64; 3]>, Vec<[u32; 3]>) {
        let mut points = Vec::with_capacity(self.rows * self.columns);
        let mut triangles = Vec::new();
        for row in 0..self.rows {
            for column in 0..self.columns {
                points.push(self.point(row, column));
                if row > 0 && column > 0 {
                    let at = |r: usize, c: usize| (r * self.columns + c) as u32;
                    let [a, b] = [at(row - 1, column - 1), at(row - 1, column)];
                    let [c, d] = [at(row, column - 1), at(row, column)];
                    triangles.extend([[a, d, c], [a, b, d]]);
                }
            }
        }
        (points, triangles)
    }
}
