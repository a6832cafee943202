//! What a finished picture must show, whatever it looks like.

use costate_num::{Quat, Vec3};
use costate_render::{
    Bounds, Camera, Color, Error, Geometry, Image, Line, Marker, Mesh, Paint, Point, Radius,
    Renderer, Scene, Shading, Shape, Style, TimeStamp, Up, View, write_gif,
};
use proptest::prelude::*;

const SIZE: usize = 64;

fn style() -> Style {
    Style { width: SIZE, height: SIZE, ..Style::default() }
}

/// Looks along +y at the origin from 4 m; 1 m is a quarter of the image there.
fn front() -> Camera {
    Camera {
        eye: Vec3::new(0.0, -4.0, 0.0),
        target: Vec3::zero(),
        up: Vec3::new(0.0, 0.0, 1.0),
        fov: 2.0 * 0.5f64.atan(),
    }
}

fn draw(scene: &Scene) -> Image {
    Renderer::new(&front(), style()).expect("the size is allowed").render(scene)
}

/// A square of half side `half` at depth `y`, seen from the front.
fn square(half: f64, y: f64, color: Color) -> Mesh {
    let p = |x: f64, z: f64| Vec3::new(half * x, y, half * z);
    Mesh {
        positions: vec![p(-1.0, -1.0), p(1.0, -1.0), p(1.0, 1.0), p(-1.0, 1.0)],
        triangles: vec![[0, 1, 2], [0, 2, 3]],
        paint: Paint::Uniform(color),
        shading: Shading::Flat,
        edges: 0.0,
        two_sided: false,
        opacity: 1.0,
    }
}

fn red() -> Color {
    Color::srgb(220, 20, 20)
}

fn blue() -> Color {
    Color::srgb(20, 20, 220)
}

fn reddish([r, g, b]: [u8; 3]) -> bool {
    r / 2 > g.max(b)
}

fn bluish([r, g, b]: [u8; 3]) -> bool {
    b / 2 > r.max(g)
}

#[test]
fn a_square_covers_the_pixels_it_should() {
    let scene = Scene { meshes: vec![square(1.0, 0.0, red())], ..Scene::default() };
    let image = draw(&scene);
    for y in 0..SIZE {
        for x in 0..SIZE {
            let inside = (16..48).contains(&x) && (16..48).contains(&y);
            assert_eq!(reddish(image.pixel(x, y)), inside, "pixel {x}, {y}");
        }
    }
}

#[test]
fn what_is_nearer_hides_what_is_behind_in_any_order() {
    let near = square(0.5, -1.0, red());
    let far = square(1.0, 1.0, blue());
    let one = draw(&Scene { meshes: vec![near.clone(), far.clone()], ..Scene::default() });
    let other = draw(&Scene { meshes: vec![far, near], ..Scene::default() });
    assert_eq!(one, other);
    assert!(reddish(one.pixel(32, 32)));
    assert!(bluish(one.pixel(32, 20)));
}

#[test]
fn squares_that_cross_are_cut_along_the_line() {
    let mut tilted = square(1.0, 0.0, blue());
    for p in &mut tilted.positions {
        p.y = 0.8 * p.x; // left half nearer
    }
    let image = draw(&Scene { meshes: vec![square(1.0, 0.0, red()), tilted], ..Scene::default() });
    assert!(bluish(image.pixel(24, 32)));
    assert!(reddish(image.pixel(40, 32)));
}

#[test]
fn backs_are_drawn_only_where_asked() {
    let mut back = square(1.0, 0.0, red());
    for t in &mut back.triangles {
        t.swap(1, 2);
    }
    let closed = draw(&Scene { meshes: vec![back.clone()], ..Scene::default() });
    assert!(!reddish(closed.pixel(32, 32)));
    back.two_sided = true;
    let sheet = draw(&Scene { meshes: vec![back], ..Scene::default() });
    assert!(reddish(sheet.pixel(32, 32)));
}

#[test]
fn opacity_mixes_with_what_is_behind() {
    let share = |opacity: f32| {
        let mut mesh = square(1.0, 0.0, Color([0.0; 3]));
        mesh.opacity = opacity;
        u32::from(draw(&Scene { meshes: vec![mesh], ..Scene::default() }).pixel(32, 32)[1])
    };
    let levels = [0.0, 0.25, 0.5, 0.75, 1.0].map(share);
    assert!(levels.windows(2).all(|w| w[0] > w[1] + 10), "{levels:?}");
}

#[test]
fn a_ring_shows_the_ball_inside_it() {
    let point = |marker, radius, color| Point {
        position: Vec3::zero(),
        color,
        radius: Radius::Pixels(radius),
        marker,
    };
    let points = vec![point(Marker::Ring, 10.0, red()), point(Marker::Ball, 5.0, blue())];
    let image = draw(&Scene { points, ..Scene::default() });
    assert!(bluish(image.pixel(32, 32)));
    assert!(reddish(image.pixel(32 + 9, 32)));
    assert!(!reddish(image.pixel(32 + 7, 32)) && !bluish(image.pixel(32 + 7, 32)));
}

#[test]
fn a_body_darkens_the_floor_below_it() {
    let up = Vec3::new(0.0, 0.0, 1.0);
    let floor = Shape::floor(Vec3::zero(), up, Color::srgb(230, 230, 230));
    let ball = Shape {
        geometry: Geometry::Sphere { radius: 0.3 },
        position: Vec3::new(0.0, 0.0, 1.0),
        rotation: Quat::identity(),
        color: red(),
        opacity: 1.0,
    };
    let bounds = Bounds { low: [-1.0, -1.0, 0.0], high: [1.0, 1.0, 1.3] };
    let camera = Camera::framing(&bounds, &View::default(), 1.0);
    let darkest = |shadows: bool| {
        let style = Style { shadows, ..style() };
        let mut renderer = Renderer::new(&camera, style).expect("the size is allowed");
        let image = renderer.render(&Scene { shapes: vec![floor, ball], ..Scene::default() });
        let grey = |p: &&[u8]| p[0].abs_diff(p[2]) < 12;
        image.rgb.chunks_exact(3).filter(grey).map(|p| p[0]).min()
    };
    assert!(darkest(true) < darkest(false).map(|v| v - 20));
}

/// A scene with one of everything, somewhere between sensible and hostile.
fn zoo(c: f64) -> Scene {
    let v = |k: f64| Vec3::new(c, k * c, 0.3 * c);
    let shape = |geometry| Shape {
        geometry,
        position: v(1.0),
        rotation: Quat::new(1.0, c, 0.0, 0.0),
        color: red(),
        opacity: 0.5,
    };
    Scene {
        meshes: vec![
            Mesh::closed(vec![v(1.0), v(2.0), Vec3::zero()], vec![[0, 1, 2], [0, 0, 9]], blue()),
            Mesh { paint: Paint::PerVertex(Vec::new()), ..square(c, 0.0, red()) },
        ],
        lines: vec![
            Line { from: v(-1.0), to: v(1.0), color: red(), width: c },
            Line { from: Vec3::zero(), to: Vec3::zero(), color: red(), width: 3.0 },
        ],
        points: [Radius::World(c), Radius::Pixels(c)]
            .into_iter()
            .flat_map(|radius| {
                [Marker::Ball, Marker::Ring].map(|marker| Point {
                    position: v(0.5),
                    color: blue(),
                    radius,
                    marker,
                })
            })
            .collect(),
        shapes: [
            Geometry::Sphere { radius: c },
            Geometry::Box { half: [c, 1.0, 0.0] },
            Geometry::Capsule { radius: c, half_length: c },
            Geometry::Cylinder { radius: 0.0, half_length: c },
            Geometry::Ellipsoid { half: [c, c, 1.0] },
            Geometry::Plane { half: [c, 0.0] },
            Geometry::Plane { half: [0.0, 0.0] },
        ]
        .map(shape)
        .to_vec(),
        stamp: Some(TimeStamp { time: c, speed: c }),
    }
}

#[test]
fn no_number_makes_it_panic() {
    let numbers = [
        0.0,
        -1.0,
        1e-300,
        1e-30,
        1e30,
        -1e59,
        1e200,
        f64::MAX,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
    ];
    let small = Style { width: 24, height: 16, ..Style::default() };
    for c in numbers {
        let scene = zoo(c);
        let mut bounds = Bounds::default();
        bounds.include_scene(&scene);
        for up in [Up::Y, Up::Z] {
            let view = View { up, ..View::default() };
            let framed = Camera::framing(&bounds, &view, 1.5);
            let odd = Camera { eye: Vec3::new(c, 0.0, 1.0), fov: c, ..front() };
            for camera in [framed, front(), odd] {
                let mut renderer = Renderer::new(&camera, small).expect("the size is allowed");
                assert_eq!(renderer.render(&scene).rgb.len(), 3 * 24 * 16);
            }
        }
        let view = View { azimuth: c, elevation: c, fov: c, up: Up::Z };
        let camera = Camera::framing(&bounds, &view, c);
        Renderer::new(&camera, small).expect("the size is allowed").render(&scene);
    }
}

#[test]
fn sizes_out_of_range_are_refused() {
    for (width, height) in [(0, 10), (10, 0), (5000, 10)] {
        let style = Style { width, height, ..Style::default() };
        let got = Renderer::new(&front(), style).err();
        assert_eq!(got, Some(Error::Size { width, height }));
    }
}

#[test]
fn png_decodes_to_the_same_pixels() {
    let image = draw(&Scene { meshes: vec![square(1.0, 0.0, red())], ..Scene::default() });
    let bytes = image.to_png().expect("the sides fit");
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().expect("a PNG");
    let mut back = vec![0; 3 * SIZE * SIZE];
    reader.next_frame(&mut back).expect("one frame");
    assert_eq!(back, image.rgb);
}

/// A GIF of a square that moves to the right and stands still at the end.
fn moving(frames: usize) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    let mut renderer = Renderer::new(&front(), style())?;
    write_gif(&mut bytes, &mut renderer, frames, 4, |i| {
        let mut mesh = square(0.5, 0.0, red());
        for p in &mut mesh.positions {
            p.x += 0.1 * i.min(8) as f64;
        }
        Scene { meshes: vec![mesh], ..Scene::default() }
    })?;
    Ok(bytes)
}

#[test]
fn a_gif_decodes_to_the_frames_drawn() {
    let bytes = moving(11).expect("a vector takes all bytes");
    assert_eq!(bytes, moving(11).expect("a vector takes all bytes"), "same bytes on a second run");
    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::Indexed);
    let mut decoder = options.read_info(&bytes[..]).expect("a GIF");
    assert_eq!((decoder.width(), decoder.height()), (SIZE as u16, SIZE as u16));
    let palette = decoder.global_palette().expect("one palette").to_vec();
    let mut canvas = vec![[0u8; 3]; SIZE * SIZE];
    let mut count = 0;
    while let Some(frame) = decoder.read_next_frame().expect("a frame") {
        assert_eq!(frame.delay, 4);
        for (k, index) in frame.buffer.iter().enumerate() {
            let (x, y) = (k % usize::from(frame.width), k / usize::from(frame.width));
            if Some(*index) != frame.transparent {
                let at = (usize::from(frame.top) + y) * SIZE + usize::from(frame.left) + x;
                let color = 3 * usize::from(*index);
                canvas[at].copy_from_slice(&palette[color..color + 3]);
            }
        }
        // Frame by frame, the replayed picture has the square where it was drawn.
        let centre = 32.0 + 1.6 * count.min(8) as f64;
        for x in 0..SIZE {
            let d = (x as f64 + 0.5 - centre).abs();
            if (d - 8.0).abs() > 1.5 {
                assert_eq!(reddish(canvas[32 * SIZE + x]), d < 8.0, "frame {count}, column {x}");
            }
        }
        count += 1;
    }
    assert_eq!(count, 11);
    assert_eq!(moving(0), Err(Error::NoFrames));
}

#[test]
fn a_full_writer_is_an_error() {
    let mut renderer = Renderer::new(&front(), style()).expect("the size is allowed");
    let mut room = [0u8; 64];
    let got = write_gif(&mut room[..], &mut renderer, 3, 4, |_| Scene::default());
    assert!(matches!(got, Err(Error::Write(_))), "{got:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    /// The same scene gives the same bytes, also from a renderer that drew something else before.
    #[test]
    fn pictures_repeat(c in -3.0..3.0f64, other in -3.0..3.0f64) {
        let mut used = Renderer::new(&front(), style()).expect("the size is allowed");
        used.render(&zoo(other));
        prop_assert!(used.render(&zoo(c)) == draw(&zoo(c)));
    }
}
