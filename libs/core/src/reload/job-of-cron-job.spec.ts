import { describe, expect, it } from 'vitest';
import { DELETED_MARKER_HASH } from '../marker/marker-hash.ts';
import { RECORD_ANNOTATION } from '../record/record.ts';
import { jobName, jobOfCronJob } from './job-of-cron-job.ts';
import { markedTemplate } from './patch.ts';

describe('the name of a Job of a CronJob', () => {
  it('is the name of the CronJob and the end that was written down for it', () => {
    expect(jobName('report', 'a1b2c3d4e5')).toBe('report-a1b2c3d4e5');
  });

  it('has at most 63 characters, of which the end keeps all', () => {
    const name = jobName('x'.repeat(60), 'a1b2c3d4e5');
    expect(name).toHaveLength(63);
    expect(name).toMatch(/^x+-a1b2c3d4e5$/);
  });

  it('leaves room for the index of the last pod of an Indexed Job', () => {
    const name = jobName('x'.repeat(52), 'a1b2c3d4e5', { completionMode: 'Indexed', completions: 11 });
    expect(`${name}-10`).toHaveLength(63);
    expect(name).toMatch(/^x+-a1b2c3d4e5$/);
  });
});

describe('the Job of a CronJob', () => {
  const cronJob = { name: 'report', namespace: 'shop', uid: 'u1' };
  const template = { spec: { containers: [{ name: 'app' }] } };
  const spec = { backoffLimit: 3, template };

  it('has labels, annotations and spec of the template, and the CronJob as its controller', () => {
    const jobTemplate = { metadata: { labels: { a: '1' }, annotations: { note: 'n' } }, spec };
    expect(jobOfCronJob({ cronJob, jobTemplate, template, name: 'report-1', record: 'r' })).toEqual({
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: {
        name: 'report-1',
        namespace: 'shop',
        labels: { a: '1' },
        annotations: { 'cronjob.kubernetes.io/instantiate': 'manual', note: 'n', [RECORD_ANNOTATION]: 'r' },
        ownerReferences: [
          { apiVersion: 'batch/v1', kind: 'CronJob', name: 'report', uid: 'u1', controller: true },
        ],
      },
      spec: { backoffLimit: 3, template },
    });
  });

  it('has the annotation of the template where both set the same', () => {
    const key = 'cronjob.kubernetes.io/instantiate';
    const jobTemplate = { metadata: { annotations: { [key]: 'by hand' } }, spec };
    const job = jobOfCronJob({ cronJob, jobTemplate, template, name: 'report-1', record: 'r' });
    expect(job).toHaveProperty(['metadata', 'annotations', key], 'by hand');
  });
});

describe('a pod template with its markers', () => {
  const template = {
    metadata: { annotations: { kept: 'yes' } },
    spec: { containers: [{ name: 'app', env: [{ name: 'KEPT', value: '1' }] }] },
  };
  const input = {
    template,
    rolled: [{ kind: 'ConfigMap', namespace: 'ns', name: 'cm', auto: false, markerHash: 'h' }],
    markerAnnotation: 'example.com/last',
    now: 1,
  } as const;

  it('is another one, with the variable added', () => {
    const marked = markedTemplate({ ...input, strategy: 'env-vars' });
    expect(marked.spec?.containers?.[0]?.env).toEqual([
      { name: 'KEPT', value: '1' },
      { name: 'STAKATER_CM_CONFIGMAP', value: 'h' },
    ]);
    expect(template.spec.containers[0]?.env).toHaveLength(1);
  });

  it('has the variable replaced if it was there', () => {
    const once = markedTemplate({ ...input, strategy: 'env-vars' });
    const [rolled] = input.rolled;
    const twice = markedTemplate({
      ...input,
      template: once,
      rolled: [{ ...rolled, markerHash: 'g' }],
      strategy: 'env-vars',
    });
    expect(twice.spec?.containers?.[0]?.env).toContainEqual({ name: 'STAKATER_CM_CONFIGMAP', value: 'g' });
    expect(twice.spec?.containers?.[0]?.env).toHaveLength(2);
  });

  it('has the variable of a deleted source removed, and the others left', () => {
    const once = markedTemplate({ ...input, strategy: 'env-vars' });
    const [rolled] = input.rolled;
    const gone = [{ ...rolled, markerHash: DELETED_MARKER_HASH }];
    const after = markedTemplate({ ...input, template: once, rolled: gone, strategy: 'env-vars' });
    expect(after.spec?.containers?.[0]?.env).toEqual([{ name: 'KEPT', value: '1' }]);
  });

  it.each([
    ['annotations', template],
    ['metadata without annotations', { ...template, metadata: {} }],
    ['no metadata', { spec: template.spec }],
  ])('has the annotation, whether there are %s', (_name, from) => {
    const marked = markedTemplate({ ...input, template: from, strategy: 'annotations' });
    expect(marked.metadata?.annotations?.['example.com/last']).toContain('"hash":"h"');
    expect(marked.spec).toEqual(template.spec);
  });
});
