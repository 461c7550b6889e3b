import { cutName } from '../cut-name.ts';
import { jsonFields } from '../json.ts';
import { createHash } from 'node:crypto';
import type { Annotations, PodTemplate } from '../model.ts';
import { RECORD_ANNOTATION } from '../record/record.ts';
import { longestJobName, type JobSize } from './longest-job-name.ts';

/**
 * A Job's pod template cannot be changed, so a reload deletes the Job and creates it again. Meanwhile a suspended Job with another
 * name and this annotation, the *pending Job*, keeps what the Job is to become. The annotation is JSON: the Job it stands for, and
 * what the pending Job itself must not have (labels and owners, so that nothing takes it for the Job).
 */
export const PENDING_JOB_ANNOTATION = 'reroll.dev/twin-of';

/** Label of every pending Job, to find them without the other Jobs; its value is `true`. */
export const PENDING_JOB_LABEL = 'reroll.dev/twin';

/** Labels that the API server generates for a Job's pods. It refuses those of another Job. */
const GENERATED = [
  'controller-uid',
  'batch.kubernetes.io/controller-uid',
  'batch.kubernetes.io/job-name',
  'job-name',
] as const;

interface Metadata {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Annotations;
  readonly ownerReferences?: readonly unknown[];
  readonly finalizers?: readonly string[];
}

interface LabelledTemplate extends PodTemplate {
  readonly metadata?:
    | (PodTemplate['metadata'] & { readonly labels?: Readonly<Record<string, string>> | undefined })
    | undefined;
}

interface JobSpec extends JobSize {
  readonly suspend?: boolean;
  readonly manualSelector?: boolean;
  readonly selector?: unknown;
  readonly template?: LabelledTemplate;
}

export interface JobManifest {
  readonly apiVersion: 'batch/v1';
  readonly kind: 'Job';
  readonly metadata: Metadata & { readonly name: string; readonly namespace: string };
  readonly spec: JobSpec;
}

export interface JobRead {
  readonly metadata: Metadata & { readonly name: string; readonly namespace: string; readonly uid: string };
  readonly spec?: JobSpec;
}

/** The content of a pending Job. */
export interface Kept {
  /** uid of the Job that is deleted. */
  readonly uid: string;
  /** The Job that is created in its place. */
  readonly manifest: JobManifest;
}

/** Returns the Job with markers and record, as stakater/Reloader creates it again: name, labels and spec stay. */
export function recreatedJob(job: JobRead, by: { template: LabelledTemplate; record: string }): JobManifest {
  const { name, namespace, labels, annotations, ownerReferences, finalizers } = job.metadata;
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name,
      namespace,
      ...(labels ? { labels: withoutGenerated(labels) } : {}),
      annotations: { ...annotations, [RECORD_ANNOTATION]: by.record },
      ...(ownerReferences ? { ownerReferences } : {}),
      ...(finalizers ? { finalizers } : {}),
    },
    spec: cleanSpec({ ...job.spec, template: by.template }),
  };
}

export function pendingJobOf({ uid, manifest }: Kept): JobManifest {
  const { name, namespace, ...metadata } = manifest.metadata;
  const suspend = manifest.spec.suspend ?? false;
  return {
    ...manifest,
    metadata: {
      name: pendingJobName({ name, uid, spec: manifest.spec }),
      namespace,
      labels: { [PENDING_JOB_LABEL]: 'true' },
      annotations: { [PENDING_JOB_ANNOTATION]: JSON.stringify({ v: 1, name, uid, suspend, metadata }) },
    },
    spec: { ...manifest.spec, suspend: true },
  };
}

/** Returns the content of a pending Job; undefined if the Job is none or its annotation cannot be read. */
export function keptBy(pendingJob: JobRead): Kept | undefined {
  const text = pendingJob.metadata.annotations?.[PENDING_JOB_ANNOTATION];
  const wire = text === undefined ? undefined : parse(text);
  if (wire === undefined) return undefined;
  const { namespace, name } = pendingJob.metadata;
  if (name !== pendingJobName({ ...wire, spec: pendingJob.spec })) return undefined;
  return {
    uid: wire.uid,
    manifest: {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { ...wire.metadata, name: wire.name, namespace },
      spec: cleanSpec({ ...pendingJob.spec, suspend: wire.suspend }),
    },
  };
}

interface NamedJob {
  readonly name: string;
  readonly uid: string;
  readonly spec?: JobSize | undefined;
}

/** Returns `<Job>-<hash of its uid>`, cut to what a Job may have; always the same for one Job. A name that is cut at a dot loses the dot. */
export function pendingJobName({ name, uid, spec }: NamedJob): string {
  const hash = createHash('sha256').update(uid).digest('hex').slice(0, 10);
  return `${cutName(name, longestJobName(spec) - 1 - hash.length)}-${hash}`;
}

interface WirePendingJob {
  readonly name: string;
  readonly uid: string;
  readonly suspend: boolean;
  readonly metadata: Metadata;
}

function parse(text: string): WirePendingJob | undefined {
  const raw = jsonFields(text);
  const { v, name, uid, metadata } = raw;
  const isWire =
    v === 1 && typeof name === 'string' && typeof uid === 'string' && typeof metadata === 'object';
  return isWire ? (raw as unknown as WirePendingJob) : undefined;
}

/** With `manualSelector` nothing is generated, so everything stays. */
function cleanSpec(spec: JobSpec): JobSpec {
  if (spec.manualSelector) return spec;
  const { selector: _selector, template, ...rest } = spec;
  if (!template?.metadata?.labels) return { ...rest, ...(template ? { template } : {}) };
  const metadata = { ...template.metadata, labels: withoutGenerated(template.metadata.labels) };
  return { ...rest, template: { ...template, metadata } };
}

function withoutGenerated(labels: Readonly<Record<string, string>>): Record<string, string> {
  const generated: readonly string[] = GENERATED;
  return Object.fromEntries(Object.entries(labels).filter(([key]) => !generated.includes(key)));
}
