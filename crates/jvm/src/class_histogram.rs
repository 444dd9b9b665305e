//! Class histograms of `jcmd GC.class_histogram` and their difference.
