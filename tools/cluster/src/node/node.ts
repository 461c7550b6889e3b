import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { NodePrograms } from '../build/build-kube-node.ts';
import type { KubeAccess } from '../kube-api.ts';
import type { Stack } from '../servers/stack.ts';
import { waitUntil } from '../wait.ts';
import { type ImageStore, importPause } from './images.ts';
import { nodeLaunch } from './launch.ts';
import { createNodeObjects } from './objects.ts';
import { placeOf } from './place.ts';

/** Starts the real node of a cluster whose API server answers; `Stack.ready` waits for it. */
export async function launchNode(
  stack: Stack,
  access: KubeAccess,
  { programs, tainted }: { programs: NodePrograms; tainted: boolean },
): Promise<void> {
  const { dir, token } = stack.state;
  const { port } = stack.component('apiserver');
  const place = placeOf(dir, port);
  stack.launch(nodeLaunch({ dir, token, port, programs, tainted }));
  await createNodeObjects(access, place);
  const store: ImageStore = { ctr: join(programs.folder, 'ctr'), socket: place.socket };
  const what = `containerd to listen on ${place.socket}`;
  await waitUntil(() => existsSync(place.socket), { what, timeoutMs: 60_000 });
  await importPause(store, join(programs.folder, 'pause'));
}
