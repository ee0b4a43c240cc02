//! Synthesis pool, queue, GPU workers, permits, schedulers.
