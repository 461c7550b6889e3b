/**
 * Branches of the processors that the runs of `npm test` do not take, and why. A branch that is not listed fails the suite if no run takes
 * it, and so does one that is listed and taken: take it out of the list then.
 */

import { RARELY_REACHED } from './rarely-reached.ts';

export interface Unreached {
  /** What keeps the runs from taking them. */
  readonly why: string;
  /** Longer sweeps take them, so that they are no error in the list. Default: no run does. */
  readonly isRare?: boolean;
  /** By file: the lines where they begin, without indentation. */
  readonly branches: Readonly<Record<string, readonly string[]>>;
}

export const UNREACHED: readonly Unreached[] = [
  {
    why: 'Ten attempts in a row fail only where something is broken for longer than a run lasts.',
    branches: {
      'apps/worker/src/change/change-reports.ts': [
        `if (isLast) this.#processed(source, 'dropped');`,
        'if (isLast) log.error(`Dropping key out of the queue: ${error.message}`, about);',
      ],
      'apps/worker/src/reload/reload.processor.ts': [
        `if (isLast && error.request && error.reason !== 'ApiUnavailable')`,
        'await requests.done(job.workload, error.request.id);',
        'await holds.leave(job.workload, error.subject?.observed.record);',
      ],
      'apps/worker/src/reload/reload-reports.ts': [
        'const source = job.source ?? (pending ? sourceKeyIn(namespace, pending) : undefined);',
      ],
    },
  },
  {
    why: 'Few runs have a workload that is reloaded too often.',
    isRare: true,
    branches: {
      'apps/worker/src/change/source-reader.ts': [
        `const definition = source.kind === 'SecretProviderClass' ? undefined : sourceKind(source.kind);`,
        'if (!definition || !isKey(keyOf(source))) return undefined;',
        'const { managedFields = [] } = (await this.#metadataOf(source))?.metadata ?? {};',
        'const writes = managedFields.filter(({ time }) => time !== undefined);',
        `const last = writes.toSorted((a, b) => ((a.time ?? '') < (b.time ?? '') ? -1 : 1)).at(-1);`,
        `return last && \`\${oneLine(last.manager ?? 'somebody', MOST_MANAGER)} at \${last.time}\`;`,
      ],
      'apps/worker/src/reload/reload-reports.ts': [
        "return writer === undefined ? '' : `. ${name} was last written by ${writer}`;",
        '} catch (error) {',
      ],
    },
  },
  {
    why: 'Few runs have a reload that fails while it holds a slot of the limit.',
    isRare: true,
    branches: { 'apps/worker/src/reload/reload-slot.ts': ['} catch (error) {'] },
  },
  {
    why: 'Every worker may watch Namespaces, none is deleted, and no run holds 10,000 workloads.',
    branches: {
      'apps/worker/src/reload/reload.module.ts': [
        "? log.failure('cannot watch Namespaces, so they are read before reloads', error)",
      ],
      'libs/kube/src/namespaces/namespace-reader.ts': [
        'const isKnown = isRefused && error.status === 403;',
        'delete: ({ key }) => noted({ key, annotations: NONE }),',
        'for (const key of this.#seen.keys()) if (!names.has(key)) noted({ key, annotations: NONE });',
      ],
      'apps/worker/src/reload/reload-holds.ts': [
        'if (this.#held.size > MOST_REMEMBERED) this.#held.dropFromLargest();',
      ],
    },
  },
  {
    why: 'No change of a deleted source is resumed, no request passes holds, no Namespace limits rollouts, there are few sources with waves, and flags always have a value.',
    branches: {
      'apps/worker/src/reload/reload-holds.ts': [
        "(passes.includes('AwaitsWave') ? undefined : await this.#waveHold(held, holds));",
        "const where = most === undefined ? 'installation' : 'namespace or the installation';",
        'return (this.#settings.defaults.rollouts ?? 0) > 0;',
        'const counted = limit ?? (this.#needsSlot(workload, namespace) ? LAST_ONLY : undefined);',
      ],
      'libs/redis/src/catalog/wave-reader.ts': [
        'if (this.#known.size > MOST_KNOWN && oldest !== undefined) this.#known.delete(oldest);',
      ],
    },
  },
  {
    why: 'Few runs have waves, and few of them also faults just then, paused rollouts, or workloads that are not recorded.',
    isRare: true,
    branches: {
      'apps/worker/src/change/source-reader.ts': ['if (!read) return undefined;'],
      'apps/worker/src/reload/reload.module.ts': ['if (options.namespaces.length > 0) return holds;'],
      'libs/kube/src/namespaces/namespace-reader.ts': [
        'const { synced, connected } = this.#stream?.status ?? {};',
      ],
      'apps/worker/src/reload/send/patch-template.ts': ['if (isOvertaken(error)) return false;'],
      'apps/worker/src/reload/reload-holds.ts': [
        'const settings = wavesFor(row?.annotations ?? {}, namespace, defaults);',
        "return { reason: 'AwaitsWave', lookAt: now + CATCH_UP, detail: NOT_KNOWN_YET };",
      ],
      'libs/redis/src/catalog/wave-reader.ts': [
        '() => this.#known.delete(source),',
        'if (!source) return { source, members: [] };',
        'if (known.since === undefined) return { source, members: undefined };',
        "const isStale = adoptStale === 'reload' && recorded === undefined && row.stale.includes(name);",
        'rollout: seenRollout(hasRollouts(workload) ? known.of.get(workload) : undefined, known.since ?? Infinity),',
        ": { state: 'unavailable', since: unavailableSince };",
        "return PAUSED.has(rollout.code) ? { state: 'paused' } : { state: 'underWay', since: rollout.since };",
      ],
    },
  },
  {
    why: 'Few runs empty Redis between two reads of a change job, lose it just after a reload, read two Namespaces within two seconds, or find the Job that an earlier attempt of a manual reload made. All but the second have specs.',
    isRare: true,
    branches: {
      'apps/worker/src/change/change.processor.ts': [
        'judged.push(...(await this.#judge(source, row?.annotations ?? {}, some)));',
      ],
      'libs/kube/src/namespaces/recent-annotations.ts': ['if (now - at < FRESH) break;'],
      'apps/worker/src/reload/reload-reports.ts': [
        `.catch((error: unknown) => log.failure('cannot record the end of a hold', error, { workload }));`,
      ],
      'apps/worker/src/reload/send/run-cron-job.ts': [
        'request: request !== undefined && isRequestId(request) ? request : undefined,',
      ],
    },
  },
  {
    why: 'No Job of the world has finalizers that keep it, so only a race leaves an old one in the way. A spec has them.',
    isRare: true,
    branches: {
      'apps/worker/src/reload/send/recreate-job.ts': [
        "for (const wait of ending === 'deleted' ? PAUSES : []) {",
        'if (deletedAt === undefined) return;',
        'return since === undefined ? this.#context.client.apiTime() : Date.parse(since);',
      ],
    },
  },
  {
    why: 'Few runs limit both rollouts and reloads per minute, and few lose Redis just then.',
    isRare: true,
    branches: {
      'apps/worker/src/reload/reload.processor.ts': [
        'if (error instanceof NotYetError) await holds.keepSlot(job.workload, error.wait).catch(() => undefined);',
      ],
    },
  },
  {
    why: 'Few requested reloads are of a workload without a record whose sources are all absent.',
    isRare: true,
    branches: {
      'apps/worker/src/reload/reload.processor.ts': [
        'return writeRecord(hashes ?? {}, decidedBy(observed), reloads);',
      ],
    },
  },
  {
    why: 'Few runs limit reloads per minute and also request some, or need a Namespace while the API server does not answer.',
    isRare: true,
    branches: {
      'apps/worker/src/reload/expected-reload.ts': ['request: request?.id,', 'passes: request?.passes,'],
      'apps/worker/src/reload/reload.processor.ts': [
        'const read = expected && (await holds.read(namespaceOf(key)).catch(() => undefined));',
      ],
    },
  },
  {
    why: 'Few workers need a Namespace, or look again at what they held, while the API server or Redis does not answer.',
    isRare: true,
    branches: {
      'apps/worker/src/reload/reload.module.ts': ['.catch((error: unknown) =>'],
      'apps/worker/src/reload/reload.processor.ts': [
        'reading.catch(() => undefined);',
        'if (hashes === null && observed.record !== undefined) return recordWithReloads(observed.record, reloads);',
      ],
      'libs/kube/src/namespaces/recent-annotations.ts': [
        'annotations.catch(() => {',
        'if (this.#read.get(namespace)?.annotations === annotations) this.#read.delete(namespace);',
        'if (error instanceof KubeError && error.status === 404) return {};',
        '} catch (error) {',
      ],
    },
  },
  {
    why: 'The world has few namespaces, and no limit of reloads that cannot be read.',
    branches: {
      'apps/worker/src/reload/last-failures.ts': ['if (this.#namespaces.size <= MOST_NAMESPACES) return;'],
      'apps/worker/src/reload/reload-reports.ts': [
        "...(limit === undefined ? [] : [['Limit', limit] as const]),",
      ],
    },
  },
  {
    why: 'The patterns of the world are matched in one turn.',
    branches: { 'apps/worker/src/reload/workload-reader.ts': ['if (!isOver()) return dependencies;'] },
  },
  {
    why: 'Few runs have annotations that cannot be read, exceed a limit or leave no room.',
    isRare: true,
    branches: {
      'apps/worker/src/reload/reload-outcome.ts': [
        `if (observed.excess) return 'InvalidAnnotation';`,
        `return observed.leftAlone ?? (patternErrors.length > 0 ? 'InvalidPattern' : 'NotAnnotated');`,
        'if (!isNoRoom(reason)) return undefined;',
      ],
      'apps/worker/src/reload/reload-reports.ts': [
        "...(excess ? [['Excess', excessText(excess)] as const] : []),",
        'if (noRoom !== undefined && isNoRoom(reason)) warn({ reason, problems: [noRoom] });',
      ],
      'apps/worker/src/reload/reload.processor.ts': [
        'const record = recordWithRoom(workload, recordAfter(plan, workload, reloads), () =>',
        'if (noRoom) return noRoom;',
      ],
      'apps/worker/src/reload/reload-slot.ts': [
        `if (jobErrorOf(error).reason === 'AnnotationsFull') this.#state = 'claimed';`,
      ],
    },
  },
  {
    why: 'No run has --adopt=wave.',
    branches: {
      'apps/worker/src/change/source-reader.ts': [
        'compared.see?.(data);',
        'owners: (metadata.ownerReferences ?? []).map(({ uid }) => uid),',
      ],
      'apps/worker/src/reload/reload-outcome.ts': [`if (!adopt.includes('wave')) return [];`],
      'apps/worker/src/reload/read-sources.ts': [
        "const wave = adopt.includes('wave') ? await readForWave(workload, names, read) : WITHOUT_WAVE;",
      ],
      'apps/worker/src/reload/proven-by-wave.ts': [
        'export async function readForWave(',
        'function hashedByWave(',
        'async function readable(reading: Promise<SourceNow | SourceAbsence>): Promise<SourceNow | SourceAbsence> {',
      ],
      'apps/worker/src/reload/reload-reports.ts': [
        `if (leftBehind.length > 0) warn({ reason: 'LeftBehind', problems: leftBehind });`,
      ],
    },
  },
  {
    why: 'No run has the option: ignored types of Secrets, another strategy for CronJobs or finished Jobs, metrics by namespace, updates on deletion.',
    branches: {
      'apps/worker/src/change/source-reader.ts': [
        'if (type !== undefined && ignoredSecretTypes.includes(type)) return false;',
      ],
      'apps/worker/src/reload/reload-outcome.ts': [
        `return { state: 'reloaded', reason: onDelete ? 'ReloadedAwaitingDeletion' : 'Reloaded' };`,
      ],
      'apps/worker/src/reload/reload-reports.ts': [
        `log.warning('dry run: a recreation of a Job is half done, and not finished here', {`,
        `metrics.reloadExecutedByNamespace?.inc({ success: 'true', namespace });`,
        'if (unfollowed) warn({ reason: unfollowed, problems: [UNFOLLOWED[unfollowed]] });',
      ],
      'apps/worker/src/reload/send/reload-ways.ts': [
        `const cronJobRun = context.cronJobStrategy === 'patch' ? patch : new RunCronJob(context);`,
      ],
      'apps/worker/src/reload/send/recreate-job.ts': ["return 'finished';"],
    },
  },
  {
    why: 'A run that turns its hash keys over keeps every earlier key.',
    branches: {
      'apps/worker/src/reload/reload.processor.ts': [
        `if (hashes !== null || ![...verdicts.values()].includes('KeyUnknown')) return;`,
        'if (error instanceof NotYetError && error.left) reports.leftToOthers(job, error.left, run);',
      ],
      'apps/worker/src/reload/reload-outcome.ts': [
        'export function leftOutcome({ workload, plan, readings }: Gathered): ReloadOutcome {',
      ],
      'apps/worker/src/reload/reload-reports.ts': [
        'leftToOthers(job: ReloadJob, left: ReloadOutcome, run: Run): void {',
        'async #reportLeft(job: ReloadJob, left: ReloadOutcome, run: Run): Promise<void> {',
      ],
    },
  },
  {
    why: 'Only what others wrote into Redis leads there.',
    branches: {
      'apps/worker/src/change/source-reader.ts': [
        `if (!isKey(keyOf(source))) return 'SourceNotWatched';`,
        `if (!definition) return 'SourceNotWatched';`,
        `if (!isRv(rv) || !isRecordHash(hash) || !isMarkerHash(text)) throw new JobError('Failed', 'CATALOG_ROW');`,
      ],
      'apps/worker/src/reload/resume.processor.ts': [
        "if (!definition) throw new JobError('InvalidJob', `no workload kind ${id.kind}`, true);",
      ],
      'apps/worker/src/reload/send/recreate-job.ts': [
        `if (!kept) throw new JobError('Invalid', 'the content of the pending Job cannot be read', true);`,
      ],
      'apps/worker/src/reload/workload-reader.ts': [
        "if (!definition) throw new JobError('InvalidJob', `no workload kind ${id.kind}`, true);",
      ],
    },
  },
  {
    why: 'Another part of Reroll, or the API server, makes it impossible: it defends against a mistake there.',
    branches: {
      'apps/worker/src/reload/reload.processor.ts': ['await slot.end().catch(() => undefined);'],
      'apps/worker/src/reload/reload-outcome.ts': [
        'const last = new Date((conflict?.strips.at(-1) ?? 0) * 1000).toISOString();',
      ],
      'apps/worker/src/reload/reload-plan.ts': [
        'if (!handed) throw new RangeError(`expected a reading of ${name}`);',
      ],
      'apps/worker/src/reload/send/reload-way.ts': ['if (!(error instanceof KubeError)) return false;'],
      'apps/worker/src/reload/reload-reports.ts': [
        'this.#warnOnce(subject, warning).catch((error: unknown) =>',
      ],
      'apps/worker/src/reload/send/run-cron-job.ts': [
        'return jobOfCronJob({ cronJob: metadata, jobTemplate: spec?.jobTemplate ?? {}, template, name, record });',
      ],
      'apps/worker/src/reload/workload-reader.ts': [
        'annotations: row?.annotations ?? {},',
        'const annotations = record === undefined ? {} : { [RECORD_ANNOTATION]: record };',
      ],
    },
  },
  {
    why: 'Changes that reload nothing come less than a minute apart only in longer runs.',
    isRare: true,
    branches: {
      'apps/worker/src/change/quiet-changes.ts': [
        'const window = source === null ? undefined : this.#windows.get(source);',
        'if (!window) return;',
      ],
    },
  },
  {
    why: 'Somebody would have to write in the milliseconds between two steps of one reload.',
    branches: {
      'apps/worker/src/reload/reload.processor.ts': ['}'],
      'apps/worker/src/reload/resume.processor.ts': [
        ": `Deployment '${name}' in namespace '${namespace}' is no longer paused by Reroll, removed its time of pause`;",
      ],
      'apps/worker/src/reload/send/recreate-job.ts': [
        'if (keptBy(body)?.uid === kept.uid) return body;',
        'if (present && present.metadata.uid !== uid) return undefined;',
      ],
      'apps/worker/src/reload/send/run-cron-job.ts': [
        'record: carried?.record ?? held,',
        'return carried?.record === record && (request === undefined || carried.request === request);',
      ],
    },
  },
  {
    why: 'The outcome of a combination of options and annotations that the plan does not draw.',
    branches: {
      'apps/worker/src/reload/reload-outcome.ts': [
        `if (heldBack) return { state: 'unchanged', reason: heldBack };`,
        `if (requested === 'done') return { state: 'unchanged', reason: 'RequestDone' };`,
        `return RECORDED.find(([verdict]) => found.has(verdict))?.[1] ?? 'Adopted';`,
      ],
      'apps/worker/src/reload/send/run-cron-job.ts': [
        '...(request === undefined ? {} : { [REQUEST_ANNOTATION]: request }),',
        'if (!annotations) {',
      ],
    },
  },
  RARELY_REACHED,
];
