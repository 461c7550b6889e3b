import { setInterval as every } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace } from '../support/kube.ts';
import { adopted, inStep } from '../support/objects/rollouts.ts';
import { startReroll } from '../support/reroll.ts';

/** CONTENDED_SECONDS=600 and CONTENDED_LIMIT=10/10m is the run of docs/reliability.md. */
const SECONDS = Number(process.env['CONTENDED_SECONDS'] ?? 15);
const LIMIT = process.env['CONTENDED_LIMIT'] ?? '3/30s';

it(
  'two writers who fight over a source restart its workload at most as often as the limit says, and the last data arrives',
  async () => {
    const cluster = sharedCluster();
    const space = await namespace(connect(cluster));
    await startReroll({ cluster, namespaces: [space] });
    const rollouts = await adopted(space, 'contended');
    await space.annotate('Deployment/contended', { 'reroll.dev/reload-limit': LIMIT });
    const until = Date.now() + SECONDS * 1_000;
    // Each puts its own value back every second; none is used twice, so that every write changes the data.
    let writes = 0;
    for await (const _ of every(500)) {
      if (Date.now() > until) break;
      writes += 1;
      await space.setData('ConfigMap/contended', { v: `${writes % 2 === 0 ? 'a' : 'b'}${writes}` });
    }
    expect(writes).toBeGreaterThan(SECONDS);
    const during = await rollouts.now();
    expect(during).toBeGreaterThan(0);
    expect(during).toBeLessThanOrEqual(Number(LIMIT.split('/')[0]));
    const ended = Date.now();
    await inStep(space, 'Deployment/contended', ['ConfigMap/contended'], {
      within: SECONDS * 1_000 + 60_000,
    });
    const later = Math.round((Date.now() - ended) / 1_000);
    console.log(`${writes} writes, ${during} reloads; the last data came ${later} s after the last write`);
    expect(await rollouts.now()).toBe(during + 1);
    const sets = await space.list('ReplicaSet');
    expect(sets.length).toBeLessThanOrEqual(during + 2);
  },
  2 * SECONDS * 1_000 + 180_000,
);
