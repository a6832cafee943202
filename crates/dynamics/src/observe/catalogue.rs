//! Which observation is computed by what.

use costate_num::Vec3;

use super::acceleration::Acceleration;
use super::angle::{AngleAt, AngleToAxis, SignedAngle};
use super::compile::{Compiled, Compiler, invalid};
use super::contact_force::ContactForce;
use super::coupled::CoupledForce;
use super::distance::Distance;
use super::energy::Energy;
use super::frame::Kind;
use super::joint::{JointPosition, JointVelocity};
use super::kinematic::{Position, Velocity};
use super::local::Observable;
use super::orientation::Orientation;
use super::point::PointMap;
use super::relation::Relation;
use super::spec::{Observation, Point};
use crate::error::DynamicsError;
use crate::system::Motion;

impl Compiler<'_> {
    /// Compiles an observation, or one number of it where it is observed number by number.
    pub(super) fn observation(
        &mut self,
        observation: &Observation,
        number: Option<usize>,
    ) -> Result<Compiled, DynamicsError> {
        let (observable, kind): (Box<dyn Observable>, Kind) = match observation {
            Observation::Position(point) => {
                (Box::new(Position(self.point(point)?)), Kind::Position)
            }
            Observation::Velocity(point) => {
                (Box::new(Velocity(self.point(point)?)), Kind::Displacement)
            }
            Observation::Acceleration(point) => {
                (Box::new(self.acceleration(point)?), Kind::Displacement)
            }
            Observation::Distance(a, b) => {
                let points = [self.point(a)?, self.point(b)?];
                (Box::new(Relation { points, shape: Distance }), Kind::Length)
            }
            Observation::Angle(a, b, c) => {
                let points = [self.point(a)?, self.point(b)?, self.point(c)?];
                (Box::new(Relation { points, shape: AngleAt }), Kind::Invariant)
            }
            Observation::AxisAngle { from, to, axis, about } => {
                let points = [self.point(from)?, self.point(to)?];
                (axis_angle(points, *axis, *about)?, Kind::Invariant)
            }
            Observation::Orientation(a, b, c) => {
                let points = [self.point(a)?, self.point(b)?, self.point(c)?];
                let rest = [self.rest(a)?, self.rest(b)?, self.rest(c)?];
                let shape = Orientation::new(&rest).ok_or_else(|| {
                    invalid("orientation", "its three points lie on one line at rest")
                })?;
                (Box::new(Relation { points, shape }), Kind::Orientation)
            }
            Observation::JointPosition { joint, slide } => {
                (Box::new(JointPosition(self.joint(joint, *slide)?)), Kind::Invariant)
            }
            Observation::JointVelocity { joint, slide } => {
                (Box::new(JointVelocity(self.joint(joint, *slide)?)), Kind::Invariant)
            }
            Observation::Sensor { sensor, .. } => {
                (Box::new(self.sensor(sensor, number)?), Kind::Invariant)
            }
            Observation::Energy => (Box::new(Energy), Kind::Invariant),
            Observation::ContactForce { geom, body, region } => {
                (self.contact_force(geom, body.as_deref(), region.as_deref())?, Kind::Vector)
            }
        };
        Ok(Compiled { observable, kind })
    }

    fn acceleration(&mut self, point: &Point) -> Result<Acceleration, DynamicsError> {
        if self.system.coupling().is_some() {
            let message = "that of soft bodies is not offered where they touch geoms of a robot; take \
                           velocities";
            return Err(invalid("acceleration", message));
        }
        let compiled = match self.point(point)? {
            PointMap::Weighted(weights) => Acceleration::Weighted(weights),
            PointMap::CentreOfMass(centre) => Acceleration::CentreOfMass(centre),
            PointMap::Marker(_) => {
                let message = "that of a marker is not offered; take an embedded point";
                return Err(invalid("acceleration", message));
            }
        };
        let moved = |i: u32| matches!(self.system.motion[i as usize], Motion::Path(_));
        let on_path = match &compiled {
            Acceleration::Weighted(weights) => weights.iter().map(|w| w.0).find(|&i| moved(i)),
            Acceleration::CentreOfMass(centre) => {
                centre.vertices.iter().copied().find(|&i| moved(i))
            }
        };
        match on_path {
            None => Ok(compiled),
            Some(i) => Err(invalid(
                "acceleration",
                format!(
                    "{} moves on a prescribed path, whose acceleration no force makes",
                    self.system.vertex_name(i as usize)
                ),
            )),
        }
    }

    /// Where a point is at rest, body frame.
    fn rest(&self, point: &Point) -> Result<Vec3<f64>, DynamicsError> {
        match point {
            Point::Vertex { body, vertex } => {
                let (_, soft) = self.body(body)?;
                let rest = &self.model().leaves.get(soft.rest_position).values;
                let i = 3 * *vertex as usize;
                Ok(Vec3::new(rest[i], rest[i + 1], rest[i + 2]))
            }
            Point::Embedded { rest, .. } | Point::Marker { rest, .. } => {
                Ok(Vec3::from_array(*rest))
            }
            Point::CentreOfMass { .. } => {
                let message = "a centre of mass has no fixed place at rest; take another point";
                Err(invalid("orientation", message))
            }
        }
    }

    fn contact_force(
        &self,
        geom: &str,
        body: Option<&str>,
        region: Option<&str>,
    ) -> Result<Box<dyn Observable>, DynamicsError> {
        let element = format!("geom.{geom} contact force");
        let vertices = match body {
            Some(body) => self.region(body, region)?,
            None if region.is_some() => {
                return Err(invalid(&element, "a region needs the name of its body"));
            }
            None => (0..self.system.vertex_count() as u32).collect(),
        };
        let coupling = self.system.coupling();
        if let Some(surface) = coupling.and_then(|coupling| coupling.surface(geom)) {
            return Ok(Box::new(CoupledForce { surface, vertices }));
        }
        let on_geom = |force: &dyn crate::Force| force.onset().is_some_and(|o| o.geom() == geom);
        let force = self.system.forces().iter().position(|f| on_geom(&**f)).ok_or_else(|| {
            let of_robot = coupling.iter().flat_map(|coupling| coupling.geoms());
            let known = self.model().geoms.iter().map(|g| &*g.name).chain(of_robot);
            let known: Vec<&str> = known.collect();
            let known = if known.is_empty() { "none".into() } else { known.join(", ") };
            invalid(&element, format!("soft bodies touch no such geom; known: {known}"))
        })?;
        let vertices = vertices.into_iter().map(|i| (i, 1.0)).collect();
        Ok(Box::new(ContactForce { force, vertices }))
    }
}

fn axis_angle(
    points: [PointMap; 2],
    axis: [f64; 3],
    about: Option<[f64; 3]>,
) -> Result<Box<dyn Observable>, DynamicsError> {
    let finite = |v: [f64; 3]| v.iter().all(|x| x.is_finite());
    let length = Vec3::from_array(axis).norm();
    if !(finite(axis) && length > 0.0 && length.is_finite()) {
        return Err(invalid("angle", "its axis must be finite and not zero"));
    }
    match about {
        None => Ok(Box::new(Relation { points, shape: AngleToAxis { axis } })),
        Some(normal) => {
            let shape =
                SignedAngle::new(axis, normal).filter(|_| finite(normal)).ok_or_else(|| {
                    invalid("angle", "its axis and the normal it is counted about are parallel")
                })?;
            Ok(Box::new(Relation { points, shape }))
        }
    }
}
