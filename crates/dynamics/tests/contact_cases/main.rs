//! Contacts of rigid bodies with answers in closed form: cases that broke other tools, by their number.

mod bounce;
mod random;
mod rest;
mod slide;
mod world;
