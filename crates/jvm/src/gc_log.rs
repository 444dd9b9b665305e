//! GC logs: unified ones (JDK 9 and later) and those of JDK 8.
