//! What a run asks for that its kind of target does not have: refused before the run.

use super::{BadOption, bad};
use crate::{
    cluster::{ClusterPlan, ControllerPlacement},
    fault::{self, Scene},
    run::RunArgs,
    steps::{Schedule, bind},
    target::Capabilities,
};

/// A kind of target, by the name that the user gave it.
#[derive(Clone, Copy)]
pub(super) struct Kind<'a> {
    pub name: &'a str,
    pub has: &'a Capabilities,
}

impl Kind<'_> {
    /// Refuses what this kind of target cannot give to any run.
    ///
    /// # Errors
    /// One sentence: what was asked for, and what the target lacks.
    pub fn admit(
        self,
        args: &RunArgs,
        schedule: &Schedule,
        (nodes, controllers): (u32, ControllerPlacement),
    ) -> Result<(), BadOption> {
        let Kind { name, has } = self;
        if nodes > has.brokers {
            let most = has.brokers;
            return bad(format!("--nodes {nodes}: a cluster of target {name} has at most {most}"));
        }
        if let Some(placement) = args.controllers.as_ref().filter(|_| !has.controllers) {
            return bad(format!("--controllers {placement}: target {name} has no controllers"));
        }
        let of_schedule = schedule.settings.broker.keys().map(String::as_str);
        let mut properties = args.set.iter().map(String::as_str).chain(of_schedule);
        if let Some(property) = properties.next().filter(|_| !has.properties) {
            return bad(format!("property {property}: target {name} takes no properties"));
        }
        if *has == Capabilities::ALL {
            // Whether each fault finds somebody to hit is decided by the run.
            return Ok(());
        }
        let plan = ClusterPlan::outline(nodes, controllers);
        let scene = Scene { plan: &plan, capabilities: *has, disks: true };
        for step in &schedule.steps {
            let Some(fault) = &step.act.fault else { continue };
            let read = fault::parse(fault, &bind::sample(&step.act.with))
                .map_err(|error| BadOption(error.to_string()))?;
            read.applies(&scene).map_err(|why| {
                let schedule = &schedule.name;
                BadOption(format!("schedule {schedule} on target {name}: fault {fault}: {why}"))
            })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::resolve;
    use crate::run::RunArgs;

    fn refusal(change: impl FnOnce(&mut RunArgs)) -> Option<String> {
        let mut args = RunArgs { target: Some("noida-db".into()), ..RunArgs::default() };
        args.schedule = Some("node-killed".into());
        change(&mut args);
        resolve(&args, 1).err().map(|why| why.to_string())
    }

    #[test]
    fn what_a_single_broker_lacks_is_refused_with_its_sentence() {
        let schedule = |name: &'static str| move |a: &mut RunArgs| a.schedule = Some(name.into());
        assert_eq!(refusal(|_| ()), None);
        assert_eq!(refusal(schedule("calm")), None);
        for (refused, words) in [
            (
                refusal(|a| (a.nodes, a.schedule) = (Some(3), Some("calm".into()))),
                "--nodes 3: a cluster of target noida-db has at most",
            ),
            (refusal(|a| a.controllers = Some("3".into())), "target noida-db has no controllers"),
            (refusal(|a| a.set = vec!["a=b".into()]), "property a=b: target noida-db takes no"),
            (refusal(|a| a.mutant = vec!["HW-09".into()]), "only target node has known bugs"),
            (refusal(schedule("s8")), "fault reply-loss: the target's links do not go through"),
            (refusal(schedule("disk-loss-rf1")), "fault wipe: the target's log directories are"),
            (refusal(schedule("leader-failover")), "no broker 2 in this run"),
        ] {
            let said = refused.expect("it is refused");
            assert!(said.contains(words), "{said}");
        }
    }

    #[test]
    fn a_target_without_properties_is_given_none() {
        let args = RunArgs { target: Some("noida-db".into()), ..RunArgs::default() };
        let args = RunArgs { schedule: Some("calm".into()), ..args };
        let setup = resolve(&args, 1).unwrap();
        assert!(setup.properties.is_empty() && setup.controllers.own_ids().is_empty());
        assert!(setup.topics.iter().all(|topic| topic.assignment.iter().all(|a| *a == [1])));
    }
}
