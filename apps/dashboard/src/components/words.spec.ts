import { findAll, inBrowser, mount, text } from '../testing/mounted.ts';
import { h } from 'preact';
import { expect, it } from 'vitest';
import { localTime } from '../time.ts';
import { Words } from './words.tsx';

inBrowser();

it('a time in a text is shown in the zone of the reader, and what somebody has written as it is', async () => {
  const at = '2026-12-31T13:18:17.404Z';
  const written = '`2026-12-31T00:00:00.000Z`, expected a time such as 2026-12-31T00:00:00Z';
  await mount(h(Words, { text: `It waits until ${at}: ${written}` }));
  expect(text()).toBe(
    `It waits until ${localTime(new Date(at), new Date())}: ${written.replaceAll('`', '')}`,
  );
  const [time, more] = findAll('time');
  expect(time?.attributes.get('title')).toBe('2026-12-31 13:18:17 UTC');
  expect(more).toBeUndefined();
});
