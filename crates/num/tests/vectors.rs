//! Identities of small vectors, matrices and quaternions, and their derivatives.

use costate_num::{Dual, DualN, Mat3, Quat, Scalar, SymMat3, Vec3};
use proptest::prelude::*;

fn vector() -> impl Strategy<Value = Vec3<f64>> {
    prop::array::uniform3(-2.0..2.0f64).prop_map(Vec3::from_array)
}
fn matrix() -> impl Strategy<Value = Mat3<f64>> {
    prop::array::uniform9(-2.0..2.0f64).prop_map(Mat3::from_rows)
}
fn rotation() -> impl Strategy<Value = Quat<f64>> {
    prop::array::uniform4(-1.0..1.0f64)
        .prop_filter("a direction", |q| q.iter().map(|x| x * x).sum::<f64>() > 0.01)
        .prop_map(|[w, x, y, z]| Quat::new(w, x, y, z).normalize())
}

/// The largest absolute difference of two vectors.
fn apart(a: Vec3<f64>, b: Vec3<f64>) -> f64 {
    (a - b).to_array().into_iter().fold(0.0, |m, x| m.max(x.abs()))
}
fn apart_matrix(a: Mat3<f64>, b: Mat3<f64>) -> f64 {
    (a - b).to_rows().into_iter().fold(0.0, |m, x| m.max(x.abs()))
}
fn lift(v: Vec3<f64>, d: Vec3<f64>) -> Vec3<Dual<f64>> {
    Vec3::new(Dual::new(v.x, d.x), Dual::new(v.y, d.y), Dual::new(v.z, d.z))
}
fn tangent(v: Vec3<Dual<f64>>) -> Vec3<f64> {
    Vec3::new(v.x.tangent[0], v.y.tangent[0], v.z.tangent[0])
}

proptest! {
    #[test]
    fn products_of_vectors_satisfy_their_identities(a in vector(), b in vector(), c in vector()) {
        prop_assert!(a.cross(b).dot(a).abs() < 1e-14);
        prop_assert!(apart(a.cross(b), -b.cross(a)) == 0.0);
        prop_assert!(apart(Mat3::skew(a).apply(b), a.cross(b)) < 1e-14);
        prop_assert!(apart(a.cross(b.cross(c)), b * a.dot(c) - c * a.dot(b)) < 1e-13);
        prop_assert!((a.norm_squared() - a.component_mul(a).dot(Vec3::splat([1.0; 3]))).abs() < 1e-14);
        prop_assert!(apart(Mat3::outer(a, b).apply(c), a * b.dot(c)) < 1e-13);
        prop_assert!(apart(a / 3.0 * 3.0, a) < 1e-15);
        let (unit, length) = a.normalize();
        prop_assert!(apart(unit * length, a) < 1e-14 && (unit.norm() - 1.0).abs() < 1e-14);
    }

    #[test]
    fn matrices_satisfy_their_identities(a in matrix(), b in matrix(), v in vector()) {
        prop_assert!(apart_matrix(Mat3::from_rows(a.to_rows()), a) == 0.0);
        prop_assert!(apart(a.matmul(b).apply(v), a.apply(b.apply(v))) < 1e-12);
        prop_assert!(apart(a.transpose().apply(v), a.apply_transposed(v)) < 1e-14);
        prop_assert!(apart_matrix(a.matmul(b).transpose(), b.transpose().matmul(a.transpose())) < 1e-13);
        prop_assert!((a.matmul(b).determinant() - a.determinant() * b.determinant()).abs() < 1e-11);
        prop_assert!((a.inner(b) - a.transpose().matmul(b).trace()).abs() < 1e-13);
        // A cof(A)ᵀ = det(A) 1
        let product = a.matmul(a.cofactor().transpose());
        prop_assert!(apart_matrix(product, Mat3::identity() * a.determinant()) < 1e-12);
        let sum = a.symmetric_part() + (a - a.transpose()) * 0.5;
        prop_assert!(apart_matrix(sum, a) < 1e-15);
        prop_assert!(apart(Mat3::from_diagonal(v).apply(v), v.component_mul(v)) == 0.0);
        prop_assert!(apart(Mat3::from_diagonal(v).diagonal(), v) == 0.0);
        if a.determinant().abs() > 0.1 {
            prop_assert!(apart_matrix(a.matmul(a.inverse()), Mat3::identity()) < 1e-12);
        }
    }

    #[test]
    fn the_cofactor_is_the_derivative_of_the_determinant(a in matrix(), d in matrix()) {
        let [a0, a1, a2] = a.columns;
        let [d0, d1, d2] = d.columns;
        let lifted = Mat3::from_columns(lift(a0, d0), lift(a1, d1), lift(a2, d2));
        prop_assert!((lifted.determinant().tangent[0] - a.cofactor().inner(d)).abs() < 1e-12);
        if a.determinant().abs() > 0.1 {
            // d(A⁻¹) = −A⁻¹ dA A⁻¹
            let [i0, i1, i2] = lifted.inverse().columns;
            let slope = Mat3::from_columns(tangent(i0), tangent(i1), tangent(i2));
            let expected = -a.inverse().matmul(d).matmul(a.inverse());
            let scale = a.inverse().inner(a.inverse());
            prop_assert!(apart_matrix(slope, expected) < 1e-12 * (1.0 + scale * scale));
        }
    }

    #[test]
    fn symmetric_matrices_act_like_full_ones(m in matrix(), r in matrix(), a in vector(), b in vector()) {
        let s = SymMat3::from_matrix(m);
        let full = m.symmetric_part();
        prop_assert!(apart_matrix(s.to_matrix(), full) == 0.0);
        prop_assert!(apart(s.apply(a), full.apply(a)) == 0.0);
        let turned = r.transpose().matmul(full).matmul(r);
        prop_assert!(apart_matrix(s.congruence(r).to_matrix(), turned) < 1e-12);
        let outer = Mat3::outer(a, b) + Mat3::outer(b, a);
        prop_assert!(apart_matrix(SymMat3::symmetric_outer(a, b).to_matrix(), outer) < 1e-14);
        prop_assert!((s.trace() - m.trace()).abs() < 1e-14);
        prop_assert_eq!(SymMat3::from_array(s.to_array()), s);
        prop_assert_eq!((s + s - s).to_array(), s.to_array());
    }

    #[test]
    fn quaternions_rotate_like_their_matrices(p in rotation(), q in rotation(), v in vector()) {
        let (mp, mq) = (p.to_matrix(), q.to_matrix());
        prop_assert!(apart(p.rotate(v), mp.apply(v)) < 1e-14);
        prop_assert!(apart_matrix(p.product(q).to_matrix(), mp.matmul(mq)) < 1e-14);
        prop_assert!(apart_matrix(p.conjugate().to_matrix(), mp.transpose()) < 1e-14);
        prop_assert!(apart_matrix(mp.matmul(mp.transpose()), Mat3::identity()) < 1e-14);
        prop_assert!((mp.determinant() - 1.0).abs() < 1e-14);
        prop_assert!(apart_matrix(Quat::from_matrix(mp).to_matrix(), mp) < 1e-14);
    }

    #[test]
    fn rotation_vectors_and_quaternions_are_inverse_with_derivatives(
        axis in vector(), size in prop_oneof![0.0..3.0f64, 1e-9..1e-3f64, Just(0.0)], d in vector(),
    ) {
        let omega = axis.normalize().0 * size;
        let q = Quat::from_rotation_vector(lift(omega, d));
        let unit = q.w * q.w + q.v.norm_squared();
        prop_assert!((unit.value - 1.0).abs() < 1e-14 && unit.tangent[0].abs() < 1e-14);
        // The same rotation by the opposite quaternion of another length, and by its matrix.
        let scaled = Quat { w: q.w.scale(-3.0), v: q.v * Dual::splat(-3.0) };
        for q in [q, scaled, Quat::from_matrix(q.to_matrix())] {
            let back = q.to_rotation_vector();
            let value = Vec3::new(back.x.value, back.y.value, back.z.value);
            prop_assert!(apart(value, omega) < 1e-13);
            prop_assert!(apart(tangent(back), d) < 1e-12, "{:?} {d:?} at {omega:?}", tangent(back));
        }
    }

    #[test]
    fn a_turning_quaternion_moves_a_point_by_the_cross_product(omega in vector(), v in vector()) {
        let at_rest = lift(Vec3::zero(), omega);
        let moved = Quat::from_rotation_vector(at_rest).rotate(lift(v, Vec3::zero()));
        prop_assert!(apart(tangent(moved), omega.cross(v)) < 1e-14);
    }
}

#[test]
fn half_a_turn_has_a_rotation_vector_and_a_quaternion() {
    use core::f64::consts::PI;
    for axis in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.6, 0.8, 0.0]] {
        let v = Vec3::splat(axis);
        let q = Quat { w: 0.0, v };
        assert!(apart(q.to_rotation_vector(), v * PI) < 1e-15);
        let again = Quat::from_matrix(q.to_matrix());
        assert!(apart_matrix(again.to_matrix(), q.to_matrix()) < 1e-15);
    }
    let identity = Quat::<DualN<f64, 3>>::identity();
    assert_eq!(identity.to_rotation_vector(), Vec3::zero());
}
