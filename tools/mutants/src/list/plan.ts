/** What a reload job decides. */
import { inFile } from '../mutant.ts';

const RELOAD = 'libs/core/src/reload';
const RECORD = 'libs/core/src/record';
const JOBS = 'apps/worker/src/reload/reload.processor.spec.ts';

export const planMutants = [
  ...inFile(`${RELOAD}/plan.ts`, [
    {
      name: 'a correction hides what is pending for others that share the record',
      text: `return sharers.some(isNeeded) ? 'Shared' : verdict;`,
      replacement: `return verdict;`,
      killedBy: {
        spec: `${RELOAD}/plan.spec.ts`,
        test: 'is corrected only if no reload of a sharer is pending',
      },
    },
    {
      name: 'a correction drops what only others need that share the record',
      text: `if (sharers.some((sharer) => dependsOn(sharer, name))) return true;`,
      replacement: ``,
      killedBy: { spec: `${RELOAD}/plan.spec.ts`, test: 'keeps the entries that only a sharer needs' },
    },
    {
      name: 'a row of another generation decides',
      text: `const isPresent = row?.uid === workload.uid && row.generation === workload.generation;`,
      replacement: `const isPresent = row?.uid === workload.uid;`,
      killedBy: {
        spec: `${RELOAD}/plan.spec.ts`,
        test: 'waits if the catalog has another generation of the workload',
      },
    },
    {
      name: 'a write that the leader has not seen is recorded as if the pods had it',
      text: `if (!source || compareRv(source.rv, reading.rv) < 0) return 'Wait';`,
      replacement: ``,
      killedBy: {
        spec: `${RELOAD}/plan.spec.ts`,
        test: 'waits if the catalog is behind what was read of the source',
      },
    },
    {
      name: 'a row that is newer than what was read decides',
      text: `if (row !== undefined && isNewer(row.rv, workload.rv ?? row.rv)) return undefined;`,
      replacement: ``,
      killedBy: { spec: `${RELOAD}/plan.spec.ts`, test: 'decides nothing if it is newer than what was read' },
    },
    {
      name: 'a reading counts though the leader has seen another write',
      text: `if (row === undefined || reading?.rv !== row.rv || reading.hash !== row.hash) return false;`,
      replacement: `if (row === undefined || !reading) return false;`,
      killedBy: {
        spec: `${RELOAD}/plan.spec.ts`,
        test: 'has to be read if what a colleague read is another write',
      },
    },
    {
      name: 'hashes of different schemes mean different data',
      text: `if (recorded !== undefined && !isSameScheme(recorded, reading.hash)) return false;`,
      replacement: ``,
      killedBy: {
        spec: `${RELOAD}/plan.spec.ts`,
        test: 'has to be read if its record is under another scheme',
      },
    },
    {
      name: 'an entry under a key that only others have is reloaded',
      text: `return verdict === 'Roll' && isKeyAwaited === true ? 'KeyUnknown' : verdict;`,
      replacement: `return verdict;`,
      killedBy: {
        spec: `${RELOAD}/plan.spec.ts`,
        test: 'is left to others if it looks pending',
      },
    },
    {
      name: 'the record keeps what the workload refers to no more',
      text: `return Object.fromEntries(Object.entries(hashes).filter(([name]) => isAlive(name)));`,
      replacement: `return hashes;`,
      killedBy: {
        spec: `${RELOAD}/plan.spec.ts`,
        test: 'that follows a hundred names in turn, as Kustomize makes them, has only the present one',
      },
    },
    {
      name: 'a deletion counts though the source is there',
      text: `return reading?.afterWorkload ? 'Wait' : 'Read';`,
      replacement: `return reading?.afterWorkload ? 'Roll' : 'Read';`,
      killedBy: { spec: JOBS, test: 'a source that is back after its deletion' },
    },
    {
      name: 'adoption reloads what may be stale',
      text: `return adoptStale === 'reload' ? 'Roll' : 'AdoptStale';`,
      replacement: `return 'Roll';`,
      killedBy: { spec: JOBS, test: 'one of which nothing tells what its pods run too' },
    },
    {
      name: 'a marker of the current data proves nothing',
      text: `if (isMarked || !row.stale.includes(name)) return 'Adopt';`,
      replacement: `if (!row.stale.includes(name)) return 'Adopt';`,
      killedBy: { spec: JOBS, test: 'unless its marker does' },
    },
  ]),
  ...inFile(`${RELOAD}/request.ts`, [
    {
      name: 'a manual reload is done again and again',
      text: `if (done === request) return true;`,
      replacement: ``,
      killedBy: { spec: JOBS, test: 'a request that was done' },
    },
    {
      name: 'a manual reload reloads who asks for no reloads',
      text: `return dependencies > 0 ? 'reload' : 'notAsked';`,
      replacement: `return 'reload';`,
      killedBy: { spec: JOBS, test: 'also if somebody requested a reload' },
    },
  ]),
  ...inFile(`${RECORD}/record-hash.ts`, [
    {
      name: 'two sources with other keys and bytes have one hash',
      text: '...pairs.flatMap(([key, value]) => [Buffer.from(`${key.length}:${value.length};`), key, value]),',
      replacement: `...pairs.flatMap(([key, value]) => [key, value]),`,
      killedBy: { spec: `${RECORD}/record-hash.spec.ts`, test: 'a key that swallows a value' },
    },
    {
      name: 'another order of keys is other data',
      text: `pairs.sort(([a], [b]) => Buffer.compare(a, b));`,
      replacement: ``,
      killedBy: { spec: `${RECORD}/record-hash.spec.ts`, test: 'does not depend on the order of keys' },
    },
  ]),
];
