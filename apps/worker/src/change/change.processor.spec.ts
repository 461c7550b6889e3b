import { DEFAULT_ANNOTATION_KEYS as KEYS } from '@reroll/core/annotations/annotation-keys';
import type { Before } from '@reroll/core/history/change-cause';
import type { ChangeEntry } from '@reroll/core/history/entries';
import type { Annotations, WorkloadKey } from '@reroll/core/model';
import type { Reason } from '@reroll/core/reasons';
import type { DecisionSettings } from '@reroll/core/rules/decision';
import type { SourceHashes, WorkloadRow } from '@reroll/core/state/rows';
import { sourceRow, workloadRow } from '@reroll/core/testing/rows';
import type { Catalog } from '@reroll/redis/catalog/catalog';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { only } from '../testing/only.ts';
import {
  ChangeProcessor,
  USERS_PER_PORTION,
  type ChangeOutcome,
  type JudgedUser,
} from './change.processor.ts';
import type { SourceAbsence, SourceNow } from './source-reader.ts';

const SOURCE = 'ConfigMap/ns/cm';
const HASHES = { rv: '20', hash: '1.B', markerHash: 'f00' };
const NOW = HASHES as SourceNow;

/** A change of the ConfigMap `cm`. The Deployment `w` uses it and asks to be reloaded; a spec changes what differs. */
class Scene {
  users: readonly WorkloadKey[] = ['Deployment/ns/w'];
  row: Partial<WorkloadRow> = {};
  exists = true;
  annotations: Annotations = {};
  now: SourceNow | SourceAbsence = NOW;
  /** What the leader left. */
  reading: SourceHashes | undefined;
  before: Before | undefined = { foundBy: 'event', hash: '1.A' };
  settings: Partial<DecisionSettings> = {};
  isPosted = false;
  backingOff: readonly string[] = [];
  /** The calls, in order. */
  readonly done: string[] = [];
  readonly judged: JudgedUser[] = [];
  /** Reads of rows that were begun, and those that have ended. */
  readonly rowReads: string[] = [];

  async run(): Promise<ChangeOutcome> {
    const settings = { keys: KEYS, autoReloadAll: false, ignoredWorkloadTypes: [], ...this.settings };
    const webhook = { changed: async () => void this.done.push('notify') };
    const processor = new ChangeProcessor(
      {
        catalog: this.#catalog,
        sources: {
          read: async () => {
            this.done.push('read');
            return this.now;
          },
        },
        history: { before: async () => this.before },
        queue: {
          enqueueReloads: async (jobs) => void this.done.push(`enqueue ${jobs.length}`),
          bringForward: async (ids) => {
            const all = [...ids];
            if (all.length > 0) this.done.push(`bring forward ${all.join()}`);
          },
        },
        reports: {
          judged: (users) => void this.judged.push(...users),
          expect: ({ woken }: ChangeEntry) => void this.done.push(`expect ${woken.length}`),
          enqueued: () => undefined,
          ended: () => undefined,
          failed: () => undefined,
        },
        ...(this.isPosted ? { webhook } : {}),
      },
      settings,
    );
    return await processor.process({ v: 1, source: SOURCE, since: 7 });
  }

  readonly #catalog = only<Catalog>('catalog', {
    eachUser: () => this.#eachUser(),
    sourceFacts: () =>
      this.#rowRead('source', {
        sources: new Map(
          this.exists ? [[SOURCE, { ...sourceRow(20, 'B'), annotations: this.annotations }]] : [],
        ),
        readings: new Map(this.reading ? [[SOURCE, this.reading]] : []),
      }),
    eachWorkloadOf: (keys: readonly WorkloadKey[]) => this.#eachWorkloadOf(keys),
    putReading: async (_source: string, hashes: object) => {
      expect(hashes).toEqual(HASHES);
      this.done.push('leave hashes');
    },
    backingOff: async () => new Map(this.backingOff.map((id) => [id, id])),
  });

  constructor(change: (scene: Scene) => void) {
    change(this);
  }

  async *#eachUser(): AsyncGenerator<readonly WorkloadKey[]> {
    this.rowReads.push('begin users');
    yield this.users;
  }

  async *#eachWorkloadOf(keys: readonly WorkloadKey[]): AsyncGenerator<Map<WorkloadKey, WorkloadRow>> {
    yield await this.#rowRead('workloads', new Map(keys.map((key) => [key, workloadRow(this.row)])));
  }

  async #rowRead<Rows>(of: string, rows: Rows): Promise<Rows> {
    this.rowReads.push(`begin ${of}`);
    await nextTurn();
    this.rowReads.push(`end ${of}`);
    return rows;
  }
}

type Change = (scene: Scene) => void;
function annotated(annotations: Annotations, more: Partial<Scene> = {}): Change {
  return (scene) => {
    scene.row = { annotations };
    Object.assign(scene, more);
  };
}
const unused = { uses: [], mentions: ['ConfigMap/cm'] };
const ASKED = { [KEYS.configMapReload]: 'cm' };

describe('a user of the source', () => {
  it.each<[Reason, boolean, Change]>([
    ['AutoReload', true, () => undefined],
    // Redis has lost the row of the source since the change.
    ['AutoReload', true, (scene) => void (scene.exists = false)],
    ['NamedByAnnotation', true, annotated(ASKED)],
    ['SearchMatch', true, annotated({ [KEYS.search]: 'true' }, { annotations: { [KEYS.match]: 'true' } })],
    ['AutoReloadAll', true, annotated({}, { settings: { autoReloadAll: true } })],
    ['NoContainer', false, (scene) => void (scene.row = unused)],
    ['NoContainer', false, (scene) => void (scene.row = { annotations: ASKED, hasContainers: false })],
    ['NotAnnotated', false, annotated({})],
    ['InvalidPattern', false, annotated({ [KEYS.configMapReload]: '(' })],
    ['SourceIgnored', false, (scene) => void (scene.annotations = { [KEYS.ignore]: 'true' })],
    ['SourceExcluded', false, annotated({ [KEYS.auto]: 'true', [KEYS.configMapExclude]: 'cm' })],
    ['SourceTypeIgnored', false, (scene) => void (scene.settings = { ignoredSourceKinds: ['ConfigMap'] })],
    [
      'WorkloadKindIgnored',
      false,
      (scene) => {
        scene.users = ['Job/ns/w'];
        scene.settings = { ignoredWorkloadTypes: ['jobs'] };
      },
    ],
    ['JobFinished', false, (scene) => void (scene.row = { leftAlone: 'JobFinished' })],
    [
      'InvalidAnnotation',
      false,
      (scene) => void (scene.row = { excess: { limit: 'listWords', most: 1, given: 2 } }),
    ],
  ])('%s: enqueued %s', async (reason, enqueue, change) => {
    const scene = new Scene(change);
    const { entry, isQuiet } = await scene.run();
    const [workload = ''] = scene.users;
    expect(scene.judged).toEqual([{ workload, enqueue, reason, detail: expect.any(String) as unknown }]);
    const told = [{ workload, reason, detail: scene.judged[0]?.detail }];
    expect([entry.woken, entry.leftAlone, isQuiet]).toEqual(enqueue ? [told, [], false] : [[], told, true]);
    expect(scene.done).toEqual([
      'read',
      'leave hashes',
      `expect ${enqueue ? 1 : 0}`,
      ...(enqueue ? ['enqueue 1'] : []),
    ]);
  });

  it('is read one round trip after the source and its users', async () => {
    const scene = new Scene(() => undefined);
    await scene.run();
    expect(scene.rowReads).toEqual([
      'begin users',
      'begin source',
      'end source',
      'begin workloads',
      'end workloads',
    ]);
  });
});

describe('the hashes that the leader left', () => {
  it.each<[string, string[], Change]>([
    ['are taken if they are those of the row', ['expect 1', 'enqueue 1'], () => undefined],
    [
      'are not taken if the row shows another write',
      ['read', 'leave hashes', 'expect 1', 'enqueue 1'],
      (scene) => void (scene.reading = { ...HASHES, rv: '19' }),
    ],
    [
      'nor if the row is gone',
      ['read', 'leave hashes', 'expect 1', 'enqueue 1'],
      (scene) => void (scene.exists = false),
    ],
    [
      'nor if the row has a hash under another key',
      ['read', 'leave hashes', 'expect 1', 'enqueue 1'],
      (scene) => void (scene.reading = { ...HASHES, hash: '1.k' }),
    ],
    ['nor for a webhook', ['read', 'notify'], (scene) => void (scene.isPosted = true)],
  ])('%s', async (_name, done, change) => {
    const scene = new Scene((it) => {
      it.reading = HASHES;
      change(it);
    });
    const { entry } = await scene.run();
    expect(entry).toMatchObject({ cause: 'updated', hash: '1.B' });
    expect(scene.done).toEqual(done);
  });
});

describe('a change', () => {
  it.each<[string, Partial<ChangeEntry>, boolean, string[], Change]>([
    [
      'of data',
      { cause: 'updated', from: '1.A', hash: '1.B' },
      false,
      ['read', 'leave hashes', 'expect 1', 'enqueue 1'],
      () => undefined,
    ],
    [
      'of a source that the catalog does not know yet',
      { hash: '1.B' },
      false,
      ['read', 'leave hashes', 'expect 1', 'enqueue 1'],
      (scene) => void (scene.exists = false),
    ],
    [
      'that was told before',
      { cause: 'repeated', hash: '1.B' },
      false,
      ['read', 'leave hashes', 'expect 1', 'enqueue 1'],
      (scene) => void (scene.before = undefined),
    ],
    [
      'for which a job waits brings it forward',
      {},
      false,
      ['read', 'leave hashes', 'expect 1', 'enqueue 1', 'bring forward 42'],
      (scene) => void (scene.backingOff = ['42']),
    ],
    [
      "of a source that is gone enqueues nobody: that is the leader's to do",
      { cause: 'deleted', hash: null, woken: [], leftAlone: [] },
      true,
      ['read', 'expect 0'],
      (scene) => void (scene.now = 'SourceAbsent'),
    ],
    [
      'of a source that is not watched neither',
      { hash: null, woken: [], leftAlone: [] },
      true,
      ['read', 'expect 0'],
      (scene) => void (scene.now = 'SourceNotWatched'),
    ],
    [
      'of a source that nobody uses reads nothing',
      { hash: '1.B', woken: [] },
      true,
      [],
      (scene) => void (scene.users = []),
    ],
    [
      'and knows of none what the catalog does not',
      { hash: null, woken: [] },
      true,
      [],
      (scene) => {
        scene.users = [];
        scene.exists = false;
      },
    ],
    [
      'with users that can be none reads nothing either',
      { hash: '1.B' },
      true,
      [],
      (scene) => void (scene.users = ['Gadget/ns/w', 'Deployment/../x/y'] as never),
    ],
    [
      'that is posted enqueues nobody',
      { woken: [], leftAlone: [] },
      false,
      ['read', 'notify'],
      (scene) => void (scene.isPosted = true),
    ],
    [
      'that nobody uses is posted too',
      {},
      false,
      ['read', 'notify'],
      (scene) => {
        scene.isPosted = true;
        scene.users = [];
      },
    ],
    [
      'of many users is handled in portions',
      {},
      false,
      [
        'read',
        'leave hashes',
        'expect 300',
        `enqueue ${USERS_PER_PORTION}`,
        `enqueue ${300 - USERS_PER_PORTION}`,
      ],
      (scene) => void (scene.users = Array.from({ length: 300 }, (_, n) => `Deployment/ns/${n}` as const)),
    ],
  ])('%s', async (_name, entry, isQuiet, done, change) => {
    const scene = new Scene(change);
    const outcome = await scene.run();
    expect(outcome).toMatchObject({ entry: { source: SOURCE, since: 7, ...entry }, isQuiet });
    expect(scene.done).toEqual(done);
  });
});
