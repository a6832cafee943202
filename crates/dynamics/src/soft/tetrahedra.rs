//! Linear tetrahedra over any material and damping law.

use std::marker::PhantomData;
use std::ops::Range;

use costate_num::{DualN, Mat3, Scalar, Vec3};

use super::damping::{Damping, FrameIndifferent, Kinematics, WarpDamping};
use super::element::{Element, Gradient, Scope};
use super::materials::{DensityTangent, Direction, Material, cofactor_derivative};

/// A linear tetrahedron of a [`Material`] `M` with `N` parameters, damped by [`FrameIndifferent`]
/// or, where [`Scope::warp`] says so, [`WarpDamping`].
///
/// Energy V (ψ(F) + m a (J − 1)) with the rest volume V, the activation a and the material's
/// activation modulus m; force of the damping stress Q on vertex k: −V Q ∇φₖ.
///
/// Parameters (`N + 4`): those of the material, viscosity η (Pa s), damping time β (s), density
/// (kg/m³), activation. Constants (`N + 13`): the inverse B of the rest edge matrix by rows
/// (1/m), V (m³), those of the material, η, β, activation.
pub struct Tetrahedron<M, const N: usize>(PhantomData<M>);

/// Number of a tetrahedron's parameters beside those of its material.
pub const OWN_PARAMETERS: usize = 4;
/// Number of a tetrahedron's constants beside those of its material.
pub const OWN_CONSTANTS: usize = 13;
const VOLUME: usize = 9;
const MATERIAL: usize = 10;

/// Edges from vertex 0, as columns.
#[inline(always)]
fn edges<S: Scalar>(x: &[Vec3<S>; 4]) -> Mat3<S> {
    Mat3::from_columns(x[1] - x[0], x[2] - x[0], x[3] - x[0])
}

/// The last three points, as columns.
#[inline(always)]
fn last<S: Scalar>(x: &[Vec3<S>; 4]) -> Mat3<S> {
    Mat3::from_columns(x[1], x[2], x[3])
}

/// Per-vertex values from those of the last three vertices, summing to zero.
#[inline(always)]
fn balanced<S: Scalar>(columns: &Mat3<S>) -> [Vec3<S>; 4] {
    let [a, b, c] = columns.columns;
    [-(a + b + c), a, b, c]
}

/// The constants by name.
struct Named<S, const N: usize> {
    inverse: Mat3<S>,
    volume: S,
    material: [S; N],
    viscosity: S,
    time: S,
    activation: S,
}

impl<S: Scalar, const N: usize> Named<S, N> {
    #[inline(always)]
    fn new<const C: usize>(c: &[S; C]) -> Self {
        let inverse = Mat3::from_rows([c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8]]);
        let mut material = [S::zero(); N];
        let mut i = 0;
        while i < N {
            material[i] = c[MATERIAL + i];
            i += 1;
        }
        Self {
            inverse,
            volume: c[VOLUME],
            material,
            viscosity: c[MATERIAL + N],
            time: c[MATERIAL + N + 1],
            activation: c[MATERIAL + N + 2],
        }
    }

    /// F, cof F and their rates; the rates are zero where they are not asked for.
    #[inline(always)]
    fn kinematics(&self, x: &[Vec3<S>; 4], v: &[Vec3<S>; 4], rates: bool) -> Kinematics<S> {
        let f = edges(x).matmul(self.inverse);
        let (rate, absolute_rate) = if rates {
            (edges(v).matmul(self.inverse), last(v).matmul(self.inverse))
        } else {
            (Mat3::zero(), Mat3::zero())
        };
        Kinematics { f, cofactor: f.cofactor(), rate, absolute_rate }
    }
}

impl<M: Material<N>, const N: usize, const P: usize, const C: usize> Element<4, P, C>
    for Tetrahedron<M, N>
{
    const NAME: &'static str = "tetrahedron";
    const DISSIPATIVE: bool = true;
    const LANES: bool = true;

    #[inline(always)]
    fn derive<S: Scalar>(rest: &[Vec3<S>; 4], p: &[S; P]) -> [S; C] {
        const { assert!(P == N + OWN_PARAMETERS && C == N + OWN_CONSTANTS) };
        let edges = edges(rest);
        let inverse = edges.inverse().to_rows();
        let mut c = [S::zero(); C];
        let mut i = 0;
        while i < 9 {
            c[i] = inverse[i];
            i += 1;
        }
        c[VOLUME] = edges.determinant().scale(1.0 / 6.0);
        let mut i = 0;
        while i < N + 2 {
            c[MATERIAL + i] = p[i];
            i += 1;
        }
        c[MATERIAL + N + 2] = p[N + 3];
        c
    }

    #[inline(always)]
    fn mass<S: Scalar>(rest: &[Vec3<S>; 4], p: &[S; P]) -> S {
        edges(rest).determinant().scale(1.0 / 6.0) * p[N + 2]
    }

    fn dampers() -> &'static [usize] {
        const { &[MATERIAL + N, MATERIAL + N + 1] }
    }

    fn damper_parameters() -> &'static [usize] {
        const { &[N, N + 1] }
    }

    fn copied(constant: usize) -> Option<usize> {
        // The density lies between the dampers and the activation.
        let parameter = constant.checked_sub(MATERIAL)?;
        Some(if parameter == N + 2 { N + 3 } else { parameter })
    }

    fn rest_constants() -> Range<usize> {
        0..MATERIAL
    }

    #[inline(always)]
    fn force<S: Scalar>(x: &[Vec3<S>; 4], v: &[Vec3<S>; 4], c: &[S; C]) -> [Vec3<S>; 4] {
        <Self as Element<4, P, C>>::force_within(x, v, c, Scope::ALL)
    }

    #[inline(always)]
    fn adjoint<S: Scalar>(
        x: &[Vec3<S>; 4],
        v: &[Vec3<S>; 4],
        c: &[S; C],
        lambda: &[Vec3<S>; 4],
    ) -> Gradient<S, 4, C> {
        <Self as Element<4, P, C>>::adjoint_within(x, v, c, lambda, Scope::ALL)
    }

    #[inline(always)]
    fn force_within<S: Scalar>(
        x: &[Vec3<S>; 4],
        v: &[Vec3<S>; 4],
        c: &[S; C],
        scope: Scope,
    ) -> [Vec3<S>; 4] {
        let c = Named::<S, N>::new(c);
        let k = c.kinematics(x, v, scope.damping);
        let active = M::activation_modulus(&c.material) * c.activation;
        let mut stress = M::gradient(&k.f, &c.material).stress + k.cofactor * active;
        if scope.damping && !scope.idle {
            let damping = if scope.warp {
                WarpDamping::stress::<M, S, N>(&k, &c.material, c.viscosity, c.time)
            } else {
                FrameIndifferent::stress::<M, S, N>(&k, &c.material, c.viscosity, c.time)
            };
            stress += damping;
        }
        let gradients = c.inverse.transpose() * (-c.volume);
        balanced(&stress.matmul(gradients))
    }

    #[inline(always)]
    fn adjoint_within<S: Scalar>(
        x: &[Vec3<S>; 4],
        v: &[Vec3<S>; 4],
        c: &[S; C],
        lambda: &[Vec3<S>; 4],
        scope: Scope,
    ) -> Gradient<S, 4, C> {
        // w = −V P : Λ with the whole stress P and Λ = ∂F/∂x λ. The tangent of (∂ψ/∂F, ∂ψ/∂p)
        // along Λ is the adjoint of the elastic part, by symmetry of second derivatives.
        let c = Named::<S, N>::new(c);
        let k = c.kinematics(x, v, scope.damping);
        let lambda_edges = edges(lambda);
        let along = lambda_edges.matmul(c.inverse);
        let cofactor_tangent = cofactor_derivative(&k.f, &along);
        let volume_tangent = k.cofactor.inner(along);
        let direction =
            Direction { g: along, cofactor: k.cofactor, cofactor_tangent, volume_tangent };
        let DensityTangent { stress, stress_tangent, parameters_tangent } =
            M::tangent(&k.f, &direction, &c.material);
        let mut p_slope = [DualN::<S, N>::zero(); N];
        let mut i = 0;
        while i < N {
            p_slope[i] = DualN::variable(c.material[i], i);
            i += 1;
        }
        let modulus = M::activation_modulus(&p_slope);
        let active = modulus.value * c.activation;
        let mut by_f = stress_tangent + cofactor_tangent * active;
        let mut total = stress + k.cofactor * active;
        let active_volume = c.activation * volume_tangent;
        let mut by_p = [S::zero(); N];
        let mut i = 0;
        while i < N {
            by_p[i] = parameters_tangent[i] + active_volume * modulus.tangent[i];
            i += 1;
        }
        let mut out = Gradient::zero();
        let gradients = c.inverse.transpose() * (-c.volume);
        let mut damping = None;
        if scope.damping && scope.idle {
            let [viscosity, time] = if scope.warp {
                WarpDamping::slopes::<M, S, N>(&k, &c.material, &along)
            } else {
                FrameIndifferent::slopes::<M, S, N>(&k, &c.material, &along)
            };
            out.c[MATERIAL + N] = -c.volume * viscosity;
            out.c[MATERIAL + N + 1] = -c.volume * time;
        } else if scope.damping {
            let d = if scope.warp {
                WarpDamping::adjoint::<M, S, N>(&k, &c.material, c.viscosity, c.time, &along)
            } else {
                FrameIndifferent::adjoint::<M, S, N>(&k, &c.material, c.viscosity, c.time, &along)
            };
            by_f += d.f;
            total += d.stress;
            let mut i = 0;
            while i < N {
                by_p[i] += d.parameters[i];
                i += 1;
            }
            out.c[MATERIAL + N] = -c.volume * d.viscosity;
            out.c[MATERIAL + N + 1] = -c.volume * d.time;
            let of_differences = d.rate.matmul(gradients);
            let of_velocities = d.absolute_rate.matmul(gradients);
            let mut by_v = balanced(&of_differences);
            let mut i = 0;
            while i < 3 {
                by_v[i + 1] += of_velocities.columns[i];
                i += 1;
            }
            out.v = by_v;
            damping = Some((d.rate, d.absolute_rate));
        }
        out.x = balanced(&by_f.matmul(gradients));
        let mut i = 0;
        while i < N {
            out.c[MATERIAL + i] = -c.volume * by_p[i];
            i += 1;
        }
        out.c[MATERIAL + N + 2] = -c.volume * modulus.value * volume_tangent;
        if scope.rest {
            let mut by_inverse =
                edges(x).transpose().matmul(by_f) + lambda_edges.transpose().matmul(total);
            if let Some((rate, absolute_rate)) = damping {
                by_inverse += edges(v).transpose().matmul(rate);
                by_inverse += last(v).transpose().matmul(absolute_rate);
            }
            let rows = (by_inverse * (-c.volume)).to_rows();
            let mut i = 0;
            while i < 9 {
                out.c[i] = rows[i];
                i += 1;
            }
            out.c[VOLUME] = -total.inner(along);
        }
        out
    }

    #[inline(always)]
    fn energy<S: Scalar>(x: &[Vec3<S>; 4], c: &[S; C]) -> S {
        let c = Named::<S, N>::new(c);
        let f = edges(x).matmul(c.inverse);
        let active = M::activation_modulus(&c.material) * c.activation;
        c.volume * (M::energy(&f, &c.material) + active * (f.determinant() - S::one()))
    }
}
