//! Every fault of a scene file, with its kind, line and a part of its message.

use costate_formats::ErrorKind::{self, *};
use costate_formats::scene::Scene;
use std::path::Path;

/// What is wrong: text of the body `[soft.b]` from line 3 on, kind, line, part of the message.
struct Case(&'static str, ErrorKind, usize, &'static str);

fn check(prefix: &str, cases: &[Case]) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/scene.toml");
    for Case(text, kind, line, fragment) in cases {
        let text = format!("{prefix}{text}");
        let e = match Scene::parse(&file, &text) {
            Err(e) => e,
            Ok(_) => panic!("accepted:\n{text}"),
        };
        assert_eq!((e.kind(), e.line()), (*kind, Some(*line)), "\n{text}\n{e}");
        assert!(e.to_string().contains(fragment), "\n{text}\n{e}");
    }
}

#[test]
fn top_of_the_file() {
    check(
        "",
        &[
            Case("", Missing, 1, "begin the file with costate = 1"),
            Case("costate = 2", Unsupported, 1, "version 1 of the format, found 2"),
            Case("costate = '1'", WrongType, 1, "an integer"),
            Case("costate = 1", Missing, 1, "at least one [soft.NAME]"),
            Case("costate = 1\nname = 3", WrongType, 2, "a string, found 3"),
            Case("costate = 1\nsoft = 3", WrongType, 2, "a table"),
            Case("costate = 1\n[sfot.b]", UnknownKey, 2, "did you mean \"soft\"?"),
            Case("costate = 1\n[soft.'b c']", Syntax, 2, "a name of letters"),
            Case("costate = 1\n[soft.b]\n[soft.b]", Syntax, 3, "duplicate"),
            Case("costate = 1\n[option]\ntimestep = 0", OutOfBounds, 3, "a number above 0"),
            Case("costate = 1\n[option]\nduration = nan", OutOfBounds, 3, "a number above 0"),
            Case("costate = 1\n[option]\nup = 'x'", UnknownName, 3, "\"y\" or \"z\""),
            Case("costate = 1\n[option]\ngravity = [0, 1]", WrongLength, 3, "2 members"),
            Case("costate = 1\n[option]\ngravity = [0, 1, 'a']", WrongType, 3, "gravity[2]"),
            Case("costate = 1\n[option]\nsaltation = 1", WrongType, 3, "true or false"),
            Case("costate = 1\n[option]\ntime_step = 1", UnknownKey, 3, "\"timestep\"?"),
        ],
    );
}

#[test]
fn shapes() {
    check(
        "costate = 1\n[soft.b]\n",
        &[
            Case("", Missing, 2, "grid, cloth, mesh or vertices"),
            Case("grid = {}\ncloth = {}", Conflict, 4, "either \"grid\" or \"cloth\""),
            Case("grid = 3", WrongType, 3, "a table"),
            Case("grid = {}", Missing, 3, "\"cells\""),
            Case("grid = { cells = [1, 1] }", WrongLength, 3, "3 integers"),
            Case("grid = { cells = [1, 1.5, 1] }", WrongType, 3, "an integer, found 1.5"),
            Case("grid = { cells = [1, -1, 1] }", OutOfBounds, 3, "from 0"),
            Case("grid = { cells = [0, 1, 1] }", OutOfBounds, 3, "at least one cell"),
            Case("grid = { cells = [4000000000, 4000000000, 9] }", OutOfBounds, 3, "at most"),
            Case("grid = { cells = [1, 1, 1] }", Missing, 3, "\"cell\""),
            Case("grid = { cells = [1, 1, 1], cell = [1, 1, 0] }", OutOfBounds, 3, "cell[2]"),
            Case("grid = { cells = [1,1,1], cell = 1, size = 2 }", Conflict, 3, "cell"),
            Case("grid = { cells = [1,1,1], cell = [1,1,1], split = '4' }", UnknownName, 3, "five"),
            Case("grid = { cells = [1,1,1], cell = [1,1,1], x = 1 }", UnknownKey, 3, "grid.x"),
            Case("cloth = { cells = [1, 1, 1] }", WrongLength, 3, "2 integers"),
            Case("cloth = { cells = [1, 1], size = [1, 1], reverse = 0 }", WrongType, 3, "true"),
            Case("mesh = {}", Missing, 3, "\"file\""),
            Case("mesh = { file = '' }", OutOfBounds, 3, "the path of a file"),
            Case("mesh = { file = 'mesh/square.obj', scale = 0 }", OutOfBounds, 3, "above 0"),
            Case("vertices = []", OutOfBounds, 2, "has no vertices"),
            Case("vertices = [[0, 0, 0], [0, 0]]", WrongLength, 3, "vertices[1]"),
            Case("vertices = [[0, 0, inf]]", OutOfBounds, 3, "a finite number"),
            Case("vertices = [[0, 0, 0]]\ntriangles = [[0, 0, 1]]", IndexOutOfRange, 4, "0 to 0"),
            Case("vertices = [[0, 0, 0]]\ntetrahedra = [[0, 0]]", WrongLength, 4, "4 integers"),
        ],
    );
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/scene.toml");
    let text = |mesh| format!("costate = 1\n[soft.b]\nmesh = {{ file = '{mesh}' }}");
    let e = Scene::parse(&file, &text("no.msh")).unwrap_err();
    assert_eq!(e.kind(), Io);
    assert_eq!(e.line(), Some(3));
    assert!(e.to_string().contains("soft.b.mesh.file: ") && e.to_string().contains("no.msh"));
    let e = Scene::parse(&file, &text("mesh/box_second_order.msh")).unwrap_err();
    assert_eq!(e.kind(), Unsupported);
    assert!(e.line().is_some() && e.file().unwrap().ends_with("box_second_order.msh"), "{e}");
}

/// Four corners, as lines 3 and following.
const CORNERS: &str = "costate = 1\n[soft.b]\nvertices = [\n  [0, 0, 0],\n  [1, 0, 0],\n  \
                       [0, 1, 0],\n  [0, 0, 1],\n]\n";

#[test]
fn elements_in_the_scene_file() {
    const M: &str = "material = 'warp'\nmu = 1\nlambda = 1\ndensity = 1\n";
    let prefix = format!("{CORNERS}{M}");
    check(
        &prefix,
        &[
            Case("tetrahedra = [\n[0, 1, 2, 3],\n[1, 2, 0, 3]]", Duplicate, 15, "tetrahedron 0"),
            Case("tetrahedra = [[0, 2, 1, 3]]", Inverted, 13, "swap two of its vertices"),
            Case("tetrahedra = [[0, 1, 2, 2]]", OutOfBounds, 13, "names a vertex twice"),
            Case("tetrahedra = [[0, 1, 2, 9]]", IndexOutOfRange, 13, "from 0 to 3"),
        ],
    );
    check(
        CORNERS,
        &[
            Case(
                "vertex_mass = 1\n[soft.b.springs]\nends = [[1, 1]]\nstiffness = 1",
                OutOfBounds,
                11,
                "to itself",
            ),
            Case("vertex_mass = [1, 1, 0, 1]", Unreferenced, 6, "vertex 2"),
            Case("vertex_mass = []", WrongLength, 9, "4 values, one per vertex"),
            Case("vertex_mass = [1, 1]", WrongLength, 9, "found 2"),
            Case("vertex_mass = [1, 1, 1, -1]", OutOfBounds, 9, "at least 0"),
            Case("young = 1", Conflict, 9, "a body with tetrahedra"),
            Case(
                "vertex_mass = 1\ntriangles = [[0, 1, 2]]\n[soft.b.membrane]\ntriangles = 'a'",
                UnknownName,
                12,
                "known here: all",
            ),
            Case("vertex_mass = 1\n[soft.b.membrane]", Missing, 10, "triangles for the membrane"),
            Case(
                "vertex_mass = 1\n[soft.b.bending]\nstiffness = 1",
                Missing,
                10,
                "that share edges",
            ),
            Case(
                "vertex_mass = 1\n[soft.b.springs]\nends = [[0, 7]]",
                IndexOutOfRange,
                11,
                "found 7",
            ),
            Case(
                "vertex_mass = 1\n[soft.b.springs]\nends = [[0, 1]]",
                Missing,
                10,
                "\"stiffness\"",
            ),
            Case(
                "vertex_mass = 1\n[soft.b.springs]\nends = [[0, 1]]\nstiffness = -1",
                OutOfBounds,
                12,
                "stiffness",
            ),
        ],
    );
}

const GRID: &str = "costate = 1\n[soft.b]\n\
                    grid = { cells = [1, 1, 1], size = [1, 1, 1] }\ndensity = 1\n";

#[test]
fn materials_and_masses() {
    check(
        GRID,
        &[
            Case("young = 1", Missing, 2, "\"material\""),
            Case("material = 1", WrongType, 5, "a string"),
            Case("material = 'neohookean'", UnknownName, 5, "did you mean \"neo-hookean\"?"),
            Case("material = 'rubber'", UnknownName, 5, "known here: neo-hookean"),
            Case("material = 'warp'\nmu = 1", Missing, 2, "\"lambda\""),
            Case("material = 'warp'", Missing, 2, "young and poisson, or mu and lambda"),
            Case("material = 'warp'\nmu = 1\nyoung = 1", Conflict, 7, "either"),
            Case("material = 'warp'\nyoung = -1\npoisson = 0", OutOfBounds, 6, "greater than 0"),
            Case("material = 'warp'\nyoung = 1\npoisson = 0.5", OutOfBounds, 7, "less than 0.5"),
            Case("material = 'warp'\nyoung = [1, 2]\npoisson = 0", WrongLength, 6, "5 values"),
            Case("material = 'warp'\nyoung = [1,1,1,1,-1]\npoisson = 0", OutOfBounds, 6, "value 4"),
            Case(
                "material = 'warp'\nyoung = 'a'\npoisson = 0",
                WrongType,
                6,
                "one finite number per tetra",
            ),
            Case("material = 'warp'\nyoung = {}\npoisson = 0", WrongType, 6, "no regions"),
            Case("material = 'own'\nparameters = { a = 1 }\nmu = 1", Conflict, 7, "parameters"),
            Case("material = 'own'\nparameters = { 'a b' = 1 }", Syntax, 6, "a name of letters"),
        ],
    );
    let elastic = format!("{GRID}material = 'warp'\nyoung = 1\npoisson = 0\n");
    check(
        &elastic,
        &[
            Case("mass = 1", Conflict, 8, "either \"density\" or \"mass\""),
            Case("mass_rule = 'grid'", UnknownName, 8, "lumped"),
            Case("damping = 'warp'", WrongType, 8, "damping_law = \"warp\""),
            Case("damping = -1", OutOfBounds, 8, "at least 0"),
            Case("damping_law = 'none'", UnknownName, 8, "frame-indifferent"),
            Case("activation_input = 'a b'", Syntax, 8, "a name of letters"),
            Case("yuong = 1", UnknownKey, 8, "did you mean \"young\"?"),
            Case("position = 1", WrongType, 8, "an array of 3 numbers"),
            Case("rotation = [1, 0, 0]", WrongLength, 8, "axis = [x, y, z]"),
            Case("rotation = [0, 0, 0, 0]", OutOfBounds, 8, "must not be zero"),
            Case("rotation = { axis = [0, 0, 0], degrees = 1 }", OutOfBounds, 8, "not zero"),
            Case("rotation = { axis = [0, 0, 1] }", Missing, 8, "\"degrees\""),
            Case("start_velocity = [[0, 0, 0]]", WrongLength, 8, "8 rows"),
            Case("radius = -1", OutOfBounds, 8, "radius"),
            Case("mass_damping = [1]", WrongType, 8, "a number"),
        ],
    );
    let cloth = "costate = 1\n[soft.b]\nmesh = { file = 'mesh/box_41_ascii.msh' }\n\
                 material = 'warp'\nyoung = 1\npoisson = 0\ndensity = 1\n";
    check(cloth, &[Case("mass_rule = 'grid-cell'", Conflict, 8, "a body from a grid")]);
}

#[test]
fn regions_and_attachments() {
    let prefix = format!("{GRID}material = 'warp'\nyoung = 1\npoisson = 0\n");
    check(
        &prefix,
        &[
            Case("fixed = 'clamp'", UnknownName, 8, "a region"),
            Case("fixed = 3", WrongType, 8, "the name of a region, vertex indices or a region"),
            Case("fixed = [0, 8]", IndexOutOfRange, 8, "from 0 to 7"),
            Case("fixed = ['a', 1]", UnknownName, 8, "fixed[0]"),
            Case("fixed = {}", Missing, 8, "box, sphere, side, group or vertices"),
            Case("fixed = { side = 'x' }", UnknownName, 8, "\"x-\""),
            Case("fixed = { box = [[0, 0, 0]] }", WrongLength, 8, "two corners"),
            Case("fixed = { box = [[0, 0, 1], [1, 1, 0]] }", OutOfBounds, 8, "lower corner"),
            Case("fixed = { box = [[0, 0, nan], [1, 1, 0]] }", OutOfBounds, 8, "inf or -inf"),
            Case("fixed = { sphere = { center = [0, 0, 0] } }", Missing, 8, "\"radius\""),
            Case("fixed = { group = 'a' }", UnknownName, 8, "a group of the mesh file"),
            Case("fixed = { side = 'x-', group = 'a' }", Conflict, 8, "either"),
            Case("fixed = { side = 'x-', radius = 1 }", UnknownKey, 8, "radius"),
            Case("regions = { a = { box = [[5, 5, 5], [6, 6, 6]] } }", Missing, 8, "at rest"),
            Case("regions = { a = 3 }", WrongType, 8, "a table"),
            Case("point_mass = { m = { at = [0] } }", Missing, 8, "\"mass\""),
            Case("point_mass = { m = { at = [0], mass = -1 } }", OutOfBounds, 8, "not below 0"),
            Case("point_mass = { m = { at = [], mass = 1 } }", OutOfBounds, 8, "acts on no vertex"),
            Case("point_mass = { 'm n' = { at = [0], mass = 1 } }", Syntax, 8, "letters"),
            Case("load = { l = { } }", Missing, 8, "\"at\""),
            Case("load = { l = { at = [0], mass = 1 } }", UnknownKey, 8, "load.l.mass"),
            Case("path = { p = 'clamp' }", WrongType, 8, "a table"),
        ],
    );
    let fields = |value: &str| {
        format!(
            "costate = 1\n[soft.b]\nvertices = [[0, 0, 0], [1, 0, 0]]\nvertex_mass = {value}\n\
             regions = {{ a = {{ vertices = [0] }}, b = {{ vertices = [0, 1] }} }}\n"
        )
    };
    check(&fields("{ a = 1 }"), &[Case("", Missing, 4, "add default")]);
    check(&fields("{ a = 1, b = 2 }"), &[Case("", Conflict, 4, "vertex 0 in two of them")]);
    check(&fields("{ c = 1 }"), &[Case("", UnknownName, 4, "known here: a, b")]);
    check(&fields("{ a = 'x', default = 1 }"), &[Case("", WrongType, 4, "vertex_mass.a")]);
}

#[test]
fn geoms() {
    let prefix = "costate = 1\n[soft.b]\nvertices = [[0, 0, 0]]\nvertex_mass = 1\n[geom.g]\n";
    check(
        prefix,
        &[
            Case("", Missing, 5, "\"type\""),
            Case("type = 'cube'", UnknownName, 6, "\"box\""),
            Case("type = 'box'", Missing, 5, "\"size\""),
            Case("type = 'box'\nsize = [1, 1]", WrongLength, 7, "3 numbers for a box"),
            Case("type = 'sphere'\nsize = 0", OutOfBounds, 7, "greater than 0"),
            Case("type = 'plane'\nsize = [1]", UnknownKey, 7, "size"),
            Case("type = 'plane'\nnormal = [0, 0, 0]", OutOfBounds, 7, "not zero"),
            Case("type = 'plane'\nnormal = [0, 0, 1]\nquat = [1, 0, 0, 0]", Conflict, 8, "either"),
            Case("type = 'plane'\nquat = [0, 0, 0, 0]", OutOfBounds, 7, "must not be zero"),
            Case("type = 'sphere'\nsize = 1\nnormal = [0, 0, 1]", UnknownKey, 8, "normal"),
            Case("type = 'plane'\ncontact = 'hard'", UnknownName, 7, "\"smooth\""),
            Case("type = 'plane'\nfriction = -0.1", OutOfBounds, 7, "at least 0"),
            Case("type = 'plane'\nslip_speed = 0", OutOfBounds, 7, "greater than 0"),
            Case("type = 'plane'\nslip_speed = 1\nfriction_damping = 1", Conflict, 8, "either"),
            Case("type = 'plane'\nmu = 1", UnknownKey, 7, "mu"),
        ],
    );
}
