//! Damaged files of every format: an error or a result, never a panic.
//!
//! Each seed file is changed at random (bits, bytes, words, lines, stretches) and read again. The
//! number of changed files is small enough for every test run; `COSTATE_FUZZ=N` multiplies it.

use costate_formats::mesh::Mesh;
use costate_formats::scene::Scene;
use costate_formats::table::Table;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// xorshift64*: the same files on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
    fn below(&mut self, n: usize) -> usize {
        (self.next() >> 33) as usize % n.max(1)
    }
}

const WORDS: [&str; 24] = [
    "0",
    "-1",
    "1",
    "2",
    "4294967296",
    "-9223372036854775808",
    "18446744073709551615",
    "1e308",
    "-1e-308",
    "nan",
    "inf",
    "x",
    "\"",
    "[]",
    "{}",
    "[",
    "}",
    "$EndNodes",
    "1.5",
    "3.0e",
    "\u{e9}",
    "#",
    "true",
    "''",
];

/// One random change.
fn damage(bytes: &mut Vec<u8>, random: &mut Random) {
    let n = bytes.len();
    let at = random.below(n);
    let length = 1 + random.below(16);
    let stretch = at..(at + length).min(n);
    match random.below(9) {
        0 if n > 0 => bytes[at] ^= 1 << random.below(8),
        1 if n > 0 => bytes[at] = random.next() as u8,
        2 => bytes.truncate(at),
        3 => drop(bytes.drain(stretch)),
        4 => {
            let copy = bytes[stretch].to_vec();
            let to = random.below(n);
            bytes.splice(to..to, copy);
        }
        5 => {
            // A whole word becomes another one.
            let edge = |b: &u8| b.is_ascii_whitespace() || b",[]{}=".contains(b);
            let start = bytes[..at].iter().rposition(edge).map_or(0, |i| i + 1);
            let end = bytes[at..].iter().position(edge).map_or(n, |i| at + i).max(start);
            let word = WORDS[random.below(WORDS.len())];
            bytes.splice(start..end, word.bytes());
        }
        6 => {
            // A whole line goes, or comes twice.
            let start = bytes[..at].iter().rposition(|&b| b == b'\n').map_or(0, |i| i + 1);
            let end = bytes[at..].iter().position(|&b| b == b'\n').map_or(n, |i| at + i + 1);
            let line = bytes[start..end].to_vec();
            if random.below(2) == 0 {
                bytes.drain(start..end);
            } else {
                bytes.splice(start..start, line);
            }
        }
        7 if n > 8 => {
            // Four or eight bytes of a binary number.
            let wide = 4 << random.below(2);
            let value = [0, 1, u64::MAX, i64::MAX as u64, 1 << 31, random.next()][random.below(6)];
            let at = random.below(n - wide);
            bytes[at..at + wide].copy_from_slice(&value.to_le_bytes()[..wide]);
        }
        _ => {
            let word = WORDS[random.below(WORDS.len())];
            bytes.splice(at..at, word.bytes());
        }
    }
}

/// Reads damaged copies of a seed; every fault must be readable.
fn attack(name: &str, seed: &[u8], count: usize, read: impl Fn(&[u8]) -> Option<String>) {
    let factor = std::env::var("COSTATE_FUZZ").ok().and_then(|v| v.parse().ok()).unwrap_or(1);
    let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ name.len() as u64 ^ (seed.len() as u64) << 20);
    let mut refused = 0;
    for _ in 0..count * factor {
        let mut bytes = seed.to_vec();
        for _ in 0..1 + random.below(4) {
            damage(&mut bytes, &mut random);
        }
        match catch_unwind(AssertUnwindSafe(|| read(&bytes))) {
            Ok(Some(message)) => {
                refused += 1;
                assert!(message.len() < 2000 && !message.is_empty(), "{message}");
            }
            Ok(None) => {}
            Err(_) => {
                let path = std::env::temp_dir().join(format!("panicked-{name}"));
                std::fs::write(&path, &bytes).unwrap();
                panic!("{name}: panicked on the file kept as {}", path.display());
            }
        }
    }
    assert!(refused > 0, "{name}: no damage was noticed");
}

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

#[test]
fn damaged_meshes() {
    let names = [
        "box_22_ascii.msh",
        "box_22_binary.msh",
        "box_41_ascii.msh",
        "box_41_binary.msh",
        "box_gmsh.vtk",
        "box_gmsh_binary.vtk",
        "box_meshio42.vtk",
        "box_meshio_ascii.vtk",
        "box_meshio_binary.vtk",
        "square.obj",
    ];
    for name in names {
        let seed = std::fs::read(data("mesh").join(name)).unwrap();
        attack(name, &seed, 400, |bytes| Mesh::parse(name, bytes).err().map(|e| e.to_string()));
    }
}

#[test]
fn damaged_tables() {
    let csv = b"t,x,\"y z\"\n# pause\n0,1.5,\n0.1,nan,-2e-3\n0.2,4,5\n".to_vec();
    let read = |name: &'static str| {
        move |bytes: &[u8]| match Table::parse(name, bytes) {
            Ok(table) => {
                let names: Vec<String> = table.names().map(str::to_owned).collect();
                let first_fault = names.iter().find_map(|n| table.column(n).err());
                first_fault.map(|e| e.to_string())
            }
            Err(e) => Some(e.to_string()),
        }
    };
    attack("a.csv", &csv, 2000, read("a.csv"));
    let npy = std::fs::read(data("table/markers.npy")).unwrap();
    attack("a.npy", &npy, 2000, read("a.npy"));
    for name in ["run.npz", "run_compressed.npz"] {
        let npz = std::fs::read(data("table").join(name)).unwrap();
        attack(name, &npz, 1000, read("a.npz"));
    }
}

/// Whether a damaged scene asks for a grid that would only cost time.
fn large_grid(text: &str) -> bool {
    text.split("cells").skip(1).any(|rest| {
        let list = rest.split(']').next().unwrap_or_default();
        list.split(|c: char| !c.is_ascii_digit()).any(|digits| digits.len() > 1)
    })
}

#[test]
fn damaged_scenes() {
    let documented = std::fs::read_to_string(data("../../../../docs/scene.md")).unwrap();
    let start = documented.find("```toml\n").unwrap() + 8;
    let end = start + documented[start..].find("```").unwrap();
    let example = documented[start..end].replace("[10, 3, 3]", "[3, 1, 1]");
    let example = example.replace("0.0899", "0.06");
    let solid = "costate = 1\n[option]\nup = 'y'\n[soft.s]\nvertices = [[0, 0, 0], [1, 0, 0], \
                 [0, 1, 0], [0, 0, 1]]\ntetrahedra = [[0, 1, 2, 3]]\nmaterial = 'own'\n\
                 parameters = { a = [1], b = { all = 2 } }\ndensity = 10\nregions.part.side = \
                 'x-'\nregions.all.vertices = [0, 1, 2, 3]\n\
                 start_position = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]\n\
                 [soft.s.membrane]\nstiffness = [1, 2, 3, 4]\n[soft.s.bending]\nstiffness = 1\n\
                 [soft.m]\nmesh = { file = \"mesh/box_22_ascii.msh\" }\nmaterial = 'warp'\n\
                 mu = { clamp = 1, default = 2 }\nlambda = 1\nmass = 1\nfixed = 'clamp'\n";
    for (name, seed) in [("example", example.as_str()), ("solid", solid)] {
        let path = data("scene.toml");
        assert_eq!(Scene::parse(&path, seed).err().map(|e| e.to_string()), None);
        attack(name, seed.as_bytes(), 3000, |bytes| {
            let text = String::from_utf8_lossy(bytes);
            if large_grid(&text) {
                return None;
            }
            match Scene::parse(&path, &text) {
                Ok(scene) => scene.with_values(&scene.model, &path).err().map(|e| e.to_string()),
                Err(e) => Some(e.to_string()),
            }
        });
    }
}
