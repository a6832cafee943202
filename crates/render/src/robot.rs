//! Articulated bodies: where their geoms are at given coordinates.

use costate_model::rigid::{Articulation, Form, Inertial, JointKind, Placement};
use costate_model::{Leaves, Model};
use costate_num::{Quat, Vec3};

use crate::color::Color;
use crate::scene::{
    Geometry, Line, Marker, Mesh, Point, Radius, Scene, Shading, Shape, rotation_from_z,
};

/// Position and orientation of a frame.
#[derive(Clone, Copy, Debug)]
struct Pose {
    at: Vec3<f64>,
    turn: Quat<f64>,
}

impl Pose {
    const fn identity() -> Self {
        let v = Vec3 { x: 0.0, y: 0.0, z: 0.0 };
        Self { at: v, turn: Quat { w: 1.0, v } }
    }
    /// A point given in this frame.
    fn place(&self, p: Vec3<f64>) -> Vec3<f64> {
        self.at + self.turn.rotate(p)
    }
    /// A frame given in this frame.
    fn frame(&self, inner: &Self) -> Self {
        Self { at: self.place(inner.at), turn: self.turn.product(inner.turn).normalize() }
    }
}

struct JointView {
    kind: JointKind,
    /// Its first coordinate.
    coordinate: usize,
    anchor: Vec3<f64>,
    axis: Vec3<f64>,
    reference: f64,
}

struct BodyView {
    parent: usize,
    pose: Pose,
    joints: Vec<JointView>,
}

enum Look {
    Solid(Geometry),
    Surface { vertices: Vec<Vec3<f64>>, triangles: Vec<[u32; 3]> },
}

struct GeomView {
    body: usize,
    pose: Pose,
    look: Look,
    color: Color,
    opacity: f32,
}

/// The look of an articulation.
pub(crate) struct RobotView {
    bodies: Vec<BodyView>,
    /// Those that never move first.
    geoms: Vec<GeomView>,
    /// How many of the drawn solids never move.
    still: usize,
    /// Where nothing has a shape: the centre of mass of each body.
    skeleton: Option<Vec<Vec3<f64>>>,
}

/// Colours of bodies whose geoms have MJCF's own grey, in turn.
const BODIES: [[u8; 3]; 5] =
    [[58, 134, 190], [226, 139, 62], [94, 162, 96], [150, 110, 180], [196, 90, 100]];

fn vec3(v: &[f64]) -> Vec3<f64> {
    let at = |k: usize| v.get(k).copied().unwrap_or(f64::NAN);
    Vec3::new(at(0), at(1), at(2))
}

fn quat(v: &[f64]) -> Quat<f64> {
    let at = |k: usize| v.get(k).copied().unwrap_or(f64::NAN);
    Quat::new(at(0), at(1), at(2), at(3)).normalize()
}

/// The frame of a placement, and half the distance of its ends.
fn pose(leaves: &Leaves, placement: &Placement) -> (Pose, Option<f64>) {
    match placement {
        Placement::Pose { pos, quat: turn } => {
            let pose =
                Pose { at: vec3(&leaves.get(*pos).values), turn: quat(&leaves.get(*turn).values) };
            (pose, None)
        }
        Placement::FromTo { ends } => {
            let values = &leaves.get(*ends).values;
            let (from, to) = (vec3(values), vec3(values.get(3..).unwrap_or_default()));
            let pose = Pose { at: (from + to) * 0.5, turn: rotation_from_z(from - to) };
            (pose, Some(0.5 * (from - to).norm()))
        }
    }
}

impl RobotView {
    pub fn new(model: &Model) -> Option<Self> {
        let a = model.articulation.as_ref()?;
        let leaves = &model.leaves;
        let mut bodies: Vec<BodyView> = a
            .bodies
            .iter()
            .map(|body| BodyView {
                parent: body.parent,
                pose: body.placement.as_ref().map_or(Pose::identity(), |p| pose(leaves, p).0),
                joints: Vec::new(),
            })
            .collect();
        let mut coordinate = 0;
        for joint in &a.joints {
            let vector = |id: Option<_>, default: [f64; 3]| {
                vec3(id.map_or(&default[..], |id| &leaves.get(id).values))
            };
            let view = JointView {
                kind: joint.kind,
                coordinate,
                anchor: vector(joint.pos, [0.0; 3]),
                axis: vector(joint.axis, [0.0, 0.0, 1.0]).normalize().0,
                reference: joint.reference.map_or(0.0, |id| leaves.get(id).at(0)),
            };
            coordinate += joint.kind.nq();
            if let Some(body) = bodies.get_mut(joint.body) {
                body.joints.push(view);
            }
        }
        let mut moves = vec![false; bodies.len()];
        for b in 1..bodies.len() {
            moves[b] = !bodies[b].joints.is_empty() || moves[bodies[b].parent.min(b - 1)];
        }
        let mut geoms: Vec<GeomView> = (0..a.geoms.len()).map(|g| geom(a, leaves, g)).collect();
        geoms.sort_by_key(|g| moves.get(g.body).copied().unwrap_or(false));
        let solid = |g: &&GeomView| matches!(g.look, Look::Solid(_));
        let resting = geoms.iter().filter(|g| !moves.get(g.body).copied().unwrap_or(false));
        let still = resting.filter(solid).count();
        let skeleton = a.geoms.is_empty().then(|| centres(a, leaves));
        Some(Self { bodies, geoms, still, skeleton })
    }

    /// How many of the first solids in the scene never move.
    pub fn still(&self) -> usize {
        self.still
    }

    /// Adds what is seen at the coordinates `qpos`; those that are missing are not drawn.
    pub fn add(&self, qpos: &[f64], scene: &mut Scene) {
        let frames = self.frames(qpos);
        for geom in &self.geoms {
            let frame = frames[geom.body].frame(&geom.pose);
            match &geom.look {
                Look::Solid(geometry) => scene.shapes.push(Shape {
                    geometry: *geometry,
                    position: frame.at,
                    rotation: frame.turn,
                    color: geom.color,
                    opacity: geom.opacity,
                }),
                Look::Surface { vertices, triangles } => {
                    let placed = vertices.iter().map(|v| frame.place(*v)).collect();
                    let mesh = Mesh::closed(placed, triangles.clone(), geom.color);
                    scene.meshes.push(Mesh {
                        shading: Shading::Smooth { crease: 40f64.to_radians() },
                        edges: 0.0,
                        opacity: geom.opacity,
                        ..mesh
                    });
                }
            }
        }
        for (b, centre) in self.skeleton.iter().flatten().enumerate().skip(1) {
            let color = Color::srgb(92, 98, 110);
            let (from, end) = (frames[b].at, frames[b].place(*centre));
            let parent = self.bodies[b].parent;
            if parent > 0 {
                scene.lines.push(Line { from: frames[parent].at, to: from, color, width: 3.0 });
            }
            scene.lines.push(Line { from, to: end, color, width: 3.0 });
            let [r, g, blue] = BODIES[(b - 1) % BODIES.len()];
            let (color, radius) = (Color::srgb(r, g, blue), Radius::Pixels(6.0));
            scene.points.push(Point { position: end, color, radius, marker: Marker::Ball });
        }
    }

    /// The frames of all bodies.
    fn frames(&self, qpos: &[f64]) -> Vec<Pose> {
        let at = |i: usize| qpos.get(i).copied().unwrap_or(f64::NAN);
        let mut frames: Vec<Pose> = Vec::with_capacity(self.bodies.len());
        for body in &self.bodies {
            let parent = frames.get(body.parent).copied().unwrap_or(Pose::identity());
            let mut frame = parent.frame(&body.pose);
            for joint in &body.joints {
                let i = joint.coordinate;
                match joint.kind {
                    JointKind::Free => {
                        frame = Pose {
                            at: Vec3::new(at(i), at(i + 1), at(i + 2)),
                            turn: quat(&[at(i + 3), at(i + 4), at(i + 5), at(i + 6)]),
                        };
                    }
                    JointKind::Slide => {
                        frame.at += frame.turn.rotate(joint.axis) * (at(i) - joint.reference);
                    }
                    JointKind::Hinge | JointKind::Ball => {
                        let anchor = frame.place(joint.anchor);
                        let turn = if joint.kind == JointKind::Ball {
                            quat(&[at(i), at(i + 1), at(i + 2), at(i + 3)])
                        } else {
                            let (sine, cosine) = (0.5 * (at(i) - joint.reference)).sin_cos();
                            Quat { w: cosine, v: joint.axis * sine }
                        };
                        frame.turn = frame.turn.product(turn).normalize();
                        frame.at = anchor - frame.turn.rotate(joint.anchor);
                    }
                }
            }
            frames.push(frame);
        }
        frames
    }
}

/// The given centres of mass.
fn centres(a: &Articulation, leaves: &Leaves) -> Vec<Vec3<f64>> {
    let centre = |inertial: &Inertial| match inertial {
        Inertial::Given { ipos, .. } | Inertial::Proportional { ipos, .. } => {
            vec3(&leaves.get(*ipos).values)
        }
        _ => Vec3::zero(),
    };
    a.bodies.iter().map(|b| centre(&b.inertial)).collect()
}

fn geom(a: &Articulation, leaves: &Leaves, index: usize) -> GeomView {
    let geom = &a.geoms[index];
    let (pose, half) = pose(leaves, &geom.placement);
    let mut size = geom.size.map_or(Vec::new(), |id| leaves.get(id).values.clone());
    if let Some(half) = half {
        // The ends give the last number; the one that is left is that of the other directions.
        let other = size.first().copied().unwrap_or(f64::NAN);
        size.resize(geom.form.size_len().saturating_sub(1), other);
        size.push(half);
    }
    let number = |k: usize| size.get(k).copied().unwrap_or(f64::NAN);
    let look = match geom.form {
        Form::Plane => Look::Solid(Geometry::Plane { half: [0.0; 2] }),
        Form::Sphere => Look::Solid(Geometry::Sphere { radius: number(0) }),
        Form::Capsule => {
            Look::Solid(Geometry::Capsule { radius: number(0), half_length: number(1) })
        }
        Form::Cylinder => {
            Look::Solid(Geometry::Cylinder { radius: number(0), half_length: number(1) })
        }
        Form::Ellipsoid => {
            Look::Solid(Geometry::Ellipsoid { half: [number(0), number(1), number(2)] })
        }
        Form::Box => Look::Solid(Geometry::Box { half: [number(0), number(1), number(2)] }),
        Form::HeightField(field) => {
            let (vertices, triangles) =
                a.fields.get(field).map(|f| f.surface()).unwrap_or_default();
            Look::Surface { vertices: vertices.iter().map(|v| vec3(v)).collect(), triangles }
        }
        Form::Mesh(mesh) => {
            let mesh = a.meshes.get(mesh);
            Look::Surface {
                vertices: mesh.map_or(Vec::new(), |m| m.vertices.iter().map(|v| vec3(v)).collect()),
                triangles: mesh.map_or(Vec::new(), |m| m.triangles.to_vec()),
            }
        }
    };
    let plane = geom.form == Form::Plane;
    let [r, g, b, opacity] = geom.rgba;
    let unpainted = geom.rgba == [0.5, 0.5, 0.5, 1.0];
    let color = if unpainted && plane {
        Color::srgb(226, 229, 233)
    } else if unpainted {
        let [r, g, b] =
            if geom.body == 0 { [170, 176, 186] } else { BODIES[(geom.body - 1) % BODIES.len()] };
        Color::srgb(r, g, b)
    } else {
        let byte = |x: f32| (255.0 * x.clamp(0.0, 1.0)).round() as u8;
        Color::srgb(byte(r), byte(g), byte(b))
    };
    GeomView { body: geom.body.min(a.bodies.len() - 1), pose, look, color, opacity }
}
