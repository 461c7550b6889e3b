/** The catalog's script. */
import { inFile } from '../mutant.ts';

const CATALOG = 'libs/redis/src/catalog';
const SPEC = `${CATALOG}/catalog.spec.ts`;
const WITH_PUBLISHER = 'apps/watcher/src/publish/publisher-redis.spec.ts';

export const catalogMutants = [
  ...inFile(`${CATALOG}/publish.lua.ts`, [
    {
      name: 'a leader that was overtaken may write',
      text: `if newer(held, term) then return { -1 } end`,
      replacement: ``,
      killedBy: { spec: SPEC, test: 'removes nothing for a leader that was overtaken' },
    },
    {
      name: 'a catalog that was emptied is not noticed',
      text: `if ARGV[2] ~= '' and writer ~= term .. ':' .. ARGV[2] then return { 1 } end`,
      replacement: ``,
      killedBy: { spec: SPEC, test: 'notices at its next write that Redis was emptied' },
    },
    {
      name: 'a copy of a write that comes late is written',
      text: `if held == term and newer(last, sequence) then return { 1 } end`,
      replacement: ``,
      killedBy: {
        spec: WITH_PUBLISHER,
        test: 'is not undone by a copy of an earlier write that arrives late',
      },
    },
    {
      name: 'a write that is repeated is not recognized',
      text: `if writer == term .. ':' .. sequence then`,
      replacement: `if false then`,
      killedBy: {
        spec: WITH_PUBLISHER,
        test: 'is sent once more as it was: no row and no change job more than without the loss',
      },
    },
    {
      name: 'the row of a source goes back in time',
      text: `write = newer(is.v, was.v) or isRehashed or isRemade`,
      replacement: `write = true`,
      killedBy: { spec: SPEC, test: 'of an earlier version does not' },
    },
    {
      name: 'a change is not kept until somebody was told of it',
      text: `redis.call('HSETNX', KEYS[5], key, found .. ':' .. hash)`,
      replacement: ``,
      killedBy: { spec: SPEC, test: 'are found from the rows that were written, until they are told' },
    },
    {
      name: 'a source is said to be used by who uses it no more',
      text: `for _, source in ipairs(without(was, is)) do redis.call('SREM', KEYS[4] .. source, key) end`,
      replacement: ``,
      killedBy: { spec: SPEC, test: 'takes a workload out of the index where it no longer belongs' },
    },
  ]),
  ...inFile(`${CATALOG}/reset.ts`, [
    {
      name: 'a leader of before a restore of etcd may write after it',
      text: 'await redis.set(keys.writer, `${fence}:0`);',
      replacement: ``,
      killedBy: {
        spec: `${CATALOG}/reset.spec.ts`,
        test: 'is written by a leader of later, under an earlier term than that of before, and by none of before',
      },
    },
  ]),
  ...inFile(`${CATALOG}/reading-codec.ts`, [
    {
      name: 'readings of sources are plain though there is a key',
      text: `return key ? seal(text, source, key) : text;`,
      replacement: `return text;`,
      killedBy: {
        spec: `${CATALOG}/reading-codec.spec.ts`,
        test: 'under a key shows none of its hashes, and is another text each time',
      },
    },
    {
      name: 'a marker gets a hash of a scheme that its worker does not write',
      text: `return reading && hasScheme(reading.markerHash, kindOf(source), scheme) ? reading : undefined;`,
      replacement: `return reading;`,
      killedBy: {
        spec: `${CATALOG}/reading-codec.spec.ts`,
        test: 'of another scheme, by default',
      },
    },
  ]),
];
