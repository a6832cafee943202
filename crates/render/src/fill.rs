//! Which pixels a triangle covers.

/// Coordinates are rounded to this part of a pixel. With |coordinate| up to [`GUARD`] the edge
/// functions are then exact in `f64` (products below 2⁵³), so two triangles that share an edge
/// never both take a pixel on it nor both leave it.
const SNAP: f64 = 256.0;

/// Largest distance from the image's middle, in pixels, that a vertex may have.
pub(crate) const GUARD: f64 = 65_536.0;

/// Calls `visit(x, y, barycentric)` for every pixel of a `width` by `height` image whose centre
/// lies in the triangle, row by row. Vertices are (x right, y down) in pixels from the upper left
/// corner. A centre on an edge belongs to the triangle on one side of it only. Triangles without
/// area, with coordinates that are not finite, or beyond the guard band cover nothing.
pub(crate) fn fill(
    vertices: [[f64; 2]; 3],
    width: usize,
    height: usize,
    mut visit: impl FnMut(usize, usize, [f64; 3]),
) {
    let snap = |c: f64| (c * SNAP).round() / SNAP;
    let mut v = vertices.map(|p| p.map(snap));
    if !v.iter().flatten().all(|c| c.abs() <= 2.0 * GUARD) {
        return;
    }
    let edge = |a: [f64; 2], b: [f64; 2], p: [f64; 2]| {
        (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])
    };
    let mut area = edge(v[0], v[1], v[2]);
    let swapped = area < 0.0;
    if swapped {
        v.swap(1, 2);
        area = -area;
    }
    if area == 0.0 {
        return;
    }
    let range = |k: usize, size: usize| {
        let low = v[0][k].min(v[1][k]).min(v[2][k]);
        let high = v[0][k].max(v[1][k]).max(v[2][k]);
        let first = (low - 0.5).ceil().max(0.0) as usize;
        let last = ((high - 0.5).floor() + 1.0).clamp(0.0, size as f64) as usize;
        (first, last)
    };
    let (x0, x1) = range(0, width);
    let (y0, y1) = range(1, height);
    if x0 >= x1 || y0 >= y1 {
        return;
    }
    // Edge i is opposite to vertex i. A centre exactly on it is taken where the edge points down,
    // or right when level: of the two triangles that share it, one sees it so.
    let ends = [(v[1], v[2]), (v[2], v[0]), (v[0], v[1])];
    let takes = ends.map(|(a, b)| b[1] > a[1] || (b[1] == a[1] && b[0] > a[0]));
    let dx = ends.map(|(a, b)| a[1] - b[1]);
    let dy = ends.map(|(a, b)| b[0] - a[0]);
    let corner = [x0 as f64 + 0.5, y0 as f64 + 0.5];
    let mut row = ends.map(|(a, b)| edge(a, b, corner));
    let scale = 1.0 / area;
    for y in y0..y1 {
        let mut e = row;
        for x in x0..x1 {
            if (0..3).all(|i| e[i] > 0.0 || (e[i] == 0.0 && takes[i])) {
                let b = [e[0] * scale, e[1] * scale, e[2] * scale];
                visit(x, y, if swapped { [b[0], b[2], b[1]] } else { b });
            }
            for i in 0..3 {
                e[i] += dx[i];
            }
        }
        for i in 0..3 {
            row[i] += dy[i];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn covered(v: [[f64; 2]; 3]) -> Vec<(usize, usize)> {
        let mut pixels = Vec::new();
        fill(v, 16, 12, |x, y, _| pixels.push((x, y)));
        pixels
    }

    #[test]
    fn covers_the_centres_inside() {
        let got = covered([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]]);
        let want: Vec<_> =
            (0..4).flat_map(|y| (0..4).filter(move |x| x + y < 3).map(move |x| (x, y))).collect();
        // The slanted edge runs through the centres with x + y = 3, which one side owns.
        let on_edge = |p: &&(usize, usize)| p.0 + p.1 == 3;
        let inside: Vec<_> = got.iter().filter(|p| !on_edge(p)).copied().collect();
        assert_eq!(inside, want);
        let count = got.iter().filter(on_edge).count();
        assert!(count == 0 || count == 4, "an edge is taken whole or not at all");
    }

    #[test]
    fn what_cannot_be_drawn_covers_nothing() {
        for bad in [f64::NAN, f64::INFINITY, 1e300] {
            assert!(covered([[0.0, 0.0], [bad, 0.0], [0.0, 4.0]]).is_empty());
        }
        assert!(covered([[1.0, 1.0], [5.0, 5.0], [9.0, 9.0]]).is_empty());
        assert!(covered([[-9.0, -9.0], [-1.0, -9.0], [-9.0, -1.0]]).is_empty());
    }

    proptest! {
        /// A fan around a point tiles its polygon: each pixel is taken exactly once, and the
        /// barycentric coordinates give the pixel's centre back.
        #[test]
        fn neighbours_share_no_pixel_and_leave_none(
            cx in 4.0..12.0f64, cy in 3.0..9.0f64, snapped in any::<bool>(),
        ) {
            let c = if snapped { [cx.floor() + 0.5, cy.floor() + 0.5] } else { [cx, cy] };
            let ring = [[0.0, 0.0], [16.0, 0.0], [16.0, 12.0], [0.0, 12.0]];
            let mut count = [[0; 16]; 12];
            for i in 0..4 {
                let t = [ring[i], ring[(i + 1) % 4], c];
                fill(t, 16, 12, |x, y, b| {
                    count[y][x] += 1;
                    for k in 0..2 {
                        let p: f64 = (0..3).map(|j| b[j] * t[j][k]).sum();
                        assert!((p - [x, y][k] as f64 - 0.5).abs() < 0.02);
                    }
                });
            }
            prop_assert!(count.iter().flatten().all(|n| *n == 1), "{count:?}");
        }
    }
}
