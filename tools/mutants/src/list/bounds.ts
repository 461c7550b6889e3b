/** What stays bounded, and what stays secret. */
import { inFile } from '../mutant.ts';

const DEPENDENCIES = 'libs/core/src/state/dependencies';
const HISTORY = 'libs/redis/src/history';
const LOGGING = 'libs/shared/src/platform/logging';

export const boundMutants = [
  ...inFile(`${DEPENDENCIES}/dependency-limits.ts`, [
    {
      name: 'the dependencies of a namespace have no limit',
      text: `const isFull = sum > most;`,
      replacement: `const isFull = sum < 0 && most < 0;`,
      killedBy: {
        spec: `${DEPENDENCIES}/dependency-limits.spec.ts`,
        test: 'have them as far as there is room, and other namespaces have all of theirs',
      },
    },
    {
      name: 'a workload with too many dependencies is left alone for good',
      text: `while (keys.length < most) {`,
      replacement: `while (keys.length > most) {`,
      killedBy: {
        spec: `${DEPENDENCIES}/dependency-limits.spec.ts`,
        test: 'is judged again at resyncs, and reloaded for changes after sources are gone',
      },
    },
  ]),
  ...inFile('libs/core/src/history/entry-bounds.ts', [
    {
      name: 'a change in the history names every workload',
      text: `if (kept.length >= ENTRY_BOUNDS.workloads || bytes > ENTRY_BOUNDS.listBytes) break;`,
      replacement: ``,
      killedBy: {
        spec: 'libs/core/src/history/entry-bounds.spec.ts',
        test: 'of many has the first 50 of each list, and counts the others',
      },
    },
  ]),
  ...inFile(`${HISTORY}/append.lua.ts`, [
    {
      name: 'the history takes as many bytes as its entries have',
      text: `if not used or used <= bytes then return end`,
      replacement: `if true then return end`,
      killedBy: {
        spec: `${HISTORY}/history-bytes.spec.ts`,
        test: 'take no more bytes than they may, however large their entries are',
      },
    },
  ]),
  ...inFile('libs/redis/src/connection/redis-room.ts', [
    {
      name: 'a Redis that is nearly full drops no history',
      text: `if (part >= FULL) {`,
      replacement: `if (false) {`,
      killedBy: {
        spec: 'libs/redis/src/connection/redis-room.spec.ts',
        test: 'the leader trims the history by half at each look, until there is room again',
      },
    },
  ]),
  ...inFile(`${LOGGING}/error-fields.ts`, [
    {
      name: 'the log quotes errors of others',
      text: `return error instanceof Error && ours.has(error.constructor);`,
      replacement: `return error instanceof Error;`,
      killedBy: {
        spec: `${LOGGING}/error-fields.spec.ts`,
        test: 'is class, code and place in the code, if its class is not known',
      },
    },
  ]),
];
