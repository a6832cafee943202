//! Adjoints of tendons: of their lengths and Jacobians.

use costate_num::spatial::Force;
use costate_num::{DualN, Mat3, Vec3};

use super::adjoint::{Adjoint, Place};
use super::tendon::{Piece, Tendons, obstacle, pieces, share};
use super::tree::TendonPath;
use super::wrapping::{Obstacle, Wrapped, wrap};

impl Place<'_> {
    /// Adds the adjoint of a tendon's length and Jacobian (by entry, in `by_jacobian`).
    pub fn pull_tendon(
        self,
        tendons: &Tendons<f64>,
        t: usize,
        qpos: &[f64],
        by_length: f64,
        by_jacobian: &[f64],
        out: &mut Adjoint,
    ) {
        let Self { tree, layout, c, k } = self;
        let tendon = &tree.tendons[t];
        if let TendonPath::Fixed { joints } = &tendon.path {
            for (n, &j) in joints.iter().enumerate() {
                let at = layout.wrap_prm.at(tendon.wraps.start + n);
                let joint = &tree.joints[j];
                out.c[at] += by_length * qpos[joint.qpos] + by_jacobian[n];
                out.q[joint.dof] += by_length * c[at];
            }
            return;
        }
        let mut rates = vec![0.0; tree.nv];
        for (n, e) in tendons.entries(t).enumerate() {
            rates[tendons.dofs[e]] += by_jacobian[n];
        }
        for piece in pieces(tree, t) {
            let ends = piece.sites.map(|s| k.site(tree, layout, c, s).position);
            let wrapped = piece.around.and_then(|(geom, side)| {
                let obstacle = obstacle(tree, layout, c, k, (geom, side));
                wrap(ends, obstacle).map(|wrapped| (geom, obstacle, wrapped))
            });
            let sum = match wrapped {
                Some(found) => self.pull_wrapped(piece, ends, found, &rates, by_length, qpos, out),
                None => self.pull_straight(piece, ends, &rates, by_length, qpos, out),
            };
            if let Some(at) = piece.divisor {
                let factor = share(layout, c, piece);
                out.c[layout.wrap_prm.at(at)] -= factor * factor * sum;
            }
        }
    }

    /// The adjoint of a straight piece; returns its share of the function, undivided.
    fn pull_straight(
        self,
        piece: Piece,
        ends: [Vec3<f64>; 2],
        rates: &[f64],
        by_length: f64,
        qpos: &[f64],
        out: &mut Adjoint,
    ) -> f64 {
        let Self { tree, layout, c, k } = self;
        let factor = share(layout, c, piece);
        let bodies = piece.sites.map(|s| tree.sites[s].body);
        let twists = bodies.map(|b| self.twist(b, rates));
        let (direction, distance) = (ends[1] - ends[0]).normalize();
        let speed =
            |i: usize| twists[i].linear + twists[i].angular.cross(ends[i] - k.origin[bodies[i]]);
        let apart = speed(1) - speed(0);
        let along = direction.dot(apart);
        let across = if distance > 0.0 {
            (apart - direction * along) * (1.0 / distance)
        } else {
            Vec3::zero()
        };
        for (i, sign) in [(0, -factor), (1, factor)] {
            let by_point =
                (across + direction * by_length + direction.cross(twists[i].angular)) * sign;
            let pull = direction * sign;
            self.pull_site(piece.sites[i], ends[i], by_point, pull, rates, qpos, out);
        }
        along + by_length * distance
    }

    /// Adds the adjoints of `pull` · (velocity of a site for joint rates), the site moving by `by_point`.
    fn pull_site(
        self,
        site: usize,
        position: Vec3<f64>,
        by_point: Vec3<f64>,
        pull: Vec3<f64>,
        rates: &[f64],
        qpos: &[f64],
        out: &mut Adjoint,
    ) {
        let Self { tree, layout, k, .. } = self;
        let body = tree.sites[site].body;
        let r = position - k.origin[body];
        let displaced = Force::at_point(by_point, r);
        self.pull_frame(body, (layout.site_pos, layout.site_quat), site, displaced, out);
        let pull = Force::at_point(pull, r);
        self.pull_chain(body, pull, rates, displaced, qpos, true, &mut [], out);
    }

    /// The adjoint of a piece around a geom, by dual numbers in the directions of its ends, of a displacement
    /// of the geom and of its radius. Returns its share of the function, undivided.
    fn pull_wrapped(
        self,
        piece: Piece,
        ends: [Vec3<f64>; 2],
        (geom, obstacle, wrapped): (usize, Obstacle<f64>, Wrapped<f64>),
        rates: &[f64],
        by_length: f64,
        qpos: &[f64],
        out: &mut Adjoint,
    ) -> f64 {
        type D = DualN<f64, 13>;
        let Self { tree, layout, c, k } = self;
        let factor = share(layout, c, piece);
        let body = tree.geoms[geom].body;
        let bodies = piece.sites.map(|s| tree.sites[s].body);
        let constant = |v: Vec3<f64>| Vec3::from_array(v.to_array().map(D::constant));
        let variable = |v: Vec3<f64>, first: usize| {
            let [x, y, z] = v.to_array();
            Vec3::new(D::variable(x, first), D::variable(y, first + 1), D::variable(z, first + 2))
        };
        let points = [variable(ends[0], 0), variable(ends[1], 3)];
        let turning = variable(Vec3::zero(), 9);
        let columns = obstacle.turn.columns.map(|column| {
            let column = constant(column);
            column + turning.cross(column)
        });
        let moved = Obstacle {
            center: variable(obstacle.center, 6),
            turn: Mat3 { columns },
            radius: D::variable(obstacle.radius, 12),
            cylinder: obstacle.cylinder,
            side: obstacle.side.map(constant),
        };
        let speed = |b: usize, p: Vec3<D>| {
            let twist = self.twist(b, rates);
            let r = p - constant(k.origin[b]);
            constant(twist.linear) + constant(twist.angular).cross(r)
        };
        let mut total = D::constant(0.0);
        // The path touches at the values, and so it does here.
        let Some(found) = wrap(points, moved) else { return 0.0 };
        total += found.length * D::constant(by_length);
        for i in 0..2 {
            let (direction, distance) = (points[i] - found.points[i]).normalize();
            let apart = speed(bodies[i], points[i]) - speed(body, found.points[i]);
            total += direction.dot(apart) + distance * D::constant(by_length);
        }
        let by = |first: usize| {
            let t = &total.tangent;
            Vec3::new(t[first], t[first + 1], t[first + 2]) * factor
        };
        let mut against = Force::zero();
        for i in 0..2 {
            let direction = (ends[i] - wrapped.points[i]).normalize().0 * factor;
            self.pull_site(piece.sites[i], ends[i], by(3 * i), direction, rates, qpos, out);
            against -= Force::at_point(direction, wrapped.points[i] - k.origin[body]);
        }
        let arm = obstacle.center - k.origin[body];
        let displaced = Force::at_point(by(6), arm) + Force::new(by(9), Vec3::zero());
        self.pull_frame(body, (layout.geom_pos, layout.geom_quat), geom, displaced, out);
        self.pull_chain(body, against, rates, displaced, qpos, true, &mut [], out);
        out.c[layout.geom_size.at(geom)] += total.tangent[12] * factor;
        total.value
    }
}
