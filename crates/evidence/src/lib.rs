//! Placeholder contract; written by the commit that fills this room.
