import { createHash } from 'node:crypto';
import { WAVE_HASH } from '@reroll/core/adopted/wave-marker';
import { hashKey } from '@reroll/core/record/record-hash';
import { recordedHashes, RECORD_ANNOTATION, writeRecord } from '@reroll/core/record/record';
import { markerHash } from '@reroll/core/marker/marker-hash';
import { REASONS, type Reason } from '@reroll/core/reasons';
import { pendingJobOf, recreatedJob, type JobRead } from '@reroll/core/reload/pending-job';
import { REQUEST_ANNOTATION } from '@reroll/core/reload/request';
import { describe, expect, it } from 'vitest';
import { JobError, NotYetError, jobErrorOf } from '../job-error.ts';
import { refusal } from '../testing/fake-api.ts';
import {
  all,
  answers,
  asked,
  CM,
  dataOf,
  DEPLOYMENT,
  finishedJob,
  follower,
  hashOf,
  KEYS,
  overtaken,
  recordOf,
  REQUEST,
  rollout,
  Scene,
  settled,
  stale,
  TEMPLATE,
  unrecorded,
  type Change,
} from '../testing/scene.ts';
import type { ReloadOutcome } from './reload-outcome.ts';

type State = ReloadOutcome['state'];

const MARKER = markerHash('ConfigMap', dataOf('new'), { hash: 'auto', keys: [] });
const OTHER_KEY = `k01234567.${'A'.repeat(43)}`;

const gone: Change = (scene) => {
  scene.data = undefined;
  scene.sourceRow = { exists: false };
};
const unknown: Change = (scene) => {
  scene.data = undefined;
  scene.sourceRow = null;
};
const adoptedFromWave: Change = (scene) => void (scene.keys = { adopt: ['wave'] });
const exceeding: Change = (scene) => {
  scene.row = { dependencies: [], excess: { limit: 'sources', inNamespace: true, most: 3, given: 4 } };
};
function naming(list: string): Change {
  return (scene) => void (scene.annotations = { [KEYS.configMapReload]: list });
}
const optedOut: Change = (scene) => void (scene.annotations = {});
/** What is read of the pending Job `w`, which replaces a Job called `job`. */
function pendingJob(scene: Scene): void {
  scene.kind = 'Job';
  const container = { name: 'app', envFrom: [{ configMapRef: { name: 'cm' } }] };
  const job = {
    metadata: { name: 'job', namespace: 'ns', uid: 'uid-job' },
    spec: { template: { spec: { containers: [container] } } },
  } as JobRead;
  const kept = pendingJobOf({
    uid: 'uid-job',
    manifest: recreatedJob(job, { template: job.spec?.template ?? {}, record: recordOf('new') }),
  });
  scene.metadata = { ...kept.metadata, name: kept.metadata.name } as Scene['metadata'];
  scene.spec = { ...kept.spec };
  scene.name = kept.metadata.name;
}
function oldJob(finished: boolean): Change {
  return (scene) => {
    const conditions = finished ? [{ type: 'Complete', status: 'True' }] : [];
    const metadata = { name: 'job', namespace: 'ns', uid: 'uid-job', resourceVersion: '5' };
    scene.api.objects.set('/apis/batch/v1/namespaces/ns/jobs/job', {
      metadata,
      status: { conditions },
    } as never);
  };
}

/** Name, reason, state, scene, and the sources that it is reloaded for, if any. */
const OUTCOMES: readonly (readonly [string, Reason, State, Change])[] = [
  // Patch.
  ['a workload whose data is newer is patched', 'Reloaded', 'reloaded', () => undefined],
  [
    'also by what the change job read, without a read of its own',
    'Reloaded',
    'reloaded',
    (scene) => {
      scene.reading = 'fresh';
      scene.api.before = (_, path) => expect(path).not.toContain('configmaps');
    },
  ],
  ['also if others wrote to it up to four times', 'Reloaded', 'reloaded', overtaken(4)],
  [
    'with OnDelete somebody has to delete the pods',
    'ReloadedAwaitingDeletion',
    'reloaded',
    (scene) => {
      scene.kind = 'StatefulSet';
      scene.spec = { updateStrategy: { type: 'OnDelete' } };
    },
  ],
  [
    'with a pause-period its rollout is held back',
    'ReloadedPaused',
    'reloaded',
    (scene) => void (scene.annotations[KEYS.pausePeriod] = '5m'),
  ],
  [
    'a Deployment that its owner paused stays so',
    'ReloadedPaused',
    'reloaded',
    (scene) => void (scene.spec = { paused: true }),
  ],
  [
    'a pause-period that cannot be used holds nothing back',
    'ReloadedWithoutPause',
    'reloaded',
    (scene) => void (scene.annotations[KEYS.pausePeriod] = 'soon'),
  ],
  [
    'a deletion counts with --reload-on-delete',
    'Reloaded',
    'reloaded',
    all(gone, (scene) => {
      scene.settings = { onDelete: 'always' };
    }),
  ],
  [
    'and where only a variable can show it, if there is one',
    'Reloaded',
    'reloaded',
    all(gone, (scene) => {
      scene.env = [{ name: 'STAKATER_CM_CONFIGMAP', value: 'f00' }];
      scene.settings = { onDelete: 'marked' };
    }),
  ],
  [
    'what is stale at adoption is patched with --adopt-stale=reload',
    'Reloaded',
    'reloaded',
    all(stale, (scene) => void (scene.settings = { adoptStale: 'reload' })),
  ],
  [
    'an unverified entry never counts as equal',
    'Reloaded',
    'reloaded',
    all(settled, (scene) => void (scene.row = { unverified: [CM] })),
  ],
  ['a request reloads what is settled', 'Reloaded', 'reloaded', all(settled, asked)],
  [
    'a request reloads what has no record, and gives it one',
    'Reloaded',
    'reloaded',
    all(unrecorded, asked, unknown),
  ],
  ['a CronJob gets a Job', 'JobCreated', 'reloaded', (scene) => void (scene.kind = 'CronJob')],
  ['a Job is created again', 'JobRecreated', 'reloaded', (scene) => void (scene.kind = 'Job')],
  [
    'a Rollout is patched where its pod template is',
    'Reloaded',
    'reloaded',
    all(follower({ [RECORD_ANNOTATION]: recordOf('old') }, { template: TEMPLATE }), (scene) => {
      const of = { key: 'Deployment/ns/d' as const, uid: 'uid-d', generation: 1, rv: '9', isMarked: true };
      scene.row = { templateOwner: of, uses: [CM], dependencies: [CM] };
    }),
  ],
  // Finish what is half done.
  [
    'a recreation that was cut off is finished',
    'RecreationFinished',
    'unchanged',
    all(pendingJob, oldJob(false)),
  ],
  ['unless the old Job finished first', 'JobFinished', 'unchanged', all(pendingJob, oldJob(true))],
  // Only record.
  [
    'a rollout of the owner that came later brought the data',
    'BroughtByOwner',
    'recorded',
    (scene) => void (scene.row = { templateRv: '25' }),
  ],
  [
    'a workload without a record is recorded',
    'Adopted',
    'recorded',
    all(unrecorded, (scene) => void (scene.row = { templateRv: '25', baselines: { [CM]: '0' } })),
  ],
  [
    'one of which nothing tells what its pods run too',
    'StaleAtAdoption',
    'recorded',
    all(
      unrecorded,
      (scene) => void (scene.row = { templateRv: '25', baselines: { [CM]: '0' }, stale: [CM] }),
    ),
  ],
  [
    'unless its marker does',
    'Adopted',
    'recorded',
    all(stale, (scene) => {
      scene.env = [{ name: 'STAKATER_CM_CONFIGMAP', value: MARKER }];
    }),
  ],
  [
    'or the hash that Wave left',
    'Adopted',
    'recorded',
    all(stale, adoptedFromWave, (scene) => {
      const document = JSON.stringify({ configMaps: { cm: { key: 'new' } }, secrets: {} });
      scene.templateAnnotations = { [WAVE_HASH]: createHash('sha256').update(document).digest('hex') };
    }),
  ],
  [
    'but not if that is of something else',
    'StaleAtAdoption',
    'recorded',
    all(stale, adoptedFromWave, (scene) => {
      scene.templateAnnotations = { [WAVE_HASH]: 'f00' };
    }),
  ],
  [
    'nor if Wave followed what may not be read',
    'StaleAtAdoption',
    'recorded',
    all(stale, adoptedFromWave, (scene) => {
      scene.templateAnnotations = { [WAVE_HASH]: 'f00' };
      scene.annotations['wave.pusher.com/extra-configmaps'] = 'more';
      scene.api.before = (_, path) => {
        if (path.endsWith('/more')) throw refusal(403);
      };
    }),
  ],
  [
    'nor of what it followed elsewhere',
    'StaleAtAdoption',
    'recorded',
    all(stale, adoptedFromWave, (scene) => {
      scene.templateAnnotations = { [WAVE_HASH]: 'f00' };
      scene.annotations['wave.pusher.com/extra-configmaps'] = 'other/more';
    }),
  ],
  [
    'a record under an older scheme that agrees is written anew',
    'RecordRewritten',
    'recorded',
    all(settled, (scene) => void (scene.hashKeys = [hashKey(Buffer.from('new key'))])),
  ],
  [
    'a CronJob that is suspended is only recorded',
    'CronJobSuspended',
    'unchanged',
    (scene) => {
      scene.kind = 'CronJob';
      scene.spec = { suspend: true };
      settled(scene);
      asked(scene);
    },
  ],
  // Skip.
  ['a workload that is gone', 'WorkloadGone', 'unchanged', answers('GET', refusal(404))],
  ['data that was applied', 'InStep', 'unchanged', settled],
  ['a source that does not exist', 'SourceAbsent', 'unchanged', unknown],
  [
    'a source that is not watched, whatever hashes were left before',
    'SourceNotWatched',
    'unchanged',
    (scene) => {
      scene.labels = [{ key: 'watched', operator: 'exists', values: [] }];
      Object.assign(scene, { reading: 'fresh', sourceRow: { isUnwatched: true } });
    },
  ],
  ['a deletion without --reload-on-delete', 'SourceAbsent', 'unchanged', gone],
  [
    'a deletion that nothing can show',
    'SourceAbsent',
    'unchanged',
    all(gone, (scene) => void (scene.settings = { onDelete: 'marked' })),
  ],
  ['a workload that asks for nothing', 'NotAnnotated', 'unchanged', optedOut],
  ['also if a reload was requested', 'NotAnnotated', 'unchanged', all(optedOut, asked)],
  ['a pattern that cannot be used', 'InvalidPattern', 'unchanged', naming('(')],
  ['annotations beyond a limit', 'InvalidAnnotation', 'unchanged', naming('a,'.repeat(1_001))],
  ['dependencies beyond a limit', 'InvalidAnnotation', 'unchanged', exceeding],
  ['also if somebody requested a reload', 'InvalidAnnotation', 'unchanged', all(exceeding, asked)],
  [
    'a request that was done',
    'RequestDone',
    'unchanged',
    all(asked, settled, (scene) => void (scene.templateAnnotations = { [REQUEST_ANNOTATION]: REQUEST.id })),
  ],
  [
    'changes that are posted instead',
    'NotifiedInstead',
    'unchanged',
    (scene) => void (scene.settings = { notifyOnly: true }),
  ],
  [
    'a conflict with another controller',
    'Contested',
    'unchanged',
    (scene) => void (scene.row = { conflict: { before: [], strips: [1, 2, 3] } }),
  ],
  ['a dry run', 'WouldReload', 'wouldReload', (scene) => void (scene.settings = { dryRun: true })],
  [
    'a dry run that only records',
    'BroughtByOwner',
    'unchanged',
    (scene) => {
      scene.row = { templateRv: '25' };
      scene.settings = { dryRun: true };
    },
  ],
  [
    'a dry run goes by the record that it pretends',
    'InStep',
    'unchanged',
    (scene) => {
      scene.pretended = recordOf('new');
      scene.settings = { dryRun: true };
    },
  ],
  [
    'a dry run finishes no recreation',
    'JobTwin',
    'unchanged',
    all(pendingJob, (scene) => void (scene.settings = { dryRun: true })),
  ],
  ['a Job that is finished', 'JobFinished', 'unchanged', finishedJob],
  [
    'a Job of a CronJob',
    'JobOfCronJob',
    'unchanged',
    (scene) => {
      scene.kind = 'Job';
      scene.metadata = { ownerReferences: [{ uid: 'u', kind: 'CronJob', controller: true }] };
    },
  ],
  ['a Rollout whose Deployment is gone', 'WorkloadRefMissing', 'unchanged', rollout(DEPLOYMENT)],
  ['a Rollout of one that asks', 'WorkloadRefAnnotated', 'unchanged', follower({ [KEYS.auto]: 'true' })],
  [
    'a Rollout whose Deployment has too many',
    'TooManyRollouts',
    'unchanged',
    all(follower({}), (scene) => void (scene.row = { leftAlone: 'TooManyRollouts' })),
  ],
  ['a Rollout of a CronJob', 'WorkloadRefUnsupported', 'unchanged', rollout({ kind: 'CronJob', name: 'c' })],
  // Wait for the watcher, whose own event comes.
  [
    'a workload that the catalog does not know',
    'CatalogBehind',
    'unchanged',
    (scene) => void (scene.row = null),
  ],
  [
    'such a workload also if somebody requested a reload',
    'CatalogBehind',
    'unchanged',
    all(settled, asked, (scene) => void (scene.row = null)),
  ],
  [
    'one of which it knows an earlier generation',
    'CatalogBehind',
    'unchanged',
    (scene) => void (scene.row = { generation: 0 }),
  ],
  [
    'a source that was written since',
    'CatalogBehind',
    'unchanged',
    (scene) => {
      scene.source = { rv: '21' };
      scene.sourceRow = { dataRv: '5' };
    },
  ],
  [
    'a source that is back after its deletion',
    'CatalogBehind',
    'unchanged',
    (scene) => {
      scene.sourceRow = { exists: false };
      scene.settings = { onDelete: 'always' };
    },
  ],
  // Give up until something changes.
  [
    'annotations without room for a record',
    'AnnotationsFull',
    'unchanged',
    all(unrecorded, (scene) => {
      scene.row = { baselines: { [CM]: '0' } };
      scene.annotations['x'] = 'x'.repeat(262_000);
    }),
  ],
  [
    'annotations that the API server finds too long',
    'AnnotationsFull',
    'unchanged',
    answers('PATCH', refusal(422, { field: 'metadata.annotations' })),
  ],
  [
    'a record that would be too large',
    'RecordTooLarge',
    'unchanged',
    (scene) => {
      const names = Array.from({ length: 500 }, (_, n) => `${n}-${'x'.repeat(240)}`);
      const envFrom = names.map((name) => ({ configMapRef: { name } }));
      scene.spec = { template: { spec: { containers: [{ name: 'app', envFrom }] } } };
      scene.row = { baselines: Object.fromEntries(names.map((name) => [`ConfigMap/${name}`, '0'])) };
      unrecorded(scene);
    },
  ],
];

describe('a job that ends', () => {
  it.each(OUTCOMES)('%s: %s', async (_name, reason, state, change) => {
    const scene = new Scene(change);
    const outcome = await scene.run();
    expect([outcome.reason, outcome.state]).toEqual([reason, state]);
    // What the outcome says must be in the cluster: only a patch that says so may write.
    const writes = state === 'reloaded' || state === 'recorded' || reason === 'RecreationFinished';
    if (!writes && reason !== 'JobFinished' && reason !== 'AnnotationsFull')
      expect(scene.api.writes).toEqual([]);
  });

  it.each(OUTCOMES.filter(([, , state]) => state === 'reloaded'))(
    '%s, and a second time does nothing',
    async (...given) => {
      const scene = new Scene(given[3]);
      await scene.run();
      const writes = scene.api.writes.length;
      scene.row = { ...scene.row, templateRv: '200', unverified: [], stale: [] };
      const { state } = await scene.run();
      expect([state, scene.api.writes.length]).toEqual(['unchanged', writes]);
    },
  );
});

/** Name, reason, whether it is final, scene. */
const FAILURES: readonly (readonly [string, Reason, boolean, Change])[] = [
  ['others keep writing to it', 'Conflicting', false, overtaken(5)],
  [
    'the API server refuses the workload as invalid',
    'Invalid',
    true,
    answers('PATCH', refusal(422, { field: 'spec.x' })),
  ],
  ['it may not be read', 'Forbidden', false, answers('GET', refusal(403))],
  ['it may not be written', 'Forbidden', false, answers('PATCH', refusal(403))],
  ['the API server fails', 'ApiUnavailable', false, answers('GET', refusal(503))],
  ['the API server finds fault with the request', 'Failed', false, answers('GET', refusal(400))],
  ['anything else goes wrong', 'Failed', false, answers('GET', new TypeError('never to be read'))],
  ['nobody knows the kind', 'InvalidJob', true, (scene) => void (scene.job = 'Gadget/ns/w' as never)],
];

describe('a job that fails', () => {
  it.each(FAILURES)('%s: %s, final %s', async (_name, reason, isFinal, change) => {
    const error = await new Scene(change).run().catch(jobErrorOf);
    expect(error).toMatchObject({ reason, isFinal });
    expect(error).toBeInstanceOf(JobError);
  });

  it('says of which workload, for which request and for what', async () => {
    const scene = new Scene(all(asked, answers('PATCH', refusal(403))));
    const error = (await scene.run().catch(jobErrorOf)) as JobError;
    expect([error.subject?.key, error.request, error.pending]).toEqual([scene.key, REQUEST, [CM]]);
  });

  it.each([
    ['the workload cannot be read', answers('GET', refusal(403))],
    ['others keep writing to it', overtaken(5)],
  ])('says for which request also if %s', async (_, change) => {
    const error = await new Scene(all(asked, change)).run().catch(jobErrorOf);
    expect(error).toMatchObject({ request: REQUEST });
  });
});

/** Name, reason, milliseconds, scene. */
const WAITS: readonly (readonly [string, Reason, number, Change])[] = [
  [
    'its record is under a key that others have',
    'KeyUnknown',
    30_000,
    (scene) => {
      scene.record = writeRecord({ [CM]: OTHER_KEY });
      scene.hashKeys = [hashKey(Buffer.from('a key'))];
    },
  ],
  ['the limit of reloads is used up', 'RateLimited', 7_000, (scene) => void (scene.budget = [7_000])],
];

describe('a job that is to come again', () => {
  it('is reported if it is left to other workers', async () => {
    const [[, , , change]] = WAITS as [(typeof WAITS)[number]];
    const scene = new Scene(change);
    const handled = scene.handle(0).catch((thrown: unknown) => thrown);
    expect([await handled, scene.reported]).toEqual([expect.any(NotYetError), ['leftToOthers']]);
  });

  it.each(WAITS)('%s: %s', async (_name, reason, wait, change) => {
    const scene = new Scene(change);
    const error = (await scene.run().catch((thrown: unknown) => thrown)) as NotYetError;
    expect(error).toBeInstanceOf(NotYetError);
    expect([error.message, error.wait]).toEqual([`${reason}: wait ${wait} ms`, wait]);
    const left = reason === 'KeyUnknown' ? { reason, sources: { [CM]: reason } } : undefined;
    expect(error.left).toEqual(left && expect.objectContaining(left));
    expect(scene.api.writes).toEqual([]);
  });
});

it('the record has what was read, and a request leaves it as it was', async () => {
  const scene = new Scene();
  await scene.run();
  const recorded = (): unknown => recordedHashes(scene.object.metadata.annotations?.[RECORD_ANNOTATION]);
  expect(recorded()).toEqual({ [CM]: hashOf('new') });
  asked(scene);
  scene.row = { templateRv: '40' };
  await scene.run();
  expect(recorded()).toEqual({ [CM]: hashOf('new') });
});

it('the record is corrected only by a read after that of the workload', async () => {
  const read: string[] = [];
  const scene = new Scene((of) => {
    of.reading = 'fresh';
    of.row = { templateRv: '25' };
    of.api.before = (_, path) => void read.push(path);
  });
  expect((await scene.run()).reason).toBe('BroughtByOwner');
  expect(read.some((path) => path.endsWith('/configmaps/cm'))).toBe(true);
});

it('the record drops what the workload speaks of no more', async () => {
  const scene = new Scene((of) => {
    of.annotations[KEYS.configMapReload] = 'p-.*';
    of.record = writeRecord({
      [CM]: hashOf('old'),
      'ConfigMap/p-1': hashOf('a'),
      'ConfigMap/x': hashOf('b'),
    });
  });
  await scene.run();
  expect(recordedHashes(scene.object.metadata.annotations?.[RECORD_ANNOTATION])).toEqual({
    [CM]: hashOf('new'),
    'ConfigMap/p-1': hashOf('a'),
  });
});

it('a Rollout is restarted by the clock of the API server, by which its pods are created', async () => {
  const date = Math.floor(Date.now() / 1000) * 1000 + 3_600_000;
  const scene = new Scene((of) => {
    of.kind = 'Rollout';
    of.annotations[KEYS.rolloutStrategy] = 'restart';
    of.api.date = date;
  });
  await scene.run();
  const { restartAt } = (scene.object as unknown as { spec: { restartAt: string } }).spec;
  expect(Date.parse(restartAt)).toBeGreaterThan(date + 1_000);
  expect(Date.parse(restartAt)).toBeLessThan(date + 60_000);
});

it.each([
  ['stays requested for a day', 86_000_000, []],
  ['is given up after a day', 86_500_000, [REQUEST.id]],
])('a manual reload of a workload that the catalog does not know %s', async (_, age, done) => {
  const request = { ...REQUEST, at: Date.now() - age };
  const scene = new Scene(
    all(settled, (of) => {
      of.row = null;
      of.request = request;
    }),
  );
  await scene.handle(Date.now());
  expect([scene.doneRequests, scene.api.writes]).toEqual([done, []]);
});

it('what Wave left on a source that would do harm is told', async () => {
  const scene = new Scene(
    all(adoptedFromWave, (of) => {
      of.source = { owners: ['uid-w'] };
    }),
  );
  const { leftBehind } = await scene.run();
  expect(leftBehind).toEqual([expect.stringContaining(`${CM} has an ownerReference to the workload`)]);
});

/**
 * Reasons that come from elsewhere: the rules (see `core/rules`), holds (`reload-holds.spec.ts`), a resume job, a notification, the
 * history, or a paused queue.
 */
const ELSEWHERE: readonly Reason[] = [
  'WorkloadKindIgnored',
  'SourceTypeIgnored',
  'SourceIgnored',
  'SourceExcluded',
  'NamedByAnnotation',
  'SearchMatch',
  'AutoReload',
  'AutoReloadAll',
  'AdoptedAnnotation',
  'NoContainer',
  'Frozen',
  'OutsideWindow',
  'AwaitsApproval',
  'TooOften',
  'AwaitsWave',
  'WaveHalted',
  'AwaitsRollouts',
  'Requested',
  'Paused',
  'QueuePaused',
  'NotDelivered',
  'RecordShared',
];

it('every other reason is in these tables', () => {
  const here = new Set([...OUTCOMES, ...FAILURES, ...WAITS].map(([, reason]) => reason));
  const missing = (Object.keys(REASONS) as Reason[]).filter((reason) => !here.has(reason));
  expect(missing.sort()).toEqual([...ELSEWHERE].sort());
});
