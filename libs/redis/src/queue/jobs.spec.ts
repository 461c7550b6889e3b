import { describe, expect, it } from 'vitest';
import { changeJob, changeJobOf, readPayload, reloadJob, reloadJobOf } from './jobs.ts';

const SOURCE = 'ConfigMap/shop/settings';
const WORKLOAD = 'Deployment/shop/web';

describe('a payload', () => {
  it('that was made here is read back', () => {
    const change = changeJobOf(SOURCE, 17);
    expect(readPayload(changeJob, change)).toEqual({ state: 'read', payload: change });
    for (const reload of [reloadJobOf(WORKLOAD, 17), reloadJobOf(WORKLOAD, 17, SOURCE)]) {
      expect(readPayload(reloadJob, reload)).toEqual({ state: 'read', payload: reload });
    }
  });

  it('that names a source of a kind that is not known here is read without it', () => {
    const reload = { ...reloadJobOf(WORKLOAD, 17), source: 'Gadget/shop/settings' };
    expect(readPayload(reloadJob, reload)).toEqual({ state: 'read', payload: reloadJobOf(WORKLOAD, 17) });
  });

  it('is the same after a way through JSON', () => {
    const reload = reloadJobOf(WORKLOAD, 17);
    expect(JSON.parse(JSON.stringify(reload))).toEqual(reload);
  });

  it.each([2, 3, 1000])('of version %d is for a process that knows it', (version) => {
    const data = { v: version, workload: WORKLOAD, since: 17, priority: 'high' };
    expect(readPayload(reloadJob, data)).toEqual({ state: 'unknownVersion', version });
  });

  it.each<[string, unknown, string]>([
    ['no object', 'Deployment/shop/web', 'payload: '],
    ['null', null, 'payload: '],
    ['no version', { workload: WORKLOAD, since: 17 }, 'v: '],
    ['a version below the first', { v: 0, workload: WORKLOAD, since: 17 }, 'v: '],
    ['a version that is no number', { v: '2', workload: WORKLOAD, since: 17 }, 'v: '],
    ['a key of two parts', { v: 1, workload: 'Deployment/web', since: 17 }, 'workload: expected <kind>/'],
    [
      'a key with a space',
      { v: 1, workload: 'Deployment/shop/a b', since: 17 },
      'workload: expected <kind>/',
    ],
    ...[
      'Deployment/../web',
      'Deployment/shop/..',
      'Deployment/shop/web?x',
      'Deployment/shop/a%2fb',
      'a b/shop/web',
      'Gadget/shop/web',
      'ConfigMap/shop/web',
    ].map((workload): [string, unknown, string] => [
      `a key ${workload}`,
      { v: 1, workload, since: 17 },
      'workload: expected <kind>/',
    ]),
    [
      'a source of a kind of workload',
      { v: 1, workload: WORKLOAD, since: 17, source: WORKLOAD },
      'source: expected',
    ],
    ['a source that is no key', { v: 1, workload: WORKLOAD, since: 17, source: '' }, 'source: expected'],
    ['a time before 1970', { v: 1, workload: WORKLOAD, since: -1 }, 'since: '],
    ['more than a key', { v: 1, workload: WORKLOAD, since: 17, data: {} }, 'payload: '],
  ])('with %s is invalid, and it is told where', (_, data, where) => {
    const reading = readPayload(reloadJob, data);
    expect(reading).toMatchObject({ state: 'invalid' });
    expect((reading as { problem: string }).problem).toContain(where);
  });

  it('that is invalid is told of without its values', () => {
    const data = { v: 1, workload: 'hunter2 hunter2', since: 'hunter2', source: { a: 'hunter2' } };
    expect(JSON.stringify(readPayload(reloadJob, data))).not.toContain('hunter2');
  });
});
