//! Geoms, pairs of geoms and sites.

use costate_model::rigid as m;

use super::super::op::Kind;
use super::super::structure::kind;
use super::Planner;

impl Planner<'_> {
    /// Places of the pose that the file gives a geom: that of its constants, but for a mesh, whose
    /// constants are about its principal axes.
    pub(super) fn frame_of_file(&self, g: usize, geom: &m::Geom) -> Vec<usize> {
        if let (m::Form::Mesh(_), m::Placement::Pose { pos, quat }) = (geom.form, &geom.placement) {
            let mut places = self.at(*pos);
            places.extend(self.at(*quat));
            return places;
        }
        let (pos, quat) = (self.c(self.layout.geom_pos, g), self.c(self.layout.geom_quat, g));
        (pos..pos + 3).chain(quat..quat + 4).collect()
    }

    pub(super) fn geoms(&mut self) {
        let (a, layout) = (self.a, self.layout);
        for (g, geom) in a.geoms.iter().enumerate() {
            let (pos, quat) = (self.c(layout.geom_pos, g), self.c(layout.geom_quat, g));
            let size = self.c(layout.geom_size, g);
            if let Some(id) = geom.size {
                self.copy(id, size);
            }
            let ends = matches!(geom.placement, m::Placement::FromTo { .. });
            let half = match geom.form {
                m::Form::Capsule | m::Form::Cylinder => Some(size + 1),
                m::Form::Box | m::Form::Ellipsoid => {
                    if ends {
                        self.op(Kind::Copy, vec![size], vec![size + 1]);
                    }
                    Some(size + 2)
                }
                _ => None,
            };
            match (geom.form, &geom.placement) {
                (m::Form::Mesh(mesh), m::Placement::Pose { .. }) => {
                    let mesh = &a.meshes[mesh];
                    let kind = Kind::MeshPose { center: mesh.center, quat: mesh.quat };
                    let inputs = self.frame_of_file(g, geom);
                    let outputs = (pos..pos + 3).chain(quat..quat + 4).collect();
                    self.op(kind, inputs, outputs);
                }
                (_, placement) => self.placement(placement, pos, quat, half),
            }
            if let (Some(id), Some(_)) = (geom.fluid, &a.options.fluid) {
                let to = self.c(layout.geom_fluid, g);
                self.copy(id, to);
                let kind = Kind::AddedMass { kind: kind(geom.form) };
                self.op(kind, (size..size + 3).collect(), (to + 5..to + 11).collect());
            }
            for (id, block) in [
                (geom.friction, layout.geom_friction),
                (geom.solref, layout.geom_solref),
                (geom.solimp, layout.geom_solimp),
                (geom.solmix, layout.geom_solmix),
                (geom.margin, layout.geom_margin),
                (geom.gap, layout.geom_gap),
            ] {
                self.copy_some(Some(id), block, g);
            }
        }
    }

    pub(super) fn pairs(&mut self) {
        let layout = self.layout;
        for (p, pair) in self.a.pairs.iter().enumerate() {
            for (id, block) in [
                (pair.friction, layout.pair_friction),
                (pair.solref, layout.pair_solref),
                (pair.solref_friction, layout.pair_solreffriction),
                (pair.solimp, layout.pair_solimp),
                (pair.margin, layout.pair_margin),
                (pair.gap, layout.pair_gap),
            ] {
                self.copy_some(Some(id), block, p);
            }
        }
    }

    pub(super) fn sites(&mut self) {
        for (s, site) in self.a.sites.iter().enumerate() {
            let pos = self.c(self.layout.site_pos, s);
            let quat = self.c(self.layout.site_quat, s);
            self.placement(&site.placement, pos, quat, None);
        }
    }
}
