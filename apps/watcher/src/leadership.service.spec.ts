import { describe, expect, it } from 'vitest';
import type { KubeClient } from '@reroll/kube/client/connection';
import type { Process } from '@reroll/nest/process';
import { SettingsError } from '@reroll/nest/settings-error';
import { parseOptions } from '@reroll/shared/platform/options/parsing/parse';
import { Leadership } from './leadership.service.ts';
import type { WatcherState } from './state.ts';

const parsed = parseOptions('watcher', [], {});

/** A watcher's view of a Lease whose annotation has these values, one at each read. */
function leadershipOver(values: readonly (string | undefined)[]): Leadership {
  const left = [...values];
  const lease = () => {
    const value = left.shift();
    return { metadata: { annotations: value === undefined ? {} : { 'reroll.dev/adopted-at': value } } };
  };
  const client = { get: () => Promise.resolve({ body: lease() }) } as unknown as KubeClient;
  if (!parsed.ok) throw new Error(parsed.errors.join('\n'));
  const options = { ...parsed.options, podNamespace: 'reroll', podName: 'w' };
  const process = { lifecycle: new AbortController(), log: {}, options: {} } as unknown as Process;
  return new Leadership(client, options, process, {} as WatcherState, '0', () => undefined);
}

describe('the time since when Reroll has managed the cluster', () => {
  it('is awaited until a leader has written it', async () => {
    expect(await leadershipOver([undefined, '2026-01-02T03:04:05Z']).adoption()).toEqual({
      adoptedAt: 1_767_323_045,
      isScopeNew: false,
    });
  });

  it.each(['', 'yesterday'])('is an error if it is %j, which says what was expected', async (value) => {
    const asked = leadershipOver([value, '2026-01-02T03:04:05Z']).adoption();
    await expect(asked).rejects.toThrow(SettingsError);
    await expect(asked).rejects.toThrow(
      `expected reroll.dev/adopted-at of the Lease reroll/reroll-watcher to be the time since when Reroll has managed the cluster, such as 2026-01-02T03:04:05Z, given "${value}"`,
    );
  });
});
