//! Contact of soft vertices with geoms of articulated bodies: forces on both sides.
//!
//! Forces are taken at the start of a step, like all forces on vertices; the bodies feel them as applied
//! forces. Touching vertices are found anew at every evaluation, each geom behind a cheap bound.

mod energy;
mod pair;
mod pull;
mod push;
mod rates;
mod report;

use std::ops::Range;

use costate_model::rigid::Form;
use costate_model::{Model, State};
use costate_num::Vec3;
use costate_num::spatial::{Force, Motion};

use self::pair::{Kind, Meeting, Pair};
pub(crate) use self::pull::CoupledAdjoints;
use self::push::Lifted;
use crate::constants::Constants;
use crate::contact::constants::{FIRST_RADIUS, LOAD, PARAMETERS, SettingsSource, parameters};
use crate::contact::force::{add3, vec3};
use crate::contact::laws::{ContactLaw, ContactParameters, Friction, Smooth, Warp, WarpShape};
use crate::contact::shapes::{Capsule, Cuboid, Plane, Pose, Sphere, Surface};
use crate::contact::unknown_law;
use crate::error::DynamicsError;
use crate::rigid::inverse::{gather, twists};
use crate::rigid::{Adjoint, Kinematics, Layout, Tree};
use crate::system::{System, Workspace};

/// A geom of articulated bodies that vertices touch.
struct Surfaced {
    /// Index of the geom.
    geom: usize,
    name: String,
    source: SettingsSource,
    pair: Box<dyn Pair>,
    /// Its constants among those of the coupling: parameters, |g|, radii of the vertices.
    constants: Range<usize>,
}

/// The contact of soft vertices with articulated bodies.
pub(crate) struct Coupling {
    surfaces: Vec<Surfaced>,
}

/// A vertex in contact.
#[derive(Clone, Copy)]
struct Touching {
    surface: usize,
    vertex: usize,
    depth: f64,
    normal: Vec3<f64>,
}

/// Memory of the coupling.
pub(crate) struct CouplingScratch {
    kinematics: Kinematics<f64>,
    twists: Vec<Motion<f64>>,
    wrenches: Vec<Force<f64>>,
    near: Vec<u32>,
    touching: Vec<Touching>,
    /// Forces on the articulated bodies by degree of freedom; empty where nothing touches.
    pub applied: Vec<f64>,
    lifted: Option<Box<Lifted>>,
    /// Tangents of the forces on vertices and of the applied ones, in columns; empty where nothing touches.
    pub force_dot: Vec<f64>,
    pub applied_dot: Vec<f64>,
    bar: Adjoint,
    v_bar: Vec<f64>,
    /// Twists of the bodies for the adjoint of the applied forces as velocities.
    multipliers: Vec<Motion<f64>>,
}

/// Where the coupling is evaluated.
#[derive(Clone, Copy)]
struct Here<'a> {
    tree: &'a Tree,
    layout: &'a Layout,
    /// Constants of the articulated bodies, and of the coupling.
    rigid: &'a [f64],
    own: &'a [f64],
    state: &'a State,
    /// Numbers of soft coordinates, which come first in the state.
    soft: usize,
}

impl<'a> Here<'a> {
    fn qpos(&self) -> &'a [f64] {
        &self.state.q[self.soft..]
    }
    fn qvel(&self) -> &'a [f64] {
        &self.state.v[self.soft..]
    }
}

fn pair<L: ContactLaw>(form: Form, friction: Friction) -> Option<Box<dyn Pair>> {
    fn of<F: Surface, L: ContactLaw>(friction: Friction) -> Option<Box<dyn Pair>> {
        Some(Box::new(Kind::<F, L>::new(friction)))
    }
    match form {
        Form::Plane => of::<Plane, L>(friction),
        Form::Sphere => of::<Sphere, L>(friction),
        Form::Box => of::<Cuboid, L>(friction),
        Form::Capsule => of::<Capsule, L>(friction),
        Form::Ellipsoid | Form::Cylinder | Form::Mesh(_) | Form::HeightField(_) => None,
    }
}

impl Coupling {
    /// That of a model; none where no vertex touches a geom of articulated bodies.
    pub fn new(model: &Model) -> Result<Option<Self>, DynamicsError> {
        let Some(a) = &model.articulation else { return Ok(None) };
        if a.soft_contacts.is_empty() || model.vertex_count() == 0 {
            return Ok(None);
        }
        if model.options.saltation {
            return Err(DynamicsError::Invalid(
                "option.saltation: the jump (saltation) term is not there where soft bodies touch geoms of \
                 a robot; leave it off: the contact law \"smooth\" needs none"
                    .into(),
            ));
        }
        let len = FIRST_RADIUS + model.vertex_count();
        let surface = |(i, contact): (usize, &costate_model::rigid::SoftContact)| {
            let geom = a.geoms.get(contact.geom).ok_or_else(|| {
                DynamicsError::Invalid(format!("soft bodies touch geom {}, which there is not", i))
            })?;
            let element = format!("geom.{}.soft", geom.name);
            let law = contact.contact.law.as_str();
            let slope = match law {
                Smooth::NAME => Smooth::SLOPE,
                Warp::NAME => Warp::SLOPE,
                WarpShape::NAME => WarpShape::SLOPE,
                name => return Err(unknown_law(element, name)),
            };
            let (source, friction) = SettingsSource::new(model, &element, &contact.contact, slope)?;
            let pair = match law {
                Warp::NAME => pair::<Warp>(geom.form, friction),
                WarpShape::NAME => pair::<WarpShape>(geom.form, friction),
                _ => pair::<Smooth>(geom.form, friction),
            };
            let pair = pair.ok_or_else(|| {
                let form = geom.form.name();
                DynamicsError::Invalid(format!("{element}: soft bodies cannot touch a {form}"))
            })?;
            let constants = i * len..(i + 1) * len;
            Ok(Surfaced { geom: contact.geom, name: geom.name.clone(), source, pair, constants })
        };
        let surfaces = a.soft_contacts.iter().enumerate().map(surface).collect::<Result<_, _>>()?;
        Ok(Some(Self { surfaces }))
    }

    /// How many constants it reads.
    pub fn constants_len(&self) -> usize {
        self.surfaces.last().map_or(0, |surface| surface.constants.end)
    }

    /// Name of a constant, for messages.
    pub fn constant_name(&self, i: usize) -> String {
        let surface = self.surfaces.iter().find(|surface| surface.constants.contains(&i));
        let name = surface.map_or("a robot", |surface| &surface.name);
        format!("a constant of the contact of soft bodies with geom.{name}")
    }

    /// The surface of a geom, by its name.
    pub fn surface(&self, geom: &str) -> Option<usize> {
        self.surfaces.iter().position(|surface| surface.name == geom)
    }

    /// Names of the geoms.
    pub fn geoms(&self) -> impl Iterator<Item = &str> {
        self.surfaces.iter().map(|surface| &*surface.name)
    }

    pub fn derive(&self, theta: &[f64], c: &mut [f64]) {
        for s in &self.surfaces {
            s.source.derive(theta, &mut c[s.constants.clone()]);
        }
    }

    pub fn derive_pushforward(&self, theta: &[f64], theta_dot: &[f64], c_dot: &mut [f64]) {
        for s in &self.surfaces {
            s.source.pushforward(theta, theta_dot, &mut c_dot[s.constants.clone()]);
        }
    }

    pub fn derive_pullback(&self, theta: &[f64], c_bar: &[f64], theta_bar: &mut [f64]) {
        for s in &self.surfaces {
            s.source.pullback(theta, &c_bar[s.constants.clone()], theta_bar);
        }
    }

    /// Memory, for articulated bodies of this structure.
    pub fn scratch(&self, tree: &Tree, layout: &Layout) -> CouplingScratch {
        let n = tree.bodies.len();
        CouplingScratch {
            kinematics: Kinematics::new(tree),
            twists: vec![Motion::zero(); n],
            wrenches: vec![Force::zero(); n],
            near: Vec::new(),
            touching: Vec::new(),
            applied: Vec::new(),
            lifted: None,
            force_dot: Vec::new(),
            applied_dot: Vec::new(),
            bar: Adjoint::zeros(tree, layout),
            v_bar: vec![0.0; tree.nv],
            multipliers: vec![Motion::zero(); n],
        }
    }

    /// Finds the vertices that touch.
    fn find(&self, at: Here, scratch: &mut CouplingScratch) {
        let CouplingScratch { kinematics, twists: velocities, near, touching, .. } = scratch;
        kinematics.update(at.tree, at.layout, at.rigid, at.qpos());
        twists(at.tree, &kinematics.subspace, at.qvel(), velocities);
        touching.clear();
        let x = &at.state.q[..at.soft];
        for (surface, s) in self.surfaces.iter().enumerate() {
            let pose = pose(at, kinematics, s.geom);
            let radii = &at.own[s.constants.clone()][FIRST_RADIUS..];
            let count = s.pair.near(radii, &pose, x, near);
            for &vertex in &near[..count] {
                let vertex = vertex as usize;
                if let Some((depth, normal)) = s.pair.touch(vec3(x, vertex), radii[vertex], &pose) {
                    touching.push(Touching { surface, vertex, depth, normal });
                }
            }
        }
    }

    /// A vertex and the surface that it touches, and the surface's body.
    fn meeting(&self, at: Here, scratch: &CouplingScratch, t: Touching) -> (Meeting<f64>, usize) {
        let s = &self.surfaces[t.surface];
        let body = at.tree.geoms[s.geom].body;
        let own = &at.own[s.constants.clone()];
        let meeting = Meeting {
            x: vec3(&at.state.q, t.vertex),
            v: vec3(&at.state.v, t.vertex),
            radius: own[FIRST_RADIUS + t.vertex],
            pose: pose(at, &scratch.kinematics, s.geom),
            twist: scratch.twists[body],
            origin: scratch.kinematics.origin[body],
            parameters: plain(own),
        };
        (meeting, body)
    }

    /// Adds the forces on the vertices to `f` and leaves those on the bodies in the scratch.
    fn act(&self, at: Here, f: &mut [f64], scratch: &mut CouplingScratch) {
        self.find(at, scratch);
        scratch.applied.clear();
        if scratch.touching.is_empty() {
            return;
        }
        scratch.wrenches.fill(Force::zero());
        for i in 0..scratch.touching.len() {
            let t = scratch.touching[i];
            let (meeting, body) = self.meeting(at, scratch, t);
            let push = self.surfaces[t.surface].pair.force(&meeting);
            add3(f, t.vertex, push);
            scratch.wrenches[body] -= Force::at_point(push, meeting.arm());
        }
        scratch.applied.resize(at.tree.nv, 0.0);
        let subspace = &scratch.kinematics.subspace;
        gather(at.tree, subspace, &mut scratch.wrenches, &mut scratch.applied);
    }
}

/// Pose and size of a geom.
fn pose(at: Here, kinematics: &Kinematics<f64>, geom: usize) -> Pose<f64> {
    let pose = kinematics.geom(at.tree, at.layout, at.rigid, geom);
    let size = at.layout.geom_size.at(geom);
    let size = [at.rigid[size], at.rigid[size + 1], at.rigid[size + 2]];
    Pose { pos: pose.position, quat: pose.orientation, size }
}

/// Contact parameters among a surface's constants.
fn plain(own: &[f64]) -> ContactParameters<f64> {
    let mut values = [0.0; PARAMETERS];
    values.copy_from_slice(&own[..LOAD]);
    parameters(&values)
}

impl System {
    /// What the coupling reads of a state.
    fn coupled_at<'a>(&'a self, c: &'a Constants, state: &'a State) -> Option<Here<'a>> {
        let mechanism = self.articulated()?.mechanism();
        Some(Here {
            tree: &mechanism.tree,
            layout: &mechanism.layout,
            rigid: &c.values[self.layout.rigid.clone()],
            own: &c.values[self.layout.coupling.clone()],
            state,
            soft: self.soft_len(),
        })
    }

    /// The contact of soft vertices with articulated bodies.
    pub(crate) fn coupling(&self) -> Option<&Coupling> {
        self.coupling.as_ref()
    }

    /// Memory for the coupling, where there is one.
    pub(crate) fn coupling_scratch(&self) -> Option<Box<CouplingScratch>> {
        let (coupling, a) = (self.coupling.as_ref()?, self.articulated()?);
        Some(Box::new(coupling.scratch(a.tree(), &a.mechanism().layout)))
    }

    /// Finds the forces of vertices on articulated bodies at a state, `scratch.applied`.
    pub(crate) fn find_applied(&self, c: &Constants, state: &State, scratch: &mut CouplingScratch) {
        if let (Some(coupling), Some(at)) = (&self.coupling, self.coupled_at(c, state)) {
            coupling.act(at, &mut vec![0.0; at.soft], scratch);
        }
    }

    /// Adds the forces of articulated bodies on vertices to `ws.force` and leaves those of vertices on
    /// articulated bodies in `ws.coupling`.
    pub(crate) fn couple(&self, c: &Constants, state: &State, ws: &mut Workspace) {
        let Workspace { force, coupling: scratch, .. } = ws;
        if let (Some(coupling), Some(scratch)) = (&self.coupling, scratch)
            && let Some(at) = self.coupled_at(c, state)
        {
            coupling.act(at, force, scratch);
        }
    }
}

/// The forces of vertices on articulated bodies; empty for none.
pub(crate) fn applied(scratch: &Option<Box<CouplingScratch>>) -> &[f64] {
    scratch.as_ref().map_or(&[], |scratch| &scratch.applied)
}
