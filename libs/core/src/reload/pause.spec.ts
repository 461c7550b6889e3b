import { describe, expect, it } from 'vitest';
import { DEFAULT_ANNOTATION_KEYS as KEYS } from '../annotations/annotation-keys.ts';
import type { WorkloadKind } from '../model.ts';
import { pauseOperations, pauseWish, resumeDueAt, resumePatch } from './pause.ts';

const SINCE = '2026-11-21T06:00:00.000Z';
const AT = Date.parse(SINCE);
const PATH = '/metadata/annotations/deployment.reloader.stakater.com~1paused-at';

function asking(period: string, kind: WorkloadKind = 'Deployment') {
  return pauseWish({ kind, annotations: { [KEYS.pausePeriod]: period } }, KEYS);
}

describe('the pause that a workload asks for', () => {
  it.each([
    ['5m', 300_000],
    ['1h30m', 5_400_000],
    ['300ms', 300],
  ])('is a Go duration: %s', (text, period) => {
    expect(asking(text)).toEqual({ state: 'pause', period });
  });

  it.each(['0', '0s', '-5m'])('is none if it is not longer than nothing: %s', (text) => {
    expect(asking(text)).toEqual({ state: 'none' });
  });

  it.each(['5minutes', '', '5', 'soon'])('cannot be used if it is no duration: %j', (text) => {
    const wish = asking(text);
    expect(wish).toMatchObject({ state: 'unusable' });
    expect(wish.state === 'unusable' && wish.problem).toContain(`given ${JSON.stringify(text)}`);
  });

  it('is for Deployments only', () => {
    expect(asking('5m', 'StatefulSet')).toEqual({
      state: 'unusable',
      problem: `Annotation '${KEYS.pausePeriod}' only applicable for deployments`,
    });
  });

  it('is none without the annotation, or with pausing switched off', () => {
    expect(pauseWish({ kind: 'Deployment', annotations: {} }, KEYS)).toEqual({ state: 'none' });
    const annotations = { '': '5m' };
    expect(pauseWish({ kind: 'Deployment', annotations }, { ...KEYS, pausePeriod: '' })).toEqual({
      state: 'none',
    });
  });
});

describe('the end of a pause', () => {
  const paused = (annotations: Record<string, string>) => resumeDueAt({ paused: true, annotations }, KEYS);

  it('is the time of the pause and the period after it', () => {
    expect(paused({ [KEYS.pausedAt]: SINCE, [KEYS.pausePeriod]: '5m' })).toBe(AT + 300_000);
  });

  it('reads the time as the incumbent writes it, with an offset', () => {
    const since = '2026-11-21T07:00:00+01:00';
    expect(paused({ [KEYS.pausedAt]: since, [KEYS.pausePeriod]: '5m' })).toBe(AT + 300_000);
  });

  it.each<[string, Record<string, string>]>([
    ['the time cannot be read', { [KEYS.pausedAt]: 'noon', [KEYS.pausePeriod]: '5m' }],
    ['the period cannot be read', { [KEYS.pausedAt]: SINCE, [KEYS.pausePeriod]: 'soon' }],
    ['the period is longer than Go allows', { [KEYS.pausedAt]: SINCE, [KEYS.pausePeriod]: '9999999999h' }],
    ['there is no such time', { [KEYS.pausedAt]: '+275760-01-01T00:00:00Z', [KEYS.pausePeriod]: '7000h' }],
    ['no RFC 3339 can write it', { [KEYS.pausedAt]: '9999-12-31T23:59:00Z', [KEYS.pausePeriod]: '1m' }],
    ['it is before the year 0', { [KEYS.pausedAt]: '-000001-01-01T00:00:00Z', [KEYS.pausePeriod]: '1m' }],
    ['the period was taken away', { [KEYS.pausedAt]: SINCE }],
  ])('has come if %s', (_, annotations) => {
    expect(paused(annotations)).toBe(0);
  });

  it('never comes for a pause of the owner', () => {
    expect(paused({ [KEYS.pausePeriod]: '5m' })).toBeUndefined();
  });

  it('has come for what was resumed by hand, so that the time left over goes', () => {
    expect(resumeDueAt({ paused: false, annotations: { [KEYS.pausedAt]: SINCE } }, KEYS)).toBe(0);
    expect(resumeDueAt({ paused: false, annotations: undefined }, KEYS)).toBeUndefined();
  });

  it('is nothing that another kind has', () => {
    expect(resumeDueAt({ paused: undefined, annotations: { [KEYS.pausedAt]: SINCE } }, KEYS)).toBeUndefined();
  });
});

describe('the patches', () => {
  it('pause with the time of it', () => {
    expect(pauseOperations(KEYS.pausedAt, new Date(AT))).toEqual([
      { op: 'add', path: '/spec/paused', value: true },
      { op: 'add', path: PATH, value: SINCE },
    ]);
  });

  it('resume only the pause that was read', () => {
    expect(resumePatch({ uid: 'u', paused: true, pausedAt: SINCE }, KEYS.pausedAt)).toEqual([
      { op: 'test', path: '/metadata/uid', value: 'u' },
      { op: 'test', path: PATH, value: SINCE },
      { op: 'test', path: '/spec/paused', value: true },
      { op: 'replace', path: '/spec/paused', value: false },
      { op: 'remove', path: PATH },
    ]);
  });

  it('only remove the time where it was resumed by hand', () => {
    expect(resumePatch({ uid: 'u', paused: false, pausedAt: SINCE }, KEYS.pausedAt).slice(2)).toEqual([
      { op: 'test', path: '/spec/paused', value: null },
      { op: 'remove', path: PATH },
    ]);
  });
});
