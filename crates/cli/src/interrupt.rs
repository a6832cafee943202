//! Ctrl-C: the first asks the running work to stop and keep what it has, the second ends the
//! program at once.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::INTERRUPTED;

static RAISED: AtomicBool = AtomicBool::new(false);

/// Listens for Ctrl-C and returns the flag that it raises.
pub fn install() -> &'static AtomicBool {
    let listening = ctrlc::set_handler(|| {
        if RAISED.swap(true, Ordering::SeqCst) {
            std::process::exit(i32::from(INTERRUPTED));
        }
        eprintln!("interrupted: finishing what must be kept (once more to stop at once)");
    });
    if let Err(error) = listening {
        eprintln!("warning: Ctrl-C will end the program at once ({error})");
    }
    &RAISED
}
