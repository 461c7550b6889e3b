import { describe, expect, it } from 'vitest';
import { requestOf, type Asked } from './preview-request.ts';

const EMPTY: Asked = { of: 'source', key: 'Secret/shop/db', annotations: '', podAnnotations: '' };
const db = { kind: 'Secret', namespace: 'shop', name: 'db' };
const web = { kind: 'Deployment', namespace: 'shop', name: 'web' };

describe('the form of the preview', () => {
  it('asks for a change of a source, with its own annotations if none are proposed', () => {
    expect(requestOf(EMPTY)).toEqual({ of: 'source', source: db });
  });

  it('takes annotations as they stand in YAML', () => {
    const annotations =
      "\n# a comment\nreloader.stakater.com/match: \"true\"\n  a/b: plain: text \n'c': ''\n";
    expect(requestOf({ ...EMPTY, annotations })).toEqual({
      of: 'source',
      source: db,
      annotations: { 'reloader.stakater.com/match': 'true', 'a/b': 'plain: text', c: '' },
    });
  });

  it('sends no annotations of a workload as none, and those of its pod template only if there are some', () => {
    const asked: Asked = { ...EMPTY, of: 'workload', key: ' Deployment/shop/web ' };
    expect(requestOf(asked)).toEqual({ of: 'workload', workload: web, annotations: {} });
    expect(requestOf({ ...asked, podAnnotations: 'a: b' })).toEqual({
      of: 'workload',
      workload: web,
      annotations: {},
      podAnnotations: { a: 'b' },
    });
  });

  it.each([
    [{ ...EMPTY, key: '' }, 'Expected kind/namespace/name of a source, given nothing.'],
    [{ ...EMPTY, key: 'shop/db' }, 'Expected kind/namespace/name of a source, given shop/db.'],
    [
      { ...EMPTY, key: 'Deployment/shop/web' },
      'Expected kind/namespace/name of a source, given Deployment/shop/web.',
    ],
    [
      { ...EMPTY, of: 'workload' as const, key: 'Secret/shop/db' },
      'Expected kind/namespace/name of a workload, given Secret/shop/db.',
    ],
    [
      { ...EMPTY, annotations: 'auto=true' },
      'Expected lines like reloader.stakater.com/auto: "true", given auto=true.',
    ],
  ])('%j is answered with what was expected', (asked, complaint) => {
    expect(requestOf(asked)).toBe(complaint);
  });
});
