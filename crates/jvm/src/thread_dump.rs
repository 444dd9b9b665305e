//! Thread dumps of `jcmd Thread.print` and `jstack`.
