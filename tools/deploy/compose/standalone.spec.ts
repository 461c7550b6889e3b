import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { run } from '../../cluster/src/run.ts';
import { ensureCheckers } from '../ensure-checkers.ts';
import { ROOT } from '../images/dockerfile.ts';
import { at, workload } from '../look.ts';
import { manifestsWith } from '../render.ts';

let services: Readonly<Record<string, unknown>>;
beforeAll(async () => {
  const { compose } = await ensureCheckers({ log: console.log });
  const { code, stdout, tail } = await run(compose, [join(ROOT, 'deploy/compose/standalone.yaml')]);
  expect({ code, tail }).toEqual({ code: 0, tail });
  services = (JSON.parse(stdout) as { services: typeof services }).services;
});

it('deploy/compose/standalone.yaml is one container of the image that the chart runs, in the same role', async () => {
  expect(Object.keys(services)).toEqual(['standalone']);
  const { container, args } = workload(await manifestsWith({ mode: 'standalone' }), 'standalone');
  expect(at(services, 'standalone.image')).toBe(at(container, 'image'));
  expect(at(services, 'standalone.command.0')).toBe(args[0]);
});

it('patches nothing, is reached from this machine only, and has no rights on it', () => {
  const command = at(services, 'standalone.command') as readonly string[];
  expect(command).toContain('--dry-run');
  expect(at(services, 'standalone.network_mode')).toBe('host');
  for (const address of ['--api-addr', '--metrics-addr'])
    expect(command.some((each) => each.startsWith(`${address}=127.0.0.1:`))).toBe(true);
  expect(at(services, 'standalone')).toMatchObject({
    cap_drop: ['ALL'],
    security_opt: ['no-new-privileges:true'],
    read_only: true,
    user: '1000:1000',
  });
  const [kubeconfig, ...others] = at(services, 'standalone.volumes') as readonly object[];
  expect(kubeconfig).toMatchObject({ target: '/kube/config', read_only: true });
  expect(others).toEqual([]);
});
