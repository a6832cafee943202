//! Where everything is: frames of bodies, anchors and axes of joints, and the motion that each degree
//! of freedom gives.

use costate_num::spatial::Motion;
use costate_num::{Mat3, Quat, Scalar, Vec3};

use super::constants::{Block, Layout};
use super::tree::{JointKind, Tree};

/// Vector `i` of a block of three numbers each.
#[inline(always)]
pub(crate) fn vec3<S: Scalar>(c: &[S], block: Block, i: usize) -> Vec3<S> {
    let at = block.at(i);
    let v = &c[at..at + 3];
    Vec3::new(v[0], v[1], v[2])
}

/// Quaternion at a place of an array.
#[inline(always)]
pub(crate) fn quat_at<S: Scalar>(c: &[S], at: usize) -> Quat<S> {
    let q = &c[at..at + 4];
    Quat::new(q[0], q[1], q[2], q[3])
}

/// The rotation matrix of a unit quaternion, by its products.
#[inline(always)]
fn matrix<S: Scalar>(q: Quat<S>) -> Mat3<S> {
    let one = S::one();
    let (x2, y2, z2) = (q.v.x + q.v.x, q.v.y + q.v.y, q.v.z + q.v.z);
    let (wx, wy, wz) = (q.w * x2, q.w * y2, q.w * z2);
    let (xx, xy, xz) = (q.v.x * x2, q.v.x * y2, q.v.x * z2);
    let (yy, yz, zz) = (q.v.y * y2, q.v.y * z2, q.v.z * z2);
    Mat3::from_columns(
        Vec3::new(one - yy - zz, xy + wz, xz - wy),
        Vec3::new(xy - wz, one - xx - zz, yz + wx),
        Vec3::new(xz + wy, yz - wx, one - xx - yy),
    )
}

/// Position and orientation of a frame in world axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose<S> {
    /// Position of its origin, m.
    pub position: Vec3<S>,
    /// Its orientation, from its axes to the world's.
    pub orientation: Quat<S>,
}

/// Places and axes at one configuration.
#[derive(Clone, Debug)]
pub struct Kinematics<S> {
    /// Per body: origin of its frame, m.
    pub xpos: Vec<Vec3<S>>,
    /// Per body: orientation of its frame.
    pub xquat: Vec<Quat<S>>,
    /// Per body: rotation matrix of its frame.
    pub xmat: Vec<Mat3<S>>,
    /// Per body: centre of mass, m.
    pub xipos: Vec<Vec3<S>>,
    /// Per body: the point about which its spatial vectors are, the same for a whole tree.
    pub origin: Vec<Vec3<S>>,
    /// Per joint: a point of its axis, m.
    pub xanchor: Vec<Vec3<S>>,
    /// Per joint: its axis.
    pub xaxis: Vec<Vec3<S>>,
    /// Per joint: rotation matrix of its body's frame before the joint has moved it.
    pub before: Vec<Mat3<S>>,
    /// Per joint: sine and cosine of half a hinge's angle.
    pub half: Vec<(S, S)>,
    /// Per degree of freedom: the motion of its bodies at unit velocity, about [`origin`](Self::origin).
    pub subspace: Vec<Motion<S>>,
}

impl<S: Scalar> Kinematics<S> {
    /// Room for a structure.
    pub fn new(tree: &Tree) -> Self {
        let (bodies, joints) = (tree.bodies.len(), tree.joints.len());
        Self {
            xpos: vec![Vec3::zero(); bodies],
            xquat: vec![Quat::identity(); bodies],
            xmat: vec![Mat3::identity(); bodies],
            xipos: vec![Vec3::zero(); bodies],
            origin: vec![Vec3::zero(); bodies],
            xanchor: vec![Vec3::zero(); joints],
            xaxis: vec![Vec3::zero(); joints],
            before: vec![Mat3::identity(); joints],
            half: vec![(S::zero(), S::one()); joints],
            subspace: vec![Motion::zero(); tree.nv],
        }
    }

    /// Computes everything at the configuration `qpos`; quaternions may have any length but zero.
    pub fn update(&mut self, tree: &Tree, layout: &Layout, c: &[S], qpos: &[S]) {
        for b in 1..tree.bodies.len() {
            let body = &tree.bodies[b];
            let parent = body.parent;
            let mut position =
                self.xpos[parent] + self.xmat[parent].apply(vec3(c, layout.body_pos, b));
            let mut orientation = self.xquat[parent].product(quat_at(c, layout.body_quat.at(b)));
            // The last rotation's anchor, which the frame has yet to be put to.
            let mut held = None;
            for j in body.joints.clone() {
                let joint = &tree.joints[j];
                let q = joint.qpos;
                let local = vec3(c, layout.jnt_pos, j);
                if joint.kind == JointKind::Free {
                    position = Vec3::new(qpos[q], qpos[q + 1], qpos[q + 2]);
                    orientation = quat_at(qpos, q + 3).normalize();
                    self.xanchor[j] = position;
                    self.xaxis[j] = Vec3::splat([0.0, 0.0, 1.0]);
                    continue;
                }
                let before = matrix(orientation);
                if let Some((anchor, local)) = held.take() {
                    position = anchor - before.apply(local);
                }
                let axis = vec3(c, layout.jnt_axis, j);
                self.before[j] = before;
                self.xaxis[j] = before.apply(axis);
                self.xanchor[j] = position + before.apply(local);
                if joint.kind == JointKind::Slide {
                    position += self.xaxis[j] * (qpos[q] - c[layout.qpos0.at(q)]);
                    continue;
                }
                let turn = if joint.kind == JointKind::Hinge {
                    let half = (qpos[q] - c[layout.qpos0.at(q)]).scale(0.5);
                    let (sine, cosine) = half.sin_cos();
                    self.half[j] = (sine, cosine);
                    Quat { w: cosine, v: axis * sine }
                } else {
                    quat_at(qpos, q).normalize()
                };
                orientation = orientation.product(turn);
                held = Some((self.xanchor[j], local));
            }
            let orientation = orientation.normalize();
            let turned = matrix(orientation);
            if let Some((anchor, local)) = held {
                position = anchor - turned.apply(local);
            }
            self.xpos[b] = position;
            self.xquat[b] = orientation;
            self.xmat[b] = turned;
            self.xipos[b] = position + turned.apply(vec3(c, layout.body_ipos, b));
            let root = body.root;
            self.origin[b] = self.xpos[root];
            self.update_subspace(tree, b);
        }
    }

    fn update_subspace(&mut self, tree: &Tree, b: usize) {
        let origin = self.origin[b];
        for j in tree.bodies[b].joints.clone() {
            let joint = &tree.joints[j];
            let anchor = self.xanchor[j] - origin;
            let mut dof = joint.dof;
            match joint.kind {
                JointKind::Slide => {
                    self.subspace[dof] = Motion::new(Vec3::zero(), self.xaxis[j]);
                }
                JointKind::Hinge => {
                    let axis = self.xaxis[j];
                    self.subspace[dof] = Motion::new(axis, anchor.cross(axis));
                }
                JointKind::Free | JointKind::Ball => {
                    if joint.kind == JointKind::Free {
                        let axes = Mat3::identity().columns;
                        for k in 0..3 {
                            self.subspace[dof + k] = Motion::new(Vec3::zero(), axes[k]);
                        }
                        dof += 3;
                    }
                    let axes = self.xmat[b].columns;
                    for k in 0..3 {
                        self.subspace[dof + k] = Motion::new(axes[k], anchor.cross(axes[k]));
                    }
                }
            }
        }
    }

    /// Orientation of the frame in which the body of joint `j` is once that joint has moved it.
    #[inline(always)]
    pub(crate) fn after(&self, tree: &Tree, j: usize) -> Mat3<S> {
        let body = tree.joints[j].body;
        if j + 1 < tree.bodies[body].joints.end { self.before[j + 1] } else { self.xmat[body] }
    }

    /// Where a frame fixed in body `b` at `position` and `orientation` is.
    pub fn pose(&self, b: usize, position: Vec3<S>, orientation: Quat<S>) -> Pose<S> {
        Pose {
            position: self.xpos[b] + self.xmat[b].apply(position),
            orientation: self.xquat[b].product(orientation),
        }
    }

    /// Where a site is.
    pub fn site(&self, tree: &Tree, layout: &Layout, c: &[S], s: usize) -> Pose<S> {
        let place = vec3(c, layout.site_pos, s);
        self.pose(tree.sites[s].body, place, quat_at(c, layout.site_quat.at(s)))
    }

    /// Where a geom is.
    pub fn geom(&self, tree: &Tree, layout: &Layout, c: &[S], g: usize) -> Pose<S> {
        let place = vec3(c, layout.geom_pos, g);
        self.pose(tree.geoms[g].body, place, quat_at(c, layout.geom_quat.at(g)))
    }

    /// Per body: the centre of mass of it and all that hangs on it, m, and their mass, kg. Where that
    /// is zero, the centre is the body's own.
    pub fn subtree_centers(
        &self,
        tree: &Tree,
        layout: &Layout,
        c: &[S],
        centers: &mut Vec<Vec3<S>>,
        masses: &mut Vec<S>,
    ) {
        let n = tree.bodies.len();
        masses.clear();
        masses.extend_from_slice(&c[layout.body_mass.range()]);
        // The world has none, whatever is written there.
        masses[0] = S::zero();
        centers.clear();
        centers.extend((0..n).map(|b| self.xipos[b] * masses[b]));
        for b in (1..n).rev() {
            let parent = tree.bodies[b].parent;
            let (center, mass) = (centers[b], masses[b]);
            centers[parent] += center;
            masses[parent] += mass;
        }
        for b in 0..n {
            let empty = masses[b].le(S::splat(1e-15));
            let inverse =
                S::select(empty, S::zero(), S::select(empty, S::one(), masses[b]).recip());
            centers[b] = Vec3::select(empty, self.xipos[b], centers[b] * inverse);
        }
    }
}
