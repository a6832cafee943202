//! Meshes written by other programs, and meshes that must be refused.

use costate_formats::ErrorKind;
use costate_formats::mesh::{Mesh, VtkFrame, VtkSeries, VtkValues, write_vtk};
use std::path::{Path, PathBuf};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/mesh").join(name)
}

fn volume(mesh: &Mesh) -> f64 {
    let x = |v: u32| mesh.vertices[v as usize];
    let sub = |a: [f64; 3], b: [f64; 3]| [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
    let six: f64 = mesh
        .tetrahedra
        .iter()
        .map(|&[a, b, c, d]| {
            let (u, v, w) = (sub(x(b), x(a)), sub(x(c), x(a)), sub(x(d), x(a)));
            u[0] * (v[1] * w[2] - v[2] * w[1])
                + u[1] * (v[2] * w[0] - v[0] * w[2])
                + u[2] * (v[0] * w[1] - v[1] * w[0])
        })
        .sum();
    six / 6.0
}

#[test]
fn gmsh_in_both_versions_and_encodings() {
    let reference = Mesh::read(data("box_41_ascii.msh")).unwrap();
    assert!((volume(&reference) - 0.04 * 0.02 * 0.02).abs() < 1e-18);
    let names: Vec<&str> = reference.groups.keys().map(String::as_str).collect();
    assert_eq!(names, ["3", "body of rubber", "clamp", "corner", "edge"]);
    let rubber = reference.group("body of rubber").unwrap();
    assert_eq!(rubber.tetrahedra.len(), reference.tetrahedra.len());
    assert_eq!(rubber.vertices.len(), reference.vertices.len());
    let clamp = reference.group("clamp").unwrap();
    assert!(!clamp.triangles.is_empty());
    assert!(clamp.vertices.iter().all(|&v| reference.vertices[v as usize][0] == 0.0));
    // Group 3 holds the faces at both ends; the clamp is one of them.
    let ends = reference.group("3").unwrap();
    assert!(clamp.triangles.iter().all(|t| ends.triangles.contains(t)));
    assert!(ends.triangles.len() > clamp.triangles.len());
    assert_eq!(reference.group("corner").unwrap().vertices.len(), 1);
    assert!(reference.group("edge").unwrap().vertices.len() >= 2);
    let e = reference.group("clmap").unwrap_err();
    assert_eq!(e.kind(), ErrorKind::UnknownName);
    assert!(e.to_string().contains("did you mean \"clamp\"?"), "{e}");

    for name in ["box_41_binary.msh", "box_22_ascii.msh", "box_22_binary.msh"] {
        let other = Mesh::read(data(name)).unwrap();
        // Gmsh writes 16 digits in ASCII, which is one too few.
        let both = other.vertices.iter().flatten().zip(reference.vertices.iter().flatten());
        assert!(both.clone().count() > 0 && both.clone().all(|(a, b)| (a - b).abs() < 1e-16));
        let sorted = |m: &Mesh| {
            let mut t = m.tetrahedra.clone();
            t.sort_unstable();
            t
        };
        assert_eq!(sorted(&other), sorted(&reference), "{name}");
        assert_eq!(other.triangles.len(), reference.triangles.len(), "{name}");
        for (group, members) in &reference.groups {
            assert_eq!(other.group(group).unwrap().vertices, members.vertices, "{name} {group}");
        }
    }
}

#[test]
fn vtk_by_gmsh_and_meshio() {
    let reference = Mesh::read(data("box_41_ascii.msh")).unwrap();
    let files = [
        "box_gmsh.vtk",
        "box_gmsh_binary.vtk",
        "box_meshio_ascii.vtk",
        "box_meshio_binary.vtk",
        "box_meshio42.vtk",
    ];
    for name in files {
        let mesh = Mesh::read(data(name)).unwrap();
        assert_eq!(mesh.tetrahedra.len(), reference.tetrahedra.len(), "{name}");
        assert!((volume(&mesh) - volume(&reference)).abs() < 1e-18, "{name}");
        if name.contains("meshio") {
            let tagged = mesh.group("part=7").unwrap();
            assert_eq!(tagged.tetrahedra.len(), mesh.tetrahedra.len(), "{name}");
            let clamp = mesh.group("part=2").unwrap();
            assert!(clamp.vertices.iter().all(|&v| mesh.vertices[v as usize][0] == 0.0));
        }
    }
}

#[test]
fn obj_with_groups_and_quadrilaterals() {
    let square = Mesh::read(data("square.obj")).unwrap();
    assert_eq!(square.triangles.len(), Mesh::read(data("square_41.msh")).unwrap().triangles.len());
    let text = "# a strip\no strip\nv 0 0 0\nv 1 0 0 1.0\nv 1 1 0\nv 0 1 0\nvn 0 0 1\nv 2 0.5 0\n\
                g left both\nf 1/1/1 2//1 3 4\ng right both\nusemtl red\nf -4 -1 -3\n";
    let mesh = Mesh::parse("strip.obj", text.as_bytes()).unwrap();
    assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3], [1, 4, 2]]);
    assert_eq!(mesh.group("left").unwrap().triangles, [0, 1]);
    assert_eq!(mesh.group("right").unwrap().vertices, [1, 2, 4]);
    assert_eq!(mesh.group("both").unwrap().triangles, [0, 1, 2]);
    assert_eq!(mesh.triangle_sources[2].line, 13);
}

/// A file by name, what is wrong with it, the line, and what the message must say.
struct Bad(&'static str, &'static str, ErrorKind, Option<usize>, &'static str);

#[test]
fn bad_meshes_are_refused_with_their_place() {
    use ErrorKind::*;
    let cases = [
        Bad("a.stl", "", Unsupported, None, "the ending .stl"),
        Bad("a", "", Unsupported, None, "no ending"),
        // OBJ
        Bad("a.obj", "", Missing, None, "tetrahedra or triangles"),
        Bad("a.obj", "v 0 0\n", NotANumber, Some(1), "v x y z"),
        Bad("a.obj", "v 0 0 x\n", NotANumber, Some(1), "v 0 0 x"),
        Bad("a.obj", "v 0 0 nan\n", NotANumber, Some(1), "finite"),
        Bad("a.obj", "v 0 0 0\nf 1 2 3\n", IndexOutOfRange, Some(2), "from 1 to 1"),
        Bad("a.obj", "v 0 0 0\nf 0 1 1\n", IndexOutOfRange, Some(2), "found 0"),
        Bad("a.obj", "v 0 0 0\nf -2 1 1\n", IndexOutOfRange, Some(2), "-2"),
        Bad("a.obj", "v 0 0 0\nf a b c\n", NotANumber, Some(2), "face 1"),
        Bad("a.obj", "v 0 0 0\nf 1 1\n", Unsupported, Some(2), "2 corners"),
        Bad("a.obj", "v 0 0 0\nf 1 1 1 1 1\n", Unsupported, Some(2), "triangulate"),
        Bad("a.obj", "\nvertex 0 0 0\n", Unsupported, Some(2), "\"vertex\""),
        Bad("a.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n", Degenerate, Some(4), "triangle 0"),
        Bad("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 1 3\n", Degenerate, Some(4), "triangle 0"),
        Bad(
            "a.obj",
            "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 3 1 2\n",
            Duplicate,
            Some(5),
            "triangle 0 in line 4",
        ),
        Bad(
            "a.obj",
            "v 0 0 0\nv 1 0 0\nv 9 9 9\nv 0 1 0\nf 1 2 4\n",
            Unreferenced,
            Some(3),
            "vertex 2 (number 3 in the file)",
        ),
        // Gmsh
        Bad("a.msh", "", Syntax, Some(1), "$MeshFormat"),
        Bad("a.msh", "$Nodes\n", Syntax, Some(1), "$MeshFormat"),
        Bad("a.msh", "$MeshFormat\n4.0 0 8\n", Unsupported, Some(2), "Mesh.MshFileVersion"),
        Bad("a.msh", "$MeshFormat\n2.2 2 8\n", Unsupported, Some(2), "0 (ASCII) or 1"),
        Bad("a.msh", "$MeshFormat\n2.2 1 8\n\x07\x01\x02\x03", Syntax, None, "binary integer 1"),
        Bad("a.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n", Truncated, Some(4), "$Elements"),
        Bad("a.msh", "$MeshFormat\n2.2 0 8\n$EndMesh\n", Syntax, Some(3), "$EndMeshFormat"),
        Bad("a.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\nNodes\n", Syntax, Some(4), "section"),
        Bad("a.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$A\n1\n", Truncated, None, "$EndA"),
        // VTK
        Bad("a.vtk", "", Syntax, Some(1), "an empty file"),
        Bad("a.vtk", "<VTKFile>\n", Syntax, Some(1), "legacy VTK"),
        Bad("a.vtk", "# vtk DataFile Version 3.0\nt\nHEX\n", Syntax, Some(3), "BINARY"),
        Bad(
            "a.vtk",
            "# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\n",
            Unsupported,
            Some(4),
            "POLYDATA",
        ),
        Bad("a.vtk", "# vtk DataFile Version 3.0\nt\nASCII\n", Truncated, Some(4), "DATASET"),
    ];
    for Bad(name, text, kind, line, fragment) in cases {
        let e = Mesh::parse(name, text.as_bytes()).expect_err(text);
        assert_eq!(e.kind(), kind, "{text:?}: {e}");
        if line.is_some() || name.ends_with("vtk") {
            assert_eq!(e.line(), line, "{text:?}: {e}");
        }
        assert!(e.to_string().contains(fragment), "{text:?}: {e}");
        assert_eq!(e.file(), Some(Path::new(name)), "{e}");
    }
}

/// `$Nodes` and `$Elements` of version 2.2 around one tetrahedron.
fn gmsh_2(nodes: &str, elements: &str) -> String {
    format!(
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{nodes}\n$EndNodes\n$Elements\n{elements}\n\
         $EndElements\n"
    )
}

const CORNERS: &str = "4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1";

#[test]
fn bad_gmsh_2_elements() {
    use ErrorKind::*;
    let cases = [
        (CORNERS, "1\n1 4 2 0 1 1 2 3 9", IndexOutOfRange, Some(13), "the node 9"),
        (CORNERS, "1\n1 4 2 0 1 1 3 2 4", Inverted, Some(13), "swap two of its vertices"),
        (CORNERS, "1\n1 4 2 0 1 1 2 3 3", Degenerate, Some(13), "tetrahedron 0 (number 1"),
        (CORNERS, "2\n1 4 0 1 2 3 4\n2 4 0 2 3 1 4", Duplicate, Some(14), "in line 13"),
        (CORNERS, "2\n1 4 2 7 1 1 2 3 4\n2 4 2 7 1 1 2 3 4", Duplicate, Some(14), "tetrahedron 1"),
        (CORNERS, "1\n1 11 2 0 1 1 2 3 4", Unsupported, Some(13), "10-node second-order"),
        (CORNERS, "1\n1 5 2 0 1 1 2 3 4", Unsupported, Some(13), "8-node hexahedron"),
        (CORNERS, "1\n1 3 2 0 1 1 2 3 4", Unsupported, Some(13), "without recombination"),
        (CORNERS, "1\n1 999 2 0 1 1 2 3 4", Unsupported, Some(13), "unknown element type"),
        (CORNERS, "1\n1 2 2 0 1 1 2 3", Unreferenced, Some(9), "vertex 3 (number 4"),
        (CORNERS, "1\n1 4 2 0 1 1 2 3", NotANumber, Some(14), "$EndElements"),
        (CORNERS, "2\n1 4 2 0 1 1 2 3 4", NotANumber, Some(14), "$EndElements"),
        (CORNERS, "0\n1 4 2 0 1 1 2 3 4", Syntax, Some(13), "announced number"),
        (CORNERS, "x\n", NotANumber, Some(12), "number of elements"),
        (CORNERS, "-1\n", NotANumber, Some(12), "number of elements"),
        (CORNERS, "1\n1 4 2.5 0 1 1 2 3 4", NotANumber, Some(13), "\"2.5\""),
        ("1\n1 0 0", "0", NotANumber, Some(7), "z of a node"),
        ("1\n1 0 0 1e999", "0", NotANumber, Some(6), "finite"),
        ("2\n1 0 0 0\n1 0 0 0", "0", Duplicate, Some(7), "node 1"),
        ("9999999999999\n1 0 0 0", "0", NotANumber, Some(7), "number of a node"),
        ("0", "0", Missing, None, "tetrahedra or triangles"),
    ];
    for (nodes, elements, kind, line, fragment) in cases {
        let text = gmsh_2(nodes, elements);
        let e = Mesh::parse("a.msh", text.as_bytes()).expect_err(&text);
        assert_eq!((e.kind(), e.line()), (kind, line), "{text}{e}");
        assert!(e.to_string().contains(fragment), "{text}{e}");
    }
}

#[test]
fn gmsh_2_repeats_an_element_for_each_of_its_groups() {
    let text = gmsh_2(CORNERS, "2\n1 4 2 7 1 1 2 3 4\n2 4 2 8 1 1 2 3 4");
    let mesh = Mesh::parse("a.msh", text.as_bytes()).unwrap();
    assert_eq!(mesh.tetrahedra.len(), 1);
    assert_eq!(mesh.group("7").unwrap(), mesh.group("8").unwrap());
}

/// Numbers in big-endian bytes.
fn big(ints: &[i32]) -> Vec<u8> {
    ints.iter().flat_map(|i| i.to_be_bytes()).collect()
}
fn big_sizes(sizes: &[u64]) -> Vec<u8> {
    sizes.iter().flat_map(|i| i.to_be_bytes()).collect()
}
fn big_reals(x: &[f64]) -> Vec<u8> {
    x.iter().flat_map(|x| x.to_be_bytes()).collect()
}

#[test]
fn bad_gmsh_4_sections() {
    use ErrorKind::*;
    const NODES: &str = "$Nodes\n1 4 1 4\n3 1 0 4\n1\n2\n3\n4\n\
                         0 0 0\n1 0 0\n0 1 0\n0 0 1\n$EndNodes\n";
    let many: Vec<String> = (1..=65).map(|i| i.to_string()).collect();
    let entity =
        |groups: &str| format!("$Entities\n0 0 0 1\n1 0 0 0 1 1 1 {groups} 0\n$EndEntities\n");
    let elements = |text: &str| format!("{NODES}$Elements\n{text}\n$EndElements\n");
    let cases = [
        ("$PhysicalNames\nx\n".to_owned(), NotANumber, 5, "number of physical names"),
        ("$PhysicalNames\n1\n3 1 rubber\n".to_owned(), Syntax, 6, "quotation marks"),
        ("$PhysicalNames\n1\n3 1 \"\"\n".to_owned(), Syntax, 6, "quotation marks"),
        ("$PhysicalNames\n1\n3 1".to_owned(), Truncated, 6, "a quoted name"),
        ("$Entities\n0 0 0 1\n1 0 0\n$End".to_owned(), NotANumber, 7, "bounding box"),
        ("$Nodes\n1 1 1 1\n3 1 0 99999999999\n1\n".to_owned(), Truncated, 8, "tag of a node"),
        (elements("1 1 1 1\n3 1 11 1"), Unsupported, 18, "10-node second-order tetrahedron"),
        (elements("1 1 1 1\n3 1 4 1\n1 1 2 3 7"), IndexOutOfRange, 19, "the node 7"),
        (elements("1 1 1 1\n3 1 4 1\n1 1 3 2 4"), Inverted, 19, "tetrahedron 0 (number 1"),
        (elements("1 2 1 2\n3 1 4 2\n1 1 2 3 4\n2 2 1 3 4"), Inverted, 20, "tetrahedron 1"),
        (elements("1 1 1 1\n3 1 4 1\n1 1 2 3"), NotANumber, 20, "a node of an element"),
        (
            entity(&format!("65 {}", many.join(" "))) + &elements("1 1 1 1\n3 1 4 1\n1 1 2 3 4"),
            Unsupported,
            22,
            "at most 64 physical groups",
        ),
    ];
    for (text, kind, line, fragment) in cases {
        let text = format!("$MeshFormat\n4.1 0 8\n$EndMeshFormat\n{text}");
        let e = Mesh::parse("a.msh", text.as_bytes()).expect_err(&text);
        assert_eq!((e.kind(), e.line()), (kind, Some(line)), "{text}{e}");
        assert!(e.to_string().contains(fragment), "{text}{e}");
    }
}

#[test]
fn bad_binary_runs() {
    let mut start = b"$MeshFormat\n2.2 1 8\n".to_vec();
    start.extend(big(&[1]));
    start.extend(b"\n$EndMeshFormat\n$Nodes\n0\n$EndNodes\n$Elements\n1\n");
    for (header, fragment) in [
        ([4, 2, 0], "from 1 to 1 elements"),
        ([4, 0, 0], "found 0 elements"),
        ([4, 1, -1], "with -1 tags"),
        ([4, 1, i32::MAX], "with 2147483647 tags"),
    ] {
        let mut bytes = start.clone();
        bytes.extend(big(&header));
        let e = Mesh::parse("a.msh", &bytes).unwrap_err();
        assert_eq!((e.kind(), e.line()), (ErrorKind::Syntax, None), "{e}");
        assert!(e.to_string().contains(fragment), "{e}");
    }
}

#[test]
fn gmsh_of_the_other_byte_order() {
    const X: [[f64; 3]; 4] = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let mut two = b"$MeshFormat\n2.2 1 8\n".to_vec();
    two.extend(big(&[1]));
    two.extend(b"\n$EndMeshFormat\n$Nodes\n4\n");
    for (i, x) in X.iter().enumerate() {
        two.extend(big(&[10 * (i as i32 + 1)]));
        two.extend(big_reals(x));
    }
    two.extend(b"\n$EndNodes\n$Elements\n2\n");
    two.extend(big(&[4, 1, 2, 5, 7, 1, 10, 20, 30, 40]));
    two.extend(big(&[15, 1, 1, 9, 8, 30]));
    two.extend(b"\n$EndElements\n");
    let mesh = Mesh::parse("a.msh", &two).unwrap();
    assert_eq!(
        (mesh.vertices.as_slice(), mesh.tetrahedra.as_slice()),
        (&X[..], &[[0, 1, 2, 3]][..])
    );
    assert_eq!(mesh.tetrahedron_sources[0].number, 5);
    assert_eq!(mesh.group("7").unwrap().tetrahedra, [0]);
    assert_eq!(mesh.group("8").unwrap().vertices, [2]);

    let mut four = b"$MeshFormat\n4.1 1 8\n".to_vec();
    four.extend(big(&[1]));
    four.extend(b"\n$EndMeshFormat\n$Comments\n$Nodes of whom?\n$EndComments\n$Nodes\n");
    four.extend(big_sizes(&[1, 4, 1, 4]));
    // Parametric nodes on a curve have one more coordinate each.
    four.extend(big(&[1, 1, 1]));
    four.extend(big_sizes(&[4, 1, 2, 3, 4]));
    for x in X {
        four.extend(big_reals(&x));
        four.extend(big_reals(&[0.5]));
    }
    four.extend(b"\n$EndNodes\n$Elements\n");
    four.extend(big_sizes(&[1, 1, 1, 1]));
    four.extend(big(&[3, 1, 4]));
    four.extend(big_sizes(&[1, 6, 1, 2, 3, 4]));
    four.extend(b"\n$EndElements\n");
    let mesh = Mesh::parse("a.msh", &four).unwrap();
    assert_eq!(
        (mesh.vertices.as_slice(), mesh.tetrahedra.as_slice()),
        (&X[..], &[[0, 1, 2, 3]][..])
    );
    assert_eq!(mesh.tetrahedron_sources[0].number, 6);
}

#[test]
fn vtk_with_every_kind_of_data() {
    let text = "# vtk DataFile Version 4.2\nall data\nASCII\nDATASET UNSTRUCTURED_GRID\n\
        FIELD FieldData 1\nTIME 1 1 double\n0.5\n\n\
        POINTS 4 float\n0 0 0 1 0 0\n0 1 0 0 0 1\nMETADATA\nINFORMATION 0\n\n\
        CELLS 3 12\n4 0 1 2 3\n2 0 1\n3 0 1 2\nCELL_TYPES 3\n10 3 5\n\
        POINT_DATA 4\nSCALARS a float\nLOOKUP_TABLE own\n1 2 3 nan\n\
        LOOKUP_TABLE own 2\n0 0 0 1 1 1 1 1\nVECTORS v double\n0 0 0 0 0 0 0 0 0 0 0 0\n\
        NORMALS n float\n0 0 1 0 0 1 0 0 1 0 0 1\n\
        TEXTURE_COORDINATES t 2 float\n0 0 0 1 1 0 1 1\nCOLOR_SCALARS c 1\n0 0.5 1 1\n\
        GLOBAL_IDS id vtkIdType\n0 1 2 3\n\
        TENSORS s float\n1 0 0 0 1 0 0 0 1\n1 0 0 0 1 0 0 0 1\n1 0 0 0 1 0 0 0 1\n\
        1 0 0 0 1 0 0 0 1\nCELL_DATA 3\nFIELD f 2\npart 1 3 int\n7 8 8\nw 2 3 float\n\
        1 2 3 4 5 6\n";
    let mesh = Mesh::parse("a.vtk", text.as_bytes()).unwrap();
    assert_eq!((mesh.tetrahedra.len(), mesh.triangles.len()), (1, 1));
    assert_eq!(mesh.tetrahedron_sources[0].line, 16);
    assert_eq!(mesh.vertex_sources.iter().map(|s| s.line).collect::<Vec<_>>(), [10, 10, 11, 11]);
    assert_eq!(mesh.group("part=7").unwrap().tetrahedra, [0]);
    assert_eq!(mesh.group("part=8").unwrap().vertices, [0, 1, 2]);
}

#[test]
fn bad_gmsh_files_of_others() {
    let e = Mesh::read(data("box_second_order.msh")).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Unsupported);
    assert!(e.to_string().contains("Mesh.ElementOrder = 1"), "{e}");
    // Every shortened file is an error, whatever the format; none may panic.
    for name in ["box_41_binary.msh", "box_22_binary.msh", "box_meshio_binary.vtk"] {
        let bytes = std::fs::read(data(name)).unwrap();
        for length in 0..bytes.len() {
            let cut = Mesh::parse(name, &bytes[..length]);
            if name.ends_with("msh") {
                let tail_only = length + 30 > bytes.len();
                assert!(cut.is_err() || tail_only, "{name} cut to {length}");
            }
        }
    }
}

fn vtk(points: &str, cells: &str, types: &str) -> String {
    format!(
        "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS {points}\n\
         CELLS {cells}\nCELL_TYPES {types}\n"
    )
}

#[test]
fn bad_vtk_cells() {
    use ErrorKind::*;
    const P: &str = "4 double\n0 0 0\n1 0 0\n0 1 0\n0 0 1";
    let cases = [
        (P, "1 5\n4 0 1 2 9", "1\n10", IndexOutOfRange, Some(11), "below 4"),
        (P, "1 5\n4 0 1 2 -1", "1\n10", IndexOutOfRange, Some(11), "found -1"),
        (P, "1 5\n4 0 2 1 3", "1\n10", Inverted, Some(11), "tetrahedron 0"),
        (P, "1 5\n4 0 1 2 3", "1\n24", Unsupported, Some(11), "a quadratic tetrahedron (24)"),
        (P, "1 5\n4 0 1 2 3", "1\n5", WrongLength, Some(11), "3 vertices"),
        (P, "1 5\n4 0 1 2 3", "2\n10 10", WrongLength, None, "1 as in CELLS"),
        (P, "1 4\n3 0 1 2", "1\n5", Unreferenced, Some(9), "vertex 3"),
        (P, "1\n", "1\n10", Syntax, Some(10), "CELLS n size"),
        (P, "1 5\n4 0 1 2", "1\n10", NotANumber, Some(12), "CELL_TYPES"),
        ("4 text\n", "1 5\n4 0 1 2 3", "1\n10", Unsupported, Some(5), "number type"),
        ("4 double\n0 0 0", "", "", NotANumber, Some(7), "CELLS"),
        (P, "1 5\n4 0 1 2 3", "1\n10\nWHAT 1", Syntax, Some(14), "WHAT"),
        (P, "1 5\n4 0 1 2 3", "9999999999999999", Truncated, Some(13), "cell types"),
    ];
    for (points, cells, types, kind, line, fragment) in cases {
        let text = vtk(points, cells, types);
        let e = Mesh::parse("a.vtk", text.as_bytes()).expect_err(&text);
        assert_eq!((e.kind(), e.line()), (kind, line), "{text}{e}");
        assert!(e.to_string().contains(fragment), "{text}{e}");
    }
    let grid = "DATASET UNSTRUCTURED_GRID\n";
    let more = [
        ("3.0", "CELL_TYPES x", Syntax, 5, "CELL_TYPES n"),
        ("3.0", "POINT_DATA", Syntax, 5, "a number of tuples"),
        ("3.0", "POINTS x float", Syntax, 5, "POINTS n type"),
        ("3.0", "POINTS 1", Unsupported, 5, "a number type such as float"),
        ("3.0", "POINT_DATA 1\nSCALARS a float\n1", Syntax, 7, "LOOKUP_TABLE"),
        ("3.0", "POINT_DATA 1\nSCALARS a string", Unsupported, 6, "\"string\""),
        ("3.0", "POINT_DATA 9\nVECTORS a float\n1 2", Truncated, 7, "a data array"),
        ("3.0", "FIELD f", Syntax, 5, "FIELD name n"),
        ("3.0", "FIELD f 1\na 1 x int", Syntax, 6, "components tuples"),
        ("3.0", "FIELD f 99999", Truncated, 5, "an array of the field"),
        ("3.0", "CELLS 1 5\n99999999 1 2", Truncated, 6, "a vertex of a cell"),
        ("5.1", "CELLS x", Syntax, 5, "CELLS offsets vertices"),
        ("5.1", "CELLS 2 3\nCONNECTIVITY int", Syntax, 6, "OFFSETS"),
        ("5.1", "CELLS 2 3\nOFFSETS int\n0 9\nCONNECTIVITY int\n0 1 2", Syntax, 5, "ascending"),
        ("5.1", "CELLS 2 3\nOFFSETS int\n3 0\nCONNECTIVITY int\n0 1 2", Syntax, 5, "up to 3"),
        ("5.1", "CELLS 0 0\nOFFSETS int\nCONNECTIVITY int", Syntax, 5, "ascending"),
    ];
    for (version, body, kind, line, fragment) in more {
        let text = format!("# vtk DataFile Version {version}\nt\nASCII\n{grid}{body}");
        let e = Mesh::parse("a.vtk", text.as_bytes()).expect_err(&text);
        assert_eq!((e.kind(), e.line()), (kind, Some(line)), "{text}\n{e}");
        assert!(e.to_string().contains(fragment), "{text}\n{e}");
    }
    let text = format!("# vtk DataFile Version 3.0\nt\nBINARY\n{grid}CELLS 1 2\n");
    let mut bytes = text.into_bytes();
    bytes.extend(big(&[7, 0]));
    let e = Mesh::parse("a.vtk", &bytes).unwrap_err();
    assert!(e.to_string().contains("cell 0: expected a number of vertices"), "{e}");
    let lying = "# vtk DataFile Version 3.0\nt\nBINARY\nDATASET UNSTRUCTURED_GRID\n\
                 POINTS 18446744073709551615 double\n";
    let e = Mesh::parse("a.vtk", lying.as_bytes()).unwrap_err();
    assert_eq!(e.kind(), Truncated);
}

#[test]
fn written_vtk_reads_back() {
    let mesh = Mesh::read(data("box_41_ascii.msh")).unwrap();
    let folder = std::env::temp_dir().join(format!("costate-vtk-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let speeds: Vec<f64> = mesh.vertices.iter().map(|x| x[0] / 3.0).collect();
    for binary in [false, true] {
        let mut series = VtkSeries::new(&folder, "run", binary);
        let frame = VtkFrame {
            points: &mesh.vertices,
            tetrahedra: &mesh.tetrahedra,
            triangles: &mesh.triangles,
            lines: &[[0, 1]],
            point_data: &[
                ("speed", VtkValues::Scalars(&speeds)),
                ("velocity", VtkValues::Vectors(&mesh.vertices)),
            ],
        };
        let path = series.push(0.0, &frame).unwrap();
        series.push(0.1, &frame).unwrap();
        let back = Mesh::read(&path).unwrap();
        assert_eq!(back.vertices, mesh.vertices);
        assert_eq!(back.tetrahedra, mesh.tetrahedra);
        assert_eq!(back.triangles, mesh.triangles);
        let index = std::fs::read_to_string(series.finish().unwrap()).unwrap();
        assert!(index.contains("{ \"name\": \"run_00001.vtk\", \"time\": 0.1 }"), "{index}");
        let wrong = VtkFrame { tetrahedra: &[[0, 1, 2, 9999]], ..frame };
        assert_eq!(
            write_vtk(&path, &wrong, binary).unwrap_err().kind(),
            ErrorKind::IndexOutOfRange
        );
        let short = [("speed", VtkValues::Scalars(&speeds[1..]))];
        let wrong = VtkFrame { point_data: &short, ..frame };
        assert_eq!(write_vtk(&path, &wrong, binary).unwrap_err().kind(), ErrorKind::WrongLength);
    }
    std::fs::remove_dir_all(&folder).unwrap();
    let lost = folder.join("no/such/folder/a.vtk");
    assert_eq!(write_vtk(&lost, &VtkFrame::default(), false).unwrap_err().kind(), ErrorKind::Io);
}
