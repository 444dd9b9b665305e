//! The machine around a run and over its window: clock, sentinel, turbo, governor, power, heat.

use record::host_state::{HostState, HostStates, Spin};
use record::{Effect, State};

use super::Judgement;
use super::tests::{planted_run, reason};
use crate::run_dir::Evidence;

/// Plants a change in every host sample of the three.
fn host(change: fn(usize, &mut record::resources::HostRow)) -> Judgement {
    planted_run(|run| {
        let Evidence::Present(host) = &mut run.host else { panic!("samples") };
        for (index, row) in host.rows.iter_mut().enumerate() {
            change(index, row);
        }
    })
}

/// The machine before the load and after it.
fn around(change: impl Fn(&mut HostState, &mut HostState)) -> Judgement {
    let (mut before, mut after) = (HostState::default(), HostState::default());
    change(&mut before, &mut after);
    planted_run(|run| {
        run.meta.host_states = HostStates { before: Some(before), after: Some(after) };
    })
}

/// 14 % below the peak is no flag, 16 % is one.
#[test]
fn a_clock_below_its_own_peak_is_flagged() {
    // Three samples: the peak, then two that make the mean 14 % or 16 % less.
    let near =
        host(|index, row| row.frequency_hz = Some([3_000_000_000, 2_370_000_000][index.min(1)]));
    assert!(near.reasons.iter().all(|reason| reason.gate != "clock_variance"), "{near:?}");
    let far =
        host(|index, row| row.frequency_hz = Some([3_000_000_000, 2_280_000_000][index.min(1)]));
    insta::assert_snapshot!(reason(&far, "clock_variance").detail, @"16 % is the mean clock below the window's own highest, more than 15 %");
    assert_eq!(far.validity().state, State::Valid, "it annotates");
    // Efficient cores that run at their own highest are no slow clock: shares are looked at first.
    let hybrid = host(|index, row| {
        row.frequency_hz = Some([3_000_000_000, 2_280_000_000][index.min(1)]);
        row.frequency_share = Some([1.0, 0.98][index.min(1)]);
    });
    assert!(hybrid.reasons.iter().all(|reason| reason.gate != "clock_variance"), "{hybrid:?}");
    assert_eq!(host(|_, row| row.frequency_hz = None).reasons, []);
}

/// uniform throttling shows in no sensor and in the sentinel.
#[test]
fn a_machine_that_changed_its_speed_is_flagged() {
    let spin = |cores: &str, median_ns| Spin { cores: cores.to_owned(), median_ns };
    let throttled = around(|before, after| {
        before.spins = vec![spin("0-1", 3_000_000), spin("2-3", 4_000_000)];
        after.spins = vec![spin("0-1", 3_030_000), spin("2-3", 4_300_000)];
    });
    insta::assert_snapshot!(reason(&throttled, "speed").detail, @"a fixed loop on cores 2-3 took 7.5 % longer after the load than before, more than 5 %");
    assert_eq!((throttled.reasons.len(), throttled.reasons[0].effect), (1, Effect::Flag));
    let faster = around(|before, after| {
        before.spins = vec![spin("0", 3_000_000)];
        after.spins = vec![spin("0", 2_700_000)];
    });
    assert!(reason(&faster, "speed").detail.contains("10 % less"), "{faster:?}");
    let steady = around(|before, after| {
        before.spins = vec![spin("0", 3_000_000)];
        after.spins = vec![spin("0", 3_140_000)];
    });
    assert_eq!(steady.reasons, []);
    let check = around(|_, _| {}).checks.into_iter().find(|check| check.gate == "speed");
    assert_eq!(check.expect("it is listed").passed, None, "a sentinel that failed is unknown");
}

/// one mode for a run; a flip is no flag.
#[test]
fn a_turbo_that_flips_voids_the_run() {
    let flipped = around(|before, after| {
        before.turbo = Some(true);
        after.turbo = Some(false);
    });
    insta::assert_snapshot!(reason(&flipped, "turbo").detail, @"turbo was on, then off during the run");
    assert_eq!(flipped.validity().state, State::Void);
    let on = around(|before, after| {
        before.turbo = Some(true);
        after.turbo = Some(true);
    });
    assert_eq!(on.reasons, [], "a mode is a mode");
}

///
#[test]
fn power_governor_and_heat_are_flags() {
    type Change = fn(&mut HostState, &mut HostState);
    let cases: [(&str, Change, &str); 3] = [
        (
            "governor",
            |before, after| {
                before.governor = Some("powersave".to_owned());
                after.governor.clone_from(&before.governor);
            },
            "the governor is powersave",
        ),
        (
            "mains",
            |before, after| {
                before.on_mains = Some(true);
                after.on_mains = Some(false);
            },
            "the machine ran on its battery",
        ),
        (
            "start_temperature",
            |before, _| before.temperature_millicelsius = Some(91_000),
            "the load began at 91 °C, above 80 °C",
        ),
    ];
    for (gate, change, said) in cases {
        let judgement = around(change);
        assert_eq!(judgement.reasons.len(), 1, "{gate}");
        assert_eq!(reason(&judgement, gate).detail, said);
        assert_eq!(judgement.validity().state, State::Valid, "{gate} annotates");
    }
    let sound = around(|before, after| {
        before.governor = Some("performance".to_owned());
        after.governor.clone_from(&before.governor);
        before.on_mains = Some(true);
        before.temperature_millicelsius = Some(80_000);
        after.temperature_millicelsius = Some(95_000);
    });
    assert_eq!(sound.reasons, []);
}

/// W-042: who starts midway is named with the time; who was there from the start is not.
#[test]
fn a_foreign_process_that_starts_midway_is_named_with_the_second() {
    let midway = host(|index, row| row.foreign_share = Some([0.01, 0.5, 0.6][index.min(2)]));
    insta::assert_snapshot!(reason(&midway, "foreign").detail, @"60 % of one core was used by sshd (pid 77), which took no part, more than 10 %; it began about 15 s into the window");
    assert_eq!(reason(&midway, "foreign").second, Some(15));
    let always = host(|_, row| row.foreign_share = Some(0.5));
    assert_eq!(reason(&always, "foreign").second, None);
    assert!(!reason(&always, "foreign").detail.contains("began"));
}
