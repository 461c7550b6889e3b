import type { JSX } from 'preact';
import type { Explanation } from '@reroll/shared/api/explain';
import { Answer } from '../components/answer.tsx';
import { Badge } from '../components/badge.tsx';
import { Filters, type Filter } from '../components/filters.tsx';
import { PageHead } from '../components/page-head.tsx';
import { Facts, Panel } from '../components/panel.tsx';
import { RefLink } from '../components/refs.tsx';
import { Hash, sentenceOf, Why, Words } from '../components/words.tsx';
import { route } from '../router.ts';
import { useAnswer } from '../use-answer.ts';
import { DUE, RULE_OUTCOMES } from '../words.ts';

const FIELDS: readonly Filter[] = [
  { name: 'workload', label: 'Workload', suggests: 'workload' },
  { name: 'source', label: 'Source', suggests: 'source' },
];

/** Why a workload does, or does not, reload when a source changes. */
export function Explain(): JSX.Element {
  const { workload = '', source = '' } = route.value.query;
  return (
    <>
      <PageHead title="Explain" />
      <p class="lead">
        Why a workload does, or does not, reload when a source changes: every rule, in order.
      </p>
      <Filters filters={FIELDS} submit="Explain" />
      {workload === '' || source === '' ? (
        <p class="empty">Choose a workload and a source: type a part of the name, or kind/namespace/name.</p>
      ) : (
        <Explained workload={workload} source={source} />
      )}
    </>
  );
}

function Explained({ workload, source }: { workload: string; source: string }): JSX.Element {
  const answer = useAnswer('explain', { query: { workload, source } });
  return (
    <Answer of={answer} what="the explanation">
      {(explanation) => (
        <>
          <Conclusion of={explanation} />
          <Rules of={explanation} />
          <Circumstances of={explanation} />
        </>
      )}
    </Answer>
  );
}

function Conclusion({ of }: { of: Explanation }): JSX.Element {
  const { conclusion, reloads, reason, holds, workload, source } = of;
  return (
    <Panel title="Result">
      <p class="conclusion">
        <Badge
          look={{
            ...RULE_OUTCOMES[reloads ? 'reload' : 'skip'],
            word: reloads ? 'Reloads' : 'Does not reload',
          }}
        />{' '}
        <Words text={conclusion} /> <code class="code">{reason}</code>
      </p>
      <p>
        <RefLink of={workload} /> <span class="muted">for</span> <RefLink of={source} />
      </p>
      {holds.length === 0 ? null : (
        <ul class="holds">
          {holds.map((hold) => (
            <li key={hold.reason}>
              {hold.stops ? 'Stopped: ' : 'Note: '}
              <Why reason={hold.reason} detail={hold.detail} />
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

function Rules({ of: { rules } }: { of: Explanation }): JSX.Element {
  return (
    <Panel title="Rules, in order">
      <ol class="rules">
        {rules.map(({ rule, outcome, decides, reason, detail }) => (
          <li key={rule} class={decides ? 'decides' : ''} aria-current={decides ? 'step' : undefined}>
            <span class="rule-name">
              <code>{rule}</code>
              {decides ? <strong>decides</strong> : null}
            </span>
            <Badge look={RULE_OUTCOMES[outcome]} />
            <span class="rule-detail">
              {reason === null ? (
                <Words text={sentenceOf(detail)} />
              ) : (
                <Why reason={reason} detail={detail} />
              )}
            </span>
          </li>
        ))}
      </ol>
    </Panel>
  );
}

function Circumstances({ of: { use, record, due } }: { of: Explanation }): JSX.Element {
  return (
    <Panel title="Use, applied record and pending reload">
      <Facts
        facts={[
          ['Use', <Words text={use.detail} />],
          ['Places', <Places places={use.places} />],
          ['Recorded', <Hash hash={record.recorded} />],
          ['Current', <Hash hash={record.current} />],
          ['Record', agreement(record)],
          ['Reload', due.known ? <Badge look={DUE[due.state ?? 'none']} /> : 'Unknown'],
          ['Details', <Words text={due.detail} />],
        ]}
      />
    </Panel>
  );
}

const BY = {
  env: 'variable',
  envFrom: 'envFrom',
  volume: 'volume',
  projectedVolume: 'projected volume',
  csiVolume: 'CSI volume',
} as const;

/** Where the pod template refers to the source. */
function Places({ places }: { places: Explanation['use']['places'] }): JSX.Element {
  if (places === null) return <span class="muted">Not known</span>;
  if (places.length === 0) return <span class="muted">None</span>;
  return (
    <ul>
      {places.map(({ by, container, init, name }) => (
        <li key={`${by} ${container} ${name}`}>
          {init ? 'init container ' : ''}
          {container === null ? 'not mounted' : <code>{container}</code>}, {BY[by]}
          {name === null ? null : (
            <>
              {' '}
              <code>{name}</code>
            </>
          )}
        </li>
      ))}
    </ul>
  );
}

function agreement({ agrees, doubtful }: Explanation['record']): string {
  if (doubtful) return 'Unverified: it may be wrong for these pods';
  if (agrees === null) return 'Nothing to compare';
  return agrees ? 'Matches the current data' : 'Differs from the current data';
}
