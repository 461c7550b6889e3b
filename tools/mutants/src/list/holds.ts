/** What holds a pending reload back (docs/adr/0042). */
import { inFile } from '../mutant.ts';

const HOLDS = 'libs/core/src/holds';
const CHAIN = `${HOLDS}/reload-hold.spec.ts`;
const WAVES = `${HOLDS}/waves.spec.ts`;
const LIMIT = `${HOLDS}/reload-limit.spec.ts`;
const SLOTS = `${HOLDS}/rollout-slots.spec.ts`;
const GRANTER = 'apps/watcher/src/rollouts/slot-granter';
const RELOADS = 'apps/worker/src/reload/reload-holds.spec.ts';

export const holdMutants = [
  ...inFile(`${HOLDS}/reload-hold.ts`, [
    {
      name: 'a freeze of the Namespace counts only without one of the workload',
      text: `['The namespace', annotationOf(namespace, FREEZE_ANNOTATION), 'Frozen'],`,
      replacement: `['The namespace', workload[FREEZE_ANNOTATION] === undefined ? annotationOf(namespace, FREEZE_ANNOTATION) : undefined, 'Frozen'],`,
      killedBy: { spec: CHAIN, test: 'counts wherever it is set' },
    },
    {
      name: 'a window that cannot be read is open',
      text: `return { reason: 'OutsideWindow', detail };`,
      replacement: `return undefined;`,
      killedBy: { spec: CHAIN, test: 'that cannot be read holds and says so' },
    },
    {
      name: 'any approval lets everything through',
      text: `annotationOf(input.workload, APPROVED_ANNOTATION) === id`,
      replacement: `annotationOf(input.workload, APPROVED_ANNOTATION) !== undefined`,
      killedBy: { spec: RELOADS, test: 'what is approved is reloaded, once' },
    },
  ]),
  ...inFile(`${HOLDS}/waves.ts`, [
    {
      name: 'a wave begins while the one before is being rolled out',
      text: `!isReloaded || rollout.state !== 'complete'`,
      replacement: `!isReloaded`,
      killedBy: { spec: WAVES, test: 'not before it was rolled out and observed' },
    },
    {
      name: 'a halted change goes on',
      text: `if (failed && !input.isResumed)`,
      replacement: `if (false)`,
      killedBy: { spec: WAVES, test: 'is halted if a rollout of it fails' },
    },
    {
      name: 'a rollout that fails halts only the waves after it',
      text: `members.slice(0, end).find(`,
      replacement: `members.slice(0, start).find(`,
      killedBy: { spec: WAVES, test: 'is halted within a wave too' },
    },
  ]),
  ...inFile(`${HOLDS}/rollout-slots.ts`, [
    {
      name: 'slots go to whoever came first, whatever namespace',
      text: `(!least || line.slots < least.slots)`,
      replacement: `!least`,
      killedBy: { spec: SLOTS, test: 'go to the namespaces in turn' },
    },
    {
      name: 'the limit of a Namespace counts only what waits there',
      text: `lineOf(requests, used, slots.get(namespace))`,
      replacement: `lineOf(requests, used, 0)`,
      killedBy: { spec: SLOTS, test: 'count what a namespace has' },
    },
    {
      name: 'the rollouts of one namespace can count for all slots',
      text: `free -= Math.min(had, each);`,
      replacement: `free -= had;`,
      killedBy: { spec: SLOTS, test: 'count for no more than all but one of a namespace' },
    },
    {
      name: 'one namespace is granted all slots',
      text: `isShared && total > 1 ? total - 1 : total`,
      replacement: `total`,
      killedBy: { spec: SLOTS, test: 'are all but one of a namespace, so that another finds one' },
    },
  ]),
  ...inFile(`${GRANTER}.ts`, [
    {
      name: 'a slot ends when it is used, and not when the rollout is complete',
      text: `if (hasRollouts(workload) && usesSlot(state, this.#lastReloads.of(workload), now)) used.add(workload);`,
      replacement: `if (hasRollouts(workload) && usesSlot(state, this.#lastReloads.of(workload), now)) used.delete(workload);`,
      killedBy: {
        spec: `${GRANTER}.spec.ts`,
        test: 'is granted again once the rollout that used it is complete',
      },
    },
  ]),
  ...inFile('apps/watcher/src/rollouts/rollout-sightings.ts', [
    {
      name: 'a workload with the pod template of another one is rolled out by the status of an earlier rollout',
      text: `processed === templateOwner.generation`,
      replacement: `true`,
      killedBy: {
        spec: 'apps/watcher/src/rollouts/rollout-sightings.spec.ts',
        test: 'begins with the template, and is complete once the controller has processed that',
      },
    },
  ]),
  ...inFile('apps/worker/src/reload/reload-holds.ts', [
    {
      name: 'a workload that is held otherwise keeps its slot',
      text: `else await this.leave(job.workload, record);`,
      replacement: ``,
      killedBy: { spec: RELOADS, test: 'is held otherwise' },
    },
    {
      name: 'a workload loses its slot while it waits for its turn by the rate',
      text: `await this.#ports.slots.keep(workload, this.#ports.apiTime() + wait);`,
      replacement: ``,
      killedBy: { spec: RELOADS, test: 'keeps its slot while it waits for its turn by the rate' },
    },
    {
      name: 'the waves of a change go by what the catalog has of older data',
      text: `if (!members || !source || isOther(source.hash, plan.hashes?.[settings.source]))`,
      replacement: `if (!members || !source)`,
      killedBy: { spec: RELOADS, test: 'waits while the catalog has other data' },
    },
  ]),
  ...inFile(`${HOLDS}/waves.ts`, [
    {
      name: 'a change that was resumed goes on with any later data',
      text: `return isRv(resumed.trim()) && !isNewer(exists ? dataRv : rv, resumed.trim());`,
      replacement: `return isRv(resumed.trim());`,
      killedBy: { spec: RELOADS, test: 'does not go on with data that came after' },
    },
  ]),
  ...inFile(`${HOLDS}/approval.ts`, [
    {
      name: 'the id of what is pending does not name the data',
      text: `.update(JSON.stringify([uid, request, changes]))`,
      replacement: `.update(JSON.stringify([uid, request, changes.map(([name]) => name)]))`,
      killedBy: { spec: CHAIN, test: 'is another one for anything else' },
    },
  ]),
  ...inFile(`${HOLDS}/reload-limit.ts`, [
    {
      name: 'the waits under a limit do not grow',
      text: `waited ? Math.min(past.level + 1, MOST_LEVEL) : 0`,
      replacement: `0`,
      killedBy: { spec: LIMIT, test: 'reloads it with growing waits, up to an hour' },
    },
  ]),
  ...inFile('apps/worker/src/reload/reload.processor.ts', [
    {
      name: 'a workload is reloaded although it is held',
      text: `const hold = holds && (await this.#ports.holds.holdOf(gathered, holds));`,
      replacement: `const hold = undefined as ReturnType<ReloadHolds['holdOf']>;`,
      killedBy: { spec: RELOADS, test: 'keeps the workload as it is if it is' },
    },
    {
      name: 'a held workload waits for its turn by the rate',
      text: `return expected !== undefined && read !== undefined && !(await holds.holdOf(expected, read));`,
      replacement: `return expected !== undefined && read !== undefined;`,
      killedBy: { spec: RELOADS, test: 'keeps the workload out of the line' },
    },
    {
      name: 'nobody looks at a held workload again',
      text: `await holds.lookAgain(job, outcome.hold, recordIn(outcome));`,
      replacement: ``,
      killedBy: { spec: RELOADS, test: 'is looked at again' },
    },
  ]),
  ...inFile('apps/worker/src/reload/reload-holds.ts', [
    {
      name: 'a reload is not recorded for the limit',
      text: `return counted && withReload(recordedReloads(record, now), counted, now);`,
      replacement: `return undefined;`,
      killedBy: { spec: RELOADS, test: 'is recorded with its time' },
    },
  ]),
];
