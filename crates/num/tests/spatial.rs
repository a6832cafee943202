//! Spatial vectors against the 6 × 6 matrices of Featherstone's book, and rigid inertia against points.

use costate_num::spatial::{Force, Motion, RigidInertia, Transform};
use costate_num::{Mat3, Quat, SymMat3, Vec3};
use proptest::prelude::*;

type Matrix6 = [[f64; 6]; 6];

/// [[a, b], [c, d]] of 3 × 3 blocks.
fn blocks(a: Mat3<f64>, b: Mat3<f64>, c: Mat3<f64>, d: Mat3<f64>) -> Matrix6 {
    let mut m = [[0.0; 6]; 6];
    for (block, row, column) in [(a, 0, 0), (b, 0, 3), (c, 3, 0), (d, 3, 3)] {
        for (k, x) in block.to_rows().into_iter().enumerate() {
            m[row + k / 3][column + k % 3] = x;
        }
    }
    m
}
fn apply(m: &Matrix6, v: [f64; 6]) -> [f64; 6] {
    m.map(|row| row.iter().zip(v).map(|(a, b)| a * b).sum())
}
fn transposed(m: &Matrix6) -> Matrix6 {
    let mut t = *m;
    for (i, row) in m.iter().enumerate() {
        for (j, &x) in row.iter().enumerate() {
            t[j][i] = x;
        }
    }
    t
}
/// ᴮXᴬ for motions (equation 2.24).
fn plucker(x: Transform<f64>) -> Matrix6 {
    let e = x.rotation;
    blocks(e, Mat3::zero(), -e.matmul(Mat3::skew(x.origin)), e)
}
fn motion6(m: Motion<f64>) -> [f64; 6] {
    let ([a, b, c], [d, e, f]) = (m.angular.to_array(), m.linear.to_array());
    [a, b, c, d, e, f]
}
fn force6(m: Force<f64>) -> [f64; 6] {
    let ([a, b, c], [d, e, f]) = (m.moment.to_array(), m.force.to_array());
    [a, b, c, d, e, f]
}
fn close(a: [f64; 6], b: [f64; 6]) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12)
}

fn vector() -> impl Strategy<Value = Vec3<f64>> {
    prop::array::uniform3(-2.0..2.0f64).prop_map(Vec3::from_array)
}
fn motion() -> impl Strategy<Value = Motion<f64>> {
    (vector(), vector()).prop_map(|(a, b)| Motion::new(a, b))
}
fn force() -> impl Strategy<Value = Force<f64>> {
    (vector(), vector()).prop_map(|(a, b)| Force::new(a, b))
}
fn transform() -> impl Strategy<Value = Transform<f64>> {
    (vector(), vector())
        .prop_map(|(turn, r)| Transform::new(Quat::from_rotation_vector(turn).to_matrix(), r))
}
/// Point masses, so that the inertia is one that a body can have.
fn points() -> impl Strategy<Value = Vec<(f64, Vec3<f64>)>> {
    prop::collection::vec((0.1..2.0f64, vector()), 1..6)
}
fn inertia_of(points: &[(f64, Vec3<f64>)]) -> RigidInertia<f64> {
    let mut sum = RigidInertia::zero();
    for &(mass, at) in points {
        sum += RigidInertia::about_center(mass, at, SymMat3::zero());
    }
    sum
}

proptest! {
    #[test]
    fn transforms_are_plucker_matrices(
        x in transform(), y in transform(), m in motion(), f in force(), p in vector(),
    ) {
        prop_assert!(close(motion6(x.motion(m)), apply(&plucker(x), motion6(m))));
        prop_assert!(close(motion6(x.inverse_motion(x.motion(m))), motion6(m)));
        prop_assert!(close(force6(x.inverse_force(f)), apply(&transposed(&plucker(x)), force6(f))));
        prop_assert!(close(force6(x.force(x.inverse_force(f))), force6(f)));
        prop_assert!(close(motion6(y.after(x).motion(m)), motion6(y.motion(x.motion(m)))));
        prop_assert!(close(motion6(x.inverse().motion(m)), motion6(x.inverse_motion(m))));
        prop_assert!((x.motion(m).dot(x.force(f)) - m.dot(f)).abs() < 1e-11);
        prop_assert!((x.inverse_point(x.point(p)) - p).norm() < 1e-14);
        prop_assert!((x.inverse().point(p) - x.inverse_point(p)).norm() < 1e-14);
    }

    #[test]
    fn cross_products_are_dual_and_satisfy_jacobi(
        u in motion(), v in motion(), w in motion(), f in force(),
    ) {
        prop_assert!((u.cross(v).dot(f) + v.dot(u.cross_force(f))).abs() < 1e-12);
        let jacobi = u.cross(v.cross(w)) + v.cross(w.cross(u)) + w.cross(u.cross(v));
        prop_assert!(close(motion6(jacobi), [0.0; 6]));
        prop_assert!(close(motion6(u.cross(v)), motion6(-v.cross(u))));
    }

    #[test]
    fn cross_products_are_invariant(x in transform(), u in motion(), v in motion(), f in force()) {
        prop_assert!(close(motion6(x.motion(u.cross(v))), motion6(x.motion(u).cross(x.motion(v)))));
        prop_assert!(close(
            force6(x.force(u.cross_force(f))),
            force6(x.motion(u).cross_force(x.force(f))),
        ));
    }

    #[test]
    fn inertia_is_that_of_its_points(points in points(), m in motion(), x in transform()) {
        let inertia = inertia_of(&points);
        let mut momentum = Force::zero();
        let mut energy = 0.0;
        for &(mass, at) in &points {
            let velocity = m.linear + m.angular.cross(at);
            momentum += Force::at_point(velocity * mass, at);
            energy += 0.5 * mass * velocity.norm_squared();
        }
        let momentum6 = force6(inertia.apply(m));
        prop_assert!(force6(momentum).iter().zip(momentum6).all(|(a, b)| (a - b).abs() < 1e-11));
        prop_assert!((0.5 * m.dot(inertia.apply(m)) - energy).abs() < 1e-10);

        // The same points seen from another frame.
        let seen: Vec<_> = points.iter().map(|&(mass, at)| (mass, x.inverse_point(at))).collect();
        let (moved, direct) = (x.inverse_inertia(inertia), inertia_of(&seen));
        for (a, b) in moved.to_parameters().into_iter().zip(direct.to_parameters()) {
            prop_assert!((a - b).abs() < 1e-10, "{moved:?} {direct:?}");
        }
        // And the definition of the transform: Xᵀ I X.
        let by_parts = x.inverse_force(inertia.apply(x.motion(m)));
        let at_once = force6(moved.apply(m));
        prop_assert!(force6(by_parts).iter().zip(at_once).all(|(a, b)| (a - b).abs() < 1e-10));
    }

    #[test]
    fn the_parameter_gradient_is_that_of_the_bilinear_form(
        points in points(), u in motion(), a in motion(),
    ) {
        let inertia = inertia_of(&points);
        let gradient = RigidInertia::parameter_gradient(u, a);
        let whole: f64 = gradient.iter().zip(inertia.to_parameters()).map(|(g, p)| g * p).sum();
        prop_assert!((whole - u.dot(inertia.apply(a))).abs() < 1e-10);
        for (k, g) in gradient.into_iter().enumerate() {
            let mut unit = [0.0; 10];
            unit[k] = 1.0;
            let one = u.dot(RigidInertia::from_parameters(unit).apply(a));
            prop_assert!((one - g).abs() < 1e-13);
        }
    }
}
