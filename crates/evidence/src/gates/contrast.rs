//! The conditions of a contrast: what is judged over pairs, and over a matrix as a whole. They are
//! found by `compare`, `tables` and [`stats::verdict`]; this is the list of them for the page, held
//! against the sources by a test.

/// What a condition of a contrast does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Power {
    /// The contrast is void.
    Voids,
    /// A run or a pair is left out by name.
    LeavesOut,
    /// The contrast, or the figure, is not shown.
    Withholds,
    /// The word is `inconclusive`.
    Undecided,
    /// It stands beside the word and changes nothing.
    Annotates,
}

impl Power {
    /// As the page says it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Voids => "voids",
            Self::LeavesOut => "leaves out",
            Self::Withholds => "withholds",
            Self::Undecided => "inconclusive",
            Self::Annotates => "annotates",
        }
    }
}

/// One condition.
#[derive(Debug, Clone, Copy)]
pub struct Condition {
    /// Its name among the flags, or how its reason begins.
    pub name: &'static str,
    /// What it does.
    pub power: Power,
    /// What it means.
    pub meaning: &'static str,
    /// Its bound, and where that is set.
    pub bound: &'static str,
    /// The test that makes it fail; empty while nothing can raise it.
    pub test: &'static str,
}

/// All of them: who may take part, what the controls say, what the word can carry.
pub const CONDITIONS: &[Condition] = &[
    Condition {
        name: "void",
        power: Power::LeavesOut,
        meaning: "a gate above voided the run or the figure; its partner goes with it",
        bound: "the gates",
        test: "void_runs_are_named_with_their_reason_and_left_out",
    },
    Condition {
        name: "only a lower bound",
        power: Power::LeavesOut,
        meaning: "the figure is `at_least`: the generator was the limit",
        bound: "`gates.generator_cpu`",
        test: "a_saturated_generator_leaves_latency_and_throughput_but_not_cpu",
    },
    Condition {
        name: "orphan",
        power: Power::LeavesOut,
        meaning: "the run has no partner in its block",
        bound: "",
        test: "pairs_are_made_by_block_whatever_time_and_order_say",
    },
    Condition {
        name: "incomplete",
        power: Power::LeavesOut,
        meaning: "the run has no digest: it was killed",
        bound: "",
        test: "an_incomplete_directory_is_named_and_its_repetition_counts_once",
    },
    Condition {
        name: "environment",
        power: Power::LeavesOut,
        meaning: "the two runs differ in something that the factor neither picks nor sets, or from the first pair",
        bound: "`compare.allow`",
        test: "a_pair_must_agree_in_everything_that_its_factor_does_not_pick",
    },
    Condition {
        name: "manipulation_failed",
        power: Power::Withholds,
        meaning: "the arms do not differ in what the factor was meant to change",
        bound: "`compare.manipulation`",
        test: "arms_that_do_not_differ_are_withheld",
    },
    Condition {
        name: "null_differs",
        power: Power::Voids,
        meaning: "a null of the baseline or of the level shows a difference of a thing with itself",
        bound: "95 % interval, or a point outside the margin",
        test: "a_null_that_differs_voids_what_it_controls",
    },
    Condition {
        name: "positive_missed",
        power: Power::Voids,
        meaning: "a planted slowdown was not seen",
        bound: "`compare.positive`",
        test: "a_missed_positive_control_voids_the_primary_metric_alone",
    },
    Condition {
        name: "few_pairs",
        power: Power::Undecided,
        meaning: "there is no 95 % interval",
        bound: "6 pairs",
        test: "under_six_pairs_a_large_effect_is_inconclusive",
    },
    Condition {
        name: "heavy_tails",
        power: Power::Undecided,
        meaning: "the interval of ranks and that of the mean lead to different words",
        bound: "",
        test: "ranks_and_means_that_disagree_are_heavy_tails",
    },
    Condition {
        name: "uncontrolled",
        power: Power::Annotates,
        meaning: "no null arm stands beside it: its error rate on this machine is unknown",
        bound: "6 pairs of a null",
        test: "without_a_null_the_contrast_is_uncontrolled",
    },
    Condition {
        name: "control_differs",
        power: Power::Annotates,
        meaning: "a declared control is not the same thing as its twin",
        bound: "",
        test: "a_null_is_equal_identity_whatever_it_is_called",
    },
    Condition {
        name: "undecidable",
        power: Power::Annotates,
        meaning: "an arm does not say which build it was",
        bound: "",
        test: "an_arm_without_identity_is_undecidable_aloud",
    },
    Condition {
        name: "generator_cluster",
        power: Power::Annotates,
        meaning: "three targets or more lie in one band of throughput while their generators are busy",
        bound: "5 % (`gates.generator_cluster`)",
        test: "targets_that_only_show_the_generator_are_a_cluster",
    },
    Condition {
        name: "target_saturated",
        power: Power::Voids,
        meaning: "both arms drive one target to its limit: a wall clock shows the target twice",
        bound: "90 % of the cores it can use, or half of the requests wait for its workers",
        test: "two_arms_that_saturate_one_target_are_not_compared_by_the_clock",
    },
    Condition {
        name: "unresolved",
        power: Power::Annotates,
        meaning: "the effect lies inside what the row's own null arm shows",
        bound: "95 % interval of the null",
        test: "one_noisy_row_is_unresolved_and_no_other",
    },
    Condition {
        name: "not_quiet",
        power: Power::Annotates,
        meaning: "so many pairs would be needed that the machine is to blame",
        bound: "the pairs needed for the margin",
        test: "a_machine_that_is_not_quiet_is_blamed_before_pairs_are_added",
    },
    Condition {
        name: "not_after_holm",
        power: Power::Annotates,
        meaning: "the interval excludes no effect, and no longer once the other metrics are counted",
        bound: "5 % over all of them",
        test: "many_metrics_are_paid_for",
    },
    Condition {
        name: "real_but_small",
        power: Power::Annotates,
        meaning: "equivalent, though the interval excludes no effect",
        bound: "the margin",
        test: "significant_and_large_enough_are_two_columns",
    },
    Condition {
        name: "one_order",
        power: Power::Annotates,
        meaning: "one arm always ran first: a drift of the machine is taken for an effect",
        bound: "",
        test: "one_order_alone_is_flagged",
    },
    Condition {
        name: "odd_pairs",
        power: Power::Annotates,
        meaning: "the pairs do not divide evenly over the two orders",
        bound: "",
        test: "under_six_pairs_a_large_effect_is_inconclusive",
    },
    Condition {
        name: "extra_looks",
        power: Power::Annotates,
        meaning: "more looks at the data were taken than registered",
        bound: "`compare.looks`",
        test: "looks_widen_the_interval",
    },
    Condition {
        name: "primary_after_data",
        power: Power::Annotates,
        meaning: "the primary metric was chosen after the run",
        bound: "`compare.primary`",
        test: "terms_chosen_after_the_run_are_marked",
    },
    Condition {
        name: "margin_after_data",
        power: Power::Annotates,
        meaning: "the margin was chosen after the run",
        bound: "`compare.margin`",
        test: "terms_chosen_after_the_run_are_marked",
    },
    Condition {
        name: "layout_noise",
        power: Power::Annotates,
        meaning: "so small an effect, with one memory layout, may be the place of code",
        bound: "3 %, with one `matrix.layout`",
        test: "a_small_effect_with_one_layout_carries_the_flag",
    },
    Condition {
        name: "few_runs",
        power: Power::Withholds,
        meaning: "a cell has fewer than two valid runs: no median",
        bound: "2 runs",
        test: "a_cell_counts_from_two_valid_runs_on",
    },
    Condition {
        name: "unstable",
        power: Power::Annotates,
        meaning: "runs of a cell differ widely in a peak: a race, or a queue's depth",
        bound: "1.5 times, and 64 MiB or 16",
        test: "peaks_that_do_not_repeat_are_unstable",
    },
    Condition {
        name: "spread",
        power: Power::Annotates,
        meaning: "runs of a cell did not reproduce",
        bound: "half range over median, 5 %",
        test: "a_spread_over_five_percent_is_flagged",
    },
];
