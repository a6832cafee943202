//! Gmsh's numbers of element types.

/// What a reader makes of an element type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Point,
    Line,
    Triangle,
    Tetrahedron,
}

impl Shape {
    pub fn vertices(self) -> usize {
        match self {
            Self::Point => 1,
            Self::Line => 2,
            Self::Triangle => 3,
            Self::Tetrahedron => 4,
        }
    }
    pub fn dimension(self) -> i64 {
        self.vertices() as i64 - 1
    }
}

/// The shape of Gmsh's element type, or the name of a type that is not supported.
pub(super) fn shape(code: i64) -> Result<Shape, &'static str> {
    Err(match code {
        1 => return Ok(Shape::Line),
        2 => return Ok(Shape::Triangle),
        4 => return Ok(Shape::Tetrahedron),
        15 => return Ok(Shape::Point),
        3 => "4-node quadrangle",
        5 => "8-node hexahedron",
        6 => "6-node prism",
        7 => "5-node pyramid",
        8 => "3-node second-order line",
        9 => "6-node second-order triangle",
        10 => "9-node second-order quadrangle",
        11 => "10-node second-order tetrahedron",
        12 => "27-node second-order hexahedron",
        13 => "18-node second-order prism",
        14 => "14-node second-order pyramid",
        16 => "8-node second-order quadrangle",
        17 => "20-node second-order hexahedron",
        18 => "15-node second-order prism",
        19 => "13-node second-order pyramid",
        20 => "9-node third-order incomplete triangle",
        21 => "10-node third-order triangle",
        22 => "12-node fourth-order incomplete triangle",
        23 => "15-node fourth-order triangle",
        24 => "15-node fifth-order incomplete triangle",
        25 => "21-node fifth-order triangle",
        26 => "4-node third-order line",
        27 => "5-node fourth-order line",
        28 => "6-node fifth-order line",
        29 => "20-node third-order tetrahedron",
        30 => "35-node fourth-order tetrahedron",
        31 => "56-node fifth-order tetrahedron",
        92 => "64-node third-order hexahedron",
        93 => "125-node fourth-order hexahedron",
        _ => "unknown element type",
    })
}
