//! Points compiled: what they are made of.

use costate_num::Vec3;

use super::attach::{containing, nearest};
use super::centre_of_mass::CentreOfMass;
use super::compile::{Compiler, invalid};
use super::local::{Local, Moment};
use super::marker::Marker;
use super::spec::Point;
use crate::error::DynamicsError;

/// A point of a motion.
#[derive(Clone, Debug)]
pub(super) enum PointMap {
    /// A fixed combination of vertices.
    Weighted(Vec<(u32, f64)>),
    /// A marker.
    Marker(Marker),
    /// A centre of mass.
    CentreOfMass(CentreOfMass),
}

impl PointMap {
    /// Writes the position.
    pub fn position(&self, at: &Moment, out: &mut Local) {
        match self {
            Self::Weighted(weights) => {
                out.value = combine(weights, |i| at.x(i));
                if at.derivatives {
                    out.x_weights.extend_from_slice(weights);
                }
            }
            Self::Marker(marker) => marker.position(at, out),
            Self::CentreOfMass(centre) => centre.position(at, out),
        }
    }

    /// Writes the velocity.
    pub fn velocity(&self, at: &Moment, out: &mut Local) {
        match self {
            Self::Weighted(weights) => {
                out.value = combine(weights, |i| at.v(i));
                if at.derivatives {
                    out.v_weights.extend_from_slice(weights);
                }
            }
            Self::Marker(marker) => marker.velocity(at, out),
            Self::CentreOfMass(centre) => centre.velocity(at, out),
        }
    }
}

fn combine(weights: &[(u32, f64)], at: impl Fn(u32) -> Vec3<f64>) -> [f64; 3] {
    let mut sum = Vec3::zero();
    for &(i, w) in weights {
        sum += at(i) * w;
    }
    sum.to_array()
}

/// Slack of barycentric coordinates, and of the distance over the size of a triangle, within
/// which a point counts as inside: file formats round.
const SLACK: f64 = 1e-6;

impl Compiler<'_> {
    /// Compiles a point.
    pub(super) fn point(&mut self, point: &Point) -> Result<PointMap, DynamicsError> {
        match point {
            Point::Vertex { body: name, vertex } => {
                let (first, body) = self.body(name)?;
                if *vertex as usize >= body.vertex_count {
                    let message = format!("there is none; the body has {}", body.vertex_count);
                    return Err(invalid(&format!("soft.{name} vertex {vertex}"), message));
                }
                Ok(PointMap::Weighted(vec![(first + vertex, 1.0)]))
            }
            Point::Embedded { body, rest } => self.embedded(body, *rest),
            Point::Marker { name, body, rest } => {
                finite(&format!("marker.{name}"), rest)?;
                if let Some((_, first, map)) = self.markers.iter().find(|(n, ..)| n == name) {
                    if first != point {
                        let message = "is placed in two ways; give each marker its own name";
                        return Err(invalid(&format!("marker.{name}"), message));
                    }
                    return Ok(map.clone());
                }
                let map = PointMap::Marker(self.marker(name, body, *rest)?);
                self.markers.push((name.clone(), point.clone(), map.clone()));
                Ok(map)
            }
            Point::CentreOfMass { body, region } => {
                let vertices = self.region(body, region.as_deref())?;
                Ok(PointMap::CentreOfMass(CentreOfMass { vertices }))
            }
        }
    }

    fn embedded(&self, name: &str, rest: [f64; 3]) -> Result<PointMap, DynamicsError> {
        let element = format!("soft.{name} point [{}, {}, {}]", rest[0], rest[1], rest[2]);
        finite(&element, &rest)?;
        let (first, body) = self.body(name)?;
        let positions = &self.model().leaves.get(body.rest_position).values;
        let foot = nearest(&body.surface, positions, rest);
        if let Some(tetrahedra) = &body.tetrahedra
            && let Some((vertices, weights)) = containing(&tetrahedra.indices, positions, rest)
        {
            if weights.iter().all(|w| *w >= -SLACK) {
                return Ok(weighted(first, &vertices, &weights));
            }
            let distance = foot.map_or(f64::NAN, |f| f.distance);
            return Err(outside(&element, distance));
        }
        let foot = foot.ok_or_else(|| {
            invalid(&element, "the body has neither tetrahedra nor triangles to embed a point in")
        })?;
        let corner = |n: usize| {
            let i = 3 * foot.triangle[n] as usize;
            Vec3::new(positions[i], positions[i + 1], positions[i + 2])
        };
        let size = (corner(1) - corner(0)).norm().max((corner(2) - corner(0)).norm());
        if foot.distance > SLACK * size {
            return Err(outside(&element, foot.distance));
        }
        Ok(weighted(first, &foot.triangle, &foot.weights))
    }

    /// All vertices of a region of a body, or of the whole body, as global indices.
    pub(super) fn region(
        &self,
        name: &str,
        region: Option<&str>,
    ) -> Result<Vec<u32>, DynamicsError> {
        let (first, body) = self.body(name)?;
        let Some(region) = region else {
            return Ok((first..first + body.vertex_count as u32).collect());
        };
        let element = format!("soft.{name} region `{region}`");
        let found = body.regions.get(region).ok_or_else(|| {
            let known: Vec<&str> = body.regions.keys().map(|k| &**k).collect();
            let known = if known.is_empty() { "none".into() } else { known.join(", ") };
            invalid(&element, format!("there is no such region; known: {known}"))
        })?;
        if found.vertices.is_empty() {
            return Err(invalid(&element, "it holds no vertices"));
        }
        Ok(found.vertices.iter().map(|v| v + first).collect())
    }
}

fn finite(element: &str, rest: &[f64; 3]) -> Result<(), DynamicsError> {
    if rest.iter().all(|x| x.is_finite()) {
        Ok(())
    } else {
        Err(invalid(element, "its place must be finite"))
    }
}

fn outside(element: &str, distance: f64) -> DynamicsError {
    let message = format!(
        "it lies {distance:.3e} m outside the body; a marker may stand off the surface, an \
         embedded point may not"
    );
    invalid(element, message)
}

fn weighted<const N: usize>(first: u32, vertices: &[u32; N], weights: &[f64; N]) -> PointMap {
    PointMap::Weighted(vertices.iter().zip(weights).map(|(v, w)| (first + v, *w)).collect())
}
