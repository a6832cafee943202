//! Where a command may write: looked at before the work and not after it.

use std::path::Path;

use crate::failure::Failure;

/// Refuses a place where `option` can write no file, a name without one of the `endings` (any will do
/// where none is given), and a file that the command reads.
pub fn check(path: &Path, option: &str, endings: &[&str], read: &[&Path]) -> Result<(), Failure> {
    let refuse = |kind: &str, message: String| {
        Err(Failure::refused(kind, format!("{option}: {message}")).in_file(path))
    };
    let folder = path.parent().filter(|f| !f.as_os_str().is_empty());
    if folder.is_some_and(|folder| !folder.is_dir()) {
        return refuse("io", "there is no such folder".into());
    }
    if path.is_dir() {
        return refuse("io", "a folder is there; name a file in it".into());
    }
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
    if !endings.is_empty() && !endings.iter().any(|e| e.eq_ignore_ascii_case(ending)) {
        let known = endings.join(", .");
        return refuse("bad_argument", format!("expected a file name that ends in .{known}"));
    }
    let same = |a: &Path, b: &Path| match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    };
    if read.iter().any(|input| same(path, input)) {
        return refuse("bad_argument", "this file is read by the command; name another".into());
    }
    Ok(())
}
