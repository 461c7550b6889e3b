import type { ReloadHold } from '@reroll/core/holds/hold';
import { EXPLAIN_SETTINGS, explainInput } from '@reroll/core/testing/explaining';
import { recordOf } from '@reroll/core/testing/rows';
import { describe, expect, it } from 'vitest';
import type { Caller } from '../auth/caller.ts';
import type { WhyFacts } from './why-facts.ts';
import { Why } from './why.ts';

const HOLD: ReloadHold = { reason: 'AwaitsWave', detail: 'Wave 2 of 2 of ConfigMap/cm waits for another' };
const FROZEN = { 'reroll.dev/freeze': '; audit' };
const NOW = { hash: '1.b', rv: '11', dataRv: '11' };

/** What holds `Deployment/ns/web`, by the reasons. `recorded`: the data of its pods; now there is `b`. */
async function holdsOf(recorded: 'a' | 'b', frozen: Readonly<Record<string, string>> = {}) {
  const { workload, source } = explainInput({
    workload: { record: recordOf({ cm: recorded }) },
    source: NOW,
  });
  const facts = {
    settings: async () => EXPLAIN_SETTINGS,
    workload: async () => workload,
    source: async () => source,
    hashSecret: async () => '',
    pausedQueues: async () => [],
  } as unknown as WhyFacts;
  const namespaces = { of: async () => ({ namespace: frozen, installation: {} }) };
  const why = new Why({ facts, namespaces, waves: { holdOf: async () => HOLD } });
  const caller = { seesAll: async () => true } as Caller;
  const { holds } = await why.explain({ workload: workload.key, source: source.key }, caller);
  return holds;
}

describe('the wave for which a reload waits', () => {
  it('is told', async () => {
    expect(await holdsOf('a')).toEqual([{ reason: 'AwaitsWave', stops: false, detail: `${HOLD.detail}.` }]);
  });

  it('is not, if none is pending', async () => {
    expect(await holdsOf('b')).toEqual([]);
  });

  it('is not, if it is held by something that comes before', async () => {
    expect(await holdsOf('a', FROZEN)).toMatchObject([{ reason: 'Frozen' }]);
  });
});
