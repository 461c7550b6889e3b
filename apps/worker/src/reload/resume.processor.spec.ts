import type { KubeObject } from '@reroll/kube/objects';
import { createLogger } from '@reroll/shared/platform/logging/logging';
import { describe, expect, it } from 'vitest';
import { NotYetError } from '../job-error.ts';
import { FakeApi } from '../testing/fake-api.ts';
import { KEYS } from '../testing/scene.ts';
import { ResumeProcessor } from './resume.processor.ts';

const PATH = '/apis/apps/v1/namespaces/ns/deployments/w';
const MINUTE = 60_000;

/** Handles a resume job of a Deployment whose pause of five minutes began so many milliseconds ago. */
async function resume(ago: number): Promise<{ api: FakeApi; error: unknown }> {
  const api = new FakeApi();
  const annotations = {
    [KEYS.pausePeriod]: '5m',
    [KEYS.pausedAt]: new Date(Date.now() - ago).toISOString(),
  };
  const metadata = { name: 'w', namespace: 'ns', uid: 'uid-w', resourceVersion: '30', annotations };
  api.objects.set(PATH, { metadata, spec: { paused: true } } as KubeObject);
  const log = createLogger({ format: 'text', level: 'fatal' });
  const context = { client: api.client, keys: KEYS, fieldManager: 'reroll', dryRun: false, log };
  const handled = new ResumeProcessor(context).handle({ v: 1, workload: 'Deployment/ns/w' });
  return { api, error: await handled.catch((thrown: unknown) => thrown) };
}

describe('the pause of a rollout', () => {
  it('is not ended before its time', async () => {
    const { api, error } = await resume(MINUTE);
    expect(error).toBeInstanceOf(NotYetError);
    expect((error as NotYetError).wait).toBeGreaterThan(3 * MINUTE);
    expect(api.writes).toEqual([]);
  });

  it('is ended after it', async () => {
    const { api, error } = await resume(6 * MINUTE);
    expect(error).toBeUndefined();
    const resumed = api.objects.get(PATH);
    expect(resumed).toMatchObject({ spec: { paused: false } });
    expect(resumed?.metadata.annotations).toEqual({ [KEYS.pausePeriod]: '5m' });
  });
});
