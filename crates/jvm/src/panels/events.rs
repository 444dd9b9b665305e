//! The events that panels are made of, and the fields of each that are kept.

use crate::jfr::scan::Wanted;

/// Kinds of events that are added up by stack and one other id.
pub(super) const STACKED_KINDS: usize = 14;

/// Events that are added up by stack and one other id: class, thread or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Stacked {
    /// `jdk.ObjectAllocationSample`, by class.
    AllocationSample,
    /// `jdk.ObjectAllocationInNewTLAB` and `OutsideTLAB`, by class.
    AllocationTlab,
    /// `jdk.ExecutionSample`, by thread.
    Execution,
    /// `jdk.CPUTimeSample`, by thread.
    CpuTime,
    /// `jdk.JavaMonitorEnter`, by class.
    MonitorEnter,
    /// `jdk.JavaMonitorWait`, by class.
    MonitorWait,
    /// `jdk.ThreadPark`, by class.
    Park,
    /// `jdk.VirtualThreadPinned`.
    Pinned,
    /// `jdk.JavaExceptionThrow` and `JavaErrorThrow`, by class.
    Throw,
    /// `jdk.FileRead`.
    FileRead,
    /// `jdk.FileWrite`.
    FileWrite,
    /// `jdk.SocketRead`.
    SocketRead,
    /// `jdk.SocketWrite`.
    SocketWrite,
    /// `jdk.NativeMethodSample`, by thread: waiting threads too, so it is counted and no more.
    Native,
}

/// What an event is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Stacked(Stacked),
    CpuTimeLost,
    GcCpu,
    HeapSummary,
    Collection,
    Pause,
    GcConfiguration,
    HeapConfiguration,
    Jvm,
    Processor,
    CpuLoad,
    SafepointBegin,
    VmOperation,
    ExceptionStatistics,
    CompilerStatistics,
    ClassLoadingStatistics,
    OldObject,
    DataLoss,
    Setting,
    Flag,
}

/// Slot of the start in every event.
pub(super) const START: usize = 0;
/// Slot of the stack trace, or of the first own field where an event has none.
pub(super) const TRACE: usize = 1;
/// Slot of the other id: class or thread.
pub(super) const OTHER: usize = 2;
/// Slot of what is added up: bytes or a duration.
pub(super) const AMOUNT: usize = 3;
/// Slot of the thread of an allocation, or of the bytes of an input or output.
pub(super) const THREAD_OR_BYTES: usize = 4;

macro_rules! stacked {
    ($event:literal, $kind:ident, $other:literal, $amount:literal, $more:literal) => {
        Wanted {
            event: $event,
            kind: Kind::Stacked(Stacked::$kind),
            fields: &["startTime", "stackTrace", $other, $amount, $more],
        }
    };
}

/// All of them. A name that no field has is a slot left empty.
pub(super) const WANTED: &[Wanted<Kind>] = &[
    stacked!(
        "jdk.ObjectAllocationSample",
        AllocationSample,
        "objectClass",
        "weight",
        "eventThread"
    ),
    stacked!(
        "jdk.ObjectAllocationInNewTLAB",
        AllocationTlab,
        "objectClass",
        "tlabSize",
        "eventThread"
    ),
    stacked!(
        "jdk.ObjectAllocationOutsideTLAB",
        AllocationTlab,
        "objectClass",
        "allocationSize",
        "eventThread"
    ),
    stacked!("jdk.ExecutionSample", Execution, "sampledThread", "", ""),
    stacked!("jdk.NativeMethodSample", Native, "sampledThread", "", ""),
    stacked!("jdk.CPUTimeSample", CpuTime, "eventThread", "samplingPeriod", ""),
    stacked!("jdk.JavaMonitorEnter", MonitorEnter, "monitorClass", "duration", ""),
    stacked!("jdk.JavaMonitorWait", MonitorWait, "monitorClass", "duration", ""),
    stacked!("jdk.ThreadPark", Park, "parkedClass", "duration", ""),
    stacked!("jdk.VirtualThreadPinned", Pinned, "", "duration", ""),
    stacked!("jdk.JavaExceptionThrow", Throw, "thrownClass", "", ""),
    stacked!("jdk.JavaErrorThrow", Throw, "thrownClass", "", ""),
    stacked!("jdk.FileRead", FileRead, "", "duration", "bytesRead"),
    stacked!("jdk.FileWrite", FileWrite, "", "duration", "bytesWritten"),
    stacked!("jdk.SocketRead", SocketRead, "", "duration", "bytesRead"),
    stacked!("jdk.SocketWrite", SocketWrite, "", "duration", "bytesWritten"),
    Wanted {
        event: "jdk.CPUTimeSamplesLost",
        kind: Kind::CpuTimeLost,
        fields: &["startTime", "lostSamples"],
    },
    Wanted {
        event: "jdk.GCCPUTime",
        kind: Kind::GcCpu,
        fields: &["startTime", "userTime", "systemTime"],
    },
    Wanted {
        event: "jdk.GCHeapSummary",
        kind: Kind::HeapSummary,
        fields: &["startTime", "gcId", "when", "heapUsed"],
    },
    Wanted {
        event: "jdk.GarbageCollection",
        kind: Kind::Collection,
        fields: &["startTime", "gcId", "name", "cause", "sumOfPauses", "longestPause"],
    },
    Wanted {
        event: "jdk.GCPhasePause",
        kind: Kind::Pause,
        fields: &["startTime", "duration", "name", "gcId"],
    },
    Wanted {
        event: "jdk.GCConfiguration",
        kind: Kind::GcConfiguration,
        fields: &["startTime", "youngCollector", "oldCollector"],
    },
    Wanted {
        event: "jdk.GCHeapConfiguration",
        kind: Kind::HeapConfiguration,
        fields: &["startTime", "maxSize", "initialSize", "usesCompressedOops"],
    },
    Wanted {
        event: "jdk.JVMInformation",
        kind: Kind::Jvm,
        fields: &["startTime", "jvmName", "jvmVersion", "jvmStartTime"],
    },
    Wanted {
        event: "jdk.CPUInformation",
        kind: Kind::Processor,
        fields: &["startTime", "hwThreads"],
    },
    Wanted {
        event: "jdk.CPULoad",
        kind: Kind::CpuLoad,
        fields: &["startTime", "jvmUser", "jvmSystem"],
    },
    Wanted {
        event: "jdk.SafepointBegin",
        kind: Kind::SafepointBegin,
        fields: &["startTime", "duration"],
    },
    Wanted {
        event: "jdk.ExecuteVMOperation",
        kind: Kind::VmOperation,
        fields: &["startTime", "duration", "operation", "safepoint"],
    },
    Wanted {
        event: "jdk.ExceptionStatistics",
        kind: Kind::ExceptionStatistics,
        fields: &["startTime", "throwables"],
    },
    Wanted {
        event: "jdk.CompilerStatistics",
        kind: Kind::CompilerStatistics,
        fields: &["startTime", "totalTimeSpent", "compileCount"],
    },
    Wanted {
        event: "jdk.ClassLoadingStatistics",
        kind: Kind::ClassLoadingStatistics,
        fields: &["startTime", "loadedClassCount"],
    },
    Wanted {
        event: "jdk.OldObjectSample",
        kind: Kind::OldObject,
        fields: &["startTime", "stackTrace", "object", "root"],
    },
    Wanted { event: "jdk.DataLoss", kind: Kind::DataLoss, fields: &["startTime", "amount"] },
    Wanted {
        event: "jdk.ActiveSetting",
        kind: Kind::Setting,
        fields: &["startTime", "id", "name", "value"],
    },
    Wanted { event: "jdk.BooleanFlag", kind: Kind::Flag, fields: &["startTime", "name", "value"] },
    Wanted { event: "jdk.IntFlag", kind: Kind::Flag, fields: &["startTime", "name", "value"] },
    Wanted {
        event: "jdk.UnsignedIntFlag",
        kind: Kind::Flag,
        fields: &["startTime", "name", "value"],
    },
    Wanted { event: "jdk.LongFlag", kind: Kind::Flag, fields: &["startTime", "name", "value"] },
    Wanted {
        event: "jdk.UnsignedLongFlag",
        kind: Kind::Flag,
        fields: &["startTime", "name", "value"],
    },
];
