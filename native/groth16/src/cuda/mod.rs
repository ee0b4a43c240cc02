//! The CUDA device. This crate compiles with the feature `cuda` on or off; as long as there is
//! no `enabled.rs` both select `disabled.rs`, whose constructor says so. `enabled.rs`, with the
//! same signatures, is to be chosen here by the feature.

mod disabled;

pub use disabled::Cuda;
