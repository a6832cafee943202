//! Two capsules: spheres about the nearest points of the axes; where the axes are parallel, about the two
//! ends of the stretch along which they lie side by side.

use super::{Real, SMALLEST, Shape, Touch, clamp, sphere_sphere};

/// Axes are parallel where the squared sine of their angle is below this.
const PARALLEL: f64 = 1e-6;
/// Ends are at one place where they differ by less, in half-lengths.
const SAME_END: f64 = 1e-12;

pub(super) fn touch<S: Real>(a: &Shape<S>, b: &Shape<S>, margin: S, out: &mut Vec<Touch<S>>) {
    let first = a.axes.columns[2] * a.size.y;
    let second = b.axes.columns[2] * b.size.y;
    let between = a.position - b.position;
    // |p₁ + x₁ a₁ − p₂ − x₂ a₂|² is least where [ma mb; mb mc] (x₁, x₂) = (u, v).
    let (ma, mb, mc) = (first.norm_squared(), -first.dot(second), second.norm_squared());
    let (u, v) = (-first.dot(between), second.dot(between));
    let determinant = ma * mc - mb * mb;
    let one = S::one();
    let unit = |x: S| clamp(x, -one, one);
    // A capsule of no length is a sphere: its one axis point serves.
    let safe = |x: S| if x.lt(S::splat(SMALLEST)) { one } else { x };
    let at = |x1: S, x2: S| {
        let (p, q) = (a.position + first * x1, b.position + second * x2);
        sphere_sphere::at(a, p, a.size.x, b, q, b.size.x, margin)
    };
    let on_first = |x2: S| (u - mb * x2) / safe(ma);
    let on_second = |x1: S| (v - mb * x1) / safe(mc);
    if !determinant.lt((ma * mc).scale(PARALLEL).max(S::splat(SMALLEST))) {
        let mut x1 = (mc * u - mb * v) / determinant;
        let mut x2 = (ma * v - mb * u) / determinant;
        if x1.gt(one) || x1.lt(-one) {
            x1 = unit(x1);
            x2 = on_second(x1);
        }
        if x2.gt(one) || x2.lt(-one) {
            x2 = unit(x2);
            x1 = unit(on_first(x2));
        }
        out.extend(at(x1, x2));
        return;
    }
    // Where the second one's ends are along the first, from low to high; an end of the stretch is that
    // of the capsule that ends there.
    let (low_end, high_end) =
        if on_first(one).lt(on_first(-one)) { (one, -one) } else { (-one, one) };
    let side_by_side = on_first(high_end).gt(-one) && on_first(low_end).lt(one);
    let end = |x2: S, limit: S| {
        let x1 = on_first(x2);
        let of_first = || at(limit, unit(on_second(limit)));
        let of_second = || at(unit(x1), x2);
        let beyond = (x1 - limit) * limit;
        if beyond.abs().lt(S::splat(SAME_END)) {
            // Where both end at one place, each has half the derivative.
            of_first().zip(of_second()).map(|(a, b)| mean(a, b))
        } else if beyond.gt(S::zero()) {
            of_first()
        } else {
            of_second()
        }
    };
    out.extend(end(low_end, -one));
    if side_by_side {
        out.extend(end(high_end, one));
    }
}

/// The mean of two contacts that are the same but for their derivatives.
fn mean<S: Real>(a: Touch<S>, b: Touch<S>) -> Touch<S> {
    let half = S::splat(0.5);
    let (normal, _) = (a.normal + b.normal).normalize();
    Touch::new((a.position + b.position) * half, normal, (a.distance + b.distance) * half)
}
