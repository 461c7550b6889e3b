import { expect, it } from 'vitest';
import { workload } from '../look.ts';
import { manifestsWith, type ChartValues } from '../render.ts';

async function ignored(reloader: ChartValues): Promise<readonly string[]> {
  const { args } = workload(await manifestsWith({ reloader }), 'watcher');
  return args.filter((arg) => arg.startsWith('--namespaces-to-ignore'));
}

it.each<[unknown, boolean, readonly string[]]>([
  ['', false, ['kube-system']],
  ['a,b', false, ['a', 'b', 'kube-system']],
  [['a', 'kube-system'], false, ['a', 'kube-system']],
  ['kube-system', true, ['kube-system']],
  ['a', true, ['a']],
])(
  'kube-system is ignored unless it is asked for, and named once: %j',
  async (names, watchKubeSystem, expected) => {
    expect(await ignored({ ignoreNamespaces: names, watchKubeSystem })).toEqual([
      `--namespaces-to-ignore=${expected.join(',')}`,
    ]);
  },
);

it('nothing is ignored by who asks for kube-system and names none, or by a scoped install', async () => {
  expect(await ignored({ watchKubeSystem: true })).toEqual([]);
  expect(await ignored({ watchGlobally: false, namespaces: ['kube-system'] })).toEqual([]);
});
