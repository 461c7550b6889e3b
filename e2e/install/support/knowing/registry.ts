import { eventually } from '../../../support/wait.ts';
import { chartImage } from '../../../../tools/deploy/images/chart-image.ts';
import type { Release } from '../release.ts';
import { podLogs } from '../pod-logs.ts';
import { installCluster } from '../release.ts';

/** Where the node has the registry below: containerd asks an address of its own machine without TLS. */
export const REGISTRY = '127.0.0.1:5000';

/** Refuses every pull, and writes who asked for what: `REPOSITORY:TAG PASSWORD`. */
const PROGRAM = `
  require('node:http').createServer((request, response) => {
    const [, name, tag] = /^.v2.(.+).manifests.(.+)$/.exec(request.url) ?? [];
    const given = request.headers.authorization;
    if (given && name) {
      const password = Buffer.from(given.split(' ')[1], 'base64').toString().split(':')[1];
      console.log(name + ':' + tag + ' ' + password);
    }
    response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="all"' }).end();
  }).listen(5000, '127.0.0.1', () => console.log('listening'));
  process.on('SIGTERM', () => process.exit());`;

const NAME = 'registry';

/** Data of the Secret that is pulled with. */
export function pullData(password: string): Readonly<Record<string, string>> {
  const login = { username: 'node', password };
  return { '.dockerconfigjson': JSON.stringify({ auths: { [REGISTRY]: login } }) };
}

/** Starts a pod of the real node that tells with which password images are pulled. */
export async function startRegistry({ client, space }: Release): Promise<void> {
  const app = { name: NAME, image: chartImage('reroll'), command: ['node', '-e', PROGRAM] };
  const spec = { hostNetwork: true, terminationGracePeriodSeconds: 1, containers: [app] };
  await client.post(`/api/v1/namespaces/${space.name}/pods`, { metadata: { name: NAME }, spec });
  await eventually(() => lines(space.name).includes('listening'), {
    what: 'the registry to listen',
    within: 120_000,
  });
}

/** The password with which a pod pulls now: it gets another image, so its kubelet does not wait. */
export async function passwordOf({ space }: Release, pod: string, tag: string): Promise<string> {
  const image = `${REGISTRY}/${pod}:${tag}`;
  const query = { fieldManager: 'e2e' };
  const body = { spec: { containers: [{ name: 'app', image }] } };
  const contentType = 'application/strategic-merge-patch+json';
  await space.client.patch(space.path(`Pod/${pod}`), body, { contentType, query });
  const asked = `${pod}:${tag} `;
  const line = await eventually(() => lines(space.name).find((each) => each.startsWith(asked)), {
    what: `${pod} to pull ${image}`,
    within: 60_000,
  });
  return line.slice(asked.length);
}

function lines(namespace: string): readonly string[] {
  return (podLogs(installCluster(), namespace).get(`${NAME}/${NAME}`) ?? '').split('\n');
}
