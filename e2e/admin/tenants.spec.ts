import { beforeAll, describe, expect, it } from 'vitest';
import type { Problem } from '@reroll/shared/api/problem';
import type { OperationId } from '@reroll/shared/api/operations';
import type { AdminApi, Asked } from '../support/admin/admin-api.ts';
import {
  ADDRESSED,
  callsAbout,
  FILTERED,
  NOWHERE,
  OPERATION_IDS,
  operationOf,
  STEERING,
  type Subject,
} from '../support/admin/api-calls.ts';
import { caller, VIEWER } from '../support/admin/callers.ts';
import { EventReader } from '../support/admin/event-reader.ts';
import type { Space } from '../support/kube.ts';
import { hashOf, inStep, markerAnnotation, recordOf } from '../support/objects/rollouts.ts';
import {
  deleteServiceAccount,
  signedToken,
  tokenOf,
  userName,
} from '../support/admin/service-account-tokens.ts';
import { startTenants, type Person, type Tenants } from '../support/admin/tenants.ts';
import { eventually } from '../support/wait.ts';

/**
 * Two tenants of one cluster with objects of the same names. Whatever one of them asks for, on every path: nothing of the
 * other is in the answer, and what is the other's is answered as what is not there.
 */
let tenants: Tenants;
let ours: Subject;
let theirs: Subject;
/** Tokens of a ServiceAccount that was there when the first of them was used. */
let gone: { used: string; unused: string };

beforeAll(async () => {
  tenants = await startTenants();
  [ours, theirs] = await Promise.all([subjectOf(tenants.ours), subjectOf(tenants.theirs)]);
  gone = { used: await caller(tenants.others, 'gone', { cluster: VIEWER }), unused: '' };
  gone.unused = await tokenOf(tenants.others, 'gone');
  expect((await ask(tenants.as({ token: gone.used }), 'getStatus', {})).status).toBe(200);
  await deleteServiceAccount(tenants.others, 'gone');
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
  const same = names.reduce((left, name) => left.replaceAll(name, '…'), text);
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

const ALL = [...ADDRESSED, ...FILTERED, ...STEERING];

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

  it.each(['retryJob', 'reloadWorkload'] as const)('by %s, to the owner of a namespace', async (id) => {
    const api = tenants.as('ours');
    const foreign = await ask(api, id, callsAbout(theirs)[id]);
    const absent = await ask(api, id, callsAbout(NOWHERE)[id]);
    expect(foreign.status, foreign.text).toBe(404);
    expect(neutral(foreign, theirs)).toEqual(neutral(absent, NOWHERE));
    const readers = await ask(tenants.as('oursReader'), id, callsAbout(theirs)[id]);
    expect(readers.status).toBe(403);
  });

  it('nor is anything done: the other sees who tried, and no job is gone', async () => {
    const { items } = await tenants.as('theirs').call('listAudit', {});
    const byOthers = items.filter(({ actor }) => actor !== userName(tenants.theirs, 'owner'));
    expect(new Set(byOthers.map(({ actor, action, result }) => `${actor} ${action} ${result}`))).toEqual(
      new Set([`${userName(tenants.ours, 'owner')} reloadWorkload NotFound`]),
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

  it('is told the same before and after something happens in another', async () => {
    const seen = async (): Promise<Record<string, unknown>> => {
      const answers = FILTERED.filter((id) => id !== 'streamEvents').map(
        async (id) => [id, steady((await ask(tenants.as('oursReader'), id, {})).text)] as const,
      );
      return Object.fromEntries(await Promise.all(answers));
    };
    const before = await seen();
    await tenants.theirs.setData('ConfigMap/cm', { v: `${Math.random()}` });
    await inStep(tenants.theirs, 'Deployment/web', ['ConfigMap/cm']);
    await tenants.reroll.idle();
    expect(await seen()).toEqual(before);
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

/** Without what goes with time. */
function steady(text: string): unknown {
  return JSON.parse(text, (key: string, value: unknown) =>
    ['seenAt', 'milliseconds', 'lagSeconds', 'oldestDueSeconds'].includes(key) ? '…' : value,
  );
}

async function lastChange(space: Space, ref: string): Promise<string> {
  const source = ref.replace('/', `/${space.name}/`);
  const hash = hashOf(await space.get(ref));
  return await eventually(async () => {
    const { items } = await tenants.as('operator').call('listChanges', { query: { source } });
    return items.find(({ to }) => to === hash)?.id;
  });
}

describe('what concerns everybody', () => {
  it.each(STEERING)('%s: is for those who may change every namespace', async (id) => {
    for (const person of ['ours', 'oursReader', 'reader'] as const) {
      const { status, text } = await ask(tenants.as(person), id, callsAbout(ours)[id]);
      expect([status, (JSON.parse(text) as Problem).code], person).toEqual([403, 'Forbidden']);
    }
    const { status, text } = await ask(tenants.as('operator'), id, callsAbout(ours)[id]);
    expect(status, text).toBe(200);
  });

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

  it('does not give away whose idempotency key it is: the same key of two callers is two keys', async () => {
    const headers = { 'idempotency-key': 'of-both' };
    const ids = await Promise.all(
      (['ours', 'theirs'] as const).map(async (person) => {
        const { reloadWorkload } = callsAbout(person === 'ours' ? ours : theirs);
        return (await tenants.as(person).call('reloadWorkload', { ...reloadWorkload, headers })).id;
      }),
    );
    expect(new Set(ids).size).toBe(2);
  });
});

describe('who is not known, or may nothing, is answered the same on every path', () => {
  async function refused(api: AdminApi, status: number): Promise<void> {
    for (const id of OPERATION_IDS) {
      const own = await ask(api, id, callsAbout(ours)[id]);
      const absent = await ask(api, id, callsAbout(NOWHERE)[id]);
      expect(own.status, `${id}: ${own.text}`).toBe(status);
      expect(neutral(own, ours), id).toEqual(neutral(absent, NOWHERE));
    }
  }

  it('a ServiceAccount without rights is forbidden', async () => refused(tenants.as('nobody'), 403));

  it('a reader of everything may write nothing', async () => {
    const writes = OPERATION_IDS.filter(
      (id) => operationOf(id).status === 202 || STEERING.some((each) => each === id),
    );
    for (const id of writes) {
      const { status } = await ask(tenants.as('reader'), id, callsAbout(ours)[id]);
      expect(status, id).toBe(403);
    }
  });

  it('nobody at all, and somebody with a token that is none, are not known', async () => {
    await refused(tenants.as({ token: null }), 401);
    await refused(tenants.as({ token: 'not.a.token' }), 401);
  });

  it('a token that has ended is not known, though the same one was before its end', async () => {
    const of = { space: tenants.others, name: 'operator' };
    const good = await signedToken(tenants.cluster, { ...of, expiresIn: 3_600 });
    expect((await ask(tenants.as({ token: good }), 'getStatus', {})).status).toBe(200);
    await refused(
      tenants.as({ token: await signedToken(tenants.cluster, { ...of, expiresIn: -3_600 }) }),
      401,
    );
  });

  it('nor is one of a ServiceAccount that is gone; one that was just used, after some seconds', async () => {
    await refused(tenants.as({ token: gone.unused }), 401);
    await eventually(
      async () => (await ask(tenants.as({ token: gone.used }), 'getStatus', {})).status === 401,
    );
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
