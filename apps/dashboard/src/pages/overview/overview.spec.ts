import { find, inBrowser, mount, requests, text } from '../../testing/mounted.ts';
import { h } from 'preact';
import { afterEach, expect, it } from 'vitest';
import { parseRoute, route } from '../../router.ts';
import { Overview } from './overview.tsx';

afterEach(() => void (route.value = parseRoute('')));
inBrowser();

const COMMAND = 'kubectl annotate deployment NAME -n shop reloader.stakater.com/auto=true';

it.each([
  [0, true],
  [1, false],
])(
  'the command to begin with is shown if %i sources reload the only workload: %s',
  async (sources, isShown) => {
    route.value = parseRoute('#/?namespace=shop');
    await mount(h(Overview, {}));
    expect(text()).not.toContain('kubectl');
    for (const { path, answer } of requests)
      await answer({
        items: path === '/workloads?namespace=shop&limit=200' ? [{ sources }] : [],
        next: null,
      });
    expect(text().includes(COMMAND)).toBe(isShown);
    expect(text().includes('no workload that you may see asks for reloads yet')).toBe(isShown);
  },
);

it('what is stale since adoption is told with a link, and not that everything is reloaded', async () => {
  const workload = { kind: 'Deployment', namespace: 'shop', name: 'web', sources: 1 };
  route.value = parseRoute('#/?namespace=shop');
  await mount(h(Overview, {}));
  for (const { path, answer } of requests)
    await answer({
      items: /^.workloads\?namespace=shop&(due=stale&)?limit/.test(path) ? [workload] : [],
      next: null,
    });
  expect(text()).toContain(
    ': 1 workload may have older data (stale since adoption), nothing else needs attention.',
  );
  const link = find('a', '1 workload may have older data').attributes.get('href');
  expect(link).toBe('#/workloads?namespace=shop&due=stale');
});
