//! Articulated bodies against recorded results of MuJoCo, stage by stage, and their derivatives.

mod applied;
mod armature;
mod broad;
mod compile;
mod constrained;
mod derivatives;
mod exact;
mod fluid;
mod gradients;
mod kinematics;
mod leaves;
mod proof;
mod reference;
mod relaxed;
mod rows;
mod saltation;
mod sensors;
mod smooth;
mod step;
mod tangent;
mod touch_sensors;
mod touching;
mod transport;
mod wrapping;
mod zoo;
