//! Work without the interpreter's lock that Ctrl-C can stop.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use pyo3::prelude::*;

use crate::errors::{Fault, Result};

/// Work above this many coordinates times steps (some 50 ms) is made on a thread of its own, so
/// that the caller's can look for signals.
const LONG: usize = 1 << 20;
/// How often it looks.
const PATIENCE: Duration = Duration::from_millis(50);

/// Runs `work` without the interpreter's lock; a panic in it becomes an error. `size` is the number
/// of coordinates times steps. The exception that a signal raised, usually `KeyboardInterrupt`, is
/// returned beside what the work had to say once its flag was up.
pub fn interruptible<T: Send>(
    py: Python<'_>,
    size: usize,
    work: impl FnOnce(&AtomicBool) -> T + Send,
) -> (Result<T>, Option<PyErr>) {
    let flag = AtomicBool::new(false);
    let guarded = || {
        catch_unwind(AssertUnwindSafe(|| work(&flag)))
            .map_err(|panic| Fault::Internal(say(&*panic)))
    };
    if size < LONG {
        return (py.detach(guarded), None);
    }
    let mut raised = None;
    let result = py.detach(|| {
        std::thread::scope(|scope| {
            let (done, wait) = channel();
            let worker = scope.spawn(move || {
                let result = guarded();
                // The receiver lives until this was received.
                let _ = done.send(());
                result
            });
            while wait.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                if raised.is_none()
                    && let Err(error) = Python::attach(|py| py.check_signals())
                {
                    flag.store(true, Ordering::Relaxed);
                    raised = Some(error);
                }
            }
            worker.join().unwrap_or_else(|panic| Err(Fault::Internal(say(&*panic))))
        })
    });
    (result, raised)
}

/// As [`interruptible`], where a partial result is worth nothing.
pub fn detached<T: Send>(
    py: Python<'_>,
    size: usize,
    work: impl FnOnce(&AtomicBool) -> Result<T> + Send,
) -> Result<T> {
    let (result, raised) = interruptible(py, size, work);
    match raised {
        Some(error) => Err(error.into()),
        None => result?,
    }
}

fn say(panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("a fault of Costate itself, please report it: {}", text.unwrap_or("no message"))
}
