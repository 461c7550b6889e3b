import type { JSX } from 'preact';
import type { Workload } from '@reroll/shared/api/workloads';
import { ROLLOUTS } from '../words.ts';
import { Badge } from './badge.tsx';
import { Facts } from './panel.tsx';
import { Time } from './time.tsx';

type Rollout = Workload['rolloutInDetail'];

/** `2 of 3 ready`, as far as it is known. */
export function PodCount({ rollout }: { rollout: Rollout }): JSX.Element | null {
  const { updated, ready, desired } = rollout;
  if (desired === undefined) return null;
  return (
    <span class="pods">
      {updated ?? 0} of {desired} updated, {ready ?? 0} ready
    </span>
  );
}

/** How far the pods are, with the cluster's own conditions. */
export function RolloutFacts({ rollout }: { rollout: Rollout }): JSX.Element {
  return (
    <>
      <Facts
        facts={[
          ['State', <Badge look={ROLLOUTS[rollout.state]} />],
          ['Code', <code>{rollout.code}</code>],
          ['Pods', rollout.desired === undefined ? 'Not reported' : <PodCount rollout={rollout} />],
          ['Since', <Time at={rollout.since ?? rollout.at} />],
        ]}
      />
      {rollout.conditions.length === 0 ? null : (
        <ul class="conditions">
          {rollout.conditions.map(({ type, status, reason }) => (
            <li key={type}>
              <code>{`${type}=${status}`}</code> {reason}
            </li>
          ))}
        </ul>
      )}
      {(rollout.pods ?? []).map(({ name, container, reason, message }) => (
        <p key={`${name} ${container}`} class="pod">
          <code>{name}</code>, container <code>{container}</code>: <strong>{reason}</strong> {message}
        </p>
      ))}
    </>
  );
}
