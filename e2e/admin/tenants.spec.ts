import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Problem } from '@reroll/shared/api/problem';
import type { OperationId } from '@reroll/shared/api/operations';
import type { AdminApi, Asked } from '../support/admin/admin-api.ts';
import {
  ADDRESSED,
  ALL_WITH_OWN_TOKEN,
  BULK,
  callsAbout,
  FILTERED,
  NOWHERE,
  OPERATION_IDS,
  operationOf,
  STEERING,
  WITH_OWN_TOKEN,
  type Subject,
} from '../support/admin/api-calls.ts';
import { caller, LIST_DEPLOYMENTS, VIEWER } from '../support/admin/callers.ts';
import { EventReader } from '../support/admin/event-reader.ts';
import type { Space } from '../support/kube.ts';
import { dumpRedis } from '../support/redis/redis-dump.ts';
import { hashOf, inStep, markerAnnotation, recordOf } from '../support/objects/rollouts.ts';
import { deleteServiceAccount, ISSUER, tokenOf, userName } from '../support/admin/service-account-tokens.ts';
import { startTenants, type Person, type Tenants } from '../support/admin/tenants.ts';
import { eventually } from '../support/wait.ts';

/**
 * Two tenants of one cluster with objects of the same names. Whatever one of them asks for, on every path: nothing of the
 * other is in the answer, and what is the other's is answered as what is not there.
 */
let tenants: Tenants;
let ours: Subject;
let theirs: Subject;
/** Token of a ServiceAccount that is not there any more. */
let gone: string;
/** Somebody whose right to the API was just taken away, and the stream that they had. */
let leaver: { api: AdminApi; stream: EventReader };

beforeAll(async () => {
  tenants = await startTenants();
  [ours, theirs] = await Promise.all([subjectOf(tenants.ours), subjectOf(tenants.theirs)]);
  gone = await caller(tenants.others, 'gone', { cluster: VIEWER });
  await deleteServiceAccount(tenants.others, 'gone');
  const rights = { cluster: VIEWER, namespaced: [LIST_DEPLOYMENTS] };
  const api = tenants.as({ token: await caller(tenants.ours, 'leaver', rights) });
  leaver = { api, stream: await EventReader.open(api) };
  const path = `/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/${tenants.ours.name}-leaver`;
  await tenants.ours.client.request({ method: 'DELETE', path });
});

/** By the eyes of somebody who sees everything. */
async function subjectOf(space: Space): Promise<Subject> {
  const api = tenants.as('operator');
  const { items } = await api.call('listChanges', { query: { source: `Secret/${space.name}/keys` } });
  const jobs = await api.call('listJobs', { query: { state: 'failed' } });
  const job = jobs.items.find(({ subject }) => subject === `Deployment/${space.name}/refused`);
  return { namespace: space.name, change: items.at(0)?.id ?? '', job: job?.id ?? '' };
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

async function ask<Id extends OperationId>(who: AdminApi, id: Id, asked: Asked<Id>): Promise<Answer> {
  const response = await who.request(id, asked);
  const { status } = response;
  if (id !== 'streamEvents' || !response.ok) return { status, text: await response.text() };
  await response.body?.cancel();
  return { status, text: '' };
}

/** An answer but for what differs each time, and with one name for every namespace and id that was asked about. */
function neutral({ status, text }: Answer, about: Subject): Answer {
  const names = [about.namespace, about.change, about.job].filter((name) => name !== '');
  // A refusal names the path that was asked for.
  const written = names.flatMap((name) => [name, encodeURIComponent(name)]);
  const same = written.reduce((left, name) => left.replaceAll(name, '…'), text);
  return { status, text: same.replace(/"requestId":"[^"]*"/, '') };
}

/** Every trace of the other tenant, also in what is only base64. */
function foreignIn(text: string): string[] {
  // What somebody has asked for themselves, and was refused, is in their audit.
  const told = text.replaceAll(/\{[^{}]*"result":"(?:NotFound|Forbidden)"[^{}]*\}/g, '');
  const decoded = (told.match(/[\w-]{12,}/g) ?? []).map((part) => Buffer.from(part, 'base64url').toString());
  const marks = [theirs.namespace, 'only-theirs', theirs.change, `"${theirs.job}"`];
  return [told, ...decoded].flatMap((each) => marks.filter((mark) => each.includes(mark)));
}

const ALL = [...ADDRESSED, ...FILTERED, ...BULK, ...STEERING, ...ALL_WITH_OWN_TOKEN];

it('every operation of the API is in one of the tables below, and each is called with something that is there', async () => {
  expect([...ALL].sort()).toEqual([...OPERATION_IDS].sort());
  const calls = callsAbout(ours);
  const operator = tenants.as('operator');
  for (const id of OPERATION_IDS.filter((each) => operationOf(each).method === 'get')) {
    const { status, text } = await ask(operator, id, calls[id]);
    expect(status, `${id}: ${text}`).toBe(200);
  }
});

describe("what is another namespace's is answered as what is not there", () => {
  const reads = ADDRESSED.filter((id) => id === 'preview' || operationOf(id).method === 'get');

  it.each(reads)('by %s, to the owner and to the reader of a namespace', async (id) => {
    for (const person of ['ours', 'oursReader'] as const) {
      const api = tenants.as(person);
      const own = await ask(api, id, callsAbout(ours)[id]);
      expect(own.status, own.text).toBe(200);
      const foreign = await ask(api, id, callsAbout(theirs)[id]);
      const absent = await ask(api, id, callsAbout(NOWHERE)[id]);
      expect(foreign.status, foreign.text).toBe(404);
      expect(neutral(foreign, theirs)).toEqual(neutral(absent, NOWHERE));
    }
    const { status } = await ask(tenants.as('theirs'), id, callsAbout(theirs)[id]);
    expect(status).toBe(200);
  });

  it.each(['retryJob', 'reloadWorkload', ...WITH_OWN_TOKEN] as const)(
    'by %s, to the owner of a namespace',
    async (id) => {
      const api = tenants.as('ours');
      const foreign = await ask(api, id, callsAbout(theirs)[id]);
      const absent = await ask(api, id, callsAbout(NOWHERE)[id]);
      expect(foreign.status, foreign.text).toBe(404);
      expect(neutral(foreign, theirs)).toEqual(neutral(absent, NOWHERE));
      const readers = await ask(tenants.as('oursReader'), id, callsAbout(theirs)[id]);
      expect(readers.status).toBe(403);
    },
  );

  it.each(BULK)('by %s, whose selector matches nothing there', async (id) => {
    const dryRun = async (person: Person, subject: typeof ours): Promise<Answer> => {
      const { body } = callsAbout(subject)[id];
      return await ask(tenants.as(person), id, { body: { ...body, dryRun: true } } as Asked<typeof id>);
    };
    const foreign = await dryRun('ours', theirs);
    expect(JSON.parse(foreign.text)).toMatchObject({ dryRun: true, items: [] });
    expect(neutral(foreign, theirs)).toEqual(neutral(await dryRun('ours', NOWHERE), NOWHERE));
    expect((await dryRun('oursReader', theirs)).status).toBe(403);
  });

  it('nor is anything done: the other sees who tried, and no job is gone', async () => {
    const { items } = await tenants.as('theirs').call('listAudit', {});
    const byOthers = items.filter(({ actor }) => actor !== userName(tenants.theirs, 'owner'));
    expect(new Set(byOthers.map(({ actor, action, result }) => `${actor} ${action} ${result}`))).toEqual(
      new Set(
        ['reloadWorkload', ...WITH_OWN_TOKEN].map(
          (action) => `${userName(tenants.ours, 'owner')} ${action} NotFound`,
        ),
      ),
    );
    expect((await tenants.reroll.queues.reloads.getJobCounts('failed'))['failed']).toBe(2);
  });

  it('in a pair with an own workload, or as what a filter names', async () => {
    const api = tenants.as('ours');
    const workload = `Deployment/${ours.namespace}/web`;
    const pair = async (namespace: string): Promise<Answer> => {
      const asked = { query: { workload, source: `Secret/${namespace}/keys` } };
      return await ask(api, 'explain', asked);
    };
    const foreign = await pair(theirs.namespace);
    expect(neutral(foreign, theirs)).toEqual(neutral(await pair(NOWHERE.namespace), NOWHERE));
    for (const id of ['listChanges', 'listWorkloads', 'listSources'] as const) {
      const { items, next } = await api.call(id, { query: { namespace: theirs.namespace } });
      expect({ items, next }, id).toEqual({ items: [], next: null });
    }
    const by = [
      { source: `Secret/${theirs.namespace}/keys` },
      { workload: `Deployment/${theirs.namespace}/web` },
    ];
    for (const query of by) {
      expect(await api.call('listChanges', { query })).toEqual({ items: [], next: null });
      expect((await tenants.as('reader').call('listChanges', { query })).items).not.toEqual([]);
    }
  });
});

describe('whoever sees one namespace', () => {
  it.each(FILTERED.filter((id) => id !== 'streamEvents'))('finds nothing of another by %s', async (id) => {
    // With its own namespace as a filter, and with none.
    const calls = [callsAbout(ours)[id], {}] as Asked<typeof id>[];
    for (const person of ['ours', 'oursReader'] as const) {
      for (const asked of calls) {
        const { status, text } = await ask(tenants.as(person), id, asked);
        expect(status, text).toBe(200);
        expect(foreignIn(text)).toEqual([]);
      }
    }
  });

  it('would find it, had it the right: lists of somebody who sees everything have both', async () => {
    const lists = ['listChanges', 'listWorkloads', 'listSources', 'listJobs', 'listAudit'] as const;
    for (const id of lists) {
      const { text } = await ask(tenants.as('operator'), id, { query: { limit: 200 } });
      expect(foreignIn(text), id).not.toEqual([]);
      expect(text, id).toContain(ours.namespace);
    }
  });

  it('counts its own: jobs, queues and what is pending', async () => {
    const failed = async (person: Person): Promise<number | undefined> => {
      const { items } = await tenants.as(person).call('listQueues');
      return items.find(({ name }) => name === 'reloads')?.counts.failed;
    };
    expect([await failed('ours'), await failed('theirs'), await failed('operator')]).toEqual([1, 1, 2]);
    for (const person of ['ours', 'theirs'] as const) {
      const { items } = await tenants.as(person).call('listJobs', {});
      expect(new Set(items.map(({ subject }) => subject?.split('/')[1]))).toEqual(
        new Set([tenants[person].name]),
      );
      const status = await tenants.as(person).call('getStatus');
      expect([status.owed, status.history, status.lagSeconds]).toEqual([null, null, expect.anything()]);
      expect(status.caller).toMatchObject({ clusterWide: false, maySteer: false });
    }
  });

  it('gains nothing by a cursor of somebody who sees more, nor by the id of an event', async () => {
    const all = ['listChanges', 'listWorkloads', 'listSources', 'listJobs', 'listAudit'] as const;
    for (const id of all) {
      const first = await tenants.as('operator').call(id, { query: { limit: 1 } });
      if (first.next === null) throw new Error(`expected more than one entry of ${id}`);
      const query = { cursor: first.next };
      const { text } = await ask(tenants.as('ours'), id, { query });
      expect(foreignIn(text), id).toEqual([]);
    }
  });

  it('is sent events of its own alone, from wherever it begins', async () => {
    const lastEventId = tenants.beginning;
    const mine = await EventReader.open(tenants.as('ours'), { lastEventId });
    const everybodys = await EventReader.open(tenants.as('operator'), { lastEventId });
    await tenants.theirs.setData('ConfigMap/cm', { v: `${Math.random()}` });
    await inStep(tenants.theirs, 'Deployment/web', ['ConfigMap/cm']);
    await tenants.reroll.idle();
    await tenants.ours.setData('ConfigMap/unused', { v: `${Math.random()}` });
    const last = await lastChange(tenants.ours, 'ConfigMap/unused');
    for (const { events } of [everybodys, mine])
      await eventually(() => events.some(({ data }) => data['id'] === last), { what: 'the last change' });
    expect(foreignIn(JSON.stringify(everybodys.events))).not.toEqual([]);
    expect(foreignIn(JSON.stringify(mine.events))).toEqual([]);
    const names = ['change', 'outcome', 'audit', 'rollout'];
    expect(new Set(mine.events.map(({ name }) => name))).toEqual(new Set(names));
  });
});

async function lastChange(space: Space, ref: string): Promise<string> {
  const source = ref.replace('/', `/${space.name}/`);
  const hash = hashOf(await space.get(ref));
  return await eventually(async () => {
    const { items } = await tenants.as('operator').call('listChanges', { query: { source } });
    return items.find(({ to }) => to === hash)?.id;
  });
}

describe('what concerns everybody', () => {
  it.each([...STEERING, ...ALL_WITH_OWN_TOKEN])(
    '%s: is for those who may change every namespace',
    async (id) => {
      for (const person of ['ours', 'oursReader', 'reader'] as const) {
        const { status, text } = await ask(tenants.as(person), id, callsAbout(ours)[id]);
        expect([status, (JSON.parse(text) as Problem).code], person).toEqual([403, 'Forbidden']);
      }
      const { status, text } = await ask(tenants.as('operator'), id, callsAbout(ours)[id]);
      expect(status, text).toBe(operationOf(id).status);
    },
  );

  it('and was not done by those who were refused', async () => {
    const { items } = await tenants.as('operator').call('listAudit', { query: { limit: 200 } });
    const done = items.filter(({ action, result }) => action === 'setLimits' && result === 'done');
    expect(done.map(({ actor }) => actor)).toEqual([userName(tenants.others, 'operator')]);
    const queues = await tenants.as('operator').call('listQueues');
    expect(queues.items.map(({ paused }) => paused)).toEqual([false, false, false, false]);
  });
});

describe('an own workload', () => {
  it('of a kind that the caller may not patch, is seen and not reloaded', async () => {
    const params = { kind: 'StatefulSet', namespace: ours.namespace, name: 'db' } as const;
    const api = tenants.as('ours');
    expect(await api.call('getWorkload', { params })).toMatchObject({ name: 'db' });
    const problem = await api.problem('reloadWorkload', { params, body: { reason: 'without the right' } });
    expect(problem).toMatchObject({ status: 403, code: 'Forbidden' });
  });

  it('is reloaded, and its failed job tried again, by its owner', async () => {
    for (const id of ['retryJob', 'reloadWorkload'] as const) {
      const { status, text } = await ask(tenants.as('ours'), id, callsAbout(ours)[id]);
      expect(status, text).toBe(202);
    }
    await inStep(tenants.ours, 'Deployment/refused', ['ConfigMap/cm']);
  });
});

async function refused(api: AdminApi, status: number): Promise<void> {
  for (const id of OPERATION_IDS) {
    const own = await ask(api, id, callsAbout(ours)[id]);
    const absent = await ask(api, id, callsAbout(NOWHERE)[id]);
    expect(own.status, `${id}: ${own.text}`).toBe(status);
    expect(neutral(own, ours), id).toEqual(neutral(absent, NOWHERE));
  }
}

describe('who is not known, or may nothing, is answered the same on every path', () => {
  it('a ServiceAccount without rights is forbidden', async () => refused(tenants.as('nobody'), 403));

  it('a reader of everything may write nothing', async () => {
    const writes = OPERATION_IDS.filter(
      (id) => operationOf(id).status === 202 || [...BULK, ...STEERING].some((each) => each === id),
    );
    for (const id of writes) {
      const { status } = await ask(tenants.as('reader'), id, callsAbout(ours)[id]);
      expect(status, id).toBe(403);
    }
  });

  it('a token of a ServiceAccount that is gone is not known', async () => {
    await refused(tenants.as({ token: gone }), 401);
  });

  it('a token for the API server, or for something else, is refused, and it is said which one is expected', async () => {
    for (const audience of [ISSUER, 'vault']) {
      const token = await tokenOf(tenants.others, 'operator', audience);
      const { status, text } = await ask(tenants.as({ token }), 'getStatus', {});
      expect(status).toBe(401);
      expect((JSON.parse(text) as Problem).detail).toBe(
        'expected a token for the audience reroll (kubectl create token NAME --audience=reroll); the API server knows no such token',
      );
    }
  });
});

describe('whoever may read workloads and not Secrets', () => {
  it('is not shown a hash of a Secret by which a guess could be tried, though the record has it', async () => {
    const api = tenants.as('operator');
    const secret = hashOf(await tenants.ours.get('Secret/keys'));
    const workload = await tenants.ours.get('Deployment/web');
    expect(recordOf(workload)['Secret/keys']).toBe(secret);
    const texts = OPERATION_IDS.filter((id) => id !== 'streamEvents').map(
      async (id) => (await ask(api, id, callsAbout(ours)[id])).text,
    );
    const everything = (await Promise.all(texts)).join('\n');
    expect(everything).toContain(hashOf(await tenants.ours.get('ConfigMap/cm')));
    const incumbents = markerAnnotation(workload)?.hash ?? secret;
    for (const hash of [secret, incumbents]) expect(everything).not.toContain(hash);
  });
});

describe('the rights of a caller', () => {
  it('are told to them, so that nobody is offered what would be refused', async () => {
    const told = async (person: Person): Promise<object> =>
      (await tenants.as(person).call('getStatus')).caller;
    const [oursReader, own, operator] = await Promise.all([
      told('oursReader'),
      told('ours'),
      told('operator'),
    ]);
    expect(oursReader).toMatchObject({ clusterWide: false, mayReload: false, maySteer: false });
    expect(own).toEqual({
      name: userName(tenants.ours, 'owner'),
      clusterWide: false,
      mayReload: true,
      mayHold: false,
      maySteer: false,
    });
    expect(operator).toMatchObject({ clusterWide: true, mayReload: true, maySteer: true });
  });

  it('are what RBAC says at the time: one that was taken away ends what they may ask for, and their stream', async () => {
    // Whatever happens has the right looked at again, once an earlier answer counts no more.
    await eventually(async () => {
      await tenants.ours.setData('ConfigMap/unused', { v: `${Math.random()}` });
      await Promise.race([leaver.stream.ended, pause(1_000)]);
      return leaver.stream.isEnded;
    });
    await refused(leaver.api, 403);
  });
});

it('no token is in a log or in Redis', async () => {
  const text = tenants.reroll.logs() + (await dumpRedis(tenants.reroll.redis));
  for (const token of Object.values(tenants.tokens)) expect(text).not.toContain(token);
});
