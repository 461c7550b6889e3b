import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BuildOptions } from '../../cluster/src/build/build.ts';
import { ClusterError } from '../../cluster/src/errors.ts';
import { ensureModuleFiles, type Pin } from './module-files.ts';

const SWAGGER = ['api/openapi-spec/swagger.json'];
const MONITORING = ['servicemonitors', 'podmonitors', 'prometheusrules'].map(
  (plural) => `example/prometheus-operator-crd/monitoring.coreos.com_${plural}.yaml`,
);
const KEDA = ['scaledobjects', 'triggerauthentications'].map(
  (plural) => `config/crd/bases/keda.sh_${plural}.yaml`,
);

/** The oldest Kubernetes that Chart.yaml states, and the one of tools/cluster, which is the newest that we run. */
const KUBERNETES = {
  oldest: {
    module: 'k8s.io/kubernetes@v1.29.15',
    sum: 'h1:hLcyf3XmxtfkubCEmmPX5QVD7lDclXjvEUrJeP283LM=',
    files: SWAGGER,
  },
  newest: {
    module: 'k8s.io/kubernetes@v1.36.3',
    sum: 'h1:qDQdoMiluAE2Eab6Fa52YV+WjiGz9mZFFoagEA6cI+o=',
    files: SWAGGER,
  },
} satisfies Record<string, Pin>;

const CRDS: readonly Pin[] = [
  {
    module: 'github.com/prometheus-operator/prometheus-operator@v0.85.0',
    sum: 'h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s=',
    files: MONITORING,
  },
  {
    module: 'github.com/kedacore/keda/v2@v2.21.0',
    sum: 'h1:R6z2HZvstK4RLUMxroNACzBj74xGxt3kG59b5Xc+Xps=',
    files: KEDA,
  },
  {
    module: 'k8s.io/autoscaler/vertical-pod-autoscaler@v1.8.1',
    sum: 'h1:Pe8bV1wozN4gOKO1rleiIY5alIyAXN+DnXDbXQcL4fI=',
    files: ['deploy/vpa-v1-crd-gen.yaml'],
  },
  {
    module: 'sigs.k8s.io/gateway-api@v1.4.0',
    sum: 'h1:ZwlNM6zOHq0h3WUX2gfByPs2yAEsy/EenYJB78jpQfQ=',
    files: ['config/crd/standard/gateway.networking.k8s.io_httproutes.yaml'],
  },
];

export interface SchemaFiles {
  /** Swagger, JSON. */
  readonly oldest: string;
  readonly newest: string;
  /** CustomResourceDefinitions, YAML. */
  readonly crds: readonly string[];
}

/**
 * Schemas from the cache; they are taken out of Go modules first, through the module proxy.
 * @throws ClusterError that says what is missing.
 */
export async function ensureSchemas(options: BuildOptions): Promise<SchemaFiles> {
  const [oldest] = await ensureModuleFiles([KUBERNETES.oldest], options);
  const [newest] = await ensureModuleFiles([KUBERNETES.newest], options);
  if (oldest === undefined || newest === undefined)
    throw new ClusterError('a cached schema is gone: empty the cache');
  return { oldest, newest, crds: await ensureModuleFiles(CRDS, options) };
}

/** The version of Kubernetes that a pin is of. */
export function kubernetesVersion(which: keyof typeof KUBERNETES): string {
  return KUBERNETES[which].module.split('@v')[1] ?? '';
}

/** The version that tools/cluster builds. */
export function clusterVersion(): string | undefined {
  const mod = readFileSync(join(import.meta.dirname, '../../cluster/go/go.mod'), 'utf8');
  return /^\s+k8s\.io\/kubernetes v(\S+)$/m.exec(mod)?.[1];
}
