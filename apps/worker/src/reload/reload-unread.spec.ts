import { MOST_ANNOTATION_BYTES } from '@reroll/core/reload/annotation-room';
import { describe, expect, it } from 'vitest';
import { refusal } from '../testing/fake-api.ts';
import {
  all,
  answers,
  asked,
  KEYS,
  overtaken,
  recordOf,
  Scene,
  settled,
  stale,
  unrecorded,
  type Change,
} from '../testing/scene.ts';

const MARK = 'STAKATER_CM_CONFIGMAP';

/** A pending workload of which the catalog knows all, and the reads of one job, without those of Namespaces. */
class UnreadScene extends Scene {
  readonly reads: string[] = [];

  constructor(change: Change = () => undefined) {
    super((scene) => {
      scene.unread = true;
      scene.reading = 'fresh';
      change(scene);
    });
    const { before } = this.api;
    this.api.before = (method, path) => {
      if (method === 'GET' && path !== '/api/v1/namespaces/ns') this.reads.push(path);
      before(method, path);
    };
  }
}

/** Somebody writes to the workload right before the first patch. */
function meanwhile(write: (object: UnreadScene['object']) => void): Change {
  return (scene) => {
    let isDone = false;
    scene.api.before = (method) => {
      if (method !== 'PATCH' || isDone) return;
      isDone = true;
      const object = structuredClone(scene.object);
      write(object);
      scene.api.objects.set(scene.path, object);
    };
  };
}

const ofKind =
  (kind: Scene['kind']): Change =>
  (scene) =>
    void (scene.kind = kind);

describe('a workload of which the catalog knows all that a patch needs', () => {
  it.each(['Deployment', 'StatefulSet', 'DaemonSet'] as const)(
    'is reloaded by one request: %s',
    async (kind) => {
      const scene = new UnreadScene(ofKind(kind));
      expect(await scene.run()).toMatchObject({ state: 'reloaded', reason: 'Reloaded', generation: 2 });
      expect(scene.reads).toEqual([]);
      expect(scene.api.writes).toEqual(['PATCH w']);
      const [container] =
        (scene.object as { spec?: { template?: { spec?: { containers?: { env?: object[] }[] } } } }).spec
          ?.template?.spec?.containers ?? [];
      expect(container?.env).toEqual([{ name: MARK, value: 'f00' }]);
    },
  );

  it('gets another value of its marker', async () => {
    const scene = new UnreadScene((of) => void (of.env = [{ name: MARK, value: 'old' }]));
    expect((await scene.run()).state).toBe('reloaded');
    expect(scene.reads).toEqual([]);
  });

  it('was reloaded before', async () => {
    const scene = new UnreadScene((of) => void (of.row = { conflict: { before: ['t'], strips: [] } }));
    expect((await scene.run()).state).toBe('reloaded');
    expect(scene.reads).toEqual([]);
  });

  it('takes a slot and uses it', async () => {
    const scene = new UnreadScene((of) => void (of.budget = []));
    await scene.run();
    expect(scene.slot).toEqual(['ask', 'claim', 'used']);
    expect(scene.reads).toEqual([]);
  });

  it.each<[string, Change]>([
    ['its spec was changed', meanwhile(({ metadata }) => void Object.assign(metadata, { generation: 2 }))],
    ['it was created again', meanwhile(({ metadata }) => void Object.assign(metadata, { uid: 'another' }))],
    [
      'an annotation that decides was changed',
      all(
        ofKind('StatefulSet'),
        meanwhile(({ metadata }) => void Object.assign(metadata.annotations ?? {}, { [KEYS.auto]: 'false' })),
      ),
    ],
    [
      'its record was taken away',
      meanwhile(({ metadata }) => void Object.assign(metadata, { annotations: { [KEYS.auto]: 'true' } })),
    ],
  ])('is read if %s', async (_, change) => {
    const scene = new UnreadScene(change);
    await scene.run();
    expect(scene.reported).toEqual(['overtaken']);
    expect(scene.reads).toContain(scene.path);
  });

  it('that did not opt in is not patched by a row that says so', async () => {
    for (const forged of ['annotations', 'podAnnotations'] as const) {
      const scene = new UnreadScene((of) => {
        of.annotations = {};
        of.row = { dependencies: ['ConfigMap/cm'], [forged]: { [KEYS.auto]: 'true' } };
      });
      expect(await scene.run()).toMatchObject({ state: 'unchanged', reason: 'NotAnnotated' });
      expect(scene.reported).toEqual(['overtaken']);
    }
  });

  it('is read once if its first patch is overtaken', async () => {
    const scene = new UnreadScene(overtaken(1));
    expect((await scene.run()).state).toBe('reloaded');
    expect(scene.reads).toEqual([scene.path]);
  });

  it('fails like any other if the API server does not answer, and is read at the next attempt', async () => {
    const scene = new UnreadScene(answers('PATCH', refusal(503), 1));
    await expect(scene.run()).rejects.toMatchObject({ reason: 'ApiUnavailable', pending: ['ConfigMap/cm'] });
    expect(scene.reads).toEqual([]);
    expect((await scene.run(false)).state).toBe('reloaded');
    expect(scene.reads).toEqual([scene.path]);
  });
});

describe('a workload is read, and no patch is counted as overtaken,', () => {
  it.each<[string, Change]>([
    ['if nothing is pending', settled],
    ['if it has no record', unrecorded],
    ['if it may run outdated data', stale],
    ['if no reading was handed over', (scene) => void (scene.reading = 'none')],
    ['if a user requested a reload', asked],
    ['if it is paused', (scene) => void (scene.spec = { paused: true })],
    ['if a reload pauses it', (scene) => void (scene.annotations[KEYS.pausePeriod] = '5m')],
    [
      'if pods are replaced only when they are deleted',
      all(ofKind('StatefulSet'), (scene) => void (scene.spec = { updateStrategy: { type: 'OnDelete' } })),
    ],
    ['if its marker has the value already', (scene) => void (scene.env = [{ name: MARK, value: 'f00' }])],
    [
      'if its annotations are half full',
      (scene) => void (scene.annotations['notes'] = 'x'.repeat(MOST_ANNOTATION_BYTES / 2)),
    ],
    ['if it is a CronJob', ofKind('CronJob')],
    ['if it is in conflict', (scene) => void (scene.row = { conflict: { strips: [1, 2, 3] } as never })],
    ['if the rules no longer reload it', (scene) => void (scene.annotations = {})],
    ['in a dry run', (scene) => void (scene.settings = { dryRun: true, patchesUnread: false })],
    ['if the row says nothing of its template', (scene) => void (scene.row = { places: undefined })],
    ['if the places cannot be read', (scene) => void (scene.row = { places: '[' })],
    ['if it was recorded already', (scene) => void (scene.row = { record: recordOf('new') })],
  ])('%s', async (_, change) => {
    const scene = new UnreadScene(change);
    await scene.run();
    expect(scene.reads).toContain(scene.path);
    expect(scene.reported).toEqual([]);
  });
});
