import type { SourceRow } from '@reroll/core/state/rows';
import { sourceRow } from '@reroll/core/testing/rows';
import { expect, it } from 'vitest';
import { SourceReader } from './source-reader.ts';

const CLASS = { kind: 'SecretProviderClass', namespace: 'ns', name: 'vault' } as const;
const hashOf = (scheme: string, letter: string): string => `${scheme}.${letter.repeat(43)}`;
const [CURRENT, EARLIER, PLAIN] = ['kaaaaaaaa', 'kbbbbbbbb', '1'].map((scheme) => hashOf(scheme, 'v'));

/** Which of these entries of a record are of the class as the catalog has it. */
async function areRecorded(
  recorded: readonly string[],
  more: Partial<NonNullable<SourceRow['providerClass']>>,
): Promise<boolean[]> {
  const providerClass = { markerHash: 'a'.repeat(40), rv: '5', ...more };
  const row = { ...sourceRow(20, 'v'), hash: CURRENT ?? '', providerClass };
  const reader = new SourceReader(
    {
      client: {
        get: () => {
          throw new Error('expected no request');
        },
      },
      catalog: { sources: async (keys) => new Map(keys.map((key) => [key, row])) },
    },
    { hashKeys: [], markerHash: 'auto', ignoredSecretTypes: [], labels: undefined },
  );
  const readings = await Promise.all(recorded.map((entry) => reader.read(CLASS, { recorded: entry })));
  return readings.map((now) => typeof now !== 'string' && now.isRecorded);
}

it('compares the record with a SecretProviderClass under the keys of the watcher, of which it has none', async () => {
  const recorded = [CURRENT, EARLIER, PLAIN, hashOf('1', 'w'), hashOf('kcccccccc', 'v')].map(String);
  const more = { otherHashes: [EARLIER, PLAIN].map(String) };
  expect(await areRecorded(recorded, more)).toEqual([true, true, true, false, false]);
});

it('knows one hash of a row that an earlier version wrote', async () => {
  expect(await areRecorded([CURRENT, EARLIER].map(String), {})).toEqual([true, false]);
});

it.each([
  [
    'the latest of its writers',
    [
      { manager: 'helm', time: '2026-01-01T00:00:00Z' },
      { manager: 'kubectl-edit', time: '2026-01-02T00:00:00Z' },
    ],
    'kubectl-edit at 2026-01-02T00:00:00Z',
  ],
  ['somebody without a name', [{ time: '2026-01-01T00:00:00Z' }], 'somebody at 2026-01-01T00:00:00Z'],
  ['nobody, if its managedFields have no time', [{ manager: 'helm' }], undefined],
  ['nobody, without managedFields', undefined, undefined],
])('tells %s', async (_who, managedFields, expected) => {
  const asked: unknown[] = [];
  const reader = new SourceReader(
    {
      client: {
        get: async (path: string, { accept }: { accept?: string | undefined }) => {
          asked.push([path, accept?.includes('PartialObjectMetadata')]);
          return { body: { metadata: { name: 'db', managedFields } } } as never;
        },
      },
      catalog: { sources: async () => new Map() },
    },
    { hashKeys: [], markerHash: 'auto', ignoredSecretTypes: [], labels: undefined },
  );
  expect(await reader.lastWriter({ kind: 'Secret', namespace: 'ns', name: 'db' })).toBe(expected);
  expect(asked).toEqual([['/api/v1/namespaces/ns/secrets/db', true]]);
});
