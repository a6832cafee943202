//! Lengths of tendons and how degrees of freedom change them.

use std::ops::Range;

use costate_num::{Scalar, Vec3};

use super::constants::Layout;
use super::kinematics::Kinematics;
use super::tree::{GeomKind, PathElement, TendonPath, Tree};
use super::wrapping::{Obstacle, Wrapped, wrap};

/// Lengths, velocities and Jacobians of all tendons.
#[derive(Clone, Debug)]
pub struct Tendons<S> {
    /// Per tendon: its length.
    pub length: Vec<S>,
    /// Per tendon: the rate of its length.
    pub velocity: Vec<S>,
    /// Derivative of length by each degree of freedom that can change it, tendon after tendon.
    pub jacobian: Vec<S>,
    /// The degree of freedom of each entry.
    pub dofs: Vec<usize>,
    starts: Vec<usize>,
}

/// A piece between two sites of a tendon's path: straight, or around a geom.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    /// Where it begins and ends.
    pub sites: [usize; 2],
    /// The geom that it may pass around, and the site on whose side.
    pub around: Option<(usize, Option<usize>)>,
    /// Where `wrap_prm` has the divisor of its branch.
    pub divisor: Option<usize>,
}

/// The pieces of a spatial tendon.
pub(crate) fn pieces(tree: &Tree, t: usize) -> Vec<Piece> {
    let tendon = &tree.tendons[t];
    let TendonPath::Spatial { path } = &tendon.path else { return Vec::new() };
    let (mut pieces, mut previous, mut around, mut divisor) = (Vec::new(), None, None, None);
    for (i, element) in path.iter().enumerate() {
        match *element {
            PathElement::Pulley => (previous, divisor) = (None, Some(tendon.wraps.start + i)),
            PathElement::Geom { geom, side } => around = Some((geom, side)),
            PathElement::Site(site) => {
                if let Some(from) = previous {
                    pieces.push(Piece { sites: [from, site], around, divisor });
                }
                (previous, around) = (Some(site), None);
            }
        }
    }
    pieces
}

/// The geom that a piece may pass around, as an obstacle.
pub(crate) fn obstacle<S: Scalar>(
    tree: &Tree,
    layout: &Layout,
    c: &[S],
    k: &Kinematics<S>,
    (geom, side): (usize, Option<usize>),
) -> Obstacle<S> {
    let pose = k.geom(tree, layout, c, geom);
    Obstacle {
        center: pose.position,
        turn: pose.orientation.to_matrix(),
        radius: c[layout.geom_size.at(geom)],
        cylinder: tree.geoms[geom].kind == GeomKind::Cylinder,
        side: side.map(|s| k.site(tree, layout, c, s).position),
    }
}

/// One over the divisor of a piece's branch.
pub(crate) fn share<S: Scalar>(layout: &Layout, c: &[S], piece: Piece) -> S {
    piece.divisor.map_or(S::one(), |at| c[layout.wrap_prm.at(at)].recip())
}

impl<S: Scalar> Tendons<S> {
    /// Room for a structure.
    pub fn new(tree: &Tree) -> Self {
        let (mut dofs, mut starts) = (Vec::new(), vec![0]);
        for (t, tendon) in tree.tendons.iter().enumerate() {
            match &tendon.path {
                TendonPath::Fixed { joints } => {
                    dofs.extend(joints.iter().map(|&j| tree.joints[j].dof));
                }
                TendonPath::Spatial { .. } => {
                    let mut own = Vec::new();
                    let bodies = pieces(tree, t).into_iter().flat_map(|piece| {
                        let geom = piece.around.map(|(geom, _)| tree.geoms[geom].body);
                        piece.sites.map(|site| tree.sites[site].body).into_iter().chain(geom)
                    });
                    for body in bodies {
                        let mut next = tree.last_dof[body];
                        while let Some(dof) = next {
                            own.push(dof);
                            next = tree.dof_parent[dof];
                        }
                    }
                    own.sort_unstable();
                    own.dedup();
                    dofs.extend(own);
                }
            }
            starts.push(dofs.len());
        }
        let n = tree.tendons.len();
        Self {
            length: vec![S::zero(); n],
            velocity: vec![S::zero(); n],
            jacobian: vec![S::zero(); dofs.len()],
            dofs,
            starts,
        }
    }

    /// Where the entries of tendon `t` lie.
    pub fn entries(&self, t: usize) -> Range<usize> {
        self.starts[t]..self.starts[t + 1]
    }

    /// Lengths and Jacobians at a configuration.
    pub fn update(&mut self, tree: &Tree, layout: &Layout, c: &[S], k: &Kinematics<S>, qpos: &[S]) {
        for (t, tendon) in tree.tendons.iter().enumerate() {
            let entries = self.entries(t);
            let mut length = S::zero();
            match &tendon.path {
                TendonPath::Fixed { joints } => {
                    for (i, &j) in joints.iter().enumerate() {
                        let coefficient = c[layout.wrap_prm.at(tendon.wraps.start + i)];
                        length += coefficient * qpos[tree.joints[j].qpos];
                        self.jacobian[entries.start + i] = coefficient;
                    }
                }
                TendonPath::Spatial { .. } => {
                    for value in &mut self.jacobian[entries] {
                        *value = S::zero();
                    }
                    for piece in pieces(tree, t) {
                        let share = share(layout, c, piece);
                        let ends = piece.sites.map(|s| k.site(tree, layout, c, s).position);
                        let bodies = piece.sites.map(|s| tree.sites[s].body);
                        let wrapped = piece.around.and_then(|around| {
                            let wrapped = wrap(ends, obstacle(tree, layout, c, k, around))?;
                            Some((tree.geoms[around.0].body, wrapped))
                        });
                        if let Some((body, Wrapped { points, length: arc })) = wrapped {
                            length += arc * share;
                            for i in 0..2 {
                                let (direction, distance) = (ends[i] - points[i]).normalize();
                                let pull = direction * share;
                                length += distance * share;
                                self.add_pull(tree, k, t, bodies[i], ends[i], pull);
                                self.add_pull(tree, k, t, body, points[i], -pull);
                            }
                            continue;
                        }
                        let (direction, distance) = (ends[1] - ends[0]).normalize();
                        length += distance * share;
                        for (i, sign) in [(0, -1.0), (1, 1.0)] {
                            let pull = direction * share.scale(sign);
                            self.add_pull(tree, k, t, bodies[i], ends[i], pull);
                        }
                    }
                }
            }
            self.length[t] = length;
        }
    }

    /// Adds the derivative of `pull` · (a point of a body) to the Jacobian of tendon `t`.
    fn add_pull(
        &mut self,
        tree: &Tree,
        k: &Kinematics<S>,
        t: usize,
        body: usize,
        point: Vec3<S>,
        pull: Vec3<S>,
    ) {
        let entries = self.entries(t);
        let force = costate_num::spatial::Force::at_point(pull, point - k.origin[body]);
        let mut next = tree.last_dof[body];
        while let Some(dof) = next {
            if let Ok(i) = self.dofs[entries.clone()].binary_search(&dof) {
                self.jacobian[entries.start + i] += k.subspace[dof].dot(force);
            }
            next = tree.dof_parent[dof];
        }
    }

    /// Velocities from joint velocities; after [`update`](Self::update).
    pub fn update_velocity(&mut self, v: &[S]) {
        for t in 0..self.length.len() {
            let mut rate = S::zero();
            for at in self.entries(t) {
                rate += self.jacobian[at] * v[self.dofs[at]];
            }
            self.velocity[t] = rate;
        }
    }
}
