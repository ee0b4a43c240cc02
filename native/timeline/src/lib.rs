//! The journal: event types, clock, rings and the writer.
