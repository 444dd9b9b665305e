//! Rows of `resources.csv` and `host.csv` as lines. What is unknown is an empty cell.

use record::resources::{HostRow, ResourceRow};

/// One line of `resources.csv`, in the order of [`record::resources::RESOURCES_HEADER`].
#[must_use]
pub fn resource_line(row: &ResourceRow) -> String {
    // Without `..`, so that a new column cannot be forgotten here.
    let ResourceRow {
        t_ns,
        edge,
        role,
        processes,
        cpu_user_ns,
        cpu_sys_ns,
        cpu_ns,
        rss_bytes,
        pss_bytes,
        threads,
        switches_voluntary,
        switches_involuntary,
        descriptors,
    } = row;
    [
        t_ns.to_string(),
        edge.word().to_owned(),
        word(role),
        processes.to_string(),
        cell(*cpu_user_ns),
        cell(*cpu_sys_ns),
        cell(*cpu_ns),
        cell(*rss_bytes),
        cell(*pss_bytes),
        cell(*threads),
        cell(*switches_voluntary),
        cell(*switches_involuntary),
        cell(*descriptors),
    ]
    .join(",")
}

/// One line of `host.csv`, in the order of [`record::resources::HOST_HEADER`].
#[must_use]
pub fn host_line(row: &HostRow) -> String {
    let HostRow {
        t_ns,
        edge,
        busy_ns,
        idle_ns,
        steal_ns,
        load_1m,
        frequency_hz,
        temperature_millicelsius,
        memory_available_bytes,
        frequency_share,
        interrupts,
        throttled_ns,
        thermal_throttles,
        time_wait,
        foreign_all_share,
        foreign_pid,
        foreign_share,
        foreign_name,
    } = row;
    [
        t_ns.to_string(),
        edge.word().to_owned(),
        cell(*busy_ns),
        cell(*idle_ns),
        cell(*steal_ns),
        cell(*load_1m),
        cell(*frequency_hz),
        cell(*temperature_millicelsius),
        cell(*memory_available_bytes),
        share(*frequency_share),
        cell(*interrupts),
        cell(*throttled_ns),
        cell(*thermal_throttles),
        cell(*time_wait),
        share(*foreign_all_share),
        cell(*foreign_pid),
        share(*foreign_share),
        foreign_name.as_deref().map(word).unwrap_or_default(),
    ]
    .join(",")
}

fn share(value: Option<f64>) -> String {
    value.map(|value| format!("{value:.3}")).unwrap_or_default()
}

fn cell<T: ToString>(value: Option<T>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// A name without what separates cells and rows: a process may call itself anything, and a
/// reader may cut at commas.
fn word(name: &str) -> String {
    name.chars().map(|c| if c.is_control() || matches!(c, ',' | '"') { '_' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::resources::{Edge, HOST_HEADER, RESOURCES_HEADER};

    fn columns(header: &str, line: &str) -> Vec<(String, String)> {
        let (names, cells): (Vec<_>, Vec<_>) =
            (header.split(',').collect(), line.split(',').collect());
        assert_eq!(names.len(), cells.len(), "{line}");
        names.into_iter().map(str::to_owned).zip(cells.into_iter().map(str::to_owned)).collect()
    }

    #[test]
    fn unknown_is_empty_and_never_zero() {
        let resource = ResourceRow {
            t_ns: 5,
            edge: Edge::WindowStart,
            role: "target".to_owned(),
            processes: 0,
            cpu_user_ns: None,
            cpu_sys_ns: None,
            cpu_ns: None,
            rss_bytes: None,
            pss_bytes: None,
            threads: None,
            switches_voluntary: None,
            switches_involuntary: None,
            descriptors: None,
        };
        insta::assert_snapshot!(resource_line(&resource), @"5,window_start,target,0,,,,,,,,,");
        let host = HostRow {
            t_ns: 5,
            edge: Edge::Sample,
            busy_ns: None,
            idle_ns: None,
            steal_ns: None,
            load_1m: None,
            frequency_hz: None,
            temperature_millicelsius: None,
            memory_available_bytes: None,
            frequency_share: None,
            interrupts: None,
            throttled_ns: None,
            thermal_throttles: None,
            time_wait: None,
            foreign_all_share: None,
            foreign_pid: None,
            foreign_share: None,
            foreign_name: None,
        };
        insta::assert_snapshot!(host_line(&host), @"5,sample,,,,,,,,,,,,,,,,");
    }

    #[test]
    fn every_value_stands_under_its_name() {
        let resource = ResourceRow {
            t_ns: 1,
            edge: Edge::Sample,
            role: "a,b".to_owned(),
            processes: 3,
            cpu_user_ns: Some(4),
            cpu_sys_ns: Some(5),
            cpu_ns: Some(6),
            rss_bytes: Some(7),
            pss_bytes: Some(8),
            threads: Some(9),
            switches_voluntary: Some(10),
            switches_involuntary: Some(11),
            descriptors: Some(12),
        };
        let cells: Vec<String> = columns(RESOURCES_HEADER, &resource_line(&resource))
            .into_iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        insta::assert_snapshot!(cells.join(" "), @"t_ns=1 edge=sample role=a_b processes=3 cpu_user_ns=4 cpu_sys_ns=5 cpu_ns=6 rss_bytes=7 pss_bytes=8 threads=9 switches_voluntary=10 switches_involuntary=11 descriptors=12");
        let host = HostRow {
            t_ns: 1,
            edge: Edge::WindowEnd,
            busy_ns: Some(2),
            idle_ns: Some(3),
            steal_ns: Some(4),
            load_1m: Some(0.25),
            frequency_hz: Some(5),
            temperature_millicelsius: Some(-6),
            memory_available_bytes: Some(7),
            frequency_share: Some(0.875),
            interrupts: Some(20),
            throttled_ns: Some(21),
            thermal_throttles: Some(22),
            time_wait: Some(23),
            foreign_all_share: Some(0.75),
            foreign_pid: Some(8),
            foreign_share: Some(0.5),
            foreign_name: Some("a, \"b\"\n".to_owned()),
        };
        let cells: Vec<String> = columns(HOST_HEADER, &host_line(&host))
            .into_iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        insta::assert_snapshot!(cells.join(" "), @"t_ns=1 edge=window_end busy_ns=2 idle_ns=3 steal_ns=4 load_1m=0.25 frequency_hz=5 temperature_millicelsius=-6 memory_available_bytes=7 frequency_share=0.875 interrupts=20 throttled_ns=21 thermal_throttles=22 time_wait=23 foreign_all_share=0.750 foreign_pid=8 foreign_share=0.500 foreign_name=a_ _b__");
    }
}
