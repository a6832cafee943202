//! Volume, centre and inertia of a triangle mesh at density one.

use costate_model::rigid::{Hull, HullError};

use super::super::pose::{cross, dot, from_axes, norm};

/// How a mesh's mass is distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MassRule {
    /// The sum of all tetrahedra between the triangles and the centre, each counted positive.
    Legacy,
    /// The volume that the mesh encloses.
    Exact,
    /// On the surface.
    Shell,
    /// The volume of the convex hull.
    Convex,
}

/// Mass properties at density one.
pub(crate) struct Weighed {
    pub volume: f64,
    pub center: [f64; 3],
    /// xx, yy, zz, xy, xz, yz about the centre.
    pub inertia: [f64; 6],
    /// Principal axes, largest inertia first.
    pub quat: [f64; 4],
}

/// A triangle's corners, unit normal, area and centre.
struct Face {
    corners: [[f64; 3]; 3],
    normal: [f64; 3],
    area: f64,
    center: [f64; 3],
}

fn face(vertices: &[[f64; 3]], triangle: [u32; 3], origin: [f64; 3]) -> Face {
    let corners = triangle.map(|v| {
        let p = vertices[v as usize];
        [0, 1, 2].map(|i| p[i] - origin[i])
    });
    let edge = |k: usize| [0, 1, 2].map(|i| corners[k][i] - corners[0][i]);
    let product = cross(edge(1), edge(2));
    let length = norm(product);
    let normal = if length > 0.0 { product.map(|x| x / length) } else { [0.0; 3] };
    let center = [0, 1, 2].map(|i| (corners[0][i] + corners[1][i] + corners[2][i]) / 3.0);
    Face { corners, normal, area: length / 2.0, center }
}

/// Weighs a mesh. The polyhedral integrals are those of tetrahedra between a triangle and a common
/// point (Tonon 2004).
pub(crate) fn weigh(
    vertices: &[[f64; 3]],
    triangles: &[[u32; 3]],
    rule: MassRule,
) -> Result<Weighed, &'static str> {
    if rule == MassRule::Convex {
        let hull = Hull::new(vertices).map_err(|e| match e {
            HullError::Flat => "a mesh whose convex hull has no volume",
            HullError::NotFinite => "a vertex that is not finite",
        })?;
        return weigh(&hull.vertices, &hull.triangles, MassRule::Exact);
    }
    let origin = [0.0; 3];
    let (mut area, mut middle) = (0.0, [0.0; 3]);
    for &triangle in triangles {
        let f = face(vertices, triangle, origin);
        area += f.area;
        for i in 0..3 {
            middle[i] += f.area * f.center[i];
        }
    }
    if !(area > 1e-15 && area.is_finite()) {
        return Err("a mesh without area");
    }
    let middle = middle.map(|x| x / area);
    let weight = |f: &Face| {
        let signed = dot(f.center, f.normal) * f.area / 3.0;
        match rule {
            MassRule::Shell => f.area,
            MassRule::Legacy => signed.abs(),
            _ => signed,
        }
    };
    let mut total = 0.0;
    let mut center = [0.0; 3];
    for &triangle in triangles {
        let f = face(vertices, triangle, middle);
        let w = weight(&f);
        total += w;
        // The centre of a tetrahedron is three quarters of the way from its tip to its base.
        let reach = if rule == MassRule::Shell { 1.0 } else { 0.75 };
        for i in 0..3 {
            center[i] += w * (middle[i] + reach * f.center[i]);
        }
    }
    if !(total > 1e-15 && total.is_finite()) {
        return Err("a mesh without volume, or with its triangles turned inside out");
    }
    let center = center.map(|x| x / total);
    let mut volume = 0.0;
    // Second moments xx, yy, zz, xy, xz, yz.
    let mut moments = [0.0; 6];
    const PAIRS: [(usize, usize); 6] = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)];
    for &triangle in triangles {
        let f = face(vertices, triangle, center);
        let w = weight(&f);
        volume += w;
        let [a, b, c] = f.corners;
        let sum = [0, 1, 2].map(|i| a[i] + b[i] + c[i]);
        let per = if rule == MassRule::Shell { 12.0 } else { 20.0 };
        for (moment, (i, j)) in moments.iter_mut().zip(PAIRS) {
            let own = a[i] * a[j] + b[i] * b[j] + c[i] * c[j];
            *moment += w / per * (own + sum[i] * sum[j]);
        }
    }
    let [xx, yy, zz, xy, xz, yz] = moments;
    let inertia = [yy + zz, xx + zz, xx + yy, -xy, -xz, -yz];
    Ok(Weighed { volume, center, inertia, quat: principal_axes(inertia) })
}

/// The rotation to principal axes, largest inertia first, by Jacobi rotations.
pub(crate) fn principal_axes([xx, yy, zz, xy, xz, yz]: [f64; 6]) -> [f64; 4] {
    let mut m = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]];
    let mut axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    for _ in 0..60 {
        let pairs = [(0, 1), (0, 2), (1, 2)];
        let (p, q) = pairs.into_iter().fold((0, 1), |best, next| {
            if m[next.0][next.1].abs() > m[best.0][best.1].abs() { next } else { best }
        });
        if m[p][q].abs() <= 1e-16 * (m[0][0].abs() + m[1][1].abs() + m[2][2].abs()) {
            break;
        }
        let tau = (m[q][q] - m[p][p]) / (2.0 * m[p][q]);
        let t = tau.signum() / (tau.abs() + (1.0 + tau * tau).sqrt());
        let c = 1.0 / (1.0 + t * t).sqrt();
        let s = t * c;
        for k in 0..3 {
            let (a, b) = (m[k][p], m[k][q]);
            m[k][p] = c * a - s * b;
            m[k][q] = s * a + c * b;
        }
        for k in 0..3 {
            let (a, b) = (m[p][k], m[q][k]);
            m[p][k] = c * a - s * b;
            m[q][k] = s * a + c * b;
        }
        for axis in &mut axes {
            let (a, b) = (axis[p], axis[q]);
            axis[p] = c * a - s * b;
            axis[q] = s * a + c * b;
        }
    }
    let mut order = [0, 1, 2];
    order.sort_by(|&i, &j| m[j][j].total_cmp(&m[i][i]));
    let column = |k: usize| [axes[0][k], axes[1][k], axes[2][k]];
    let (x, y) = (column(order[0]), column(order[1]));
    from_axes(x, y, cross(x, y))
}
