//! Places, masses and inertias of bodies.

use costate_model::LeafId;
use costate_model::rigid as m;

use super::super::CompileError;
use super::super::inertia::{Bound, PrincipalAxes, Ten, TotalMass};
use super::super::op::Kind;
use super::{Planner, Step};

impl Planner<'_> {
    pub(super) fn bodies(&mut self) -> Result<(), CompileError> {
        let (a, layout) = (self.a, self.layout);
        let world = self.c(layout.body_quat, 0);
        self.plan.template[world] = 1.0;
        for b in 0..a.bodies.len() {
            let iquat = self.c(layout.body_iquat, b);
            self.plan.template[iquat] = 1.0;
        }
        self.geoms();
        let last: Vec<Ten> = (0..a.bodies.len()).map(|b| self.ten(b)).collect();
        let scales = a.inertia.settotalmass.is_some();
        let rules = a.inertia;
        let bounds = rules.boundmass > 0.0 || rules.boundinertia > 0.0 || rules.balanceinertia;
        let mut scaled = Vec::new();
        for (b, body) in a.bodies.iter().enumerate().skip(1) {
            if let Some(placement) = &body.placement {
                let (pos, quat) = (self.c(layout.body_pos, b), self.c(layout.body_quat, b));
                self.placement(placement, pos, quat, None);
            }
            self.copy_some(body.gravcomp, layout.body_gravcomp, b);
            let mut target = last[b];
            if scales {
                let between = self.new_ten();
                scaled.push((between, target));
                target = between;
            }
            if bounds {
                let between = self.new_ten();
                self.inertial(b, &body.inertial, between);
                self.plan.steps.push(Step::Bound(Bound { rules, from: between, to: target }));
            } else {
                self.inertial(b, &body.inertial, target);
            }
            self.inertial_frame(b, &body.inertial, target);
        }
        if let Some(total) = rules.settotalmass {
            self.plan.steps.push(Step::TotalMass(TotalMass { total, bodies: scaled }));
        }
        Ok(())
    }

    /// Places of mass, centre and inertia of a body.
    pub(super) fn ten(&self, b: usize) -> Ten {
        let mut ten = [self.c(self.layout.body_mass, b); 10];
        for i in 0..3 {
            ten[1 + i] = self.c(self.layout.body_ipos, b) + i;
        }
        for i in 0..6 {
            ten[4 + i] = self.c(self.layout.body_inertia, b) + i;
        }
        ten
    }

    pub(super) fn new_ten(&mut self) -> Ten {
        let places = self.new_places(10);
        std::array::from_fn(|i| places[i])
    }

    pub(super) fn inertial(&mut self, b: usize, inertial: &m::Inertial, to: Ten) {
        match inertial {
            m::Inertial::FromGeoms => {
                let sum = self.sum_of_geoms(b);
                self.op(Kind::AboutCenter, sum, to.to_vec());
            }
            m::Inertial::GeomsScaled { mass } => {
                let sum = self.sum_of_geoms(b);
                let own = self.new_places(10);
                self.op(Kind::AboutCenter, sum, own.clone());
                let mut inputs = self.at(*mass);
                inputs.extend(own);
                self.op(Kind::ScaleMass, inputs, to.to_vec());
            }
            m::Inertial::Given { mass, ipos, tensor } => {
                self.mass_and_center(*mass, *ipos, &to);
                self.tensor(tensor, &to[4..]);
            }
            m::Inertial::Proportional { mass, ipos, tensor, reference } => {
                self.mass_and_center(*mass, *ipos, &to);
                let own = self.new_places(6);
                self.tensor(tensor, &own);
                let mut inputs = self.at(*mass);
                inputs.extend(own);
                self.op(Kind::Proportional { reference: *reference }, inputs, to[4..].to_vec());
            }
            m::Inertial::PseudoInertia { parameters } => {
                let inputs = self.at(*parameters);
                self.op(Kind::PseudoInertia, inputs, to.to_vec());
            }
        }
    }

    /// Orientation of the principal axes: as given, of the only geom, or of the tensor at `tensor`.
    pub(super) fn inertial_frame(&mut self, b: usize, inertial: &m::Inertial, tensor: Ten) {
        let at = self.c(self.layout.body_iquat, b);
        match inertial {
            m::Inertial::Given { tensor: m::Tensor::Diagonal { iquat, .. }, .. }
            | m::Inertial::Proportional { tensor: m::Tensor::Diagonal { iquat, .. }, .. } => {
                return self.normalize(*iquat, at);
            }
            m::Inertial::FromGeoms | m::Inertial::GeomsScaled { .. } => {
                let weighs = |geom: &m::Geom| {
                    let (m::GeomMass::Density(id) | m::GeomMass::Mass(id)) = geom.mass;
                    geom.body == b && geom.in_inertia && self.leaves.get(id).at(0) != 0.0
                };
                let mut geoms = (0..self.a.geoms.len()).filter(|&g| weighs(&self.a.geoms[g]));
                match (geoms.next(), geoms.next()) {
                    (None, _) => return,
                    (Some(g), None) => {
                        let from = self.c(self.layout.geom_quat, g);
                        let from = (from..from + 4).collect();
                        return self.op(Kind::Copy, from, (at..at + 4).collect());
                    }
                    _ => {}
                }
            }
            _ => {}
        }
        let from = [4, 5, 6, 7, 8, 9].map(|i| tensor[i]);
        let to = [at, at + 1, at + 2, at + 3];
        self.plan.steps.push(Step::PrincipalAxes(PrincipalAxes { from, to }));
    }

    pub(super) fn mass_and_center(&mut self, mass: LeafId, ipos: LeafId, to: &Ten) {
        let (mass, ipos) = (self.at(mass), self.at(ipos));
        self.op(Kind::Copy, mass, vec![to[0]]);
        self.op(Kind::Copy, ipos, to[1..4].to_vec());
    }

    pub(super) fn tensor(&mut self, tensor: &m::Tensor, to: &[usize]) {
        match tensor {
            m::Tensor::Diagonal { diagonal, iquat } => {
                let mut inputs = self.at(*diagonal);
                inputs.extend(self.at(*iquat));
                self.op(Kind::TurnDiagonal, inputs, to.to_vec());
            }
            m::Tensor::Full { full } => {
                // MJCF's order is xx, yy, zz, xy, xz, yz.
                let from = self.at(*full);
                let order = [0, 3, 1, 4, 5, 2].map(|i| from[i]);
                self.op(Kind::Copy, order.to_vec(), to.to_vec());
            }
        }
    }

    /// Mass, first moment and inertia about the origin, of all geoms of a body that count.
    pub(super) fn sum_of_geoms(&mut self, b: usize) -> Vec<usize> {
        let sum = self.new_places(10);
        for (g, geom) in self.a.geoms.iter().enumerate() {
            if geom.body != b || !geom.in_inertia {
                continue;
            }
            let own = self.new_places(10);
            let (id, density) = match geom.mass {
                m::GeomMass::Density(id) => (id, true),
                m::GeomMass::Mass(id) => (id, false),
            };
            let kind = match geom.form {
                m::Form::Mesh(mesh) => {
                    let mesh = &self.a.meshes[mesh];
                    let [xx, yy, zz, xy, xz, yz] = mesh.inertia;
                    let inertia = [xx, xy, yy, xz, yz, zz];
                    let (volume, center) = (mesh.volume, mesh.center);
                    Kind::MeshInertia { volume, center, inertia, density }
                }
                form => Kind::GeomInertia { form, shell: geom.shell, density },
            };
            let mut inputs = self.frame_of_file(g, geom);
            if !matches!(geom.form, m::Form::Mesh(_)) {
                let size = self.c(self.layout.geom_size, g);
                inputs.extend(size..size + 3);
            }
            inputs.extend(self.at(id));
            self.op(kind, inputs, own.clone());
            self.op(Kind::Add, own, sum.clone());
        }
        sum
    }
}
