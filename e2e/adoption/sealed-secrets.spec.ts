import { beforeAll, beforeEach, expect, it } from 'vitest';
import { auto, deployment, secret, usingEnvFrom } from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type KubeObject, type Space } from '../support/kube.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { RolloutCount, inStep, markerVariables, settled } from '../support/objects/rollouts.ts';
import { SealedSecretsController } from '../support/objects/sealed-secrets.ts';
import { eventually } from '../support/wait.ts';

/** The real controller of Sealed Secrets and the real kubeseal. Building them once takes minutes. */
const API = 'Deployment/api';
const KEYS = 'Secret/keys';

let space: Space;
let reroll: Reroll;
let controller: SealedSecretsController;
let rollouts: RolloutCount;

beforeAll(async () => {
  const cluster = sharedCluster();
  space = await namespace(connect(cluster));
  controller = await SealedSecretsController.start(cluster, space);
  await seal({ password: 'first' });
  await space.apply(deployment('api', auto(), usingEnvFrom(KEYS)));
  reroll = await startReroll({ cluster, namespaces: [space] });
  await inStep(space, API, [KEYS]);
}, 1_800_000);

beforeEach(async () => {
  rollouts = await RolloutCount.from(space, API);
});

/** Seals it anew, and resolves with the Secret when the controller has dealt with that. */
async function seal(data: Readonly<Record<string, string>>): Promise<KubeObject> {
  await space.apply(await controller.seal(secret('keys', data)));
  await eventually(
    async () => {
      const { metadata, status } = await space.get('SealedSecret/keys');
      return status?.['observedGeneration'] === metadata.generation;
    },
    { what: 'the SealedSecret to be unsealed' },
  );
  return await space.get(KEYS);
}

it('other data, sealed, are one rollout', async () => {
  await seal({ password: 'second' });
  const api = await inStep(space, API, [KEYS]);
  expect(Object.keys(markerVariables(api)['app'] ?? {})).toEqual(['STAKATER_KEYS_SECRET']);
  await settled(reroll, space);
  expect(await rollouts.now()).toBe(1);
});

it('the same data, sealed anew, by the same key and by a renewed one, are none', async () => {
  const before = await space.get('SealedSecret/keys');
  await seal({ password: 'second' });
  await controller.renewKey();
  await seal({ password: 'second' });
  expect((await space.get('SealedSecret/keys')).metadata.generation).toBe(before.metadata.generation + 2);
  await settled(reroll, space);
  expect(await rollouts.now()).toBe(0);
});

it('a restart of the controller, which unseals everything again, is none', async () => {
  await controller.restart();
  await eventually(() => controller.unsealings() > 0, { what: 'it to unseal again' });
  await settled(reroll, space);
  expect(await rollouts.now()).toBe(0);
});

it('a Secret that is deleted and made again by the controller is none, and other data after it are one', async () => {
  const before = await space.get(KEYS);
  await space.delete(KEYS);
  await eventually(async () => {
    const now = await space.find(KEYS);
    return now !== null && now.metadata.uid !== before.metadata.uid;
  });
  await settled(reroll, space);
  expect(await rollouts.now()).toBe(0);
  await seal({ password: 'third' });
  await inStep(space, API, [KEYS]);
  await settled(reroll, space);
  expect(await rollouts.now()).toBe(1);
});
