import { describe, expect, it } from 'vitest';
import { RECORD_ANNOTATION } from '../record/record.ts';
import {
  keptBy,
  recreatedJob,
  PENDING_JOB_ANNOTATION,
  PENDING_JOB_LABEL,
  pendingJobName,
  pendingJobOf,
  type JobRead,
} from './pending-job.ts';

const generated = {
  'controller-uid': 'u1',
  'batch.kubernetes.io/controller-uid': 'u1',
  'batch.kubernetes.io/job-name': 'import',
  'job-name': 'import',
};
const template = {
  metadata: { labels: { app: 'x', ...generated } },
  spec: { containers: [{ name: 'app' }] },
};
const read = {
  metadata: {
    name: 'import',
    namespace: 'shop',
    uid: 'u1',
    resourceVersion: '7',
    generation: 3,
    creationTimestamp: '2026-11-21T06:00:00Z',
    labels: { app: 'x' },
    annotations: { note: 'n' },
    ownerReferences: [{ uid: 'o' }],
  },
  spec: { suspend: false, backoffLimit: 3, selector: { matchLabels: generated }, template },
  status: { active: 1 },
} as JobRead;
const recreated = recreatedJob(read, { template, record: 'r' });

describe('a Job that is created again', () => {
  it('has all that its owner gave it and the record, and nothing that the API server gave it', () => {
    expect(recreated).toEqual({
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: {
        name: 'import',
        namespace: 'shop',
        labels: { app: 'x' },
        annotations: { note: 'n', [RECORD_ANNOTATION]: 'r' },
        ownerReferences: [{ uid: 'o' }],
      },
      spec: {
        suspend: false,
        backoffLimit: 3,
        template: { metadata: { labels: { app: 'x' } }, spec: template.spec },
      },
    });
  });

  it('keeps selector and labels if they are its own', () => {
    const spec = { ...read.spec, manualSelector: true };
    expect(recreatedJob({ ...read, spec }, { template, record: 'r' }).spec).toEqual({ ...spec, template });
  });
});

describe('a pending Job', () => {
  const pendingJob = pendingJobOf({ uid: 'u1', manifest: recreated });
  const stored = { ...pendingJob, metadata: { ...pendingJob.metadata, uid: 'u2' } };

  it('is suspended, has another name, and nothing by which others could take it for the Job', () => {
    expect(pendingJob.spec.suspend).toBe(true);
    expect(pendingJob.metadata.name).not.toBe('import');
    expect(Object.keys(pendingJob.metadata).sort()).toEqual(['annotations', 'labels', 'name', 'namespace']);
    expect(pendingJob.metadata.labels).toEqual({ [PENDING_JOB_LABEL]: 'true' });
    expect(Object.keys(pendingJob.metadata.annotations ?? {})).toEqual([PENDING_JOB_ANNOTATION]);
  });

  it('gives back the very Job, also after the API server added its labels to the template', () => {
    const labels = { app: 'x', ...generated, 'job-name': pendingJob.metadata.name };
    const spec = {
      ...stored.spec,
      selector: { matchLabels: {} },
      template: { ...template, metadata: { labels } },
    };
    expect(keptBy({ ...stored, spec })).toEqual({ uid: 'u1', manifest: recreated });
  });

  it.each([true, false])('gives back whether the Job is suspended: %s', (suspend) => {
    const manifest = { ...recreated, spec: { ...recreated.spec, suspend } };
    const { metadata, spec } = pendingJobOf({ uid: 'u1', manifest });
    expect(keptBy({ metadata: { ...metadata, uid: 'u2' }, spec })?.manifest.spec.suspend).toBe(suspend);
  });

  it.each([
    ['has no such annotation', {}],
    ['has one that is no JSON', { [PENDING_JOB_ANNOTATION]: '{' }],
    ['has one that is null', { [PENDING_JOB_ANNOTATION]: 'null' }],
    [
      'has one of another version',
      { [PENDING_JOB_ANNOTATION]: '{"v":2,"name":"a","uid":"u","metadata":{}}' },
    ],
    [
      'is not the pending Job that its annotation speaks of',
      { [PENDING_JOB_ANNOTATION]: '{"v":1,"name":"a","uid":"u","metadata":{}}' },
    ],
  ])('keeps nothing if it %s', (_sentence, annotations) => {
    expect(keptBy({ ...stored, metadata: { ...stored.metadata, annotations } })).toBeUndefined();
  });

  it('has a name of at most 63 characters, the same for the same Job', () => {
    const long = { name: 'x'.repeat(63), uid: 'u1' };
    const name = pendingJobName(long);
    expect(name).toHaveLength(63);
    expect(pendingJobName(long)).toBe(name);
    expect(pendingJobName({ ...long, uid: 'u2' })).not.toBe(name);
  });

  it.each([
    ['after 51 characters', `${'a'.repeat(51)}.bcdefghi`],
    ['after 50, before another part', `${'a'.repeat(50)}.b.cdefghi`],
    ['after a dash', `${'a'.repeat(50)}--bcdefghi`],
  ])('has a name of a DNS subdomain if that of the Job is cut %s', (_where, name) => {
    const part = '[a-z0-9](?:[-a-z0-9]*[a-z0-9])?';
    const pendingName = pendingJobName({ name, uid: 'u1' });
    expect(pendingName).toMatch(new RegExp(`^${part}(?:\\.${part})*$`, 'u'));
    expect(pendingName.length).toBeLessThanOrEqual(63);
  });

  it.each([1, 10, 11, 100_000])(
    'of an Indexed Job with %i completions has a name that leaves room for the index of its last pod',
    (completions) => {
      const name = 'x'.repeat(63 - `-${completions - 1}`.length);
      const spec = { ...recreated.spec, completionMode: 'Indexed', completions };
      const manifest = { ...recreated, metadata: { ...recreated.metadata, name }, spec };
      const indexed = pendingJobOf({ uid: 'u1', manifest });
      expect(`${indexed.metadata.name}-${completions - 1}`).toHaveLength(63);
      const kept = keptBy({ ...indexed, metadata: { ...indexed.metadata, uid: 'u2' } });
      expect(kept?.manifest.metadata.name).toBe(name);
    },
  );
});
