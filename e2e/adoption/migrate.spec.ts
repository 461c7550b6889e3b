import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { hashKey } from '@reroll/core/record/record-hash';
import {
  auto,
  configMap,
  daemonSet,
  deployment,
  naming,
  secret,
  statefulSet,
  usingEnvFrom,
  usingVolume,
} from '../support/objects/builders.ts';
import { cleanUp } from '../support/cleanup.ts';
import { sharedCluster } from '../support/cluster.ts';
import { Incumbent } from '../support/objects/incumbent.ts';
import { connect, namespace, type Ref, type Space } from '../support/kube.ts';
import { startReroll, type Reroll, type RerollOptions } from '../support/reroll.ts';
import { countRollouts, inStep } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

const USES: Readonly<Record<Ref, readonly Ref[]>> = {
  'Deployment/api': ['ConfigMap/cm', 'Secret/keys'],
  'StatefulSet/db': ['ConfigMap/cm', 'Secret/keys'],
  'DaemonSet/agent': ['ConfigMap/cm', 'Secret/keys'],
  'Deployment/named': ['ConfigMap/cm', 'Secret/keys'],
};
const REFS = Object.keys(USES);

const KEY = 'the key of the specs';

function keyFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'reroll-e2e-migrate-'));
  cleanUp(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'keys'), KEY);
  return join(folder, 'keys');
}

class Migration {
  readonly #space: Space;
  readonly #rollouts: () => Promise<number[]>;
  #changes = 0;

  private constructor(space: Space, rollouts: () => Promise<number[]>) {
    this.#space = space;
    this.#rollouts = rollouts;
  }

  static async of(space: Space): Promise<Migration> {
    const both = [auto(), usingEnvFrom('cm'), usingVolume('Secret/keys')];
    await space.apply(
      configMap('cm', { key: '0' }),
      secret('keys', { key: '0' }),
      deployment('api', ...both),
      statefulSet('db', ...both),
      daemonSet('agent', ...both),
      deployment('named', naming('cm', 'Secret/k.*')),
      deployment('silent', usingEnvFrom('cm')),
    );
    return new Migration(space, await countRollouts(space, REFS));
  }

  /** A ConfigMap and a Secret in turn. */
  async change(): Promise<void> {
    this.#changes += 1;
    const ref = this.#changes % 2 === 0 ? 'Secret/keys' : 'ConfigMap/cm';
    await this.#space.setData(ref, { key: `${this.#changes}` });
  }

  /** Every change so far has reloaded every workload; the next one of this shows that it was only once. */
  async isRolled(): Promise<void> {
    await eventually(async () => {
      const expected = REFS.map(() => this.#changes);
      expect(await this.#rollouts(), `after change ${this.#changes}`).toEqual(expected);
      return true;
    });
  }

  async isRecorded(): Promise<void> {
    for (const ref of REFS)
      await inStep(this.#space, ref, USES[ref] ?? [], { keys: [hashKey(Buffer.from(KEY))] });
  }
}

/** docs/migrate.md, step by step. */
it('loses no change and reloads each workload once for it, at every step there and back', async () => {
  const space = await namespace(connect(sharedCluster()));
  const migration = await Migration.of(space);
  const keys = keyFile();
  const start = async (more: Partial<RerollOptions> = {}): Promise<Reroll> =>
    await startReroll({
      cluster: sharedCluster(),
      namespaces: [space],
      // As the chart has it: markers of Secrets are under a key that stakater/Reloader does not know.
      flags: [`--hash-key-file=${keys}`],
      ...more,
    });

  // Where we start: the incumbent alone.
  const incumbent = await Incumbent.start(space);
  await migration.change();
  await migration.isRolled();

  // 1. Reroll beside it, without consequences.
  const starting = start({ workerFlags: ['--dry-run'] });
  await migration.change();
  const beside = await starting;
  await migration.isRolled();
  for (const ref of REFS) await eventually(async () => (await beside.outcomes(space, ref)).length > 0);
  await migration.change();
  await migration.isRolled();
  for (const ref of REFS) await agrees(beside, space, ref);
  expect(await beside.outcomes(space, 'Deployment/silent')).toEqual([]);

  // 2. Switch: the incumbent ends, then Reroll starts again for good.
  await migration.change();
  await migration.isRolled();
  await incumbent.stop();
  await migration.change();
  await beside.stop();
  const reroll = await start({ install: beside.install });
  await migration.isRolled();
  await migration.isRecorded();
  await migration.change();
  await migration.isRolled();

  // 3. Back: Reroll gives way to the incumbent, and ends once that is there.
  await migration.isRecorded();
  await reroll.stop();
  await migration.change();
  const patient = await start({ install: reroll.install, debounce: '60s' });
  await migration.isRolled();
  await migration.isRecorded();
  await migration.change();
  const again = await Incumbent.start(space);
  await migration.isRolled();
  await migration.isRecorded();
  await migration.change();
  await migration.isRolled();
  await migration.isRecorded();
  await migration.isRolled();
  await migration.change();
  await patient.stop();
  await migration.isRolled();
  await migration.change();
  await migration.isRolled();
  await again.stop();
});

/** It would have reloaded the workload too, or saw that the incumbent had just done it. */
async function agrees(reroll: Reroll, space: Space, ref: Ref): Promise<void> {
  await eventually(async () => {
    const outcomes = await reroll.outcomes(space, ref);
    return outcomes.some(
      ({ state, sources }) => state === 'wouldReload' || Object.values(sources).includes('Correct'),
    );
  });
}
