//! Circuits and their partitions.
