import { describe, expect, it } from 'vitest';
import { minutesOf, sinceOf, spanIn, spanQuery } from './since.ts';

describe('a time in a route', () => {
  it('is a number of minutes, or nothing', () => {
    expect(['60', '0', '-1', 'soon', '', undefined].map(minutesOf)).toEqual([
      60,
      ...Array.from({ length: 5 }, () => undefined),
    ]);
    expect(sinceOf('60')).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:00\.000Z$/);
    expect(sinceOf('soon')).toBeUndefined();
  });

  it('is a span that goes there and back, or nothing if it is none', () => {
    const span = { from: Date.parse('2026-11-21T15:00:00Z'), to: Date.parse('2026-11-21T15:07:00Z') };
    expect(spanQuery(span)).toEqual({ from: '2026-11-21T15:00:00.000Z', until: '2026-11-21T15:07:00.000Z' });
    expect(spanIn(spanQuery(span))).toEqual(span);
    expect(spanQuery(undefined)).toEqual({});
    for (const query of [{}, { from: 'now', until: 'then' }, { from: '2026-11-21', until: '2026-11-20' }]) {
      expect(spanIn(query)).toBeUndefined();
    }
  });
});
