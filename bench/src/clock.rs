//! Time that has passed and time that the process has worked.

use std::time::Instant;

/// A start to measure from.
pub struct Clock {
    wall: Instant,
    worked: f64,
}

impl Clock {
    /// Starts now.
    pub fn start() -> Self {
        Self { wall: Instant::now(), worked: worked() }
    }

    /// Seconds since the start, and seconds of them that all threads together worked.
    pub fn read(&self) -> [f64; 2] {
        [self.wall.elapsed().as_secs_f64(), worked() - self.worked]
    }
}

/// Processor time of this process, s; other programs on a busy machine do not count.
#[cfg(unix)]
fn worked() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a `timespec` of this frame.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    if failed == 0 { time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64 } else { f64::NAN }
}

#[cfg(not(unix))]
fn worked() -> f64 {
    f64::NAN
}
