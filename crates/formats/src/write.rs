//! Writing files so that a failure loses nothing.

use crate::error::{Error, Result};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Writes `path` through a temporary file beside it that takes its name once it is complete and on
/// the disk, so that a full disk or an interruption leaves the former file as it was.
pub fn write_atomically(
    path: &Path,
    content: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>,
) -> Result<()> {
    // Two writers in one process must not share a temporary file.
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let beside = path.with_file_name(format!(".{name}.{}-{count}.tmp", std::process::id()));
    let written = File::create(&beside).and_then(|file| {
        let mut writer = BufWriter::new(file);
        content(&mut writer)?;
        writer.flush()?;
        writer.get_ref().sync_all()
    });
    written.and_then(|()| std::fs::rename(&beside, path)).map_err(|e| {
        // The file may not exist: that it cannot be removed then is no second error.
        let _ = std::fs::remove_file(&beside);
        Error::io(path, "cannot write", e)
    })
}
