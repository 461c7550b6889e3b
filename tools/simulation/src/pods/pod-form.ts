/** How the containers of a pod use sources: each pod does it in other ways than its template, as if a webhook had changed it. */
import type { Random } from '../random.ts';

export interface PodUse {
  /** `Kind/namespace/name`. */
  readonly source: string;
  readonly by: 'env' | 'envFrom' | 'volume' | 'projected' | 'subPath' | 'imagePull';
  /** `setup` ends before the others start, `proxy` is an init container that goes on. What is pulled is pulled for all. */
  readonly container: 'main' | 'setup' | 'proxy';
}

type Way = Pick<PodUse, 'by' | 'container'>;

const WAYS: readonly [Way, ...Way[]] = [
  { container: 'main', by: 'env' },
  { container: 'main', by: 'env' },
  { container: 'main', by: 'envFrom' },
  { container: 'main', by: 'envFrom' },
  { container: 'main', by: 'volume' },
  { container: 'main', by: 'volume' },
  { container: 'main', by: 'projected' },
  { container: 'main', by: 'subPath' },
  { container: 'main', by: 'subPath' },
  { container: 'setup', by: 'env' },
  { container: 'setup', by: 'volume' },
  { container: 'proxy', by: 'envFrom' },
  { container: 'proxy', by: 'volume' },
];
const PULL: Way = { container: 'main', by: 'imagePull' };

/** Ways in which a new pod uses these sources: one of each, or two. */
export function usesOf(sources: readonly string[], random: Random): PodUse[] {
  return sources.flatMap((source): PodUse[] => {
    const pull = source.startsWith('Secret/') && random.chance(0.2) ? [{ source, ...PULL }] : [];
    const other = random.chance(0.2) ? [{ source, ...random.pick(WAYS) }] : [];
    return [{ source, ...random.pick(WAYS) }, ...other, ...pull];
  });
}

/** Whether it is given to a container when that starts, and not changed while it runs. */
export function isGivenOnce({ by, container }: PodUse): boolean {
  return container === 'setup' || !['volume', 'projected', 'imagePull'].includes(by);
}

export function podSpec(uses: readonly PodUse[]): object {
  const inits = (['setup', 'proxy'] as const).filter((name) => uses.some((use) => use.container === name));
  return {
    containers: [containerOf('main', uses)],
    initContainers: inits.map((name) => ({
      ...containerOf(name, uses),
      ...(name === 'proxy' ? { restartPolicy: 'Always' } : {}),
    })),
    volumes: uses.filter(isMounted).map(volumeOf),
    imagePullSecrets: uses.filter(({ by }) => by === 'imagePull').map((use) => ({ name: nameOf(use) })),
  };
}

function containerOf(name: PodUse['container'], all: readonly PodUse[]): object {
  const own = all.filter(({ container }) => container === name);
  return {
    name,
    image: 'app:1',
    env: own
      .filter(({ by }) => by === 'env')
      .map((use) => ({
        name: 'VALUE',
        valueFrom: { [`${word(use)}KeyRef`]: { name: nameOf(use), key: 'value' } },
      })),
    envFrom: own
      .filter(({ by }) => by === 'envFrom')
      .map((use) => ({ [`${word(use)}Ref`]: { name: nameOf(use) } })),
    volumeMounts: own.filter(isMounted).map((use) => ({
      name: volumeName(use),
      mountPath: '/etc/x',
      ...(use.by === 'subPath' ? { subPath: 'value' } : {}),
    })),
  };
}

function isMounted({ by }: PodUse): boolean {
  return by === 'volume' || by === 'projected' || by === 'subPath';
}

function volumeOf(use: PodUse): object {
  const [name, source] = [volumeName(use), nameOf(use)];
  if (use.by === 'projected') return { name, projected: { sources: [{ [word(use)]: { name: source } }] } };
  return word(use) === 'secret'
    ? { name, secret: { secretName: source } }
    : { name, configMap: { name: source } };
}

/** Two uses of one source may be by one volume. */
function volumeName(use: PodUse): string {
  return `${word(use).toLowerCase()}-${nameOf(use)}${use.by === 'projected' ? '-projected' : ''}`;
}

function word({ source }: PodUse): 'configMap' | 'secret' {
  return source.startsWith('Secret/') ? 'secret' : 'configMap';
}

function nameOf({ source }: PodUse): string {
  return source.slice(source.lastIndexOf('/') + 1);
}
