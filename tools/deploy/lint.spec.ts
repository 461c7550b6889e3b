import { expect, it } from 'vitest';
import { run } from '../cluster/src/run.ts';
import { ensureHelm } from './ensure-helm.ts';
import { CHART } from './values/values-comments.ts';

it('helm lint --strict finds nothing', async () => {
  const helm = await ensureHelm({ log: console.log });
  const { code, tail } = await run(helm, ['lint', '--strict', CHART]);
  expect({ code, tail }).toEqual({ code: 0, tail: expect.stringContaining('0 chart(s) failed') as string });
  expect(tail).not.toMatch(/\[(ERROR|WARNING)\]/u);
});

it('an older Kubernetes than Chart.yaml states is refused', async () => {
  const helm = await ensureHelm({ log: console.log });
  const render = async (version: string): Promise<string> =>
    (await run(helm, ['template', 'reroll', CHART, '--kube-version', version])).tail;
  expect(await render('1.28.9')).toContain('which is incompatible with Kubernetes v1.28.9');
  expect(await render('1.29.0')).not.toContain('incompatible');
});
