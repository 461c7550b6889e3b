import type { AuditEntry } from '@reroll/core/history/entries';
import { silentLogger } from '@reroll/shared/platform/logging/logging';
import { describe, expect, it } from 'vitest';
import { anonymousReader } from '../auth/static-tokens.ts';
import type { Caller } from '../auth/caller.ts';
import { sourceRow } from '@reroll/core/testing/rows';
import type { Input } from '../http/operation-types.ts';
import type { ObjectFacts } from '../objects/object-facts.ts';
import type { ShownHashes } from '../shown-hashes.ts';
import { AuditLog } from '../steering/audit-log.ts';
import type { AnnotationPatch, CallersCluster } from '../steering/callers-cluster.ts';
import { HoldWrites } from '../steering/hold-writes.service.ts';
import type { Idempotency } from '../steering/idempotency.ts';
import { Writes } from '../steering/writes.ts';
import { HoldsController } from './holds.controller.ts';

const WEB = { kind: 'Deployment', namespace: 'shop', name: 'web' } as const;
const WEB_PATH = '/apis/apps/v1/namespaces/shop/deployments/web';
const UNTIL = '2126-12-31T00:00:00.000Z';

/** A caller who may patch the workloads of `shop`, and sees nothing else. */
const ANN: Caller = {
  ...anonymousReader(),
  name: 'ann',
  seesAll: () => Promise.resolve(false),
  sees: (namespace) => Promise.resolve(namespace === 'shop'),
  mayChange: (workload) => Promise.resolve(workload.includes('/shop/')),
  maySteer: () => Promise.resolve(true),
};

const DB = { kind: 'Secret', namespace: 'shop', name: 'db' } as const;
const FACTS = {
  sourceRows: async () => new Map([['Secret/shop/db', sourceRow(5, 'a')]]),
} as unknown as ObjectFacts;
const HASHES = { shown: () => 'shown' } as unknown as ShownHashes;

function holding() {
  const patches: AnnotationPatch[] = [];
  const audited: AuditEntry[] = [];
  const addAudit = (entry: AuditEntry): Promise<string> => {
    audited.push(entry);
    return Promise.resolve('1-0');
  };
  const annotate = (_request: unknown, patch: AnnotationPatch): Promise<void> => {
    patches.push(patch);
    return Promise.resolve();
  };
  const resumed: object[] = [];
  const resume = (_request: unknown, change: object): Promise<void> => {
    resumed.push(change);
    return Promise.resolve();
  };
  const audit = new AuditLog({ history: { addAudit }, log: silentLogger });
  const writes = new Writes(audit, undefined as unknown as Idempotency);
  return {
    controller: new HoldsController(
      new HoldWrites({ annotate, resume } as CallersCluster, FACTS, HASHES, { podNamespace: 'reroll' }),
      writes,
    ),
    patches,
    resumed,
    audited,
  };
}

/** With an input that has what the method reads. */
function call(controller: HoldsController, method: Method, asked: unknown): Promise<{ id: string }> {
  return (controller[method] as (asked: unknown) => Promise<{ id: string }>).call(controller, asked);
}

type Method =
  | 'freeze'
  | 'unfreeze'
  | 'approve'
  | 'freezeNamespace'
  | 'unfreezeNamespace'
  | 'freezeAll'
  | 'unfreezeAll'
  | 'resume';

function input(params: object, body: object, caller = ANN): Input<'freezeWorkload'> {
  const given = { params, body, caller, requestId: 'r', request: { headers: {} } };
  return given as unknown as Input<'freezeWorkload'>;
}

describe('who, what, why and until when is audited, and what is written is what kubectl reroll writes', () => {
  it.each<[Method, object, object, Partial<AnnotationPatch>, Partial<AuditEntry>]>([
    [
      'freeze',
      WEB,
      { reason: 'audit', until: UNTIL },
      {
        path: WEB_PATH,
        annotations: { 'reroll.dev/freeze': `${UNTIL}; audit` },
        command: `kubectl reroll freeze deployment/web -n shop --until ${UNTIL} --reason TEXT`,
      },
      { action: 'freezeWorkload', target: 'Deployment/shop/web', reason: `until ${UNTIL}: audit` },
    ],
    [
      'freeze',
      WEB,
      { reason: 'audit' },
      {
        annotations: { 'reroll.dev/freeze': '; audit' },
        command: 'kubectl reroll freeze deployment/web -n shop --reason TEXT',
      },
      { reason: 'audit' },
    ],
    [
      'unfreeze',
      WEB,
      { reason: 'over' },
      {
        path: WEB_PATH,
        annotations: { 'reroll.dev/freeze': null },
        command: 'kubectl reroll unfreeze deployment/web -n shop',
      },
      { action: 'unfreezeWorkload', target: 'Deployment/shop/web', reason: 'over' },
    ],
    [
      'approve',
      WEB,
      { reason: 'seen', id: '0123456789' },
      {
        path: WEB_PATH,
        annotations: { 'reroll.dev/approved': '0123456789' },
        command: 'kubectl reroll approve deployment/web 0123456789 -n shop',
      },
      { action: 'approveWorkload', target: '0123456789 Deployment/shop/web', reason: 'seen' },
    ],
    [
      'freezeNamespace',
      { namespace: 'shop' },
      { reason: 'audit', until: UNTIL },
      {
        path: '/api/v1/namespaces/shop',
        annotations: { 'reroll.dev/freeze': `${UNTIL}; audit` },
        command: `kubectl reroll freeze -n shop --until ${UNTIL} --reason TEXT`,
      },
      { action: 'freezeNamespace', target: 'Namespace/shop', reason: `until ${UNTIL}: audit` },
    ],
    [
      'unfreezeNamespace',
      { namespace: 'shop' },
      { reason: 'over' },
      { annotations: { 'reroll.dev/freeze': null }, command: 'kubectl reroll unfreeze -n shop' },
      { action: 'unfreezeNamespace', target: 'Namespace/shop', reason: 'over' },
    ],
    [
      'freezeAll',
      {},
      { reason: 'audit', until: UNTIL },
      {
        path: '/api/v1/namespaces/reroll',
        annotations: { 'reroll.dev/freeze-all': `${UNTIL}; audit` },
        command: `kubectl reroll freeze --all --until ${UNTIL} --reason TEXT`,
      },
      { action: 'freezeAll', target: 'all workloads', reason: `until ${UNTIL}: audit` },
    ],
    [
      'unfreezeAll',
      {},
      { reason: 'over' },
      { annotations: { 'reroll.dev/freeze-all': null }, command: 'kubectl reroll unfreeze --all' },
      { action: 'unfreezeAll', target: 'all workloads', reason: 'over' },
    ],
  ])('%s %j %j', async (method, params, body, patch, entry) => {
    const { controller, patches, audited } = holding();
    expect(await call(controller, method, input(params, body))).toMatchObject({ id: '1-0' });
    expect(patches).toEqual([expect.objectContaining(patch)]);
    expect(audited).toEqual([expect.objectContaining({ ...entry, actor: 'ann', result: 'done' })]);
  });

  it('resumes a halted change', async () => {
    const { controller, resumed, audited } = holding();
    await call(controller, 'resume', input(DB, { reason: 'web was broken before', hash: 'shown' }));
    expect(resumed).toEqual([
      {
        path: '/api/v1/namespaces/shop/secrets/db',
        reason: 'web was broken before',
        command: 'kubectl reroll resume secret/db -n shop --reason TEXT',
      },
    ]);
    expect(audited).toMatchObject([{ action: 'resumeChange', target: 'Secret/shop/db', result: 'done' }]);
  });
});

describe('nothing is written', () => {
  it('for data that the caller has not seen', async () => {
    const { controller, resumed } = holding();
    const asked = call(controller, 'resume', input(DB, { reason: 'x', hash: 'other' }));
    await expect(asked).rejects.toMatchObject({ code: 'Conflict' });
    expect(resumed).toEqual([]);
  });

  it.each<[string, Method, object, string]>([
    ['for a namespace that they do not see', 'freezeNamespace', { namespace: 'other' }, 'NotFound'],
    ['for a workload that they do not see', 'freeze', { ...WEB, namespace: 'other' }, 'NotFound'],
    [
      'for a source that they do not see',
      'resume',
      { kind: 'Secret', namespace: 'other', name: 'db' },
      'NotFound',
    ],
    ['for everything, of which they change only some', 'freezeAll', {}, 'Forbidden'],
    ['for a workload that they may not change', 'approve', { ...WEB, name: 'db' }, 'Forbidden'],
  ])('%s, and the refusal is audited', async (_what, method, params, code) => {
    const { controller, patches, resumed, audited } = holding();
    const no = () => Promise.resolve(false);
    const caller = { ...ANN, mayChange: no, maySteer: no };
    const asked = input(params, { reason: 'x', id: '0123456789' }, caller);
    await expect(call(controller, method, asked)).rejects.toMatchObject({ code });
    expect([...patches, ...resumed]).toEqual([]);
    expect(audited).toEqual([expect.objectContaining({ actor: 'ann', result: 'refused', code })]);
  });

  it('for an end that is over', async () => {
    const { controller, patches } = holding();
    const asked = input(WEB, { reason: 'x', until: '2020-01-01T00:00:00Z' });
    await expect(controller.freeze(asked)).rejects.toMatchObject({
      code: 'InvalidRequest',
      details: { errors: [{ path: 'body.until', expected: 'a time in the future' }] },
    });
    expect(patches).toEqual([]);
  });
});
