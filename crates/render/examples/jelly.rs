//! Draws a block of jelly that bounces beside a few solids, by a formula rather than a
//! simulation, and writes `jelly.png` and `jelly.gif` into the folder named on the command line:
//! `cargo run --release -p costate-render --example jelly -- out`.

use costate_num::{Quat, Vec3};
use costate_render::{
    Bounds, Camera, Color, Geometry, Line, Marker, Mesh, Point, Radius, Renderer, Scene, Shape,
    Style, TimeStamp, Timeline, View, write_gif,
};
use std::error::Error;
use std::path::PathBuf;

const CELLS: [usize; 3] = [16, 8, 8];
const SIZE: [f64; 3] = [0.4, 0.2, 0.2];

/// Where a point of the block (from its lower corner) is at time `t`.
fn motion(p: [f64; 3], t: f64) -> Vec3<f64> {
    let phase = (t * 2.2).fract();
    let height = 0.6 * phase * (1.0 - phase) * 4.0;
    let squash = 1.0 - 0.28 * (-14.0 * height).exp();
    let wave = 0.03 * (9.0 * p[0] - 24.0 * t).sin();
    let spread = 1.0 / squash.sqrt();
    Vec3::new(
        0.1 * (t * 3.0).sin() + (p[0] - 0.5 * SIZE[0]) * spread,
        (p[1] - 0.5 * SIZE[1]) * spread + wave * p[2] / SIZE[2],
        height + p[2] * squash + 0.4 * wave * p[2] / SIZE[2],
    )
}

/// The surface of the grid: vertices (from the lower corner) and triangles.
fn surface() -> (Vec<[f64; 3]>, Vec<[u32; 3]>) {
    let mut vertices = Vec::new();
    let mut triangles = Vec::new();
    for axis in 0..3 {
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        for side in [0, CELLS[axis]] {
            let first = vertices.len();
            for j in 0..=CELLS[v] {
                for i in 0..=CELLS[u] {
                    let mut k = [0; 3];
                    (k[axis], k[u], k[v]) = (side, i, j);
                    vertices.push(std::array::from_fn(|d| SIZE[d] * k[d] as f64 / CELLS[d] as f64));
                }
            }
            let at = |i: usize, j: usize| (first + j * (CELLS[u] + 1) + i) as u32;
            for j in 0..CELLS[v] {
                for i in 0..CELLS[u] {
                    let q = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
                    let q = if side == 0 { [q[0], q[3], q[2], q[1]] } else { q };
                    triangles.extend([[q[0], q[1], q[2]], [q[0], q[2], q[3]]]);
                }
            }
        }
    }
    (vertices, triangles)
}

fn scene(vertices: &[[f64; 3]], triangles: &[[u32; 3]], t: f64, speed: f64) -> Scene {
    let positions: Vec<_> = vertices.iter().map(|p| motion(*p, t)).collect();
    let mut scene = Scene { stamp: Some(TimeStamp { time: t, speed }), ..Scene::default() };
    scene.meshes.push(Mesh::closed(positions, triangles.to_vec(), Color::srgb(58, 134, 190)));
    let solid = |geometry, x, y, z, color| Shape {
        geometry,
        position: Vec3::new(x, y, z),
        rotation: Quat::identity(),
        color,
        opacity: 1.0,
    };
    let grey = Color::srgb(170, 176, 186);
    scene.shapes = vec![
        Shape::floor(Vec3::zero(), Vec3::new(0.0, 0.0, 1.0), Color::srgb(226, 229, 233)),
        solid(Geometry::Sphere { radius: 0.1 }, -0.45, 0.15, 0.1, Color::srgb(214, 96, 77)),
        solid(Geometry::Box { half: [0.05, 0.2, 0.25] }, 0.5, 0.1, 0.25, grey),
        solid(
            Geometry::Capsule { radius: 0.05, half_length: 0.1 },
            -0.35,
            -0.25,
            0.15,
            Color::srgb(90, 160, 90),
        ),
    ];
    scene.shapes[2].opacity = 0.5;
    let hook = Vec3::new(0.0, 0.0, 1.1);
    let top = motion([0.5 * SIZE[0], 0.5 * SIZE[1], SIZE[2]], t);
    scene.lines.push(Line { from: hook, to: top, color: Color::srgb(90, 90, 100), width: 2.5 });
    for x in [0.0, 0.5, 1.0] {
        let p = motion([x * SIZE[0], 0.0, 0.5 * SIZE[2]], t);
        let mut point = Point {
            position: p,
            color: Color::srgb(250, 200, 60),
            radius: Radius::Pixels(4.0),
            marker: Marker::Ball,
        };
        scene.points.push(point);
        point.position = p + Vec3::new(0.01 * (7.0 * t).sin(), 0.0, 0.01);
        point.marker = Marker::Ring;
        point.radius = Radius::Pixels(7.0);
        point.color = Color::srgb(190, 30, 50);
        scene.points.push(point);
    }
    scene
}

fn main() -> Result<(), Box<dyn Error>> {
    let Some(folder) = std::env::args_os().nth(1).map(PathBuf::from) else {
        return Err("name a folder to write into".into());
    };
    std::fs::create_dir_all(&folder)?;
    let (vertices, triangles) = surface();
    let timeline = Timeline::new(0.0, 1.6, 200);
    let mut bounds = Bounds::default();
    for t in &timeline.times {
        bounds.include_scene(&scene(&vertices, &triangles, *t, timeline.speed));
    }
    let style = Style::default();
    let aspect = style.width as f64 / style.height as f64;
    let camera = Camera::framing(&bounds, &View::default(), aspect);
    let mut renderer = Renderer::new(&camera, style)?;
    let still = renderer.render(&scene(&vertices, &triangles, 0.3, timeline.speed));
    std::fs::write(folder.join("jelly.png"), still.to_png()?)?;
    let mut bytes = Vec::new();
    write_gif(&mut bytes, &mut renderer, timeline.times.len(), timeline.delay, |i| {
        scene(&vertices, &triangles, timeline.times[i], timeline.speed)
    })?;
    std::fs::write(folder.join("jelly.gif"), &bytes)?;
    println!("{} frames, {} bytes", timeline.times.len(), bytes.len());
    Ok(())
}
