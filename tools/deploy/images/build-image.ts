/**
 * Builds the image of Reroll with whichever of docker, podman and buildah is here, under the name that the chart has by default.
 *
 * Usage: `npm run images [-- [--image=NAME:TAG] [--push]]`
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { run, which } from '../../cluster/src/run.ts';
import { chartImage } from './chart-image.ts';

const ROOT = join(import.meta.dirname, '../../..');
const BUILDERS = ['docker', 'podman', 'buildah'] as const;
type Builder = (typeof BUILDERS)[number];

/** How a cluster on this machine gets an image that this builder has. Docker's images are where these tools look. */
const LOADING: Readonly<Record<'docker' | 'other', readonly string[]>> = {
  docker: [
    'kind:      kind load docker-image IMAGE',
    'k3d:       k3d image import IMAGE',
    'minikube:  minikube image load IMAGE',
  ],
  other: [
    'kind:      BUILDER push IMAGE docker-archive:reroll.tar:IMAGE && kind load image-archive reroll.tar',
    'k3d:       BUILDER push IMAGE docker-archive:reroll.tar:IMAGE && k3d image import reroll.tar',
    'minikube:  BUILDER push IMAGE docker-archive:reroll.tar:IMAGE && minikube image load reroll.tar',
  ],
};

const given = options();
const builder = given === undefined ? undefined : await findBuilder();
if (given === undefined) {
  process.exitCode = 2;
} else if (builder === undefined) {
  console.error(`expected docker (with its daemon), podman or buildah on the PATH; found none of them`);
  process.exitCode = 1;
} else {
  process.exitCode = (await build(builder, given)) ? 0 : 1;
}

interface Given {
  readonly image: string;
  readonly push: boolean;
}

function options(): Given | undefined {
  try {
    const { values } = parseArgs({
      options: { image: { type: 'string' }, push: { type: 'boolean', default: false } },
    });
    return { image: values.image ?? chartImage('reroll'), push: values.push };
  } catch (error) {
    console.error(`${(error as Error).message}\nUsage: npm run images [-- [--image=NAME:TAG] [--push]]`);
    return undefined;
  }
}

async function findBuilder(): Promise<Builder | undefined> {
  for (const name of BUILDERS) {
    if (which(name) === undefined) continue;
    // A client of Docker without a daemon cannot build.
    // oxlint-disable-next-line no-await-in-loop -- the first that works
    if (name !== 'docker' || (await run(name, ['info'])).code === 0) return name;
  }
  return undefined;
}

/** Resolves whether it was built, and pushed if it was to be. */
async function build(name: Builder, { image, push }: Given): Promise<boolean> {
  console.log(`building ${image} with ${name}`);
  const layers = name === 'buildah' ? ['--layers'] : [];
  const isBuilt = await step(name, [
    'build',
    ...layers,
    '--file',
    'deploy/docker/Dockerfile',
    '--tag',
    image,
    '.',
  ]);
  if (!isBuilt) return false;
  if (push) {
    if (!(await step(name, ['push', image]))) return false;
    console.log(`pushed ${image}. Install it: helm install … --set ${valuesOf(image)}`);
    return true;
  }
  const lines = LOADING[name === 'docker' ? 'docker' : 'other'];
  const text = lines.map((line) => `  ${line.replaceAll('IMAGE', image).replaceAll('BUILDER', name)}`);
  console.log(`built ${image}. Bring it to the nodes of your cluster:\n${text.join('\n')}`);
  return true;
}

async function step(program: string, args: readonly string[]): Promise<boolean> {
  const { code } = await run(program, args, { cwd: ROOT, onLine: (line) => console.log(line) });
  if (code !== 0) console.error(`${program} ${args[0]} ended with code ${code}`);
  return code === 0;
}

/** The values of the chart by which it is pulled. */
function valuesOf(name: string): string {
  const [, repository = name, tag] = /^(.*?)(?::([^:/]+))?$/u.exec(name) ?? [];
  return `image.repository=${repository}${tag === undefined ? '' : `,image.tag=${tag}`}`;
}
