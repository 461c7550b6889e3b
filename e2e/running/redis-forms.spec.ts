import { Redis } from 'ioredis';
import { expect, it } from 'vitest';
import { auto, configMap, deployment, usingEnvFrom } from '../support/objects/builders.ts';
import { cleanUp } from '../support/cleanup.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Space } from '../support/kube.ts';
import type { App } from '../support/processes.ts';
import { REDIS_FORMS, type FormName, type RedisForm } from '../support/redis/redis-forms.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { inStep, RolloutCount, settled } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

const NAMES = ['one', 'two', 'three', 'four', 'five', 'six'] as const;

async function changeAll(space: Space, v: string, names: readonly string[] = NAMES): Promise<void> {
  await Promise.all(names.map((name) => space.setData(`ConfigMap/${name}`, { v })));
}

async function allInStep(space: Space): Promise<void> {
  for (const name of NAMES) await inStep(space, `Deployment/${name}`, [`ConfigMap/${name}`]);
}

/** How often each was rolled for this change; the change itself is part of what is done meanwhile. */
async function rolledBy(reroll: Reroll, space: Space, change: () => Promise<void>): Promise<number[]> {
  const counts = await Promise.all(NAMES.map((name) => RolloutCount.from(space, `Deployment/${name}`)));
  await change();
  await allInStep(space);
  await settled(reroll, space);
  return await Promise.all(counts.map((count) => count.now()));
}

/** Starts one with each of the wrong settings; they go on trying, say why, and are not ready. */
async function refusedAll(reroll: Reroll, { wrong }: RedisForm): Promise<void> {
  const apps = wrong.map(([env, said]) => [reroll.start('worker', [], env), said] as const);
  await Promise.all(apps.map(([app, said]) => refused(app, said)));
}

async function refused(app: App, said: RegExp): Promise<void> {
  await eventually(() => said.test(app.logs()), { what: `${app.name} to say ${said}` });
  expect(await app.status('/ready')).toBe(503);
  expect(await app.status('/live')).toBe(200);
  expect(await app.stop()).toBe(0);
}

const ONCE = NAMES.map(() => 1);

it.each(Object.keys(REDIS_FORMS) as FormName[])(
  '%s: a change rolls once, also while Redis goes away and comes back; who may not get in says why and no password',
  async (name) => {
    const cluster = sharedCluster();
    const form = await REDIS_FORMS[name]();
    const space = await namespace(connect(cluster));
    await space.apply(
      ...NAMES.flatMap((each) => [configMap(each, { v: '0' }), deployment(each, auto(), usingEnvFrom(each))]),
    );
    const reroll = await startReroll({
      cluster,
      namespaces: [space],
      redisEnv: form.env,
      redisUsers: form.users,
      sweepInterval: '500ms',
      workerFlags: ['--stalled-lock=2s', '--max-reloads-per-minute=6000'],
      flags: ['--log-level=trace'],
    });
    await allInStep(space);

    expect(await rolledBy(reroll, space, () => changeAll(space, '1'))).toEqual(ONCE);
    const interrupted = await rolledBy(reroll, space, async () => {
      const changing = changeAll(space, '2', NAMES.slice(0, 3));
      await Promise.all([changing, form.interrupt(reroll.catalog.keys.prefix)]);
      await changeAll(space, '2', NAMES.slice(3));
    });
    expect(interrupted).toEqual(ONCE);
    expect((await form.refusals?.()) ?? []).toEqual([]);

    await refusedAll(reroll, form);
    await reroll.stop();
    for (const secret of form.secrets) expect(reroll.logs()).not.toContain(secret);
  },
);

/** Whatever shows names of others, changes what all users share, or reaches keys and channels of others. */
const REFUSED: readonly (readonly [string, ...string[]])[] = [
  ['FUNCTION', 'FLUSH'],
  ['FUNCTION', 'LOAD', "#!lua name=l\nredis.register_function('f', function() end)"],
  ['FUNCTION', 'LIST'],
  ['FCALL', 'f', '0'],
  ['SCRIPT', 'FLUSH'],
  ['CLIENT', 'TRACKING', 'ON', 'BCAST'],
  ['CLIENT', 'LIST'],
  ['CLIENT', 'KILL', 'TYPE', 'normal'],
  ['KEYS', '*'],
  ['SCAN', '0'],
  ['RANDOMKEY'],
  ['GET', 'other'],
  ['SET', 'other', '1'],
  ['COPY', '{reroll:a:b}:c', 'other'],
  ['PUBLISH', 'channel', 'message'],
  ['SUBSCRIBE', 'channel'],
  ['FLUSHALL'],
  ['FLUSHDB'],
  ['SWAPDB', '0', '1'],
  ['CONFIG', 'GET', '*'],
  ['ACL', 'LIST'],
  ['MONITOR'],
];

it('the user of the guide reaches nothing but the keys of Reroll, also from a script, and sees no other names', async () => {
  const { env } = await REDIS_FORMS.ACL();
  const client = new Redis({
    host: env['REDIS_HOST'],
    port: Number(env['REDIS_PORT']),
    username: env['REDIS_USERNAME'],
    password: env['REDIS_PASSWORD'],
    protocol: 3,
    disableClientInfo: true,
    replyMapping: 'legacy',
  });
  cleanUp(() => client.disconnect());
  const answerTo = (command: readonly [string, ...string[]]): Promise<string> =>
    client.call(...command).then(
      () => 'OK',
      (error: Error) => error.message.split(' ')[0] ?? '',
    );
  expect(await client.set('{reroll:a:b}:c', '1')).toBe('OK');
  const answers = [];
  for (const command of REFUSED) answers.push([command, await answerTo(command)]);
  expect(answers).toEqual(REFUSED.map((command) => [command, 'NOPERM']));
  const script = (key: string): Promise<unknown> => client.eval("return redis.call('get', ARGV[1])", 0, key);
  expect(await script('{reroll:a:b}:c')).toBe('1');
  await expect(script('other')).rejects.toThrow(/access (?:at least one of the keys|a key)/u);
});
