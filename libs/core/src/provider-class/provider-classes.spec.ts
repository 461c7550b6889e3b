import { array, assert, constantFrom, integer, property, record, shuffledSubarray } from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ObservedSource, SourceRow } from '../state/rows.ts';
import { iterated } from '../testing/iterated.ts';
import { seenSource, sourceRow } from '../testing/rows.ts';
import type { SeenStatus } from './observe-status.ts';
import { ProviderClasses } from './provider-classes.ts';

const CLASS = 'SecretProviderClass/ns/vault';

/** A status of `pod` that shows `version`, written by the driver in the second `rv`; '' shows nothing. */
function shows(pod: string, rv: number, version: string, more: Partial<SeenStatus> = {}): SeenStatus {
  return {
    key: `SecretProviderClassPodStatus/ns/${pod}-ns-vault`,
    uid: pod,
    source: CLASS,
    rv: String(rv),
    hashes: version === '' ? [] : [`1.${version}`],
    markerHash: `sha1 of ${version}`,
    modifiedAt: 0,
    shownAt: rv,
    ...more,
  };
}

/** The same, but the driver wrote it at `shownAt`, and somebody else its metadata at `rv`. */
function labelled(pod: string, [shownAt, rv]: readonly [number, number], version: string): SeenStatus {
  return shows(pod, rv, version, { shownAt });
}

function rowOf(rv: number, version: string, more: Partial<SourceRow> = {}): SourceRow {
  const providerClass = { markerHash: `sha1 of ${version}`, rv: '0', shownAt: rv };
  return sourceRow(rv, version, { providerClass, ...more });
}

function list(classes: ProviderClasses, statuses: SeenStatus[], row?: SourceRow, unread: string[] = []) {
  const rows = new Map(row ? [[CLASS, row] as const] : []);
  return classes.statusesListed({ statuses, unread: new Set(unread), rows });
}

/** `version@rv` of a class. */
function text(seen: ObservedSource | undefined): string | undefined {
  return seen && `${seen.hash.slice(2)}@${seen.rv}`;
}

function texts(seen: readonly ObservedSource[]): (string | undefined)[] {
  return seen.map(text);
}

/** Pods a and b show v1, listed at 10 and 11. */
function rolledOut(): ProviderClasses {
  const classes = new ProviderClasses();
  list(classes, [shows('a', 10, 'v1'), shows('b', 11, 'v1')]);
  return classes;
}

describe('a list of many pods with one class', () => {
  it('is read in time for their number', () => {
    const pods = Array.from({ length: 1_000 }, (_, index) => shows(`p${index}`, 10 + index, 'v1'));
    expect(iterated(() => list(new ProviderClasses(), pods))).toBeLessThan(20_000);
  });
});

describe('what a class has at present', () => {
  it.each<[string, SeenStatus[], string]>([
    ['is what the first pod that rotates shows', [shows('a', 20, 'v2')], 'v2@20'],
    ['stays when the others follow', [shows('a', 20, 'v2'), shows('b', 90, 'v2')], 'v2@90'],
    [
      'stays when a status with the old versions is written',
      [shows('a', 20, 'v2'), shows('b', 30, 'v1'), shows('b', 31, 'v1')],
      'v2@31',
    ],
    ['is what a pod that just mounted shows', [shows('c', 20, 'v2')], 'v2@20'],
    ['is what it was before when a pod rotates back', [shows('a', 20, 'v2'), shows('a', 30, 'v1')], 'v1@30'],
    ['stays while a pod has mounted nothing yet', [shows('a', 20, 'v2'), shows('c', 30, '')], 'v2@20'],
    [
      'stays when a status shows nothing for a moment and then the same as before',
      [shows('a', 20, 'v2'), shows('b', 30, ''), shows('b', 31, 'v1')],
      'v2@31',
    ],
  ])('%s', (_, writes, expected) => {
    const classes = rolledOut();
    const seen = writes.map((status) => classes.statusWritten(status)).filter((one) => one !== undefined);
    expect(text(seen.at(-1))).toBe(expected);
  });

  it('stays when the status that told of it goes', () => {
    const classes = rolledOut();
    classes.statusWritten(shows('a', 20, 'v2'));
    classes.statusDeleted(shows('a', 25, 'v2'));
    expect(text(classes.statusWritten(shows('b', 30, 'v1')))).toBe('v2@30');
  });

  it('is told with the marker that goes with it', () => {
    const seen = rolledOut().statusWritten(shows('a', 20, 'v2'));
    expect(seen?.providerClass?.markerHash).toBe('sha1 of v2');
  });

  it('is the same under a key that is being retired, and is told with the hashes under both', () => {
    const classes = new ProviderClasses();
    const both = (rv: number, version: string) => ({
      hashes: [`knew.${version}`, `1.${version}`],
      rv: String(rv),
    });
    const { listed } = list(classes, [shows('a', 12, 'v1', both(12, 'v1'))], rowOf(10, 'v1'));
    expect(listed).toMatchObject([
      { rv: '10', hash: 'knew.v1', providerClass: { shownAt: 12, otherHashes: ['1.v1'] } },
    ]);
    expect(classes.statusWritten(shows('c', 20, 'v1', both(20, 'v1')))?.hash).toBe('knew.v1');
    expect(classes.statusWritten(shows('a', 30, 'v2', both(30, 'v2')))?.hash).toBe('knew.v2');
  });
});

describe('a list', () => {
  it.each<[string, SeenStatus[], SourceRow | undefined, string[], string[]]>([
    [
      'without a row takes the newest',
      [shows('a', 30, 'v2'), shows('b', 20, 'v1')],
      undefined,
      ['v2@30'],
      [],
    ],
    [
      'keeps the row, however many statuses still show older versions',
      [shows('a', 20, 'v1'), shows('b', 30, 'v2'), shows('c', 25, 'v1')],
      rowOf(30, 'v2'),
      ['v2@30'],
      [],
    ],
    [
      'keeps the row if nobody shows its versions any more',
      [shows('a', 20, 'v1')],
      rowOf(30, 'v2'),
      ['v2@30'],
      [],
    ],
    [
      'keeps the row, and is further, if only what it says was written',
      [shows('a', 40, 'v2'), shows('b', 20, 'v1')],
      rowOf(30, 'v2'),
      ['v2@30'],
      ['v2@40'],
    ],
    [
      'takes what was written in the gap',
      [shows('a', 40, 'v3'), labelled('b', [30, 50], 'v2')],
      rowOf(30, 'v2'),
      ['v3@40'],
      ['v3@50'],
    ],
    [
      'keeps the row if only the metadata of a lingering status was written in the gap',
      [shows('a', 20, 'v2'), labelled('b', [10, 40], 'v1')],
      rowOf(20, 'v2'),
      ['v2@20'],
      ['v2@40'],
    ],
    [
      'keeps the row also if the pod that showed its versions is gone',
      [labelled('b', [10, 40], 'v1')],
      rowOf(20, 'v2'),
      ['v2@20'],
      ['v2@40'],
    ],
    [
      'keeps the row also if only statuses tell when its versions were shown',
      [shows('a', 20, 'v2'), labelled('b', [10, 40], 'v1')],
      rowOf(20, 'v2', { providerClass: { markerHash: 'sha1 of v2', rv: '0' } }),
      ['v2@20'],
      ['v2@40'],
    ],
    [
      'takes a change back in the gap',
      [shows('a', 40, 'v1'), labelled('b', [10, 50], 'v1')],
      rowOf(20, 'v2'),
      ['v1@40'],
      ['v1@50'],
    ],
    [
      'without a row keeps to what was mounted last, however late the metadata of others was written',
      [shows('a', 20, 'v2'), labelled('b', [10, 40], 'v1'), labelled('c', [11, 50], 'v1')],
      undefined,
      ['v2@20'],
      ['v2@50'],
    ],
    [
      'takes, in doubt, what was written in the same second',
      [labelled('a', [20, 20], 'v2'), labelled('b', [20, 40], 'v3')],
      rowOf(20, 'v2'),
      ['v3@40'],
      [],
    ],
    [
      'takes, in doubt, what was written in the gap if nothing tells when its versions were',
      [shows('a', 20, 'v2'), labelled('b', [0, 40], 'v3')],
      rowOf(20, 'v2'),
      ['v3@40'],
      [],
    ],
    [
      'takes the last of two changes in the gap, whichever metadata was written last',
      [labelled('a', [40, 60], 'v2'), shows('b', 50, 'v3')],
      rowOf(20, 'v1'),
      ['v3@50'],
      ['v3@60'],
    ],
    [
      'takes up a class that was gone',
      [shows('a', 20, 'v1')],
      rowOf(30, 'v1', { exists: false }),
      ['v1@20'],
      [],
    ],
    ['tells nothing of a class of which nothing is mounted', [shows('a', 20, '')], undefined, [], []],
  ])('%s', (_, statuses, row, listed, advanced) => {
    const told = list(new ProviderClasses(), statuses, row);
    expect(texts(told.listed)).toEqual(listed);
    expect(texts(told.advanced)).toEqual(advanced);
  });

  it('with memory knows the old versions by heart, also of a status that was written in the gap', () => {
    const classes = rolledOut();
    classes.statusWritten(shows('a', 20, 'v2'));
    const told = list(classes, [shows('a', 20, 'v2'), shows('b', 40, 'v1')], rowOf(20, 'v2'));
    expect([texts(told.listed), texts(told.advanced)]).toEqual([['v2@20'], ['v2@40']]);
  });

  it('with memory takes the last of two changes in the gap, whichever metadata was written last', () => {
    const told = list(rolledOut(), [labelled('a', [40, 60], 'v2'), shows('b', 50, 'v3')], rowOf(11, 'v1'));
    expect(texts(told.listed)).toEqual(['v3@50']);
  });

  it('writes down for the next one when the versions were last shown', () => {
    const classes = rolledOut();
    const seen = [shows('a', 20, 'v2'), shows('b', 30, 'v2'), labelled('a', [20, 40], 'v2')];
    const times = seen.map((status) => classes.statusWritten(status)?.providerClass?.shownAt);
    expect(times).toEqual([20, 30, 30]);
    expect(list(classes, [], rowOf(30, 'v2')).listed).toEqual([]);
    const told = list(new ProviderClasses(), [shows('a', 20, 'v2'), shows('b', 30, 'v2')]);
    expect(told.listed[0]?.providerClass?.shownAt).toBe(30);
  });

  it('with memory sees what changed in the gap', () => {
    const told = list(rolledOut(), [shows('a', 10, 'v1'), shows('b', 40, 'v2')], rowOf(11, 'v1'));
    expect(texts(told.listed)).toEqual(['v2@40']);
  });

  it('with memory takes what a pod has mounted that was created again under its name, as that of a StatefulSet', () => {
    const classes = rolledOut();
    classes.statusWritten(shows('a', 20, 'v2'));
    const again = shows('b', 40, 'v1', { uid: 'b again' });
    expect(texts(list(classes, [shows('a', 20, 'v2'), again], rowOf(20, 'v2')).listed)).toEqual(['v1@40']);
    expect(text(classes.statusWritten(shows('b', 50, 'v2', { uid: 'b again' })))).toBe('v2@50');
  });

  it('keeps what was known of a status that could not be read', () => {
    const classes = rolledOut();
    classes.statusWritten(shows('a', 20, 'v2'));
    const unread = 'SecretProviderClassPodStatus/ns/b-ns-vault';
    list(classes, [shows('a', 20, 'v2')], rowOf(20, 'v2'), [unread]);
    expect(text(classes.statusWritten(shows('b', 30, 'v1')))).toBe('v2@30');
  });

  it('leaves out a class that neither is there nor is mounted', () => {
    expect(list(rolledOut(), [], rowOf(11, 'v1')).listed).toEqual([]);
  });

  it('keeps a class that is there and that no pod mounts', () => {
    const classes = rolledOut();
    classes.classWritten(seenSource('vault', 5, '', { key: CLASS }));
    expect(texts(list(classes, [], rowOf(11, 'v1')).listed)).toEqual(['v1@11']);
  });

  it('tells when the data is from: never, if every pod began with it', () => {
    const rotated = [shows('a', 10, 'v1', { modifiedAt: 77 }), shows('b', 11, 'v1')];
    expect(list(new ProviderClasses(), rotated).listed[0]?.modifiedAt).toBe(77);
    expect(list(rolledOut(), [shows('b', 11, 'v1')]).listed[0]?.modifiedAt).toBe(0);
  });
});

describe('the annotations of a class', () => {
  const ignored = (rv: number) =>
    seenSource('vault', rv, '', { key: CLASS, annotations: { 'reloader.stakater.com/ignore': 'true' } });

  it('come with its versions, whichever is seen first', () => {
    const classes = new ProviderClasses();
    expect(classes.classWritten(ignored(5))).toBeUndefined();
    expect(classes.statusWritten(shows('a', 10, 'v1'))).toMatchObject({
      annotations: ignored(5).annotations,
      providerClass: { rv: '5' },
    });
  });

  it('leave the versions as they are, and the place in time of them', () => {
    const seen = rolledOut().classWritten(ignored(90));
    expect(seen).toMatchObject({ rv: '11', hash: '1.v1', providerClass: { rv: '90' } });
  });

  it('are those of the last list', () => {
    const classes = rolledOut();
    classes.classWritten(ignored(12));
    expect(classes.classesListed([], new Set())[0]?.annotations).toEqual({});
  });

  it('stay if the class could not be read', () => {
    const classes = rolledOut();
    classes.classWritten(ignored(12));
    expect(classes.classesListed([], new Set([CLASS]))[0]?.annotations).toEqual(ignored(12).annotations);
  });
});

describe('whatever the order and the pace in which the pods rotate', () => {
  const PODS = ['a', 'b', 'c', 'd', 'e'];

  it('each change of the provider is one change of the class', () => {
    const rotation = record({
      order: shuffledSubarray(PODS, { minLength: PODS.length }),
      noise: array(record({ pod: constantFrom(...PODS), after: integer({ min: 0, max: 4 }) })),
    });
    assert(
      property(array(rotation, { minLength: 1, maxLength: 6 }), (rotations) => {
        const classes = new ProviderClasses();
        const present = new Map(PODS.map((pod) => [pod, 'v0']));
        let rv = 10;
        list(
          classes,
          PODS.map((pod) => shows(pod, rv, 'v0')),
        );
        const seen: string[] = ['1.v0'];
        const write = (pod: string): void => {
          rv += 1;
          const now = classes.statusWritten(shows(pod, rv, present.get(pod) ?? ''));
          if (now && now.hash !== seen.at(-1)) seen.push(now.hash);
        };
        for (const [index, { order, noise }] of rotations.entries()) {
          for (const [at, pod] of order.entries()) {
            present.set(pod, `v${(index + 1) % 2}`);
            write(pod);
            noise.filter(({ after }) => after === at).forEach((other) => write(other.pod));
          }
        }
        // Versions go to and fro between two, so every change but the first is also a change back.
        expect(seen).toEqual(['1.v0', ...rotations.map((_, index) => `1.v${(index + 1) % 2}`)]);
      }),
    );
  });

  it('a new start that finds the row again changes nothing', () => {
    assert(
      property(
        array(record({ pod: constantFrom(...PODS), version: constantFrom('v1', 'v2', 'v3') }), {
          minLength: 1,
        }),
        (writes) => {
          const before = new ProviderClasses();
          const statuses = new Map<string, SeenStatus>();
          let last: ObservedSource | undefined;
          for (const [index, { pod, version }] of writes.entries()) {
            const status = shows(pod, 10 + index, version);
            statuses.set(pod, status);
            last = before.statusWritten(status) ?? last;
          }
          const row = { ...rowOf(0, ''), ...last };
          const told = list(new ProviderClasses(), [...statuses.values()], row);
          expect(texts(told.listed)).toEqual([text(last)]);
          expect(told.advanced).toEqual([]);
        },
      ),
    );
  });
});
