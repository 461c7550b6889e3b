import { existsSync, globSync, linkSync, mkdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Cluster } from '../../../tools/cluster/src/cluster.ts';
import { type Place, placeOf } from '../../../tools/cluster/src/node/place.ts';

/** A kubelet removes the logs of a pod with it; a second name for each file keeps them. */
export function keepPodLogs(cluster: Cluster): void {
  const from = placeOfNode(cluster).podLogs;
  const to = keptLogs(cluster);
  mkdirSync(to, { recursive: true });
  for (const file of globSync('*/*/*.log', { cwd: from })) {
    const kept = join(to, file.replaceAll('/', '+'));
    if (!existsSync(kept)) link(join(from, file), kept);
  }
}

/** Where `Cluster.stop` removes them. */
function keptLogs(cluster: Cluster): string {
  return join(placeOfNode(cluster).folder, 'kept-logs');
}

function placeOfNode({ dir, ports }: Cluster): Place {
  return placeOf(dir, ports.apiserver ?? 0);
}

function link(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    // Another process was faster, or the pod is gone.
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EEXIST' && code !== 'ENOENT') throw error;
  }
}

/** What the containers of a namespace have written, by `POD/CONTAINER`, one run after the other. */
export function podLogs(cluster: Cluster, namespace: string): ReadonlyMap<string, string> {
  const logs = new Map<string, string>();
  // NAMESPACE_POD_UID+CONTAINER+RUN.log
  for (const file of globSync(join(keptLogs(cluster), `${namespace}_*.log`)).sort()) {
    const [of = '', container = ''] = basename(file).split('+');
    const name = `${of.split('_')[1]}/${container}`;
    logs.set(name, (logs.get(name) ?? '') + linesOf(readFileSync(file, 'utf8')));
  }
  return logs;
}

/** Each line of the file is `TIME STREAM P|F TEXT`; P stands for a part, whose line goes on. */
function linesOf(text: string): string {
  return text.replaceAll(/^\S+ \S+ ([PF]) (.*\n?)/gm, (_line, tag: string, rest: string) =>
    tag === 'P' ? rest.trimEnd() : rest,
  );
}
