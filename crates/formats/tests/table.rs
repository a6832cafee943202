//! Tables by other programs, what is written reads back, and tables that must be refused.

use costate_formats::ErrorKind;
use costate_formats::table::{NamedArray, Table, write_csv, write_npz};
use proptest::prelude::*;
use std::path::{Path, PathBuf};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/table").join(name)
}

fn csv(text: &str) -> Table {
    Table::parse("a.csv", text.as_bytes()).unwrap()
}

#[test]
fn csv_with_gaps_comments_and_remarks() {
    let text = "\u{feff}# recorded on a Monday\nt, x ,\"y, tip\",note\n0,1.5,,start\n\
                # a pause\n0.1,NaN,-2e-3,\n\n0.2,NA,+7,end\n";
    let table = csv(text);
    assert_eq!(table.names().collect::<Vec<_>>(), ["t", "x", "y, tip", "note"]);
    assert_eq!(table.rows(), 3);
    assert_eq!(table.column("t").unwrap().values, [0.0, 0.1, 0.2]);
    let x = &table.column("x").unwrap().values;
    assert!(x[0] == 1.5 && x[1].is_nan() && x[2].is_nan());
    assert_eq!(table.column("y, tip").unwrap().values[1..], [-2e-3, 7.0]);
    assert_eq!((table.line(0), table.line(1), table.line(2)), (Some(3), Some(5), Some(7)));
    let e = table.column("note").unwrap_err();
    assert_eq!((e.kind(), e.line()), (ErrorKind::NotANumber, Some(3)));
    assert!(e.to_string().contains("column \"note\""), "{e}");
    assert_eq!(table.columns().count(), 3);
    assert_eq!(csv("t;x\n1;2\n").column("x").unwrap().values, [2.0]);
    let windows = csv("#\r\nt\tx\r\n1\t2\r\n\r\n# pause\r\n3\t4\r\n");
    assert_eq!(windows.column("x").unwrap().values, [2.0, 4.0]);
    assert_eq!((windows.line(0), windows.line(1)), (Some(3), Some(6)));
    assert_eq!(csv("t,x\n").rows(), 0);
}

#[test]
fn bad_csv_is_refused_with_its_place() {
    use ErrorKind::*;
    let cases = [
        ("", Missing, Some(1), "an empty file"),
        ("1,2\n3,4\n", Missing, Some(1), "names of the columns"),
        ("t,t\n1,2\n", Conflict, Some(1), "column \"t\""),
        ("t,\n1,2\n", Syntax, Some(1), "column 2"),
        ("t,x\n1,2\n3\n", WrongLength, Some(3), "2 cells as in the header, found 1"),
        ("t,x\n1,2,3\n", WrongLength, Some(2), "found 3"),
    ];
    let latin = Table::parse("a.csv", b"t,\xe4\n1,2\n").unwrap_err();
    assert_eq!((latin.kind(), latin.line()), (Syntax, Some(1)), "{latin}");
    for (text, kind, line, fragment) in cases {
        let e = Table::parse("a.csv", text.as_bytes()).expect_err(text);
        assert_eq!((e.kind(), e.line()), (kind, line), "{text:?}: {e}");
        assert!(e.to_string().contains(fragment), "{text:?}: {e}");
    }
    let columns = [
        ("t,x\n1,2\n3,4mm\n", "x", NotANumber, Some(3), "\"4mm\""),
        ("t,x\n1,inf\n", "x", NotANumber, Some(2), "\"inf\""),
        ("t,x\n1,2\n", "X1", UnknownName, None, "did you mean \"x\"?"),
        ("t,x\n1,2\n", "tip_z_mm", UnknownName, None, "known here: t, x"),
    ];
    for (text, name, kind, line, fragment) in columns {
        let table = csv(text);
        let e = table.column(name).expect_err(text);
        assert_eq!((e.kind(), e.line()), (kind, line), "{text:?}: {e}");
        assert!(e.to_string().contains(fragment), "{text:?}: {e}");
    }
    assert_eq!(Table::read("no/such.csv").unwrap_err().kind(), Io);
}

#[test]
fn arrays_of_numpy() {
    for name in ["run.npz", "run_compressed.npz"] {
        let table = Table::read(data(name)).unwrap();
        assert_eq!(table.rows(), 4);
        assert_eq!(table.column("t").unwrap().values, [0.0, 0.01, 0.02, 0.03]);
        let row_2: Vec<f64> = (0..2)
            .flat_map(|m| (0..3).map(move |k| format!("markers[{m}][{k}]")))
            .map(|c| table.column(&c).unwrap().values[2])
            .collect();
        let wanted: Vec<f64> = (12..18).map(|i| f64::from(i) / 7.0).collect();
        assert_eq!(row_2, wanted);
    }
    let table = Table::read(data("run.npz")).unwrap();
    assert_eq!(table.column("fortran[2]").unwrap(), &{
        let mut c = table.column("markers[0][2]").unwrap().clone();
        c.name = "fortran[2]".to_owned();
        c
    });
    let value = |name: &str, row: usize| table.column(name).unwrap().values[row];
    assert_eq!(value("single", 1), f64::from(0.01_f32));
    assert!((value("half", 3) - 0.03).abs() < 1e-4);
    assert_eq!((value("count", 0), value("count", 3)), (-1.0, 127.0));
    assert_eq!((value("big", 0), value("big", 3)), (1.0, 65535.0));
    assert_eq!((value("flag", 0), value("flag", 1)), (1.0, 0.0));
    assert!(value("gap", 1).is_nan() && value("gap", 2) == 2.0);
    assert_eq!((value("fps", 0), value("fps", 3)), (100.0, 100.0));
    assert!(table.column("remark").unwrap_err().to_string().contains("<U1"));
    assert!(table.column("wild").unwrap_err().to_string().contains("inf in row 2"));
    let single = Table::read(data("markers.npy")).unwrap();
    assert_eq!(single.column("markers[1][2]").unwrap().values[3], 23.0 / 7.0);
    let e = Table::read(data("unequal.npz")).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::WrongLength);
    assert!(e.to_string().contains("4 rows as in \"t\", found 2"), "{e}");
}

/// An NPY file with the given header text and data.
fn npy(header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

#[test]
fn bad_arrays_are_refused() {
    use ErrorKind::*;
    let huge = "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999, 99999999999)}";
    let cases = [
        ("a.npz", b"no zip".to_vec(), "ZIP archive"),
        ("a.npy", b"".to_vec(), "no NPY header"),
        ("a.npy", b"\x93NUMPY".to_vec(), "end of the file"),
        ("a.npy", b"\x93NUMPY\x09\x00\x00\x00".to_vec(), "version 9"),
        ("a.npy", b"\x93NUMPY\x01\x00\xff\xff{".to_vec(), "cut short"),
        ("a.npy", npy("{'descr': '<f8'}", b""), "fortran_order"),
        ("a.npy", npy(huge, b"12345678"), "8 bytes for the shape"),
        ("a.npy", npy(&huge.replace("99999999999", "2"), b"12345678"), "8 bytes for the shape"),
    ];
    for (name, bytes, fragment) in cases {
        let e = Table::parse(name, &bytes).unwrap_err();
        assert_eq!(e.kind(), Syntax, "{e}");
        assert!(e.to_string().contains(fragment), "{e}");
    }
    let wide = "{'descr': '|b1', 'fortran_order': False, 'shape': (1, 1000001)}";
    let e = Table::parse("a.npy", &npy(wide, &vec![0; 1_000_001])).unwrap_err();
    assert_eq!(e.kind(), TooLarge);
    let none = "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 99999999999)}";
    assert_eq!(Table::parse("a.npy", &npy(none, b"")).unwrap_err().kind(), TooLarge);
}

#[test]
fn damaged_archives_are_refused() {
    let good = std::fs::read(data("run_compressed.npz")).unwrap();
    // Bytes within the compressed data of the first array.
    let mut bytes = good.clone();
    bytes[60..80].fill(0xff);
    let e = Table::parse("a.npz", &bytes).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Syntax, "{e}");
    assert!(e.to_string().contains("array \"t\": expected data that can be unpacked"), "{e}");
    let e = Table::parse("a.npz", &good[..good.len() / 2]).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Syntax, "{e}");
}

#[test]
fn writers_refuse_what_does_not_fit() {
    let path = std::env::temp_dir().join(format!("costate-table-{}.csv", std::process::id()));
    let e = write_csv(&path, &[("a", &[1.0, 2.0]), ("b", &[1.0])]).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::WrongLength);
    let array = NamedArray { name: "a", shape: &[2, 2], values: &[1.0] };
    assert_eq!(write_npz(&path, &[array]).unwrap_err().kind(), ErrorKind::WrongLength);
    assert!(!path.exists());
    let lost = path.join("no/such/folder.csv");
    assert_eq!(write_csv(&lost, &[("a", &[1.0])]).unwrap_err().kind(), ErrorKind::Io);
    // A write that fails leaves the former file as it was, and nothing beside it.
    write_csv(&path, &[("a", &[1.0])]).unwrap();
    let failed = costate_formats::write_atomically(&path, |_| Err(std::io::Error::other("full")));
    assert_eq!(failed.unwrap_err().kind(), ErrorKind::Io);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "a\n1.0\n");
    let name = path.file_name().unwrap().to_str().unwrap();
    let left = std::fs::read_dir(path.parent().unwrap()).unwrap().filter(|entry| {
        let file = entry.as_ref().unwrap().file_name();
        let file = file.to_string_lossy();
        file.contains(name) && file.ends_with(".tmp")
    });
    assert_eq!(left.count(), 0);
    std::fs::remove_file(&path).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn tables_read_back_bit_for_bit(
        rows in proptest::collection::vec(
            (proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL
                | proptest::num::f64::ZERO, proptest::option::of(-1e9..1e9)), 0..20)
    ) {
        let a: Vec<f64> = rows.iter().map(|r| r.0).collect();
        let b: Vec<f64> = rows.iter().map(|r| r.1.unwrap_or(f64::NAN)).collect();
        let file = std::env::temp_dir().join(format!("costate-round-{}", std::process::id()));
        let same = |x: &[f64], y: &[f64]| {
            x.len() == y.len()
                && x.iter().zip(y).all(|(x, y)| x.to_bits() == y.to_bits() || x.is_nan() && y.is_nan())
        };
        let path = file.with_extension("csv");
        write_csv(&path, &[("a b", &a), ("b,\"c\"", &b)]).unwrap();
        let table = Table::read(&path).unwrap();
        prop_assert!(same(&table.column("a b").unwrap().values, &a));
        prop_assert!(same(&table.column("b,\"c\"").unwrap().values, &b));
        std::fs::remove_file(&path).unwrap();

        let path = file.with_extension("npz");
        let both: Vec<f64> = a.iter().zip(&b).flat_map(|(a, b)| [*a, *b]).collect();
        write_npz(&path, &[
            NamedArray { name: "t", shape: &[a.len()], values: &a },
            NamedArray { name: "x", shape: &[a.len(), 2], values: &both },
        ]).unwrap();
        let table = Table::read(&path).unwrap();
        prop_assert!(same(&table.column("t").unwrap().values, &a));
        prop_assert!(same(&table.column("x[1]").unwrap().values, &b));
        std::fs::remove_file(&path).unwrap();
    }
}
