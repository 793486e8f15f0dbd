use super::*;
use windlass_types::{ModelInfo, Price as ModelPrice, Usage};

fn model(price: Option<ModelPrice>) -> ModelProfile {
    let mut info = ModelInfo::new(200_000, 64_000);
    info.price = price;
    ModelProfile::new("m", info)
}

fn limits(budget: impl Into<Option<u64>>) -> Limits {
    Limits { max_budget: budget.into().map(NanoUsd::new), ..Limits::default() }
}

fn cost(budget: impl Into<Option<u64>>, price: ModelPrice, input: u64, wanted: u32) -> CallCost {
    match price_of(&limits(budget), Some(price), input, wanted) {
        Price::Costs(cost) => cost,
        other => panic!("{other:?}"),
    }
}

fn price_of(limits: &Limits, of: Option<ModelPrice>, input: u64, wanted: u32) -> Price {
    price(limits, &model(of), || input, wanted)
}

fn id(effect: u64) -> EffectId {
    EffectId(effect)
}

fn ledger_with(spent: u64) -> Ledger {
    Ledger::new(Spent { cost: NanoUsd::new(spent), by_model: BTreeMap::new() })
}

fn call(cost: u64) -> ModelUsage {
    ModelUsage::of_call(Usage::default(), Some(NanoUsd::new(cost)), &ModelInfo::new(1, 1))
}

fn granted(max_output_tokens: u32) -> Reservation {
    Reservation::Granted { max_output_tokens }
}

#[test]
fn a_granted_call_never_costs_more_than_is_left() {
    let price = ModelPrice::new(3_000, 15_000);
    for budget in [0, 1_000_000, 30_000_000, 2_000_000_000] {
        for spent in [0, 500_000, 40_000_000] {
            for input in [10, 1_000, 100_000] {
                let answer = ledger_with(spent).reserve(0, id(1), cost(budget, price, input, 32_000));
                if let Some(Reservation::Granted { max_output_tokens }) = answer {
                    let mut worst = Usage::new(0, u64::from(max_output_tokens));
                    worst.cache_creation_input_tokens = input;
                    worst.cache_creation_1h_input_tokens = input;
                    assert!(price.cost(&worst).nano() + spent <= budget);
                    assert!(max_output_tokens >= MIN_OUTPUT_TOKENS);
                }
            }
        }
    }
}

#[test]
fn a_long_prompt_is_reserved_at_its_own_price() {
    let mut long = model(Some(ModelPrice::new(100, 500)));
    long.info.long_prompts = vec![windlass_types::LongPrompt::new(100_000, ModelPrice::new(500, 2_500))];
    // 100,001 tokens at twice 500 leave 25,000,000 for output at 2,500.
    let Price::Costs(cost) = price(&limits(100_001_000 + 25_000_000), &long, || 100_001, 32_000) else {
        panic!("it has a price")
    };
    assert_eq!(Ledger::default().reserve(0, id(1), cost), Some(granted(10_000)));
}

#[test]
fn unknown_prices_follow_the_option() {
    let mut limits = limits(1);
    assert!(matches!(price_of(&limits, None, 1, 10), Price::Unknown));
    limits.unpriced = UnpricedModels::Refuse;
    assert!(matches!(price_of(&limits, None, 1, 10), Price::Refused));
}

#[test]
fn what_calls_of_other_agents_may_cost_is_not_spent_twice() {
    let mut ledger = Ledger::default();
    let ask = |wanted| cost(10_000_000, ModelPrice::new(1_000, 1_000), 100, wanted);
    assert_eq!(ledger.reserve(0, id(1), ask(6_000)), Some(granted(6_000)));
    let Some(Reservation::Granted { max_output_tokens: second }) = ledger.reserve(1, id(1), ask(6_000)) else {
        panic!("refused")
    };
    assert!((3_000..4_000).contains(&second), "{second}");
    assert_eq!(ledger.reserve(2, id(1), ask(4_000)), None, "it waits for the others");
    assert_eq!(ledger.settle(0, Some(id(1)), "m", &call(0)), [(2, id(1), granted(4_000))]);
    assert_eq!(ledger.reserve(0, id(2), ask(6_000)), Some(granted(1_800)));
    assert_eq!(ledger.reserve(3, id(1), ask(4_000)), None);
    let answers = ledger.settle(2, Some(id(1)), "m", &call(9_000_000));
    assert_eq!(answers, [(3, id(1), Reservation::Exhausted)]);
    assert_eq!(ledger.spent(), NanoUsd::new(9_000_000));
}

#[test]
fn what_is_released_or_left_is_free_for_those_that_wait() {
    let ask = |wanted| cost(10_000_000, ModelPrice::new(1_000, 1_000), 0, wanted);
    for leaves in [false, true] {
        let mut ledger = Ledger::default();
        assert_eq!(ledger.reserve(0, id(1), ask(9_500)), Some(granted(9_500)));
        assert_eq!(ledger.reserve(1, id(7), ask(2_000)), None);
        assert_eq!(ledger.reserve(2, id(8), ask(2_000)), None);
        assert_eq!(ledger.release(2, id(8)), []);
        let answers = if leaves { ledger.leave(0) } else { ledger.release(0, id(1)) };
        assert_eq!(answers, [(1, id(7), granted(2_000))]);
    }
}

#[test]
fn a_call_that_is_settled_holds_no_money() {
    let mut ledger = Ledger::default();
    let ask = |wanted| cost(10_000_000, ModelPrice::new(1_000, 1_000), 0, wanted);
    assert_eq!(ledger.reserve(0, id(1), ask(9_000)), Some(granted(9_000)));
    assert_eq!(ledger.settle(0, Some(id(1)), "m", &call(2_000_000)), []);
    assert_eq!(ledger.spent(), NanoUsd::new(2_000_000));
    assert_eq!(ledger.reserve(0, id(2), ask(8_000)), Some(granted(8_000)));
    // A request without a reservation.
    assert_eq!(ledger.settle(0, None, "m", &call(1_000_000)), []);
    assert_eq!(ledger.release(0, id(2)), []);
    assert_eq!(ledger.reserve(0, id(3), ask(8_000)), Some(granted(7_000)));
}

#[test]
fn an_input_that_costs_more_than_is_left_is_not_bought_by_free_output() {
    let mut ledger = Ledger::default();
    let ask = cost(1_000, ModelPrice::new(1_000, 0), 100, 4_000);
    assert_eq!(ledger.reserve(0, id(1), ask), Some(Reservation::Exhausted));
}

#[test]
fn a_record_has_what_is_spent_and_what_open_calls_may_cost() {
    let mut ledger = ledger_with(5);
    assert_eq!(ledger.record(), None);
    let ask = || cost(10_000_000, ModelPrice::new(1_000, 1_000), 100, 4_000);
    ledger.reserve(0, id(1), ask());
    ledger.reserve(1, id(1), ask());
    let record = ledger.record().unwrap();
    assert_eq!((record.cost.nano(), record.held["m"].nano(), record.at_most().nano()), (5, 8_400_000, 8_400_005));
    assert_eq!(ledger.record(), None, "nothing has changed since");
    let _ = ledger.settle(0, Some(id(1)), "m", &call(3_000));
    let record = ledger.record().unwrap();
    assert_eq!(
        (record.cost.nano(), record.model_usage["m"].cost.nano(), record.held["m"].nano()),
        (3_005, 3_000, 4_200_000)
    );
    let _ = ledger.leave(1);
    let record = ledger.record().unwrap();
    assert_eq!((record.at_most().nano(), record.model_usage.len(), record.held.len()), (3_005, 0, 0));
}

#[test]
fn without_a_budget_calls_are_granted_and_held_all_the_same() {
    let mut ledger = ledger_with(u64::MAX / 2);
    let ask = cost(None, ModelPrice::new(1_000, 1_000), 100, 4_000);
    assert_eq!(ledger.reserve(0, id(1), ask), Some(granted(4_000)));
    assert_eq!(ledger.record().unwrap().held["m"].nano(), 4_200_000);
    assert!(matches!(price_of(&limits(None), None, 1, 10), Price::Unlimited));
}
