import { describe, expect, test } from 'vitest';
import { namespaceAnnotations } from '../state/observe.ts';
import { readWindows, windowState } from './window.ts';

/** `open until …` or `closed until …`, in UTC. */
function at(text: string, now: string): string {
  const reading = readWindows(text);
  if (reading.state !== 'read') return reading.state;
  const { isOpen, until } = windowState(reading.windows, Date.parse(now));
  return `${isOpen ? 'open' : 'closed'} until ${until === undefined ? '' : new Date(until).toISOString().replace(':00.000Z', 'Z')}`;
}

test.each([
  // A Wednesday.
  ['09:00-17:00', '2026-11-25T08:59:59Z', 'closed until 2026-11-25T09:00Z'],
  ['09:00-17:00', '2026-11-25T09:00:00Z', 'open until 2026-11-25T17:00Z'],
  ['09:00-17:00', '2026-11-25T17:00:00Z', 'closed until 2026-11-26T09:00Z'],
  ['0:00-24:00', '2026-11-25T23:59:59Z', 'open until 2026-11-26T00:00Z'],
  ['Mon-Fri 22:00-04:00 Europe/Berlin', '2026-11-25T20:59:00Z', 'closed until 2026-11-25T21:00Z'],
  ['Mon-Fri 22:00-04:00 Europe/Berlin', '2026-11-26T02:59:00Z', 'open until 2026-11-26T03:00Z'],
  // Friday's window lasts until Saturday morning; the next one begins on Monday.
  ['Mon-Fri 22:00-04:00 Europe/Berlin', '2026-11-28T02:00:00Z', 'open until 2026-11-28T03:00Z'],
  ['Mon-Fri 22:00-04:00 Europe/Berlin', '2026-11-28T22:00:00Z', 'closed until 2026-11-30T21:00Z'],
  ['Sat-Mon 10:00-11:00', '2026-11-25T12:00:00Z', 'closed until 2026-11-28T10:00Z'],
  ['wed 10:00-11:00', '2026-11-25T11:00:00Z', 'closed until 2026-12-02T10:00Z'],
  ['Sat,Sun 10:00-11:00; Thu 01:00 - 02:00', '2026-11-25T12:00:00Z', 'closed until 2026-11-26T01:00Z'],
  ['10:00-11:00; 10:30-12:00', '2026-11-25T10:45:00Z', 'open until 2026-11-25T12:00Z'],
  ['10:00-11:00 America/New_York', '2026-11-25T14:30:00Z', 'closed until 2026-11-25T15:00Z'],
])('%s at %s: %s', (text, now, expected) => {
  expect(at(text, now)).toBe(expected);
});

describe('in the nights in which the clock changes', () => {
  test.each([
    // 02:00 to 03:00 does not exist on 2026-03-29: what begins then begins at 03:00 + what it would be past 02:00.
    ['02:30-04:00 Europe/Berlin', '2026-03-29T01:00:00Z', 'closed until 2026-03-29T01:30Z'],
    ['22:00-04:00 Europe/Berlin', '2026-03-28T22:00:00Z', 'open until 2026-03-29T02:00Z'],
    // A window within the gap is as long as before, an hour later.
    ['02:10-02:40 Europe/Berlin', '2026-03-29T00:00:00Z', 'closed until 2026-03-29T01:10Z'],
    ['02:10-02:40 Europe/Berlin', '2026-03-29T01:20:00Z', 'open until 2026-03-29T01:40Z'],
    // One that ends at the end of the gap, an hour earlier, is empty on that day.
    ['02:30-03:00 Europe/Berlin', '2026-03-29T00:00:00Z', 'closed until 2026-03-30T00:30Z'],
    // 02:00 to 03:00 comes twice on 2026-10-25, and the first counts.
    ['02:30-04:00 Europe/Berlin', '2026-10-25T00:00:00Z', 'closed until 2026-10-25T00:30Z'],
    ['22:00-04:00 Europe/Berlin', '2026-10-24T21:00:00Z', 'open until 2026-10-25T03:00Z'],
    ['22:00-02:30 Europe/Berlin', '2026-10-25T00:45:00Z', 'closed until 2026-10-25T21:00Z'],
  ])('%s at %s: %s', (text, now, expected) => {
    expect(at(text, now)).toBe(expected);
  });
});

describe('in the week before a day on which the clock skips the window', () => {
  /** Three times a day, from a Sunday to the next. */
  const week = (sunday: string): string[] =>
    Array.from({ length: 8 * 3 }, (_, at) =>
      new Date(Date.parse(`${sunday}T06:00:00Z`) + at * 8 * 3_600_000).toISOString(),
    );

  test.each(week('2026-03-22'))('that of the next week is told: Europe/Berlin, %s', (now) => {
    expect(at('Sun 02:00-03:00 Europe/Berlin', now)).toBe('closed until 2026-04-05T00:00Z');
  });

  test.each(week('2026-03-01'))('that of the next week is told: America/New_York, %s', (now) => {
    const expected =
      now < '2026-03-01T07' ? 'closed until 2026-03-01T07:00Z' : 'closed until 2026-03-15T06:00Z';
    expect(at('Sun 02:00-03:00 America/New_York', now)).toBe(expected);
  });

  test('as soon as the window before has ended, which is fourteen days', () => {
    expect(at('Sun 02:00-03:00 Europe/Berlin', '2026-03-22T01:59:59Z')).toBe('open until 2026-03-22T02:00Z');
    expect(at('Sun 02:00-03:00 Europe/Berlin', '2026-03-22T02:00:00Z')).toBe(
      'closed until 2026-04-05T00:00Z',
    );
  });
});

test('without a window that opens, it is closed, and not known until when', () => {
  expect(windowState([], Date.parse('2026-11-25T12:00:00Z'))).toEqual({ isOpen: false });
});

test('a leap day is a day', () => {
  expect(at('Tue 10:00-11:00', '2028-02-28T12:00:00Z')).toBe('closed until 2028-02-29T10:00Z');
});

test('the longest value that is read has at most 20 windows, so that judging them has a bound', () => {
  const text = Array.from({ length: 40 }, (_, minute) => `0:${String(minute).padStart(2, '0')}-1:00`).join(
    ';',
  );
  const { 'reroll.dev/window': kept = '' } = namespaceAnnotations({
    'reroll.dev/window': text.slice(0, 200),
  });
  const reading = readWindows(kept.replace(/;[^;]*$/u, ''));
  expect(reading).toMatchObject({ state: 'read' });
  expect(reading.state === 'read' && reading.windows.length).toBeLessThanOrEqual(20);
  expect(
    readWindows(namespaceAnnotations({ 'reroll.dev/window': text })['reroll.dev/window'] ?? ''),
  ).toMatchObject({
    state: 'unreadable',
  });
});

test('the time may have fractions of a millisecond', () => {
  const reading = readWindows('10:00-11:00');
  if (reading.state !== 'read') throw new Error('expected windows');
  expect(windowState(reading.windows, Date.parse('2026-11-25T10:00:00Z') + 0.25).isOpen).toBe(true);
});

test.each(['utc', 'EST', 'Etc/GMT+5', 'America/Argentina/Buenos_Aires', 'America/Port-au-Prince'])(
  '%s is a zone',
  (zone) => {
    expect(readWindows(`10:00-11:00 ${zone}`)).toMatchObject({ state: 'read' });
  },
);

test('always is no window', () => {
  expect(readWindows(' Always ')).toEqual({ state: 'always' });
});

test.each([
  '',
  ';',
  'never',
  '10:00',
  '10:00-25:00',
  '24:00-10:00',
  '10:60-11:00',
  '10:00-10:00',
  'Foo 10:00-11:00',
  'Mon- 10:00-11:00',
  'Mon-Tue-Wed 10:00-11:00',
  '10:00-11:00 Mars/Olympus',
  '10:00-11:00 +01:00',
  'Mon 10:00-11:00 2020-01-01T00:00Z',
  '10:00-11:00 20200101[Europe/Berlin]',
  '10:00-11:00; later',
  `10:00-11:00 ${'x'.repeat(300)}`,
])('%j cannot be read', (text) => {
  const reading = readWindows(text);
  expect(reading).toMatchObject({
    state: 'unreadable',
    problem: expect.stringContaining('expected windows such as'),
  });
});
