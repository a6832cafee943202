//! Places and messages of the TOML reader.

use costate_formats::toml_reader::{Node, Patch, Section, TomlFile};
use costate_formats::{Error, ErrorKind, Result};

const TEXT: &str = "\
# A body
costate = 1

[option]
timestep = 1e-4   # s
gravity = [0, 0, -9.81]

[soft.beam]
young = 200_000
law = \"neo_hookean\"
file = \"mesh/beam.msh\"
size = { x = 1.0, y = 2 }

[[soft.beam.load]]
force = 1.0
[[soft.beam.load]]
force = -2.0
";

fn file(text: &str) -> TomlFile {
    TomlFile::parse("dir/scene.toml", text).unwrap()
}

fn beam(file: &TomlFile) -> Section<'_> {
    file.root().entries("soft").unwrap()[0].1.section().unwrap()
}

#[test]
fn values_of_every_type() {
    let f = file(TEXT);
    let root = f.root();
    assert_eq!(root.req("costate", Node::integer).unwrap(), 1);
    let option = root.section("option").unwrap().unwrap();
    assert_eq!(option.req("timestep", Node::positive).unwrap(), 1e-4);
    assert_eq!(option.req("gravity", Node::vector::<3>).unwrap(), [0.0, 0.0, -9.81]);
    option.finish().unwrap();
    let beam = beam(&f);
    assert_eq!(beam.req("young", Node::number).unwrap(), 2e5);
    assert_eq!(beam.req("law", |n| n.choice(&[("warp", 0), ("neo_hookean", 1)])).unwrap(), 1);
    let path = beam.req("file", Node::file_path).unwrap();
    assert_eq!(path, std::path::Path::new("dir/mesh/beam.msh"));
    let size = beam.section("size").unwrap().unwrap();
    assert_eq!(size.req("y", Node::number).unwrap(), 2.0);
    let loads = beam.req("load", Node::items).unwrap();
    let read = |n: &Node<'_>| n.section()?.req("force", Node::number);
    assert_eq!(loads.iter().map(read).collect::<Result<Vec<_>>>().unwrap(), [1.0, -2.0]);
    assert_eq!(loads[1].path(), "soft.beam.load[1]");
    beam.finish().unwrap();
}

fn refused(read: impl FnOnce(&TomlFile) -> Error) -> Error {
    read(&file(TEXT))
}

#[test]
fn errors_point_to_the_value() {
    let e = refused(|f| beam(f).req("law", Node::number).unwrap_err());
    assert_eq!((e.kind(), e.line(), e.column()), (ErrorKind::WrongType, Some(10), Some(7)));
    assert_eq!(
        e.to_string(),
        "dir/scene.toml:10:7: soft.beam.law: expected a number, \
         found \"neo_hookean\" (a string)"
    );
    let e = refused(|f| {
        let option = f.root().section("option").unwrap().unwrap();
        option.req("gravity", Node::vector::<2>).unwrap_err()
    });
    assert_eq!((e.kind(), e.line(), e.column()), (ErrorKind::WrongLength, Some(6), Some(11)));
    let e = refused(|f| beam(f).req("law", |n| n.choice(&[("neohookean", ())])).unwrap_err());
    assert!(e.to_string().contains("did you mean \"neohookean\"?"), "{e}");
    let e = refused(|f| beam(f).req("density", Node::number).unwrap_err());
    assert_eq!((e.kind(), e.line()), (ErrorKind::Missing, Some(8)));
    let e = refused(|f| beam(f).req("yuong", Node::number).unwrap_err());
    assert!(e.to_string().contains("is \"young\" a slip of the pen?"), "{e}");
}

#[test]
fn unknown_keys_are_refused_with_a_suggestion() {
    let f = file(TEXT);
    let root = f.root();
    root.get("costate");
    root.get("soft");
    root.get("options");
    let e = root.finish().unwrap_err();
    assert_eq!((e.kind(), e.line(), e.column()), (ErrorKind::UnknownKey, Some(4), Some(2)));
    assert!(e.to_string().contains("did you mean \"options\"?"), "{e}");
}

#[test]
fn keys_that_exclude_each_other() {
    let f = file("young = 1\nlambda = 2\n");
    let e = f.root().exclusive(&["lambda", "young"]).unwrap_err();
    assert_eq!((e.kind(), e.line()), (ErrorKind::Conflict, Some(2)));
    f.root().exclusive(&["young", "mu"]).unwrap();
}

#[test]
fn broken_text_has_a_place() {
    let e = TomlFile::parse("a.toml", "x = 1\ny = = 2\n").unwrap_err();
    assert_eq!((e.kind(), e.line(), e.column()), (ErrorKind::Syntax, Some(2), Some(5)));
    let e = TomlFile::parse("a.toml", "x = 1\nx = 2\n").unwrap_err();
    assert_eq!((e.kind(), e.line()), (ErrorKind::Syntax, Some(2)));
    let e = TomlFile::read("no/such/file.toml").unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Io);
    let deep = format!("x = {}", "[".repeat(100_000));
    assert!(TomlFile::parse("a.toml", &deep).is_err());
}

#[test]
fn text_that_is_no_utf_8_and_text_with_a_mark() {
    let path = std::env::temp_dir().join(format!("costate-utf8-{}.toml", std::process::id()));
    std::fs::write(&path, b"a = 1\nb = '\xe4'\n").unwrap();
    let e = TomlFile::read(&path).unwrap_err();
    assert_eq!((e.kind(), e.line()), (ErrorKind::Syntax, Some(2)));
    assert!(e.to_string().contains("the byte 0xe4"), "{e}");
    std::fs::write(&path, "\u{feff}a = 1\n").unwrap();
    let f = TomlFile::read(&path).unwrap();
    assert_eq!(f.root().req("a", Node::count).unwrap(), 1);
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn every_reader_refuses_other_types() {
    let f = file(
        "s = 'text'\nn = -1\nb = true\nd = 2020-01-01\na = [1, 'x']\nlong = [\n1,\n2]\n\
         t = {}\ni = inf\n",
    );
    let root = f.root();
    let get = |key: &str| root.get(key).unwrap();
    let found = |e: Error| e.to_string().split("found ").nth(1).unwrap().to_owned();
    assert_eq!(found(get("s").number().unwrap_err()), "'text' (a string)");
    assert_eq!(found(get("s").integer().unwrap_err()), "'text' (a string)");
    assert_eq!(found(get("b").string().unwrap_err()), "true (a boolean)");
    assert_eq!(found(get("d").items().err().unwrap()), "2020-01-01 (a date)");
    assert_eq!(found(get("long").boolean().unwrap_err()), "an array");
    assert_eq!(found(get("t").limit().unwrap_err()), "a table");
    assert_eq!(found(get("n").count().unwrap_err()), "-1");
    assert_eq!(found(get("n").non_negative().unwrap_err()), "-1");
    assert_eq!(found(get("n").within(0.0, 2.0).unwrap_err()), "-1");
    assert_eq!(found(get("i").number().unwrap_err()), "inf");
    assert_eq!(get("i").limit().unwrap(), f64::INFINITY);
    assert_eq!(found(get("a").numbers().unwrap_err()), "'x' (a string)");
    assert_eq!(found(get("a").strings().unwrap_err()), "1");
    assert_eq!(found(get("a").counts().unwrap_err()), "'x' (a string)");
    assert_eq!(found(get("n").section().err().unwrap()), "-1");
}

#[test]
fn a_patch_changes_only_its_numbers() {
    let f = file(TEXT);
    let option = f.root().section("option").unwrap().unwrap();
    let mut patch = Patch::new();
    patch.set(&option.get("timestep").unwrap(), 0.1 + 0.2);
    patch.set(&beam(&f).get("young").unwrap(), 263_824.0);
    patch.set(&option.get("gravity").unwrap().items().unwrap()[2], -1e-300);
    let text = patch.apply(&f);
    let wanted = TEXT
        .replace("1e-4 ", "0.30000000000000004 ")
        .replace("200_000", "263824.0")
        .replace("-9.81", "-1e-300");
    assert_eq!(text, wanted);
}
