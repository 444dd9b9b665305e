"""Histograms in a load record decode with another implementation of HdrHistogram, to the same
counts and percentiles as the record prints."""

import json
import math
import re
import subprocess
import sys
import tempfile

from hdrh.histogram import HdrHistogram

assay = sys.argv[1]
with tempfile.TemporaryDirectory() as directory:
    path = f"{directory}/load.json"
    mock = subprocess.Popen([assay, "mock", "--latency", "1ms", "--fail", "5%:status=503"],
                            stdout=subprocess.PIPE, text=True)
    try:
        url = re.search(r"http://\S+", mock.stdout.readline()).group(0)
        # Ends with 3: the planned failures void the run, which is not the question here.
        subprocess.run([assay, "-q", "load", url, "-c", "4", "-d", "3s", "--warmup", "0s",
                        "--json", path], stdout=subprocess.DEVNULL, check=False)
    finally:
        mock.terminate()
        mock.wait(timeout=10)
    with open(path) as file:
        record = json.load(file)

step = record["steps"][0]


def decode(text):
    return HdrHistogram.decode(text.encode())


def nearest_rank(histogram, percent):
    """The bucket that holds the value of rank ceil(p n), by the decoder's own counts. The
    decoder's own percentile rounds the rank half up, which is another definition."""
    rank = max(1, math.ceil(percent / 100 * histogram.get_total_count()))
    seen = 0
    for item in histogram.get_recorded_iterator():
        seen += item.count_added_in_this_iter_step
        if seen >= rank:
            return item.value_iterated_to
    return None


latency = decode(step["histograms"]["latency.succeeded"])
failed = decode(step["histograms"]["latency.failed"])
checks = [
    ("succeeded", latency.get_total_count(), record["succeeded"]),
    ("failed", failed.get_total_count(), record["failed"]),
    ("max", latency.get_max_value(), record["latency_ns"]["max"]),
    ("sum over seconds", sum(decode(s["latency"]).get_total_count() for s in record["series"]
                             if s["latency"]), record["succeeded"]),
]
for name, percentile in [("p50", 50), ("p90", 90), ("p99", 99)]:
    if record["latency_ns"][name] is not None:
        theirs = nearest_rank(latency, percentile)
        ours = record["latency_ns"][name]
        # Either may name a bucket by its lower or its upper edge.
        checks.append((name, latency.get_lowest_equivalent_value(theirs),
                       latency.get_lowest_equivalent_value(ours)))
if record["failed"] == 0 or record["latency_ns"]["p50"] is None:
    sys.exit(f"too little was recorded to compare: {record['succeeded']}, {record['failed']}")
for name, theirs, ours in checks:
    if theirs != ours:
        sys.exit(f"{name}: an independent decoder finds {theirs}, the record says {ours}")
print(f"{len(checks)} figures agree with an independent decoder of HdrHistogram")
