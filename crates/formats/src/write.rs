//! Writing files so that a failure loses nothing.

use crate::error::{Error, Result};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Writes `path` through a temporary file beside it that takes its name once it is complete and on
/// the disk, so that a full disk or an interruption leaves the former file as it was. What is no
/// file, such as a device or a pipe, is written to as it stands and never replaced, and what a
/// symbolic link points to is replaced rather than the link.
pub fn write_atomically(
    path: &Path,
    content: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>,
) -> Result<()> {
    let fail = |e| Error::io(path, "cannot write", e);
    // Nothing, or something that cannot be looked at, is told by the attempt to write.
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let special = std::fs::metadata(&target).is_ok_and(|m| !m.is_file() && !m.is_dir());
    if special {
        let written = std::fs::OpenOptions::new().write(true).open(&target).and_then(|file| {
            let mut writer = BufWriter::new(file);
            content(&mut writer)?;
            writer.flush()
        });
        return written.map_err(fail);
    }
    // Two writers in one process must not share a temporary file.
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    let name = target.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let beside = target.with_file_name(format!(".{name}.{}-{count}.tmp", std::process::id()));
    let written = File::create(&beside).and_then(|file| {
        let mut writer = BufWriter::new(file);
        content(&mut writer)?;
        writer.flush()?;
        writer.get_ref().sync_all()
    });
    written.and_then(|()| std::fs::rename(&beside, &target)).map_err(|e| {
        // The file may not exist: that it cannot be removed then is no second error.
        let _ = std::fs::remove_file(&beside);
        fail(e)
    })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::fd::AsRawFd;

    #[test]
    fn what_is_no_file_is_written_to_and_never_replaced() {
        let (mut reader, writer) = std::io::pipe().unwrap();
        let path = format!("/proc/self/fd/{}", writer.as_raw_fd());
        write_atomically(Path::new(&path), |w| w.write_all(b"through")).unwrap();
        drop(writer);
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "through");
    }

    #[test]
    fn a_symbolic_link_stays_one() {
        let folder = std::env::temp_dir().join(format!("costate-link-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (file, link) = (folder.join("file"), folder.join("link"));
        std::fs::write(&file, "before").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write_atomically(&link, |w| w.write_all(b"after")).unwrap();
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "after");
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2);
        std::fs::remove_dir_all(folder).unwrap();
    }
}

/// A text with each range replaced; ranges do not overlap.
pub(crate) fn edited(text: &str, mut edits: Vec<(std::ops::Range<usize>, String)>) -> String {
    edits.sort_by_key(|(range, _)| (range.start, range.end));
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (range, new) in edits {
        out.push_str(&text[done..range.start]);
        out.push_str(&new);
        done = range.end;
    }
    out.push_str(&text[done..]);
    out
}
