//! Frames, anchors, axes and centres of mass.

use costate_dynamics::rigid::Kinematics;
use costate_num::{Quat, Vec3};

use crate::reference::{all, compare};

fn flat(vectors: &[Vec3<f64>]) -> Vec<f64> {
    vectors.iter().flat_map(|v| v.to_array()).collect()
}

fn quaternions(quats: impl Iterator<Item = Quat<f64>>) -> Vec<f64> {
    quats.flat_map(|q| [q.w, q.v.x, q.v.y, q.v.z]).collect()
}

#[test]
fn frames_are_the_recorded_ones() {
    for r in all() {
        let (tree, layout, c) = (&r.tree, &r.layout, &r.c);
        let mut k = Kinematics::new(tree);
        k.update(tree, layout, c, &r.snapshot("qpos"));
        let check = |name: &str, got: &[f64]| {
            compare(&format!("{} {name}", r.name), got, &r.snapshot(name), 1e-12);
        };
        check("xpos", &flat(&k.xpos));
        check("xquat", &quaternions(k.xquat.iter().copied()));
        check("xipos", &flat(&k.xipos));
        check("xanchor", &flat(&k.xanchor));
        check("xaxis", &flat(&k.xaxis));
        let poses: Vec<_> = (0..tree.geoms.len()).map(|g| k.geom(tree, layout, c, g)).collect();
        check("geom_xpos", &flat(&poses.iter().map(|p| p.position).collect::<Vec<_>>()));
        check("geom_xquat", &quaternions(poses.iter().map(|p| p.orientation)));
        if !tree.sites.is_empty() {
            let poses: Vec<_> = (0..tree.sites.len()).map(|s| k.site(tree, layout, c, s)).collect();
            check("site_xpos", &flat(&poses.iter().map(|p| p.position).collect::<Vec<_>>()));
        }
        let (mut centers, mut masses) = (Vec::new(), Vec::new());
        k.subtree_centers(tree, layout, c, &mut centers, &mut masses);
        check("subtree_com", &flat(&centers));
        let recorded = crate::reference::numbers(&r.value["compiled"]["body_subtreemass"]);
        compare(&format!("{} subtree mass", r.name), &masses, &recorded, 1e-12);
    }
}
