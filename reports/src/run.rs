//! Everything that the page says about a run, read from its folder.

use std::collections::BTreeSet;

use highwater_history::{
    FormatError, Key, Manifest, Outcome, RunFolder, TimeNs, Verdict,
    event::EventKind,
    verdict::{ClaimVerdict, Finding},
};

use crate::{
    ReportError,
    activity::{Activity, Watch, Window},
    observed::{Dumps, Holding, Leadership, Watermarks, from_metadata, from_samples},
};

/// The most violations of one claim that are shown with all their evidence.
const VIOLATIONS_SHOWN: usize = 6;
/// The most permitted findings of one claim that are shown with all their evidence.
const PERMITTED_SHOWN: usize = 2;

/// A judged run, boiled down.
pub struct Run {
    pub(crate) manifest: Option<Manifest>,
    pub(crate) verdict: Verdict,
    pub(crate) outcome: Option<Outcome>,
    pub(crate) activity: Activity,
    pub(crate) leaders: Leadership,
    pub(crate) shown: Vec<Shown>,
    /// The end of the page's axis of time, nanoseconds of the run.
    pub(crate) end_ns: TimeNs,
}

/// A finding with its evidence.
pub(crate) struct Shown {
    /// Index of the claim in the verdict.
    pub claim: usize,
    /// The finding.
    pub finding: Finding,
    /// The operations around it.
    pub window: Window,
    /// What replicas held at its offset.
    pub holdings: Vec<Holding>,
}

impl Run {
    /// Reads a run folder that was judged.
    ///
    /// # Errors
    ///
    /// [`ReportError::NotJudged`] without a verdict, [`ReportError::Format`] for a file that is not
    /// what it should be.
    pub fn load(folder: &RunFolder) -> Result<Self, ReportError> {
        let not_judged = || ReportError::NotJudged(folder.path().to_owned());
        let verdict = folder.verdict()?.ok_or_else(not_judged)?;
        let manifest = match folder.manifest_path().exists() {
            true => Some(folder.manifest()?),
            false => None,
        };
        let outcome = folder.outcome()?;
        let chosen = chosen(&verdict.claims);
        let watches = chosen.iter().map(|(_, finding)| watch(finding)).collect();
        let mut activity = Activity::read(folder.history()?, watches)?;
        let end_ns = end_ns(&verdict, outcome.as_ref(), &activity);
        let mut leaders = leaders(folder, manifest.as_ref(), &activity)?;
        leave_out_the_end(&mut leaders, end_ns);
        let windows = std::mem::take(&mut activity.windows);
        let shown = evidence(folder, chosen, windows)?;
        Ok(Self { manifest, verdict, outcome, activity, leaders, shown, end_ns })
    }
}

impl Shown {
    /// Whether a clause permits what was found.
    pub(crate) fn is_permitted(&self) -> bool {
        self.finding.clause.is_some()
    }

    /// When it happened: the latest event that the finding points at.
    pub(crate) fn at_ns(&self) -> Option<TimeNs> {
        let mut hits = self.window.events.values().rev().filter(|(_, hit)| *hit);
        let completion = hits.find(|(event, _)| event.kind != EventKind::Invoke);
        completion.map(|(event, _)| event.time)
    }
}

/// The findings that are shown with all their evidence: the first ones of each claim.
fn chosen(claims: &[ClaimVerdict]) -> Vec<(usize, Finding)> {
    let of_claim = |(i, claim): (usize, &ClaimVerdict)| {
        let (permitted, violations): (Vec<_>, Vec<_>) =
            claim.findings.iter().cloned().partition(|finding| finding.clause.is_some());
        let permitted = permitted.into_iter().take(PERMITTED_SHOWN);
        let all = violations.into_iter().take(VIOLATIONS_SHOWN).chain(permitted);
        all.map(move |finding| (i, finding)).collect::<Vec<_>>()
    };
    claims.iter().enumerate().flat_map(of_claim).collect()
}

fn watch(finding: &Finding) -> Watch {
    Watch { key: finding.key.clone(), events: finding.events.clone() }
}

fn leaders(
    folder: &RunFolder,
    manifest: Option<&Manifest>,
    activity: &Activity,
) -> Result<Leadership, FormatError> {
    if let (Some(manifest), Some(metadata)) = (manifest, folder.metadata()?) {
        let leaders = from_metadata(&metadata.lines, &activity.topics, &manifest.clocks);
        if !leaders.is_empty() {
            return Ok(leaders);
        }
    }
    Ok(folder.samples()?.map(|samples| from_samples(&samples.lines)).unwrap_or_default())
}

/// Puts windows and dumps beside the findings.
fn evidence(
    folder: &RunFolder,
    chosen: Vec<(usize, Finding)>,
    windows: Vec<Window>,
) -> Result<Vec<Shown>, FormatError> {
    debug_assert_eq!(chosen.len(), windows.len(), "one window a finding");
    let keys: BTreeSet<Key> = chosen.iter().filter_map(|(_, found)| found.key.clone()).collect();
    let (mut dumps, mut watermarks) = (Dumps::default(), Watermarks::default());
    if !keys.is_empty() {
        dumps = Dumps::of(folder.dumps()?);
        let samples = folder.samples()?.map(|samples| samples.lines).unwrap_or_default();
        watermarks = Watermarks::of(&samples, |key| keys.contains(key));
    }
    let shown = chosen.into_iter().zip(windows).map(|((claim, finding), window)| {
        let holdings = holdings(&dumps, &watermarks, &finding);
        Shown { claim, finding, window, holdings }
    });
    Ok(shown.collect())
}

/// What each dump held; a watermark that a dump does not tell is the last one sampled before it.
fn holdings(dumps: &Dumps, watermarks: &Watermarks, finding: &Finding) -> Vec<Holding> {
    let Some(key) = &finding.key else { return Vec::new() };
    let by_value = || finding.value.and_then(|value| dumps.offset_of(key, value));
    let offset = finding.offset.or_else(by_value);
    let mut holdings = offset.map(|offset| dumps.held(key, offset)).unwrap_or_default();
    for holding in &mut holdings {
        let sampled = || watermarks.before(holding.node, key, holding.at_ns);
        holding.hw = holding.hw.or_else(sampled);
    }
    holdings
}

/// The end of what is told of: the last operation, heal, or wait for recovery. What follows is the
/// harness at work, not the cluster.
fn end_ns(verdict: &Verdict, outcome: Option<&Outcome>, activity: &Activity) -> TimeNs {
    let faults = verdict.faults.iter().filter_map(|fault| fault.to.or(fault.from));
    let recovery = outcome.and_then(|outcome| outcome.recovery.as_ref());
    faults.chain(recovery.map(|recovery| recovery.ended_at)).fold(activity.end_ns, TimeNs::max)
}

/// At its end a run stops one node after the other: who led then says nothing.
fn leave_out_the_end(leaders: &mut Leadership, end_ns: TimeNs) {
    for spans in leaders.values_mut() {
        spans.retain(|span| span.from_ns < end_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observed::Span;

    #[test]
    fn who_leads_while_a_run_stops_its_nodes_is_left_out() {
        let span = |from_ns, leader| Span { from_ns, leader, epoch: 0 };
        let spans = vec![span(1, Some(1)), span(9, Some(2)), span(10, None)];
        let mut leaders = Leadership::from([(Key::from("t-0"), spans)]);
        leave_out_the_end(&mut leaders, 10);
        assert_eq!(leaders["t-0"], [span(1, Some(1)), span(9, Some(2))]);
    }
}
