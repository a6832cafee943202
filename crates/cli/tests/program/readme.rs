//! Every command of the program that the README shows runs as it is shown.

use std::path::Path;

use crate::common::Folder;

#[cfg(unix)]
#[test]
fn commands_of_the_readme_run() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let folder = Folder::new("readme");
    std::os::unix::fs::symlink(root.join("examples"), folder.path().join("examples")).unwrap();
    let commands: Vec<&str> = readme
        .lines()
        .filter_map(|line| {
            line.strip_prefix("costate ")
                .or_else(|| line.strip_prefix("cargo run --release -p costate-cli -- "))
        })
        .map(|line| line.split('#').next().unwrap_or("").trim())
        .collect();
    assert!(commands.len() >= 8, "{commands:?}");
    for command in commands {
        let mut args: Vec<&str> = command.split_whitespace().collect();
        // The long ones are cut short; what they find is tested elsewhere.
        let long = command.contains("silicone-beam") && args[0] == "identify";
        if long {
            args.extend(["--max-iterations", "1", "--no-gif"]);
        }
        if args[0] == "simulate" {
            args.extend(["--duration", "0.01"]);
        }
        let output = folder.run(&args);
        let code = output.status.code();
        let fine = code == Some(0) || (long && code == Some(1));
        assert!(fine, "costate {command}: {}", String::from_utf8_lossy(&output.stderr));
    }
    for file in ["motion.npz", "motion.gif", "fitted.toml", "runs/spring-cage/report.html"] {
        assert!(folder.path().join(file).exists(), "{file}");
    }
}
