//! Models and their trajectories as scenes and animations.

use crate::Error;
use crate::animation::{Timeline, write_gif};
use crate::camera::{Camera, Up, View};
use crate::color::Color;
use crate::renderer::{Renderer, Style};
use crate::robot::RobotView;
use crate::scene::{Bounds, Geometry, Line, Marker, Mesh, Point, Radius, Scene, Shape, TimeStamp};
use costate_model::{Model, SoftBody, State, Trajectory, boundary_triangles};
use costate_num::{Quat, Vec3};
use std::collections::HashSet;

/// Colours of bodies, in turn.
const BODIES: [[u8; 3]; 5] =
    [[58, 134, 190], [226, 139, 62], [94, 162, 96], [150, 110, 180], [196, 90, 100]];

/// What of a body is drawn, worked out once.
struct BodyView {
    first: usize,
    count: usize,
    /// Outer faces of tetrahedra.
    closed: Vec<[u32; 3]>,
    /// Membrane triangles that are not among those.
    sheet: Vec<[u32; 3]>,
    springs: Vec<[u32; 2]>,
    /// Vertices of no triangle, with their radius, and whether they are fixed.
    particles: Vec<(u32, f64, bool)>,
    color: Color,
}

/// A model's look: which triangles, lines, balls and solids show it.
pub struct ModelView {
    bodies: Vec<BodyView>,
    geoms: Vec<Shape>,
    robot: Option<RobotView>,
    /// Where the coordinates of articulated bodies start.
    coordinates: usize,
    up: Up,
}

impl ModelView {
    /// Works out what to draw: outer faces of tetrahedra, membranes, springs as lines, vertices
    /// without triangles as balls, and the geoms; of articulated bodies their geoms, or, where none
    /// has any, lines to their centres of mass.
    pub fn new(model: &Model) -> Self {
        let color = |i: usize| {
            let [r, g, b] = BODIES[i % BODIES.len()];
            Color::srgb(r, g, b)
        };
        let bodies = model.soft.iter().enumerate();
        Self {
            bodies: bodies.map(|(i, b)| body(model, b, model.first_vertex(i), color(i))).collect(),
            geoms: model.geoms.iter().map(|g| geom(model, g)).collect(),
            robot: RobotView::new(model),
            coordinates: 3 * model.soft.iter().map(|b| b.vertex_count).sum::<usize>(),
            up: if model.options.up_axis == 1 { Up::Y } else { Up::Z },
        }
    }

    /// The axis that the model says is up.
    pub fn up(&self) -> Up {
        self.up
    }

    /// The scene at positions `q` (as in [`State::q`]); what lies beyond its end is not drawn.
    pub fn scene(&self, q: &[f64]) -> Scene {
        let at = |i: usize| match q.get(3 * i..3 * i + 3) {
            Some(p) => Vec3::new(p[0], p[1], p[2]),
            None => Vec3::splat([f64::NAN; 3]),
        };
        let mut scene = Scene { shapes: self.geoms.clone(), ..Scene::default() };
        for body in &self.bodies {
            let place = |i: u32| at(body.first + i as usize);
            let all = || (0..body.count).map(|i| at(body.first + i)).collect();
            if !body.closed.is_empty() {
                scene.meshes.push(Mesh::closed(all(), body.closed.clone(), body.color));
            }
            if !body.sheet.is_empty() {
                scene.meshes.push(Mesh::sheet(all(), body.sheet.clone(), body.color));
            }
            for [a, b] in &body.springs {
                let color = Color::srgb(92, 98, 110);
                let line = Line { from: place(*a), to: place(*b), color, width: 2.0 };
                scene.lines.push(line);
            }
            for (i, radius, fixed) in &body.particles {
                let color = if *fixed { Color::srgb(60, 64, 72) } else { body.color };
                let radius =
                    if *radius > 0.0 { Radius::World(*radius) } else { Radius::Pixels(4.0) };
                let marker = Marker::Ball;
                scene.points.push(Point { position: place(*i), color, radius, marker });
            }
        }
        if let Some(robot) = &self.robot {
            robot.add(q.get(self.coordinates..).unwrap_or_default(), &mut scene);
        }
        scene
    }
}

fn body(model: &Model, body: &SoftBody, first: usize, color: Color) -> BodyView {
    let closed = body.tetrahedra.as_ref().map_or(Vec::new(), |t| boundary_triangles(&t.indices));
    let key = |t: &[u32; 3]| {
        let mut key = *t;
        key.sort_unstable();
        key
    };
    let outer: HashSet<[u32; 3]> = closed.iter().map(key).collect();
    let membrane = body.membrane.iter().flat_map(|m| &m.triangles);
    let sheet: Vec<_> = membrane.filter(|t| !outer.contains(&key(t))).copied().collect();
    let mut covered = vec![false; body.vertex_count];
    let tetrahedra = body.tetrahedra.iter().flat_map(|t| t.indices.iter().flatten());
    for i in tetrahedra.chain(sheet.iter().flatten()) {
        if let Some(c) = covered.get_mut(*i as usize) {
            *c = true;
        }
    }
    let radii = &model.leaves.get(body.radius).values;
    let particles = covered.iter().enumerate().filter(|(_, c)| !**c).map(|(i, _)| {
        let radius = radii.get(i).or(radii.first()).copied().unwrap_or(0.0);
        (i as u32, radius, body.fixed.contains(&(i as u32)))
    });
    BodyView {
        first,
        count: body.vertex_count,
        springs: body.springs.as_ref().map_or(Vec::new(), |s| s.indices.clone()),
        particles: particles.collect(),
        closed,
        sheet,
        color,
    }
}

fn geom(model: &Model, geom: &costate_model::Geom) -> Shape {
    let values = |id| model.leaves.get(id).values.as_slice();
    let number = |list: &[f64], k: usize| list.get(k).copied().unwrap_or(f64::NAN);
    let pos = values(geom.pos);
    let quat = values(geom.quat);
    let size = geom.size.map_or(&[][..], values);
    let (geometry, color, opacity) = match geom.shape {
        costate_model::Shape::Plane => {
            (Geometry::Plane { half: [0.0; 2] }, Color::srgb(226, 229, 233), 1.0)
        }
        costate_model::Shape::Sphere => {
            (Geometry::Sphere { radius: number(size, 0) }, Color::srgb(170, 176, 186), 1.0)
        }
        // A wall between the camera and the body must not hide it.
        costate_model::Shape::Box => {
            let half = [number(size, 0), number(size, 1), number(size, 2)];
            (Geometry::Box { half }, Color::srgb(170, 176, 186), 0.5)
        }
        costate_model::Shape::Capsule => {
            let (radius, half_length) = (number(size, 0), number(size, 1));
            (Geometry::Capsule { radius, half_length }, Color::srgb(170, 176, 186), 1.0)
        }
    };
    Shape {
        geometry,
        position: Vec3::new(number(pos, 0), number(pos, 1), number(pos, 2)),
        rotation: Quat::new(number(quat, 0), number(quat, 1), number(quat, 2), number(quat, 3))
            .normalize(),
        color,
        opacity,
    }
}

/// A point whose way is shown beside the model: a measured marker as a ring, a computed one as a
/// ball.
#[derive(Clone, Debug, PartialEq)]
pub struct Track {
    /// Instants in seconds, ascending.
    pub times: Vec<f64>,
    /// Where it is, one place per instant; a gap is a place that is not finite.
    pub positions: Vec<Vec3<f64>>,
    /// Whether it was measured.
    pub measured: bool,
}

impl Track {
    /// The point at time `t`, on straight lines between samples; none before the first, after
    /// the last, and next to a gap.
    pub fn point(&self, t: f64) -> Option<Point> {
        let n = self.times.len().min(self.positions.len());
        let times = &self.times[..n];
        let after = times.partition_point(|s| *s < t);
        let position = if times.get(after).is_some_and(|s| *s == t) {
            self.positions[after]
        } else {
            let before = after.checked_sub(1)?;
            let (a, b) = (times[before], *times.get(after)?);
            let s = (t - a) / (b - a);
            self.positions[before] * (1.0 - s) + self.positions[after] * s
        };
        let (color, radius, marker) = if self.measured {
            (Color::srgb(190, 30, 50), Radius::Pixels(7.0), Marker::Ring)
        } else {
            (Color::srgb(250, 200, 60), Radius::Pixels(3.5), Marker::Ball)
        };
        let seen = position.to_array().iter().all(|c| c.is_finite());
        seen.then_some(Point { position, color, radius, marker })
    }
}

/// How a motion is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct MotionSettings {
    /// Look of the images.
    pub style: Style,
    /// Direction of view; without one, across the longer horizontal extent of the motion with the
    /// model's axis up.
    pub view: Option<View>,
    /// At most so many frames.
    pub frames: usize,
    /// Points shown beside the model.
    pub tracks: Vec<Track>,
}

impl Default for MotionSettings {
    fn default() -> Self {
        Self { style: Style::default(), view: None, frames: 200, tracks: Vec::new() }
    }
}

/// A trajectory as a GIF: one camera for the whole motion, states in between on straight lines.
///
/// # Errors
/// [`Error::NoFrames`] for a trajectory without states; [`Error::Size`] for a style out of range.
pub fn motion_gif(
    model: &Model,
    trajectory: &Trajectory,
    settings: &MotionSettings,
) -> Result<Vec<u8>, Error> {
    let states = &trajectory.states;
    let (Some(first), Some(last)) = (states.first(), states.last()) else {
        return Err(Error::NoFrames);
    };
    let timeline = Timeline::new(first.time, last.time, settings.frames);
    let look = ModelView::new(model);
    let scene = |t: f64| {
        let mut scene = look.scene(&between(states, t));
        scene.points.extend(settings.tracks.iter().filter_map(|k| k.point(t)));
        scene.stamp = Some(TimeStamp { time: t, speed: timeline.speed });
        scene
    };
    let bounds = reach(&look, timeline.times.iter().map(|t| scene(*t)));
    let view = settings.view.unwrap_or_else(|| across(&bounds, look.up));
    let style = settings.style;
    let camera = Camera::framing(&bounds, &view, style.width as f64 / style.height as f64);
    let mut renderer = Renderer::new(&camera, style)?;
    let mut out = Vec::new();
    let (count, delay) = (timeline.times.len(), timeline.delay);
    write_gif(&mut out, &mut renderer, count, delay, |i| scene(timeline.times[i]))?;
    Ok(out)
}

/// The view across the longer horizontal side of a box.
fn across(bounds: &Bounds, up: Up) -> View {
    let view = View { up, ..View::default() };
    let size = |k: usize| bounds.high[k] - bounds.low[k];
    let depth = if up == Up::Y { size(2) } else { size(1) };
    if depth > 1.5 * size(0) {
        View { azimuth: 0.5 * std::f64::consts::PI - view.azimuth, ..view }
    } else {
        view
    }
}

/// Positions at time `t`, on a straight line between the states around it.
fn between(states: &[State], t: f64) -> Vec<f64> {
    let after = states.partition_point(|s| s.time < t);
    match (after.checked_sub(1).and_then(|i| states.get(i)), states.get(after)) {
        (Some(a), Some(b)) if b.time > a.time => {
            let s = (t - a.time) / (b.time - a.time);
            a.q.iter().zip(&b.q).map(|(x, y)| x + (y - x) * s).collect()
        }
        (_, Some(b)) => b.q.clone(),
        (Some(a), None) => a.q.clone(),
        (None, None) => Vec::new(),
    }
}

/// What the camera must show: where the bodies go, solids that are not much larger, and the floor
/// below where it is near. What flies further than a thousand times the first frame's size (a
/// simulation that diverged) does not make the rest invisible.
fn reach(look: &ModelView, frames: impl Iterator<Item = Scene>) -> Bounds {
    const FAR: f64 = 1e3;
    let mut bounds = Bounds::default();
    let mut start: Option<(Vec3<f64>, f64)> = None;
    let still = look.geoms.len() + look.robot.as_ref().map_or(0, RobotView::still);
    let mut solids = look.geoms.clone();
    for mut scene in frames {
        solids = scene.shapes.drain(..still.min(scene.shapes.len())).collect();
        let mut frame = Bounds::default();
        frame.include_scene(&scene);
        if frame.is_empty() {
            continue;
        }
        let corners = frame.corners();
        let (centre, size) = *start.get_or_insert_with(|| {
            let size = (corners[7] - corners[0]).norm();
            ((corners[0] + corners[7]) * 0.5, if size > 0.0 { size } else { f64::INFINITY })
        });
        for c in corners {
            if (c - centre).norm() <= FAR * size {
                bounds.include(c);
            }
        }
    }
    let moving = bounds.corners();
    let size = (moving[7] - moving[0]).norm();
    for shape in &solids {
        if let Geometry::Plane { .. } = shape.geometry {
            let normal = shape.rotation.rotate(Vec3::new(0.0, 0.0, 1.0));
            for c in moving {
                let height = normal.dot(c - shape.position);
                if height > 0.0 && height < 0.7 * size {
                    bounds.include(c - normal * height);
                }
            }
        } else {
            let mut solid = Bounds::default();
            solid.include_scene(&Scene { shapes: vec![*shape], ..Scene::default() });
            let corners = solid.corners();
            if (corners[7] - corners[0]).norm() <= 3.0 * size {
                corners.iter().for_each(|c| bounds.include(*c));
            }
        }
    }
    bounds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tracks_have_gaps() {
        let at = |x: f64| Vec3::new(x, 0.0, 0.0);
        let track = Track {
            times: vec![0.0, 1.0, 2.0, 3.0],
            positions: vec![at(0.0), at(2.0), at(f64::NAN), at(6.0)],
            measured: true,
        };
        let x = |t: f64| track.point(t).map(|p| p.position.x);
        assert_eq!(x(0.5), Some(1.0));
        assert_eq!(x(1.0), Some(2.0));
        assert_eq!(x(3.0), Some(6.0));
        for t in [-0.1, 1.5, 2.0, 2.5, 3.1, f64::NAN] {
            assert_eq!(x(t), None, "at {t}");
        }
    }

    #[test]
    fn the_view_is_across_the_longer_side() {
        let box_of = |x: f64, y: f64, z: f64| Bounds { low: [0.0; 3], high: [x, y, z] };
        let turned = |b: &Bounds, up: Up| across(b, up).azimuth > View::default().azimuth;
        assert!(!turned(&box_of(3.0, 1.0, 9.0), Up::Z) && turned(&box_of(1.0, 3.0, 9.0), Up::Z));
        assert!(!turned(&box_of(3.0, 9.0, 1.0), Up::Y) && turned(&box_of(1.0, 9.0, 3.0), Up::Y));
        assert!(!turned(&Bounds::default(), Up::Z));
    }

    #[test]
    fn states_are_joined_by_straight_lines() {
        let state = |time, q: f64| State { time, q: vec![q], v: vec![0.0], act: Vec::new() };
        let states = [state(0.0, 1.0), state(2.0, 5.0)];
        assert_eq!(between(&states, 0.5), [2.0]);
        assert_eq!(between(&states, -1.0), [1.0]);
        assert_eq!(between(&states, 2.0), [5.0]);
        assert_eq!(between(&states, 9.0), [5.0]);
        assert!(between(&[], 0.0).is_empty());
    }
}
