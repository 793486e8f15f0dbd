//! Plan of faults: failures by operation.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::Gate;

/// Faults by operation, and the number of times that each operation was begun.
#[derive(Debug)]
pub(super) struct FaultPlan<O, K>(Mutex<PlanState<O, K>>);

#[derive(Debug)]
struct PlanState<O, K> {
    counts: BTreeMap<O, u64>,
    faults: Vec<PlannedFault<O, K>>,
    gates: Vec<(O, u64, Gate)>,
}

#[derive(Debug)]
struct PlannedFault<O, K> {
    operation: O,
    first: u64,
    last: u64,
    failure: PlannedFailure<K>,
}

/// Failure of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PlannedFailure<K> {
    /// The operation is not done.
    Before(K),
    /// The operation is done, and reported as failed.
    After(K),
}

impl<O, K> Default for FaultPlan<O, K> {
    fn default() -> Self {
        Self(Mutex::new(PlanState { counts: BTreeMap::new(), faults: Vec::new(), gates: Vec::new() }))
    }
}

impl<O: Ord + Copy, K: Copy> FaultPlan<O, K> {
    pub(super) fn fail(&self, operation: O, first: u64, last: u64, failure: PlannedFailure<K>) {
        self.lock().faults.push(PlannedFault { operation, first, last, failure });
    }

    pub(super) fn wait_at(&self, operation: O, nth: u64, gate: &Gate) {
        self.lock().gates.push((operation, nth, gate.clone()));
    }

    pub(super) fn count(&self, operation: O) -> u64 {
        self.lock().counts.get(&operation).copied().unwrap_or_default()
    }

    /// Counts an operation, waits at its gates, and returns its planned failure.
    pub(super) async fn begin(&self, operation: O) -> Option<PlannedFailure<K>> {
        let (gates, failure) = {
            let mut state = self.lock();
            let count = state.counts.entry(operation).or_default();
            *count += 1;
            let now = *count;
            let gates: Vec<Gate> = state
                .gates
                .iter()
                .filter(|(of, nth, _)| *of == operation && *nth == now)
                .map(|(_, _, gate)| gate.clone())
                .collect();
            let fault = state
                .faults
                .iter()
                .find(|fault| fault.operation == operation && (fault.first..=fault.last).contains(&now));
            (gates, fault.map(|fault| fault.failure))
        };
        for gate in gates {
            gate.pass().await;
        }
        failure
    }

    fn lock(&self) -> MutexGuard<'_, PlanState<O, K>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
