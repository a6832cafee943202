//! Which geoms may touch, as in MuJoCo's collision filter.

use super::{Articulation, Form};

impl Articulation {
    /// The body that each body is fixed to: itself where it has joints, else that of its parent.
    fn welded_to(&self) -> Vec<usize> {
        let mut moves = vec![false; self.bodies.len()];
        for joint in &self.joints {
            moves[joint.body] = true;
        }
        let mut out = vec![0; self.bodies.len()];
        for b in 1..self.bodies.len() {
            out[b] = if moves[b] || self.bodies[b].mocap { b } else { out[self.bodies[b].parent] };
        }
        out
    }

    /// The first two geoms that could touch each other in some pose, if there are any: explicit pairs;
    /// geoms of bodies that move against each other, whose `contype` and `conaffinity` agree, where
    /// neither the bodies are excluded nor one is the other's parent (the world's geoms and those
    /// fixed to it excepted).
    pub fn could_collide(&self) -> Option<[usize; 2]> {
        if !self.options.flags.contact || !self.options.flags.constraint {
            return None;
        }
        if let Some(pair) = self.pairs.first() {
            return Some(pair.geoms);
        }
        let welded = self.welded_to();
        let parent = |b: usize| welded[self.bodies[b].parent];
        for (i, first) in self.geoms.iter().enumerate() {
            for (k, second) in self.geoms[i + 1..].iter().enumerate() {
                let agree = first.contype & second.conaffinity != 0
                    || second.contype & first.conaffinity != 0;
                if !agree || first.form == Form::Plane && second.form == Form::Plane {
                    continue;
                }
                let (a, b) = (welded[first.body], welded[second.body]);
                let related = self.options.flags.filterparent
                    && (a != 0 && b != 0)
                    && (parent(a) == b || parent(b) == a);
                let excluded = self.excludes.iter().any(|e| {
                    let bodies = [first.body, second.body];
                    bodies == e.bodies || bodies == [e.bodies[1], e.bodies[0]]
                });
                if a != b && !related && !excluded {
                    return Some([i, i + 1 + k]);
                }
            }
        }
        None
    }
}
