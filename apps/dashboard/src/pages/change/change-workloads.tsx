import type { JSX } from 'preact';
import type { Change, ChangeWorkload } from '@reroll/shared/api/changes';
import { Badge } from '../../components/badge.tsx';
import { Panel } from '../../components/panel.tsx';
import { Portion } from '../../components/portion.tsx';
import { ExplainLink, RefLink } from '../../components/refs.tsx';
import { PodCount } from '../../components/rollout-facts.tsx';
import { StateCounts } from '../../components/tables/state-counts.tsx';
import { Time } from '../../components/time.tsx';
import { Why } from '../../components/words.tsx';
import { keyOf, spoken } from '../../names.ts';
import { hrefOf } from '../../router.ts';
import type { WavePlace } from '../../wave-places.ts';
import { counted, STATES, WAVES, type ReloadState } from '../../words.ts';
import { whyStuck } from '../overview/attention-items.ts';
import { groupsOf, type Group } from './change-groups.ts';
import { stepsOf, wholeTime, type Step } from './change-steps.ts';

interface ChangeProps {
  readonly change: Change;
  /** In which wave each workload is. */
  readonly waves: ReadonlyMap<string, WavePlace>;
}

/** Timelines of a group that are drawn without a click. */
const FIRST = 10;

/** What became of each workload, by the reason why. */
export function ChangeWorkloads({ change, waves }: ChangeProps): JSX.Element {
  const { workloads, more } = change;
  return (
    <Panel
      title="Workloads"
      aside={workloads.length === 0 ? null : <StateCounts states={countsOf(workloads)} more={more} />}
    >
      {workloads.length === 0 ? (
        <p class="empty">No workload that you may see depends on it.</p>
      ) : (
        groupsOf(workloads).map((group) => (
          <GroupOf key={group.key} group={group} change={change} waves={waves} />
        ))
      )}
      <More change={change} />
    </Panel>
  );
}

function countsOf(workloads: readonly ChangeWorkload[]): Partial<Record<ReloadState, number>> {
  const byState = Map.groupBy(workloads, ({ state }) => state);
  return Object.fromEntries([...byState].map(([state, { length }]) => [state, length]));
}

function GroupOf({ group, change, waves }: ChangeProps & { group: Group }): JSX.Element {
  const { verdict, reason, detail, workloads } = group;
  return (
    <>
      <h3 class="group-head">
        {counted(workloads.length, 'workload')} {verdict === 'reload' ? 'to reload' : 'not reloaded'}:{' '}
        <Why reason={reason} detail={detail} />
      </h3>
      <Portion items={workloads} first={FIRST} what="workloads">
        {(shown) => (
          <ul class="lives">
            {shown.map((each) => {
              const key = keyOf(each.workload);
              return <Life key={key} of={each} change={change} wave={waves.get(key)} />;
            })}
          </ul>
        )}
      </Portion>
    </>
  );
}

interface LifeProps {
  readonly of: ChangeWorkload;
  readonly change: Change;
  readonly wave: WavePlace | undefined;
}

function Life({ of, change, wave }: LifeProps): JSX.Element {
  const { workload, state, verdict } = of;
  const steps = verdict === 'skip' ? [] : stepsOf(change, of);
  const whole = wholeTime(steps);
  return (
    <li>
      <div class="life-head">
        <RefLink of={workload} />
        <Badge look={STATES[state]} />
        {wave === undefined ? null : (
          <span class="muted" title={WAVES[wave.state].meaning}>
            wave {wave.number} of {wave.of}: {WAVES[wave.state].word.toLowerCase()}
          </span>
        )}
        {whole === null ? null : <span class="muted">in {whole}</span>}
        {change.source ? <ExplainLink workload={workload} source={change.source} of={workload} /> : null}
      </div>
      {steps.length === 0 ? null : (
        <ol class="steps" aria-label={`Timeline of ${spoken(workload)}`}>
          {steps.map((step) => (
            <StepOf key={step.word} step={step} />
          ))}
        </ol>
      )}
      <Remarks of={of} />
    </li>
  );
}

function StepOf({ step: { word, at, after, tone } }: { step: Step }): JSX.Element {
  return (
    <li class={tone}>
      <span class="step-word">{word}</span> {after === null ? null : <span class="after">after {after}</span>}{' '}
      {at === null ? <span class="muted">{untimed(tone)}</span> : <Time at={at} />}
    </li>
  );
}

/** What stands in place of a time. */
function untimed(tone: Step['tone']): string {
  if (tone === 'todo') return 'not yet';
  return tone === 'busy' ? 'now' : 'time unknown';
}

/** Only what is not said already: of a hold, an error, pods. */
function Remarks({ of }: { of: ChangeWorkload }): JSX.Element {
  const { until, error } = of;
  return (
    <div class="remarks">
      {of.state === 'held' ? (
        <p>
          <Why reason={of.outcome ?? of.reason} detail={of.detail} />
        </p>
      ) : (
        <Outcome of={of} />
      )}
      {until === null ? null : (
        <p>
          Next attempt: <Time at={until} />
        </p>
      )}
      {error === null ? null : <p class="bad-text">{error}</p>}
      <Pods of={of} />
    </div>
  );
}

/** How far the pods are, while they are not all replaced. */
function Pods({ of: { state, rollout } }: { of: ChangeWorkload }): JSX.Element | null {
  if (state === 'rolledOut' || !rollout) return null;
  return (
    <>
      {state === 'stuck' ? <p class="bad-text">{whyStuck(rollout)}</p> : null}
      <p>
        <PodCount rollout={rollout} />
      </p>
    </>
  );
}

/** How the reload ended, unless that is what everybody expects of one. */
function Outcome({ of: { outcome, reason, attempts } }: { of: ChangeWorkload }): JSX.Element | null {
  const isExpected = outcome === null || outcome === reason || outcome === 'Reloaded';
  const isRepeated = attempts !== null && attempts.made > 1;
  if (isExpected && !isRepeated) return null;
  return (
    <p>
      {isExpected ? null : <Why reason={outcome} />}{' '}
      {isRepeated
        ? `${attempts.made} attempts${attempts.most === null ? '' : ` of ${attempts.most}`}.`
        : null}
    </p>
  );
}

/** What the history only counts. */
function More({ change: { more, counted: outcomeCounts, source } }: { change: Change }): JSX.Element | null {
  if (!more) return null;
  const outcomes = Object.entries(outcomeCounts ?? {}).map(([reason, count]) => `${count} ${reason}`);
  return (
    <p class="muted">
      {more.woken > 0 ? `and ${more.woken} more with a reload job. ` : null}
      {outcomes.length > 0 ? `Their outcomes: ${outcomes.join(', ')}. ` : null}
      {more.leftAlone > 0
        ? `${more.leftAlone} more ${more.leftAlone === 1 ? 'was' : 'were'} not reloaded. `
        : null}
      {source ? <a href={hrefOf('explain', [], { source: keyOf(source) })}>Explain any of them</a> : null}
    </p>
  );
}
