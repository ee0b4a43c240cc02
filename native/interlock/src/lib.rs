//! Who may hold a device.
