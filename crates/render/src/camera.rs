//! Where the picture is taken from.

use crate::scene::{Bounds, drawable};
use costate_num::Vec3;

/// Which axis points up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Up {
    /// y is up.
    Y,
    /// z is up.
    #[default]
    Z,
}

impl Up {
    /// The unit vector that points up.
    pub fn vector(self) -> Vec3<f64> {
        match self {
            Self::Y => Vec3::new(0.0, 1.0, 0.0),
            Self::Z => Vec3::new(0.0, 0.0, 1.0),
        }
    }

    /// The axis that gravity is most nearly opposed to, of y and z; z where there is no gravity.
    pub fn against(gravity: [f64; 3]) -> Self {
        if gravity[1].abs() > gravity[2].abs() { Self::Y } else { Self::Z }
    }
}

/// The direction that a picture is taken from, before the distance is known. Angles in radians.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// Which axis points up.
    pub up: Up,
    /// Turn about the up axis. Zero looks along +y with x to the right (z up) or along −z with x
    /// to the right (y up); positive moves the camera to the right.
    pub azimuth: f64,
    /// Height of the camera above the horizon.
    pub elevation: f64,
    /// Vertical field of view.
    pub fov: f64,
}

impl Default for View {
    fn default() -> Self {
        Self {
            up: Up::Z,
            azimuth: 28f64.to_radians(),
            elevation: 18f64.to_radians(),
            fov: 28f64.to_radians(),
        }
    }
}

/// A pinhole camera.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Place of the camera.
    pub eye: Vec3<f64>,
    /// What the middle of the image shows.
    pub target: Vec3<f64>,
    /// Roughly up; need not be a unit vector.
    pub up: Vec3<f64>,
    /// Vertical field of view in radians.
    pub fov: f64,
}

impl Camera {
    /// The camera from which a box just fills an image of the given aspect (width by height),
    /// with a margin. Taken over a whole motion the camera stands still and shows all of it.
    pub fn framing(bounds: &Bounds, view: &View, aspect: f64) -> Self {
        const MARGIN: f64 = 1.12;
        let corners = bounds.corners();
        let mut target = (corners[0] + corners[7]) * 0.5;
        let back = back_of(view);
        let (right, over) = across(back, view.up.vector());
        let tan_y = (0.5 * view.fov.clamp(1e-3, 3.0)).tan();
        let tan_x = tan_y * if aspect.is_finite() { aspect.clamp(1e-3, 1e3) } else { 1.0 };
        let size = (corners[7] - corners[0]).norm();
        let mut distance = size;
        // The box's middle is not the middle of its picture, as near corners look larger: move
        // the target to the picture's middle a few times.
        for _ in 0..4 {
            distance = 0.0;
            for c in corners {
                let d = c - target;
                let need = (right.dot(d).abs() / tan_x).max(over.dot(d).abs() / tan_y);
                distance = f64::max(distance, back.dot(d) + MARGIN * need);
            }
            let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
            for c in corners {
                let d = c - target;
                let depth = (distance - back.dot(d)).max(1e-9 * size);
                for (k, axis) in [right, over].into_iter().enumerate() {
                    low[k] = low[k].min(axis.dot(d) / depth);
                    high[k] = high[k].max(axis.dot(d) / depth);
                }
            }
            let middle = |k: usize| 0.5 * (low[k] + high[k]) * distance;
            if distance > 0.0 {
                target += right * middle(0) + over * middle(1);
            }
        }
        // A single point has no size: look at it from a distance that its coordinates suggest.
        let floor = 1e-6 * target.to_array().iter().fold(0.0, |m: f64, c| m.max(c.abs()));
        if distance <= floor || distance.is_nan() {
            distance = if floor > 0.0 { floor } else { 1.0 };
        }
        Self { eye: target + back * distance, target, up: view.up.vector(), fov: view.fov }
    }

    /// The frame and scale that everything is drawn in.
    pub(crate) fn eyepiece(&self) -> Eyepiece {
        let offset = self.eye - self.target;
        let usable = drawable(self.eye) && drawable(self.target) && offset.norm() > 0.0;
        let (eye, offset) = if usable {
            (self.eye, offset)
        } else {
            (Vec3::new(0.0, -1.0, 0.0), Vec3::new(0.0, -1.0, 0.0))
        };
        let (back, distance) = offset.normalize();
        let (right, over) = across(back, self.up);
        let fov = if self.fov.is_finite() { self.fov.clamp(1e-3, 3.0) } else { 0.5 };
        Eyepiece { eye, right, over, back, distance, tan: (0.5 * fov).tan() }
    }
}

/// The unit vector from the target to the camera.
fn back_of(view: &View) -> Vec3<f64> {
    let finite = |a: f64| if a.is_finite() { a } else { 0.0 };
    let (sa, ca) = finite(view.azimuth).sin_cos();
    let (se, ce) = finite(view.elevation).sin_cos();
    match view.up {
        Up::Z => Vec3::new(ce * sa, -ce * ca, se),
        Up::Y => Vec3::new(ce * sa, se, ce * ca),
    }
}

/// Right and up of an image whose normal is `back`; any pair where `up` is along `back`.
fn across(back: Vec3<f64>, up: Vec3<f64>) -> (Vec3<f64>, Vec3<f64>) {
    let (mut right, mut length) = up.normalize().0.cross(back).normalize();
    if length.is_nan() || length < 1e-9 {
        let other =
            if back.x.abs() < 0.9 { Vec3::new(1.0, 0.0, 0.0) } else { Vec3::new(0.0, 1.0, 0.0) };
        (right, length) = other.cross(back).normalize();
        debug_assert!(length > 0.0);
    }
    (right, back.cross(right))
}

/// The camera's own frame: x right, y up, z towards the viewer, in units of the distance to the
/// target, so that any scene is of the order of one there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Eyepiece {
    pub eye: Vec3<f64>,
    pub right: Vec3<f64>,
    pub over: Vec3<f64>,
    pub back: Vec3<f64>,
    pub distance: f64,
    /// Tangent of half the vertical field of view.
    pub tan: f64,
}

impl Eyepiece {
    /// A point of the world in the camera's frame.
    pub(crate) fn place(&self, p: Vec3<f64>) -> Vec3<f64> {
        self.turn(p - self.eye) * (1.0 / self.distance)
    }

    /// A direction of the world in the camera's frame.
    pub(crate) fn turn(&self, d: Vec3<f64>) -> Vec3<f64> {
        Vec3::new(self.right.dot(d), self.over.dot(d), self.back.dot(d))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inside(camera: &Camera, aspect: f64, p: Vec3<f64>) -> bool {
        let e = camera.eyepiece();
        let c = e.place(p);
        c.z < 0.0 && (c.x / -c.z).abs() < e.tan * aspect && (c.y / -c.z).abs() < e.tan
    }

    #[test]
    fn framing_shows_every_corner_and_is_tight() {
        for up in [Up::Y, Up::Z] {
            for size in [1e-40, 1e-3, 1.0, 1e6, 1e40] {
                let bounds = Bounds { low: [0.0; 3], high: [size, 3.0 * size, 0.2 * size] };
                let view = View { up, ..View::default() };
                let camera = Camera::framing(&bounds, &view, 4.0 / 3.0);
                assert!(bounds.corners().iter().all(|c| inside(&camera, 4.0 / 3.0, *c)));
                let nearer =
                    Camera { eye: camera.target + (camera.eye - camera.target) * 0.8, ..camera };
                assert!(!bounds.corners().iter().all(|c| inside(&nearer, 4.0 / 3.0, *c)));
            }
        }
    }

    #[test]
    fn a_point_and_nothing_at_all_can_be_framed() {
        for bounds in [Bounds::default(), Bounds { low: [5.0; 3], high: [5.0; 3] }] {
            let camera = Camera::framing(&bounds, &View::default(), 1.0);
            assert!(drawable(camera.eye));
            assert!((camera.eye - camera.target).norm() > 0.0);
        }
    }

    #[test]
    fn the_zero_azimuth_looks_along_y() {
        let view = View { azimuth: 0.0, elevation: 0.0, ..View::default() };
        let bounds = Bounds { low: [-1.0; 3], high: [1.0; 3] };
        let e = Camera::framing(&bounds, &view, 1.0).eyepiece();
        assert!((e.right - Vec3::new(1.0, 0.0, 0.0)).norm() < 1e-12);
        assert!((e.back - Vec3::new(0.0, -1.0, 0.0)).norm() < 1e-12);
        let y_up = View { up: Up::Y, ..view };
        let e = Camera::framing(&bounds, &y_up, 1.0).eyepiece();
        assert!((e.right - Vec3::new(1.0, 0.0, 0.0)).norm() < 1e-12);
        assert!((e.back - Vec3::new(0.0, 0.0, 1.0)).norm() < 1e-12);
    }
}
