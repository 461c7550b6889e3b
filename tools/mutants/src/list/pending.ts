/** What is pending, and when it is enqueued. */
import { inFile, SIMULATION } from '../mutant.ts';

const STATE = 'libs/core/src/state';

export const pendingMutants = [
  ...inFile(`${STATE}/pending.ts`, [
    {
      name: 'an unverified entry counts as equal',
      text: `if (recorded === hash && !(exists && isLater && isUnverified(row, name))) return null;`,
      replacement: `if (recorded === hash) return null;`,
      killedBy: {
        spec: 'libs/core/src/reload/plan.spec.ts',
        test: 'that agrees with the record but is unverified rolls if the data came later',
      },
    },
    {
      name: 'a source that lost its labels keeps a reload pending',
      text: `if (!source || source.isUnwatched) return null;`,
      replacement: `if (!source) return null;`,
      killedBy: {
        spec: `${STATE}/unwatched.spec.ts`,
        test: 'makes nothing pending, by an event and by a list, and its row says so',
      },
    },
    {
      name: 'data that is older than the pod template reloads',
      text: `return isLater ? 'owed' : 'correct';`,
      replacement: `return 'owed';`,
      killedBy: SIMULATION,
    },
    {
      name: 'a source that returns counts as new for a CronJob',
      text: `if (returned === true && recorded === DELETED_HASH) return false;`,
      replacement: ``,
      killedBy: {
        spec: `${STATE}/triggers.spec.ts`,
        test: 'is owed to a CronJob only once it is changed',
      },
    },
    {
      name: 'a dependency without a record has no baseline',
      text: `return recorded ? row.templateRv : maxRv(row.templateRv, row.baselines[name] ?? RV_UNKNOWN);`,
      replacement: `return row.templateRv;`,
      killedBy: {
        spec: 'libs/core/src/reload/plan.spec.ts',
        test: 'without a record, older than its baseline, is adopted',
      },
    },
  ]),
  ...inFile(`${STATE}/doubts.ts`, [
    {
      name: 'a standby dates a pod template by that of another generation',
      text: `const isOne = held.uid === known.uid && held.generation === known.generation;`,
      replacement: `const isOne = held.uid === known.uid;`,
      killedBy: {
        spec: `${STATE}/doubts.spec.ts`,
        test: 'a later template',
      },
    },
    {
      name: 'a creation that counts is dated by a leader for which none does',
      text: `held.created ||`,
      replacement: ``,
      killedBy: {
        spec: `${STATE}/doubts.spec.ts`,
        test: 'keeps the date of a creation that counts, though none does for the leader',
      },
    },
    {
      name: 'an earlier row of the leader makes a workload pending on a standby',
      text: `!held || !pending.has(key) ||`,
      replacement: `!held ||`,
      killedBy: {
        spec: `${STATE}/doubts.spec.ts`,
        test: 'is not made pending by an earlier row of the leader',
      },
    },
    {
      name: 'a standby goes by what the leader has verified of another record',
      text: `row.record === known.record ? { ...row, unverified: known.unverified } : row`,
      replacement: `{ ...row, unverified: known.unverified }`,
      killedBy: {
        spec: `${STATE}/doubts.spec.ts`,
        test: 'stays pending if it has another record by now',
      },
    },
    {
      name: 'a standby dates a pod template by another history of etcd',
      text: `&& !isNewer(known.templateRv, seen);`,
      replacement: `;`,
      killedBy: {
        spec: `${STATE}/doubts.spec.ts`,
        test: 'a date that was not seen here yet, as of another history of etcd',
      },
    },
    {
      name: 'a standby takes what a leader has judged so far for verified',
      text: `if (isLater) workloads.set(key, row);`,
      replacement: `workloads.set(key, { ...row, unverified: known.unverified });`,
      killedBy: {
        spec: `${STATE}/doubts.spec.ts`,
        test: 'is pending again once this watcher leads, as the leader may have ended before it judged the source',
      },
    },
  ]),
  ...inFile(`${STATE}/sources/observe-source.ts`, [
    {
      name: 'a write of the metadata dates the data',
      text: `if (known.hash === seen.hash) return known.dataRv;`,
      replacement: ``,
      killedBy: {
        spec: `${STATE}/cluster-state.spec.ts`,
        test: 'with the same data makes no job and leaves dataRv',
      },
    },
    {
      name: 'data that comes back is dated by its return',
      text: `return known.exists ? seen.rv : known.rv;`,
      replacement: `return seen.rv;`,
      killedBy: {
        spec: `${STATE}/cluster-state.spec.ts`,
        test: 'with other data is dated by the deletion',
      },
    },
    {
      name: 'a source that appears is dated by its creation',
      text: `if (!known) return listRv;`,
      replacement: `if (!known) return seen.rv;`,
      killedBy: {
        spec: `${STATE}/cluster-state.spec.ts`,
        test: 'after the list has data that could be had since the list',
      },
    },
  ]),
  ...inFile(`${STATE}/cluster-state.ts`, [
    {
      name: 'a late event of a source takes back a later one',
      text: `if (known && !isNewer(seen.rv, known.rv) && !hasNewerClass(seen, known)) return;`,
      replacement: ``,
      killedBy: {
        spec: `${STATE}/cluster-state.spec.ts`,
        test: 'that is older than what is known is passed over',
      },
    },
    {
      name: 'a source that a list lacks is still there',
      text: `this.#sourceAbsent(key, list);`,
      replacement: `undefined;`,
      killedBy: {
        spec: `${STATE}/cluster-state.spec.ts`,
        test: 'is gone, if the catalog has it from before the list',
      },
    },
    {
      name: 'a list takes back what a leader has written since',
      text: `if (!known || isNewer(known.rv, list.rv)) return;`,
      replacement: `if (!known) return;`,
      killedBy: {
        spec: `${STATE}/cluster-state.spec.ts`,
        test: 'is there as the stream says, if a leader has written of it since the list was taken',
      },
    },
    {
      name: 'a workload that a list lacks is still there',
      text: `const known = withCatalog(this.#workloadsOf(list.scope.namespace), this.#workloads, list);`,
      replacement: `const known = [];`,
      killedBy: {
        spec: `${STATE}/cluster-state.spec.ts`,
        test: 'that a list does not show is gone, unless it is there and could not be read',
      },
    },
    {
      name: 'a resync enqueues nothing',
      text: `if (cause) this.#outbox.enqueueReload(key, cause);`,
      replacement: ``,
      killedBy: { spec: `${STATE}/cluster-state.spec.ts`, test: 'enqueues what is pending after 1, 2, 4' },
    },
    {
      name: 'no resync enqueues the end of a pause',
      text: `this.#resume(key);`,
      replacement: ``,
      killedBy: {
        spec: `${STATE}/cluster-state.spec.ts`,
        test: 'is told of when it is seen, and by every resync until it is over',
      },
    },
    {
      name: 'a change that is seen after the template that it came before verifies nothing',
      text: `this.#change(workload, (row) => verifiedBySource(row, sourceNameOf(key), states));`,
      replacement: ``,
      killedBy: {
        spec: `${STATE}/cluster-state.spec.ts`,
        test: 'needs no second rollout, whichever event comes first',
      },
    },
    {
      name: 'jobs of a namespace that left the scope are enqueued',
      text: `this.#outbox.dropReloadOf(key);`,
      replacement: ``,
      killedBy: {
        spec: `${STATE}/forget.spec.ts`,
        test: 'leaves nothing behind, and is taken out of the catalog',
      },
    },
  ]),
  ...inFile(`${STATE}/pending-workloads.ts`, [
    {
      name: 'every resync enqueues what is pending',
      text: `entry.nextResync = this.#resyncs + Math.min(2 ** entry.enqueues, MAX_RESYNCS_BETWEEN_ENQUEUES);`,
      replacement: ``,
      killedBy: { spec: `${STATE}/cluster-state.spec.ts`, test: 'enqueues what is pending after 1, 2, 4' },
    },
    {
      name: 'a new leader waits as long as the last one before it enqueues again',
      text: `entry.nextResync = 0;`,
      replacement: ``,
      killedBy: {
        spec: `${STATE}/cluster-state.spec.ts`,
        test: 'begins anew after another change, and after the catalog was lost',
      },
    },
  ]),
  ...inFile(`${STATE}/sources/changed-sources.ts`, [
    {
      name: 'of several changes in one window only the last counts',
      text: `states: lastOf([...a.states, ...b.states]),`,
      replacement: `states: b.states,`,
      killedBy: { spec: `${STATE}/sources/changed-sources.spec.ts`, test: 'of A -> B -> A seen as one' },
    },
    {
      name: 'a second change in one window is forgotten',
      text: `if (this.#changes.has(key)) this.#turns.put(key, null);`,
      replacement: ``,
      killedBy: {
        spec: `${STATE}/sources/changed-sources.spec.ts`,
        test: 'has its users evaluated with the first event, and once more in the next window',
      },
    },
    {
      name: 'a source under way stands for all: no source is evaluated again before it is done',
      text: `if (this.#turns.get(key)) continue;`,
      replacement: `if (!this.#turns.isEmpty) return;`,
      killedBy: {
        spec: `${STATE}/sources/changed-sources.spec.ts`,
        test: 'does not delay the second change of another beyond the window',
      },
    },
  ]),
  ...inFile(`${STATE}/outbox.ts`, [
    {
      name: 'change jobs that could not be enqueued are dropped',
      text: `for (const key of changes) this.#withJob(key).closed.changes.add(key);`,
      replacement: ``,
      killedBy: { spec: `${STATE}/outbox.spec.ts`, test: 'gives jobs again that were put back' },
    },
    {
      name: 'reload jobs that could not be enqueued are dropped',
      text: `for (const [key, cause] of reloads) this.#withJob(key, cause).closed.enqueueReload(key, cause);`,
      replacement: ``,
      killedBy: { spec: `${STATE}/outbox.spec.ts`, test: 'gives jobs again that were put back' },
    },
  ]),
];
