/** What the watcher knows of a workload: its dependencies, and what its record proves. */
import { inFile } from '../mutant.ts';

const STATE = 'libs/core/src/state';
const OF_STATE = `${STATE}/cluster-state.spec.ts`;

export const dependencyMutants = [
  ...inFile(`${STATE}/workloads/observe-workload.ts`, [
    {
      name: 'a template that is seen leaves no entry unverified',
      text: `return { templateRv, unverified: compact(falseAt(recordedHashes(seen.record), templateRv, at)) };`,
      replacement: `return { templateRv, unverified: NO_NAMES };`,
      killedBy: {
        spec: OF_STATE,
        test: 'and a flip back afterwards is pending, though the record agrees with it',
      },
    },
    {
      name: 'an entry that became true after the template counts as true for it',
      text: `return source.hash !== record[name] || isNewer(source.dataRv, rv);`,
      replacement: `return source.hash !== record[name];`,
      killedBy: {
        spec: OF_STATE,
        test: 'rolled by the write that strips its record has the data of then, though the source is back at what it said',
      },
    },
    {
      name: 'a record that is shown after a later restart is taken for true',
      text: `(isEarlier && falseAt({ [name]: hash }, known.templateRv, at).length > 0)`,
      replacement: `false`,
      killedBy: {
        spec: `${STATE}/workloads/workload-intake.spec.ts`,
        test: 'a record that is shown only after a later restart does not hide a change back',
      },
    },
    {
      name: 'a template that a list shows leaves no entry unverified',
      text: `const isUnverified = known.record === seen.record || isDecidedBefore(seen);`,
      replacement: `const isUnverified = false;`,
      killedBy: {
        spec: OF_STATE,
        test: 'found with another template than the catalog leaves its record unverified',
      },
    },
    {
      name: 'a template that an upgraded API server serves in another form counts as written',
      text: `if (isSameTemplate(known.template, seen.template) || !isRewritten(known, seen)) return 'no';`,
      replacement: `if (isSameTemplate(known.template, seen.template)) return 'no';`,
      killedBy: { spec: OF_STATE, test: 'whose template is served in another form' },
    },
    {
      name: 'a record that somebody strips is forgotten',
      text: `if (lost !== undefined) {`,
      replacement: `if (false) {`,
      killedBy: { spec: OF_STATE, test: 'whose record is stripped is judged by the last one seen' },
    },
    {
      name: 'what was written before the install is reloaded',
      text: `if (source.modifiedAt <= at.adoptedAt)`,
      replacement: `if (false)`,
      killedBy: {
        spec: OF_STATE,
        test: 'found without a record is stale if its source was written after its creation, before the adoption',
      },
    },
    {
      name: 'a workload that a list shows is dated by the slowest stream of sources alone',
      text: `const rv = maxRv(at.sourcesRv, source.rv);`,
      replacement: `const rv = at.sourcesRv;`,
      killedBy: {
        spec: OF_STATE,
        test: 'has the data from before its creation, though another kind of source is quiet',
      },
    },
    {
      name: 'a workload that a list shows is dated by the clocks of API servers alone',
      text: `if (seen.createdAt > source.modifiedAt && !isNewer(source.rv, seen.rv)) return { rv };`,
      replacement: `if (seen.createdAt > source.modifiedAt) return { rv };`,
      killedBy: {
        spec: OF_STATE,
        test: 'lacks data that was written after its creation, though the clocks of API servers say otherwise',
      },
    },
    {
      name: 'a dependency that a list shows is dated from before everything',
      text: `if (!source) return { rv: at.sourcesRv };`,
      replacement: `if (!source) return { rv: RV_UNKNOWN };`,
      killedBy: {
        spec: OF_STATE,
        test: 'is only recorded when it is created, and reloaded when it is changed',
      },
    },
  ]),
  ...inFile(`${STATE}/cluster-state.ts`, [
    {
      name: 'a dependency does not date from when its source was absent',
      text: `if (absentAt !== undefined) yield* this.#beginAt(key, absentAt);`,
      replacement: ``,
      killedBy: {
        spec: OF_STATE,
        test: 'and which another watcher has dated from its own, earlier list is only recorded too',
      },
    },
  ]),
  ...inFile(`${STATE}/listed.ts`, [
    {
      name: 'a dependency is dated by the fastest stream of sources',
      text: `if (least === undefined || isNewer(least, rv)) least = rv;`,
      replacement: `if (least === undefined || isNewer(rv, least)) least = rv;`,
      killedBy: {
        spec: `${STATE}/listed.spec.ts`,
        test: 'workloads are listed at the position of the stream of sources that is the furthest behind',
      },
    },
    {
      name: 'after a list that broke, the catalog tells nothing',
      text: `return isNewer(inCatalog.rv, held.rv) ? inCatalog : held;`,
      replacement: `return held;`,
      killedBy: {
        spec: OF_STATE,
        test: 'that a broken list showed is taken from the catalog, if a leader has written a later row since',
      },
    },
  ]),
  ...inFile(`${STATE}/dependencies/dependency-judging.ts`, [
    {
      name: 'sources that one turn cannot judge are forgotten',
      text: `this.#unjudged.put(seen.key, { names: candidates, uses: new Set(seen.uses), begin });`,
      replacement: ``,
      killedBy: {
        spec: `${STATE}/cost.spec.ts`,
        test: 'are judged in turns, each of a bounded cost, and find what they would have found at once',
      },
    },
  ]),
  ...inFile(`${STATE}/sources/deleted-sources.ts`, [
    {
      name: 'the row of a deleted source is dropped though somebody uses it',
      text: `if (names.some((some) => some.includes(name))) return false;`,
      replacement: ``,
      killedBy: {
        spec: `${STATE}/sources/deleted-sources.spec.ts`,
        test: 'the row stays as long as a workload',
      },
    },
    {
      name: 'the row of a deleted source is dropped at once',
      text: `if (this.#intervals - since <= INTERVALS_KEPT) return;`,
      replacement: ``,
      killedBy: {
        spec: `${STATE}/sources/deleted-sources.spec.ts`,
        test: 'for which a workload is late, the deletion still counts',
      },
    },
  ]),
  ...inFile(`${STATE}/workloads/conflict.ts`, [
    {
      name: 'a marker that is taken away again and again is no conflict',
      text: `return strips.length >= STRIPS && (strips.at(-1) ?? 0) - first <= WITHIN_SECONDS;`,
      replacement: `return false;`,
      killedBy: {
        spec: `${STATE}/workloads/conflict.spec.ts`,
        test: 'once its marker was taken away three times in ten minutes',
      },
    },
    {
      name: 'only the template before the last reload tells that the marker is gone',
      text: `return { before: [...new Set([...before.slice(0, 1), known.template])], strips };`,
      replacement: `return { before: [known.template], strips };`,
      killedBy: { spec: `${STATE}/workloads/conflict.spec.ts`, test: 'also if several markers go at once' },
    },
  ]),
  ...inFile(`${STATE}/workloads/template-owner.ts`, [
    {
      name: 'a record that was decided by an earlier template of the owner counts',
      text: `return by.uid !== templateOwner.uid || by.generation < templateOwner.generation;`,
      replacement: `return false;`,
      killedBy: {
        spec: `${STATE}/workloads/workload-intake.spec.ts`,
        test: 'a record of its own is unverified if decided before the template',
      },
    },
    {
      name: 'who owns the template is reloaded by the annotations of both',
      text: `return autoReloadAll || own.some((key) => asking.has(key));`,
      replacement: `return false;`,
      killedBy: {
        spec: `${STATE}/workloads/workload-intake.spec.ts`,
        test: 'with --auto-reload-all it is the owner',
      },
    },
  ]),
  ...inFile('libs/core/src/provider-class/provider-classes.ts', [
    {
      name: 'every write of a status counts as a change of its class',
      text: `const isNews = hasOwnChange(state.statuses.get(status.key), status);`,
      replacement: `const isNews = true;`,
      killedBy: {
        spec: 'libs/core/src/provider-class/provider-classes.spec.ts',
        test: 'each change of the provider is one change of the class',
      },
    },
  ]),
];
