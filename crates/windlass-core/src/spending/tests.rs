use super::*;
use windlass_types::{RunId, Usage};

fn usd(dollars: u64) -> NanoUsd {
    NanoUsd::new(dollars * 1_000_000_000)
}

fn models(dollars: u64) -> BTreeMap<String, ModelUsage> {
    let mut usage = ModelUsage::default();
    usage.add(Usage::new(1, 1), Some(usd(dollars)));
    BTreeMap::from([("m".to_owned(), usage)])
}

fn held(dollars: u64) -> BTreeMap<String, NanoUsd> {
    BTreeMap::from([("m".to_owned(), usd(dollars))])
}

fn run(dollars: u64) -> RunRecord {
    RunRecord::new(RunId::from("r"), "success", 1, usd(dollars), models(dollars))
}

#[test]
fn a_call_that_is_open_where_the_log_ends_costs_what_was_reserved() {
    let mut spending = Spending::default();
    spending.apply(&SpentRecord::new(usd(1), models(1), BTreeMap::new()));
    spending.apply(&SpentRecord::new(usd(1), BTreeMap::new(), held(4)));
    assert_eq!((spending.at_most(), spending.spent().cost), (usd(5), usd(1)));
    assert_eq!(spending.count_cut_calls(), usd(4));
    assert_eq!(
        (spending.at_most(), spending.spent().cost, spending.spent().by_model["m"].cost),
        (usd(5), usd(5), usd(5))
    );
    assert_eq!(spending.count_cut_calls(), NanoUsd::ZERO, "once");
}

#[test]
fn the_end_of_a_call_frees_what_was_reserved() {
    let mut spending = Spending::default();
    spending.apply(&SpentRecord::new(NanoUsd::ZERO, BTreeMap::new(), held(4)));
    spending.apply(&SpentRecord::new(usd(1), models(1), BTreeMap::new()));
    assert_eq!(spending.count_cut_calls(), NanoUsd::ZERO);
    assert_eq!(spending.spent(), &Spent { cost: usd(1), by_model: models(1) });
}

#[test]
fn the_end_of_a_run_keeps_what_is_reserved_in_the_background() {
    let mut spending = Spending::default();
    spending.apply(&SpentRecord::new(usd(3), models(3), held(4)));
    // An agent was billed before the machine of the main one was informed.
    spending.apply_run(&run(2));
    assert_eq!(spending.at_most(), usd(7));
    assert_eq!(spending.spent().by_model, models(3));
    // A run whose requests are in no record: that of another version.
    spending.apply_run(&run(5));
    assert_eq!((spending.at_most(), &spending.spent().by_model), (usd(9), &models(5)));
    // A later process has counted the calls that were cut.
    spending.apply_run(&run(9));
    assert_eq!((spending.at_most(), spending.count_cut_calls()), (usd(9), NanoUsd::ZERO));
}
