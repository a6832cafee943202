//! Which variants of the inner loops are compiled, and which one runs.
//!
//! A loop over elements is compiled once per mode and instruction set. The compiler drops what a
//! mode leaves out, so that the rest stays in registers; a flag read inside the loop would keep
//! everything alive that any of its values needs.

use costate_num::{Kernel, Lanes, dispatch};

use crate::soft::element::{Element, Scope};

/// Any scope, read at run time.
pub(super) const ANY: u8 = 0;
/// Without damping, without derivatives by the rest shape and without work.
pub(super) const PLAIN: u8 = 1;
/// Without damping, with derivatives by the rest shape.
pub(super) const REST: u8 = 2;
/// With derivatives by dampers that are zero.
pub(super) const IDLE: u8 = 3;
/// With damping, in still air.
pub(super) const DAMPED: u8 = 4;
/// With damping and forces of the air.
pub(super) const AIR: u8 = 5;

/// Without damping.
const STILL: Scope = Scope { damping: false, air: false, ..Scope::ALL };

/// The scope that a mode makes of one.
#[inline(always)]
pub(super) fn within<const MODE: u8>(scope: Scope) -> Scope {
    match MODE {
        PLAIN => Scope { constants: scope.constants, rest: false, work: false, ..STILL },
        REST => Scope { work: scope.work, constants: scope.constants, ..STILL },
        IDLE => Scope { damping: true, idle: true, ..scope },
        DAMPED => Scope { damping: true, idle: false, air: false, ..scope },
        AIR => Scope { damping: true, idle: false, air: true, ..scope },
        _ => scope,
    }
}

/// A kernel that may be compiled for a mode.
pub(super) trait Modal: Sized {
    /// Whether it is worth a variant per mode.
    const SPLIT: bool;
    /// Whether the modes that differ in derivatives only differ for it.
    const ADJOINT: bool;
    /// Whether there may be forces of the air.
    const AIR: bool;
    /// What it must include.
    fn scope(&self) -> Scope;
    /// The loop; `#[inline(always)]`, as [`Kernel::run`].
    fn run_in<S: Lanes, const MODE: u8>(self);
}

/// A kernel in a mode.
pub(super) struct In<K, const MODE: u8>(pub K);

impl<K: Modal, const MODE: u8> Kernel for In<K, MODE> {
    type Output = ();
    // Two lanes would cost as much to compile as eight.
    const SSE2: bool = false;
    #[inline(always)]
    fn run<S: Lanes>(self) {
        if S::N == 1 {
            run_scalar(self.0);
        } else {
            self.0.run_in::<S, MODE>();
        }
    }
}

/// Runs a kernel one element at a time; compiled once for all modes.
#[inline(never)]
fn run_scalar<K: Modal>(kernel: K) {
    kernel.run_in::<f64, ANY>();
}

/// Runs a kernel of an element on the processor's widest registers, or one element at a time.
/// Builds with debug assertions, which tests
/// are, compile one lane and no modes only: the bits are the same, and the build takes a fraction of
/// the time.
pub(super) fn run<L: Element<V, P, C>, K: Modal, const V: usize, const P: usize, const C: usize>(
    kernel: K,
) {
    if L::LANES && !cfg!(debug_assertions) {
        on_lanes(kernel);
    } else {
        run_scalar(kernel);
    }
}

/// Runs a kernel in its mode on the processor's widest registers.
pub(super) fn on_lanes<K: Modal>(kernel: K) {
    let scope = kernel.scope();
    if K::SPLIT {
        if scope.damping {
            if K::ADJOINT && scope.idle {
                dispatch(In::<K, IDLE>(kernel));
            } else if K::AIR && scope.air {
                dispatch(In::<K, AIR>(kernel));
            } else {
                dispatch(In::<K, DAMPED>(kernel));
            }
        } else if K::ADJOINT && (scope.rest || scope.work) {
            dispatch(In::<K, REST>(kernel));
        } else {
            dispatch(In::<K, PLAIN>(kernel));
        }
    } else {
        dispatch(In::<K, ANY>(kernel));
    }
}
