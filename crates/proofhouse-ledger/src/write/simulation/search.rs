//! Every moment at which something can go wrong, times the ways in which it can.

use std::collections::BTreeSet;

use super::disk::{Fault, Mistake, Simulated};
use super::life::{Script, TRIALS, Wrong};
use super::memory::Luck;

/// How thorough a search is.
pub(super) struct Effort {
    pub(super) scripts: u64,
    /// Ways in which what was not synced comes out, for each moment.
    pub(super) resolutions: u64,
}

/// Scripts by number: some finish in order, some backwards, some shuffled; in groups of any size; stopped and gone on with;
/// replacing an older run.
fn script(number: u64) -> Script {
    let mut luck = Luck::new(number + 1);
    let mut order: Vec<u64> = (0..TRIALS).collect();
    match number % 3 {
        0 => {}
        1 => order.reverse(),
        _ => (1..order.len()).rev().for_each(|at| order.swap(at, luck.below(at + 1))),
    }
    let mut groups = Vec::new();
    while !order.is_empty() {
        let size = 1 + luck.below(4);
        groups.push(order.drain(..size.min(order.len())).collect());
    }
    let stops_after = (number % 5 == 4).then(|| luck.below(groups.len()));
    Script { groups, stops_after, replaces: number % 4 == 3 }
}

/// What went wrong, and where: enough to see it again.
fn at<T>(outcome: Result<T, Wrong>, place: impl FnOnce() -> String) -> Result<T, Wrong> {
    outcome.map_err(|wrong| format!("{}: {wrong}", place()))
}

/// Cuts the power after every operation of every script, with many outcomes each. Gives the number of states.
pub(super) fn power_loss(effort: &Effort, mistake: Mistake) -> Result<u64, Wrong> {
    let mut states = 0;
    for number in 0..effort.scripts {
        let script = script(number);
        let before = script.before(Simulated::new(mistake));
        let whole = before.copy(usize::MAX, None);
        at(script.live(&whole, &mut BTreeSet::new()), || format!("script {number}"))?;
        for moment in 0..=whole.operations() {
            let mut acknowledged = BTreeSet::new();
            let disk = before.copy(moment, None);
            let _ = script.live(&disk, &mut acknowledged);
            for seed in 0..effort.resolutions {
                let place = || format!("script {number}, power lost at {moment}, outcome {seed}");
                let mut luck = Luck::new(seed * 7919 + moment as u64);
                let after = disk.after_power_loss(&mut luck);
                at(script.check(&after, &acknowledged), place)?;
                states += 1;
                // Recovering first, or going on at once.
                if seed % 4 == 0 {
                    at(script.recover(&after), place)?;
                    at(script.check(&after, &acknowledged), place)?;
                }
                if seed % 2 == 0 {
                    at(script.complete(&after), place)?;
                }
            }
        }
    }
    Ok(states)
}

/// The power goes once more while the run is recovered or gone on with.
pub(super) fn power_loss_twice(effort: &Effort, mistake: Mistake) -> Result<u64, Wrong> {
    let mut states = 0;
    for number in 0..effort.scripts {
        let script = script(number);
        let before = script.before(Simulated::new(mistake));
        let whole = before.copy(usize::MAX, None);
        at(script.live(&whole, &mut BTreeSet::new()), || format!("script {number}"))?;
        for moment in (0..=whole.operations()).step_by(2) {
            let mut acknowledged = BTreeSet::new();
            let disk = before.copy(moment, None);
            let _ = script.live(&disk, &mut acknowledged);
            let first = disk.after_power_loss(&mut Luck::new(moment as u64 * 31 + number));
            let place = || format!("script {number}, power lost at {moment}");
            at(script.check(&first.copy(usize::MAX, None), &acknowledged), place)?;
            for again in 0.. {
                let second = first.copy(again, None);
                let mut acknowledged = acknowledged.clone();
                let outcome = match again % 2 {
                    0 => script.recover(&second).and_then(|()| script.live(&second, &mut acknowledged)),
                    _ => script.live(&second, &mut acknowledged),
                };
                if !second.has_ended() {
                    at(outcome, || format!("script {number}, power lost at {moment}, gone on with"))?;
                    break;
                }
                for seed in 0..effort.resolutions {
                    let place = || {
                        format!(
                            "script {number}, power lost at {moment} and again at {again}, outcome {seed}"
                        )
                    };
                    let after = second.after_power_loss(&mut Luck::new(seed * 104_729 + again as u64));
                    at(script.check(&after, &acknowledged), place)?;
                    states += 1;
                    if seed == 0 {
                        at(script.complete(&after), place)?;
                    }
                }
            }
        }
    }
    Ok(states)
}

/// One operation fails; the run ends in order or not at all, and then the power may go too.
pub(super) fn faults(effort: &Effort, mistake: Mistake) -> Result<u64, Wrong> {
    let mut states = 0;
    for number in 0..effort.scripts {
        let script = script(number);
        let before = script.before(Simulated::new(mistake));
        let whole = before.copy(usize::MAX, None);
        at(script.live(&whole, &mut BTreeSet::new()), || format!("script {number}"))?;
        for moment in 0..whole.operations() {
            for fault in [Fault::Broken, Fault::Full, Fault::Short, Fault::Interrupted] {
                let place = || format!("script {number}, {fault:?} at {moment}");
                let mut acknowledged = BTreeSet::new();
                let disk = before.copy(usize::MAX, Some((moment, fault)));
                let outcome = script.live(&disk, &mut acknowledged);
                if matches!(fault, Fault::Short | Fault::Interrupted) {
                    at(outcome, place)?;
                }
                for seed in 0..effort.resolutions {
                    let after = match seed {
                        0 => disk.copy(usize::MAX, None),
                        _ => disk.after_power_loss(&mut Luck::new(seed * 15_485_863 + moment as u64)),
                    };
                    at(script.check(&after, &acknowledged), place)?;
                    states += 1;
                    if seed < 2 {
                        at(script.complete(&after), place)?;
                    }
                }
            }
        }
    }
    Ok(states)
}

const NONE: Mistake = Mistake::None;

#[test]
fn power_lost_after_any_operation_loses_and_invents_nothing() {
    let states = power_loss(&Effort { scripts: 20, resolutions: 40 }, NONE).unwrap();
    assert!(states >= 40_000, "{states} states");
}

#[test]
fn power_lost_again_during_recovery_loses_and_invents_nothing() {
    let states = power_loss_twice(&Effort { scripts: 20, resolutions: 2 }, NONE).unwrap();
    assert!(states >= 40_000, "{states} states");
}

#[test]
fn a_disk_that_fails_at_any_operation_loses_and_invents_nothing() {
    let states = faults(&Effort { scripts: 20, resolutions: 6 }, NONE).unwrap();
    assert!(states >= 20_000, "{states} states");
}
