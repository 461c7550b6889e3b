import { describe, expect, it } from 'vitest';
import type { KubeClient } from '@reroll/kube/client/connection';
import type { Process } from '@reroll/nest/process';
import { SettingsError } from '@reroll/nest/settings-error';
import type { WatcherOptions } from '@reroll/shared/platform/options/parsing/table';
import { Leadership } from './leadership.service.ts';
import type { WatcherState } from './state.ts';

const LEASE_TIMES = { leaseDuration: 15_000, leaseRenewDeadline: 10_000, leaseRetryPeriod: 2_000 };

/** A watcher's view of a Lease whose annotation has these values, one at each read. */
function leadershipOver(values: readonly (string | undefined)[]): Leadership {
  const left = [...values];
  const lease = () => {
    const value = left.shift();
    return { metadata: { annotations: value === undefined ? {} : { 'reroll.dev/adopted-at': value } } };
  };
  const client = { get: () => Promise.resolve({ body: lease() }) } as unknown as KubeClient;
  const options = { podNamespace: 'reroll', leaseName: 'reroll-watcher', podName: 'w', ...LEASE_TIMES };
  const process = { lifecycle: new AbortController(), log: {}, options: {} } as unknown as Process;
  return new Leadership(client, options as WatcherOptions, process, {} as WatcherState, '0', () => undefined);
}

describe('the time since when Reroll has managed the cluster', () => {
  it('is awaited until a leader has written it', async () => {
    expect(await leadershipOver([undefined, '2026-01-02T03:04:05Z']).adoptedAt()).toBe(1_767_323_045);
  });

  it.each(['', 'yesterday'])('is an error if it is %j, which says what was expected', async (value) => {
    const asked = leadershipOver([value, '2026-01-02T03:04:05Z']).adoptedAt();
    await expect(asked).rejects.toThrow(SettingsError);
    await expect(asked).rejects.toThrow(
      `expected reroll.dev/adopted-at of the Lease reroll/reroll-watcher to be the time since when Reroll has managed the cluster, such as 2026-01-02T03:04:05Z, given "${value}"`,
    );
  });
});
