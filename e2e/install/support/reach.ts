import { inject } from 'vitest';
import { type Forward, forward } from '../../../tools/kubelet/src/dial.ts';
import type { Component, Release } from './release.ts';

/** A port of this host that leads to a pod of the component, until `use` is done. */
export async function reach<T>(
  release: Release,
  at: { component: Component; port: number; index?: number },
  use: (port: number) => Promise<T>,
): Promise<T> {
  const pods = await release.readyPods(at.component);
  const ip = pods[at.index ?? 0]?.status?.podIP;
  if (ip === undefined) throw new Error(`expected a pod of ${at.component} that is ready`);
  const door: Forward = await forward(inject('installKubelet'), () => ({ ip, port: at.port }));
  try {
    return await use(door.port);
  } finally {
    door.close();
  }
}
