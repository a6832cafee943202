//! Points where a formula has a corner, values worked out by hand, and what is refused.

use costate_dynamics::contact::CONTACT_LAWS;
use costate_dynamics::contact::laws::{ContactLaw, ContactParameters, Push, Smooth};
use costate_dynamics::{DynamicsError, System};
use costate_model::Shape;
use costate_num::{DualN, Scalar};

use crate::harness::{Probe, SHAPES, Slip, scene, size};

/// Every derivative at the given points is finite.
fn finite_at(shape: Shape, points: &[[f64; 3]], v: &[f64], radius: f64) {
    for law in CONTACT_LAWS {
        for slip in [Slip::Speed(0.3), Slip::Slope(20.0)] {
            let model = scene(shape, law, slip, points, v.to_vec())
                .with("geom.g.pos", &[0.0; 3])
                .and_then(|m| m.with("geom.g.quat", &[1.0, 0.0, 0.0, 0.0]))
                .and_then(|m| m.with("soft.p.radius", &[radius]))
                .unwrap();
            for zero in ["", "stiffness", "damping", "friction", "ramp"] {
                let model = match zero {
                    "" => model.clone(),
                    leaf => model.with(&format!("geom.g.{leaf}"), &[0.0]).unwrap(),
                };
                let probe = Probe::new(&model);
                let name = format!("{shape:?} {law} {slip:?} without {zero}");
                let f = probe.evaluate(&probe.x, &probe.v, &probe.c);
                assert!(f.iter().all(|f| f.is_finite()), "{name}: {f:?}");
                for i in 0..probe.x.len() + probe.v.len() + probe.c.len() {
                    let unit = |start: usize, n: usize| -> Vec<f64> {
                        (0..n).map(|j| f64::from(start + j == i)).collect()
                    };
                    let (nx, nv) = (probe.x.len(), probe.v.len());
                    let f_dot =
                        probe.tangent(&unit(0, nx), &unit(nx, nv), &unit(nx + nv, probe.c.len()));
                    assert!(f_dot.iter().all(|f| f.is_finite()), "{name}: {i} {f_dot:?}");
                }
                let bars = probe.adjoint(&vec![1.0; probe.x.len()]);
                assert!(bars.iter().flatten().all(|b| b.is_finite()), "{name}");
                assert!(probe.energy_gradient().iter().flatten().all(|b| b.is_finite()), "{name}");
            }
        }
    }
}

/// Motions at a corner of the formulas: at rest, straight in, straight out, sliding, barely.
const SPEEDS: [[f64; 3]; 6] = [
    [0.0; 3],
    [0.0, 0.0, -1.0],
    [0.0, 0.0, 1.0],
    [1.0, 0.0, 0.0],
    [1e-200, 0.0, -1e-200],
    [0.0, 1e-12, 0.0],
];

#[test]
fn no_corner_gives_a_derivative_that_is_not_finite() {
    let ends = [0.0, 1e-300, 1e-170, 1e-12, -1e-12, -1e-170];
    for shape in SHAPES {
        let s = size(shape);
        let mut points: Vec<[f64; 3]> = Vec::new();
        for e in ends {
            match shape {
                Shape::Plane => points.push([0.3, 0.1, e]),
                // Surface, centre.
                Shape::Sphere => points.extend([[0.0, 0.0, s[0] + e], [e, 0.0, 0.0], [e; 3]]),
                // Centre, faces, edges, corners, halving planes, middle planes.
                Shape::Box => points.extend([
                    [e; 3],
                    [0.0, e, s[2] + e],
                    [s[0] + e, s[1] + e, 0.0],
                    [s[0] + e, -s[1] - e, s[2] + e],
                    [s[0] - 0.05, s[1] - 0.05, s[2] - 0.05 + e],
                ]),
                // Axis, its ends, where cylinder and cap meet.
                Shape::Capsule => points.extend([
                    [e, 0.0, 0.1],
                    [0.0, e, s[1]],
                    [s[0] + e, 0.0, s[1]],
                    [0.0, 0.0, s[0] + s[1] + e],
                ]),
            }
        }
        for speed in SPEEDS {
            let v = points.iter().flat_map(|_| speed).collect::<Vec<f64>>();
            for radius in [0.0, 0.1] {
                finite_at(shape, &points, &v, radius);
            }
        }
    }
}

/// Distance and normal of a box in each of its regions, and the faces that ties go to.
#[test]
fn a_box_pushes_out_through_the_nearest_feature() {
    let push = |p: [f64; 3]| {
        let model = scene(Shape::Box, "warp", Slip::Slope(0.0), &[p], vec![0.0; 3])
            .with("geom.g.pos", &[0.0; 3])
            .and_then(|m| m.with("geom.g.quat", &[1.0, 0.0, 0.0, 0.0]))
            .unwrap();
        let probe = Probe::new(&model);
        probe.evaluate(&probe.x, &probe.v, &probe.c).iter().map(|f| f / 800.0).collect::<Vec<_>>()
    };
    let close = |a: Vec<f64>, b: [f64; 3]| {
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-14), "{a:?} {b:?}");
    };
    // Half lengths 0.3, 0.2, 0.25; radius 0.1.
    close(push([0.35, 0.1, 0.0]), [0.05, 0.0, 0.0]);
    close(push([0.1, -0.21, 0.0]), [0.0, -0.09, 0.0]);
    close(push([0.33, 0.24, 0.0]), [0.6 * 0.05, 0.8 * 0.05, 0.0]);
    let d = 0.05 / 3f64.sqrt();
    close(push([0.3 + d, -0.2 - d, 0.25 + d]), [d, -d, d]);
    close(push([0.28, 0.0, 0.1]), [0.12, 0.0, 0.0]);
    close(push([0.0, 0.15, -0.23]), [0.0, 0.0, -0.12]);
    // On the surface; as deep under y as under z; at the centre, nearest to the faces of y.
    close(push([0.3, 0.0, 0.0]), [0.1, 0.0, 0.0]);
    close(push([0.0, 0.15, 0.2]), [0.0, 0.0, 0.15]);
    close(push([0.0; 3]), [0.0, 0.3, 0.0]);
    close(push([0.5, 0.0, 0.0]), [0.0; 3]);
}

#[test]
fn the_smooth_law_never_pulls_and_is_c1() {
    type D = DualN<f64, 2>;
    let constant = |x: f64| D::splat(x);
    let parameters = ContactParameters {
        stiffness: constant(1e3),
        damping: constant(10.0),
        friction: constant(0.5),
        slip: constant(0.01),
        ramp: constant(1e-3),
    };
    let at = |d: f64, a: f64| {
        let Push { normal, load } = Smooth::push(D::variable(d, 0), D::variable(a, 1), &parameters);
        assert_eq!(normal, load);
        normal
    };
    for i in 1..200 {
        for j in -100..100 {
            let push = at(i as f64 * 2e-5, f64::from(j) * 0.05);
            assert!(push.value >= 0.0 && push.value.is_finite());
        }
    }
    let same = |p: D, q: D, scale: [f64; 2]| {
        for k in 0..2 {
            let gap = (p.tangent[k] - q.tangent[k]).abs();
            assert!(gap < 1e-4 * scale[k], "{p:?} {q:?}");
        }
        assert!((p.value - q.value).abs() < 1e-6, "{p:?} {q:?}");
    };
    let scale = [1e3, 10.0];
    for a in [-2.0, -0.01, 0.0, 0.01, 2.0] {
        same(at(1e-9, a), constant(0.0), [1e3 * (1.0 + a.abs() * 100.0), 10.0]);
        same(at(1e-3 - 1e-10, a), at(1e-3 + 1e-10, a), [1e3 * (1.0 + 10.0 * a.abs()), 10.0]);
    }
    for d in [1e-5, 5e-4, 1e-3, 3e-3] {
        same(at(d, -1e-8), at(d, 1e-8), scale);
    }
    // The documented values.
    assert!((at(5e-4, 0.0).value - 1e3 * 2.5e-7 / 2e-3).abs() < 1e-15);
    assert!((at(3e-3, 0.2).value - (1e3 * 2.5e-3 + 2.0)).abs() < 1e-12);
    assert!((at(3e-3, -0.2).value - 2.5 * 2.5 / 4.5).abs() < 1e-12);
}

#[test]
fn laws_and_settings_that_do_not_exist_are_refused() {
    let model = scene(Shape::Plane, "sticky", Slip::Slope(0.0), &[[0.0; 3]], vec![0.0; 3]);
    let Err(error) = System::new(&model) else { panic!("accepted") };
    assert!(matches!(error, DynamicsError::UnknownLaw { kind: "contact", .. }));
    let text = error.to_string();
    assert!(text.contains("geom.g") && text.contains("smooth, warp, warp-shape"), "{text}");

    let mut model = scene(Shape::Plane, "smooth", Slip::Slope(0.0), &[[0.0; 3]], vec![0.0; 3]);
    model.geoms[0].contact.friction_damping = None;
    let Err(error) = System::new(&model) else { panic!("accepted") };
    assert!(error.to_string().contains("slip_speed"), "{error}");
}

/// The contact part of the stable-step bound is that of the motion: one vertex on a spring.
#[test]
fn contact_limits_the_step() {
    let model = scene(Shape::Plane, "warp", Slip::Slope(1.0), &[[0.0; 3]], vec![0.0; 3]);
    let probe = Probe::new(&model);
    let rates = probe.force().contact_rates(&probe.c, &[10.0, 0.0]).unwrap();
    assert_eq!((rates.0, rates.1), (8000.0, 30.0));
    let model = scene(Shape::Plane, "smooth", Slip::Speed(0.01), &[[0.0; 3]], vec![0.0; 3]);
    let probe = Probe::new(&model);
    // Friction of the vertex's own weight: 2 mu g / slip speed.
    let rates = probe.force().contact_rates(&probe.c, &[10.0]).unwrap();
    assert!((rates.1 - 2.0 * 0.6 * 9.81 / 0.01).abs() < 1e-9, "{rates:?}");
}
