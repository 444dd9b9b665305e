//! Flight recordings (JFR), read at the speed of the disk.
