//! The steps of the derivation that are small functions: a list made once from the structure.

use crate::rigid::fluid::{added_mass, semiaxes};
use crate::rigid::tree::GeomKind;
use costate_model::rigid::{Form, extent, principal};
use costate_num::{DualN, Mat3, Quat, Scalar, SymMat3, Vec3};

/// Directions that one evaluation with dual numbers carries.
const LANES: usize = 4;

/// A small function of a few variables.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// Output = input.
    Copy,
    /// Output += input.
    Add,
    /// A vector or quaternion scaled to unit length.
    Normalize,
    /// The six numbers of two end points → position, quaternion, half distance.
    FromTo,
    /// Pose of a geom and that of the mesh's principal frame in it → pose of that frame.
    MeshPose {
        /// Centre of the mesh in the frame of its file.
        center: [f64; 3],
        /// Principal axes in the frame of its file.
        quat: [f64; 4],
    },
    /// Position, quaternion, size, mass or density of a geom → mass, first moment, inertia about the
    /// body's origin in the body's axes.
    GeomInertia {
        /// Shape.
        form: Form,
        /// Whether the mass is on the surface.
        shell: bool,
        /// Whether the last input is a density.
        density: bool,
    },
    /// The same for a mesh, from pose of the file's frame and mass or density.
    MeshInertia {
        /// Volume.
        volume: f64,
        /// Centre in the frame of the file.
        center: [f64; 3],
        /// Inertia about the centre at density one: xx, xy, yy, xz, yz, zz.
        inertia: [f64; 6],
        /// Whether the last input is a density.
        density: bool,
    },
    /// Mass, first moment and inertia about the origin → mass, centre, inertia about the centre.
    AboutCenter,
    /// Total mass, then mass, centre and inertia → the same with that mass.
    ScaleMass,
    /// Principal inertias and their axes → tensor.
    TurnDiagonal,
    /// Tensor × first input / a number.
    Proportional {
        /// The mass that the tensor belongs to.
        reference: f64,
    },
    /// Ten log-Cholesky parameters → mass, centre, inertia about the centre.
    PseudoInertia,
    /// Gear, then coefficients → += gear² coefficients.
    AddByGear,
    /// Time constant, damping ratio, inverse inertias → stiffness, damping for each.
    SpringDamper,
    /// Damping ratio, kp, inverse inertia → −kv.
    ServoDamping,
    /// −input.
    Negate,
    /// Diameter → area.
    Disc,
    /// Size of a geom → masses and moments of the fluid that moves along, per density.
    AddedMass {
        /// Its shape.
        kind: GeomKind,
    },
}

/// A step: a function and where its numbers are.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Op {
    pub kind: Kind,
    pub inputs: Vec<usize>,
    pub outputs: Vec<usize>,
}

/// Scratch of the steps.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    duals_in: Vec<DualN<f64, LANES>>,
    duals_out: Vec<DualN<f64, LANES>>,
    values_in: Vec<f64>,
    values_out: Vec<f64>,
}

impl Op {
    /// Writes the outputs.
    pub fn evaluate(&self, z: &mut [f64], scratch: &mut Scratch) {
        match self.kind {
            Kind::Copy => {
                for (&to, &from) in self.outputs.iter().zip(&self.inputs) {
                    z[to] = z[from];
                }
            }
            Kind::Add => {
                for (&to, &from) in self.outputs.iter().zip(&self.inputs) {
                    z[to] += z[from];
                }
            }
            _ => {
                scratch.values_in.clear();
                scratch.values_in.extend(self.inputs.iter().map(|&i| z[i]));
                scratch.values_out.clear();
                scratch.values_out.resize(self.outputs.len(), 0.0);
                apply(&self.kind, &scratch.values_in, &mut scratch.values_out);
                for (&to, &value) in self.outputs.iter().zip(&scratch.values_out) {
                    if self.kind == Kind::AddByGear {
                        z[to] += value;
                    } else {
                        z[to] = value;
                    }
                }
            }
        }
    }

    /// Carries tangents forward; `z` holds the values.
    pub fn push(&self, z: &[f64], z_dot: &mut [f64], scratch: &mut Scratch) {
        match self.kind {
            Kind::Copy => {
                for (&to, &from) in self.outputs.iter().zip(&self.inputs) {
                    z_dot[to] = z_dot[from];
                }
            }
            Kind::Add => {
                for (&to, &from) in self.outputs.iter().zip(&self.inputs) {
                    z_dot[to] += z_dot[from];
                }
            }
            _ => {
                scratch.duals_in.clear();
                for &i in &self.inputs {
                    let mut dual = DualN::constant(z[i]);
                    dual.tangent[0] = z_dot[i];
                    scratch.duals_in.push(dual);
                }
                scratch.duals_out.clear();
                scratch.duals_out.resize(self.outputs.len(), DualN::constant(0.0));
                apply(&self.kind, &scratch.duals_in, &mut scratch.duals_out);
                for (&to, dual) in self.outputs.iter().zip(&scratch.duals_out) {
                    if self.kind == Kind::AddByGear {
                        z_dot[to] += dual.tangent[0];
                    } else {
                        z_dot[to] = dual.tangent[0];
                    }
                }
            }
        }
    }

    /// Carries adjoints back; `z` holds the values.
    pub fn pull(&self, z: &[f64], z_bar: &mut [f64], scratch: &mut Scratch) {
        match self.kind {
            Kind::Copy => {
                for (&to, &from) in self.outputs.iter().zip(&self.inputs) {
                    let bar = std::mem::take(&mut z_bar[to]);
                    z_bar[from] += bar;
                }
                return;
            }
            Kind::Add => {
                for (&to, &from) in self.outputs.iter().zip(&self.inputs) {
                    let bar = z_bar[to];
                    z_bar[from] += bar;
                }
                return;
            }
            _ => {}
        }
        let keep = self.kind == Kind::AddByGear;
        scratch.values_out.clear();
        for &to in &self.outputs {
            scratch.values_out.push(z_bar[to]);
            if !keep {
                z_bar[to] = 0.0;
            }
        }
        if scratch.values_out.iter().all(|bar| *bar == 0.0) {
            return;
        }
        for first in (0..self.inputs.len()).step_by(LANES) {
            scratch.duals_in.clear();
            for (n, &i) in self.inputs.iter().enumerate() {
                let mut dual = DualN::constant(z[i]);
                if (first..first + LANES).contains(&n) {
                    dual.tangent[n - first] = 1.0;
                }
                scratch.duals_in.push(dual);
            }
            scratch.duals_out.clear();
            scratch.duals_out.resize(self.outputs.len(), DualN::constant(0.0));
            apply(&self.kind, &scratch.duals_in, &mut scratch.duals_out);
            for n in first..self.inputs.len().min(first + LANES) {
                let mut sum = 0.0;
                for (bar, dual) in scratch.values_out.iter().zip(&scratch.duals_out) {
                    sum += bar * dual.tangent[n - first];
                }
                z_bar[self.inputs[n]] += sum;
            }
        }
    }
}

fn vec3<S: Scalar>(x: &[S]) -> Vec3<S> {
    Vec3::new(x[0], x[1], x[2])
}

fn quat<S: Scalar>(x: &[S]) -> Quat<S> {
    Quat::new(x[0], x[1], x[2], x[3])
}

/// One over x, zero at zero.
fn inverse<S: Scalar>(x: S) -> S {
    let zero = x.equals(S::zero());
    S::select(zero, S::zero(), S::select(zero, S::one(), x).recip())
}

/// Inertia of a point of mass one at r about the origin.
fn point<S: Scalar>(r: Vec3<S>) -> SymMat3<S> {
    let (xx, yy, zz) = (r.x * r.x, r.y * r.y, r.z * r.z);
    SymMat3::from_array([yy + zz, -(r.x * r.y), xx + zz, -(r.x * r.z), -(r.y * r.z), xx + yy])
}

fn scaled<S: Scalar>(m: SymMat3<S>, s: S) -> [S; 6] {
    m.to_array().map(|x| x * s)
}

fn write<S: Scalar>(y: &mut [S], values: &[S]) {
    y[..values.len()].copy_from_slice(values);
}

/// Mass, first moment and inertia about the origin, of a mass with its centre and inertia about it.
fn about_origin<S: Scalar>(y: &mut [S], mass: S, center: Vec3<S>, inertia: SymMat3<S>) {
    y[0] = mass;
    write(&mut y[1..], &[center.x * mass, center.y * mass, center.z * mass]);
    let (own, moved) = (inertia.to_array(), scaled(point(center), mass));
    for i in 0..6 {
        y[4 + i] = own[i] + moved[i];
    }
}

/// The function of a kind but [`Kind::Copy`] and [`Kind::Add`].
fn apply<S: Scalar>(kind: &Kind, x: &[S], y: &mut [S]) {
    match kind {
        Kind::Copy | Kind::Add => {}
        Kind::Normalize => {
            let mut squared = S::zero();
            for value in x {
                squared += *value * *value;
            }
            let scale = inverse(squared.sqrt());
            for (y, x) in y.iter_mut().zip(x) {
                *y = *x * scale;
            }
        }
        Kind::FromTo => from_to(x, y),
        Kind::MeshPose { center, quat: axes } => {
            let (p, q) = (vec3(x), quat(&x[3..]).normalize());
            let place = p + q.rotate(Vec3::splat(*center));
            let [w, i, j, k] = axes.map(S::splat);
            let turned = q.product(Quat::new(w, i, j, k));
            write(y, &[place.x, place.y, place.z, turned.w, turned.v.x, turned.v.y, turned.v.z]);
        }
        Kind::GeomInertia { form, shell, density } => {
            let (p, q) = (vec3(x), quat(&x[3..]).normalize());
            let size = [x[7], x[8], x[9]];
            let mass = if *density { x[10] * extent(*form, *shell, size) } else { x[10] };
            let diagonal = SymMat3::from_diagonal(principal(*form, *shell, size));
            let turned = diagonal.congruence(q.to_matrix().transpose());
            about_origin(y, mass, p, SymMat3::from_array(scaled(turned, mass)));
        }
        Kind::MeshInertia { volume, center, inertia, density } => {
            let (p, q) = (vec3(x), quat(&x[3..]).normalize());
            let mass = if *density { x[7].scale(*volume) } else { x[7] };
            let place = p + q.rotate(Vec3::splat(*center));
            let own = SymMat3::from_array(inertia.map(S::splat));
            let turned = own.congruence(q.to_matrix().transpose());
            let per_mass = mass.scale(1.0 / volume);
            about_origin(y, mass, place, SymMat3::from_array(scaled(turned, per_mass)));
        }
        Kind::AboutCenter => {
            let mass = x[0];
            let center = vec3(&x[1..]) * inverse(mass);
            let moved = scaled(point(center), mass);
            write(y, &[mass, center.x, center.y, center.z]);
            for i in 0..6 {
                y[4 + i] = x[4 + i] - moved[i];
            }
        }
        Kind::ScaleMass => {
            let factor = x[0] * inverse(x[1]);
            write(y, &[x[0], x[2], x[3], x[4]]);
            for i in 0..6 {
                y[4 + i] = x[5 + i] * factor;
            }
        }
        Kind::TurnDiagonal => {
            let q = quat(&x[3..]).normalize();
            let tensor = SymMat3::from_diagonal(vec3(x)).congruence(q.to_matrix().transpose());
            write(y, &tensor.to_array());
        }
        Kind::Proportional { reference } => {
            let factor = x[0].scale(1.0 / reference);
            for i in 0..6 {
                y[i] = x[1 + i] * factor;
            }
        }
        Kind::PseudoInertia => pseudo_inertia(x, y),
        Kind::AddByGear => {
            let square = x[0] * x[0];
            for (y, x) in y.iter_mut().zip(&x[1..]) {
                *y = square * *x;
            }
        }
        Kind::SpringDamper => {
            let mut inverse_inertia = S::zero();
            for value in &x[2..] {
                inverse_inertia += *value;
            }
            let inertia = S::splat((x.len() - 2) as f64) * inverse(inverse_inertia);
            let (time, ratio) = (x[0], x[1]);
            y[0] = inertia * inverse(time * time * ratio * ratio);
            for damping in &mut y[1..] {
                *damping = inertia * inverse(time) * S::splat(2.0);
            }
        }
        Kind::ServoDamping => {
            let mass = inverse(x[2]);
            y[0] = -(x[0] * (x[1] * mass).sqrt() * S::splat(2.0));
        }
        Kind::Negate => {
            for (y, x) in y.iter_mut().zip(x) {
                *y = -*x;
            }
        }
        Kind::AddedMass { kind } => {
            write(y, &added_mass(semiaxes(*kind, [x[0], x[1], x[2]])));
        }
        Kind::Disc => y[0] = x[0] * x[0] * S::splat(std::f64::consts::PI / 4.0),
    }
}

/// Position, quaternion of the shortest turn of z, and half length, of two end points.
fn from_to<S: Scalar>(x: &[S], y: &mut [S]) {
    let (first, second) = (vec3(x), vec3(&x[3..]));
    let (axis, length) = (first - second).normalize();
    let middle = (first + second) * S::splat(0.5);
    // cos and sin of half the angle from z; half a turn is about x.
    let down = axis.z.lt(S::zero());
    let across = axis.x * axis.x + axis.y * axis.y;
    let away = S::select(down, S::one() - axis.z, S::one());
    let up = S::select(down, across / away, S::one() + axis.z) * S::splat(0.5);
    let backward = up.lt(S::splat(2.5e-21));
    let w = S::select(backward, S::one(), up).sqrt();
    let scale = S::splat(0.5) * w.recip();
    let turned = [w, -(axis.y * scale), axis.x * scale, S::zero()];
    // At the half turn, where the shortest turn jumps, the half turn about x followed by the shortest one
    // from there: of a shape that is round about its axis the derivatives are exact.
    let near = ((S::one() - axis.z) * S::splat(0.5)).max(S::splat(0.5)).sqrt();
    let tilt = S::splat(0.5) * near.recip();
    let half_turn = [-(axis.y * tilt), near, S::zero(), axis.x * tilt];
    write(y, &middle.to_array());
    for i in 0..4 {
        y[3 + i] = S::select(backward, half_turn[i], turned[i]);
    }
    if y.len() > 7 {
        y[7] = length * S::splat(0.5);
    }
}

/// From log-Cholesky parameters (Rucker and Wensing 2022): the pseudo-inertia [Σ h; hᵀ m] is
/// e^{2α} U Uᵀ, Σ the second moments of mass about the body's origin.
fn pseudo_inertia<S: Scalar>(x: &[S], y: &mut [S]) {
    let [alpha, d1, d2, d3, s12, s23, s13, t1, t2, t3] =
        [x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8], x[9]];
    let mass = (alpha + alpha).exp();
    let zero = S::zero();
    let rows = Mat3::from_rows([d1.exp(), s12, s13, zero, d2.exp(), s23, zero, zero, d3.exp()]);
    // Second moments per mass about the centre, which is at t.
    let moments = SymMat3::from_matrix(rows.matmul(rows.transpose())).to_array();
    let [xx, xy, yy, xz, yz, zz] = moments.map(|m| m * mass);
    write(y, &[mass, t1, t2, t3, yy + zz, -xy, xx + zz, -xz, -yz, xx + yy]);
}
