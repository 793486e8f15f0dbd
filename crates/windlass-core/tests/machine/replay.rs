//! A machine decides by its inputs alone: recorded inputs produce the same outputs again.

use crate::choices::Choices;
use crate::sim::{Sim, WILD, Wild, odd_config};
use proptest::collection::vec;
use proptest::prelude::*;
use std::cell::RefCell;
use std::rc::Rc;
use windlass_core::{AgentConfig, Input, Ledger, Machine, MachineConfig};
use windlass_types::{AgentIdentity, EventKind, NanoUsd, Timestamp};

/// A main agent and agents below it, which share one budget.
struct Tree {
    agents: Vec<(MachineConfig, Sim)>,
    /// Number of events of each agent that its parent has read.
    read: Vec<usize>,
    epoch: u64,
}

impl Tree {
    fn new(choices: Vec<Vec<u16>>, budget: u64, wild: Wild) -> Self {
        let ledger = Rc::<RefCell<Ledger>>::default();
        let agents = choices.into_iter().enumerate().map(|(number, choices)| {
            let mut choices = Choices::new(choices);
            let mut config = odd_config(&mut choices);
            config.limits.max_budget = Some(NanoUsd::new(budget));
            config.ids.seed = number as u128 + 1;
            if number > 0 {
                let identity = AgentIdentity::new(format!("a{number}").as_str().into(), "scout");
                let mut agent = AgentConfig::new(identity);
                agent.waits = number == 1;
                config.agent = Some(agent);
            }
            let sim = Sim::new(config.clone(), choices, wild).with_ledger(&ledger, number as u64);
            (config, sim)
        });
        let agents: Vec<_> = agents.collect();
        Self { read: vec![0; agents.len()], agents, epoch: 0 }
    }

    /// Plays the agents side by side, in an order that follows from the choices.
    fn play(&mut self, mut order: Choices) {
        for (number, (_, sim)) in self.agents.iter_mut().enumerate() {
            sim.recorded = Some(Default::default());
            sim.prompt(&format!("do it, agent {number}"));
        }
        for _ in 0..40_000 {
            self.pass_on();
            let open: Vec<usize> = (0..self.agents.len()).filter(|at| !self.agents[*at].1.is_done()).collect();
            if open.is_empty() {
                return;
            }
            self.agents[open[order.pick(open.len())]].1.step();
        }
        panic!("it does not end");
    }

    /// Passes data from one agent to others as drivers do: answers of the ledger, usage to the parent, rights to the
    /// children.
    fn pass_on(&mut self) {
        let answers: Vec<_> = self.agents.iter_mut().flat_map(|(_, sim)| std::mem::take(&mut sim.for_others)).collect();
        for (agent, effect, answer) in answers {
            self.agents[agent as usize].1.reserved(effect, answer);
        }
        for at in 1..self.agents.len() {
            let events = &self.agents[at].1.events;
            let used: Vec<_> = events[self.read[at]..]
                .iter()
                .filter_map(|event| match &event.kind {
                    EventKind::UsageUpdated { model, usage, .. } => Some((crate::sim::model(model), *usage)),
                    _ => None,
                })
                .collect();
            self.read[at] = events.len();
            for (model, usage) in used {
                if !self.agents[0].1.over {
                    self.agents[0].1.input(Input::AgentUsed(Box::new(model), usage));
                }
            }
        }
        let main = &self.agents[0].1.machine;
        if main.policy_epoch() != self.epoch {
            self.epoch = main.policy_epoch();
            let policy = main.policy().clone();
            for (_, sim) in self.agents.iter_mut().skip(1).filter(|(_, sim)| !sim.over) {
                let input = Input::Inherit(Box::new(policy.clone()));
                sim.checks.user(&input);
                sim.input(input);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, max_shrink_iters: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whole trees of agents, with any behavior of users, models, hooks and stores: the recorded inputs of each
    /// machine, at the recorded times, produce its outputs again, to the letter.
    #[test]
    fn recorded_inputs_give_the_same_outputs_again(
        choices in vec(vec(any::<u16>(), 0..150), 1..4),
        order in vec(any::<u16>(), 0..400),
        budget in 20_000_000_u64..400_000_000,
        store in any::<bool>(),
    ) {
        let mut tree = Tree::new(choices, budget, Wild { store, rewinds: true, ..WILD });
        tree.play(Choices::new(order));
        for (number, (config, sim)) in tree.agents.into_iter().enumerate() {
            let (inputs, outputs) = sim.recorded.unwrap();
            let mut machine = Machine::new(config, &[]);
            let mut again = Vec::new();
            for (now, input) in inputs {
                machine.handle(Timestamp::from_millis(now), input).unwrap();
                while let Some(output) = machine.poll() {
                    again.push(format!("{output:?}"));
                }
            }
            for (at, (first, second)) in outputs.iter().zip(&again).enumerate() {
                prop_assert_eq!(first, second, "agent {}, output {}", number, at);
            }
            prop_assert_eq!(outputs.len(), again.len());
        }
    }

    /// Agents side by side never reserve more than the rest of the budget: a request that cannot be covered because of
    /// open requests of others waits, and is answered when they end.
    #[test]
    fn no_call_waits_for_money_for_ever(
        choices in vec(vec(any::<u16>(), 0..60), 2..4),
        order in vec(any::<u16>(), 0..300),
        budget in 60_000_000_u64..200_000_000,
    ) {
        let mut tree = Tree::new(choices, budget, Wild { store: false, user: false, ..WILD });
        tree.play(Choices::new(order));
        for (_, sim) in &tree.agents {
            prop_assert!(sim.machine.is_idle(), "an agent still waits: {:?}", sim.going);
        }
    }
}
