import { KubeError } from '@reroll/shared/kube/errors';
import type { KubeClient } from '@reroll/shared/kube/connection';
import { z } from 'zod';
import { CliError } from '../errors.ts';

/** The Service of the chart has these labels, whatever its name. */
export const ADMIN_LABELS = 'app.kubernetes.io/part-of=reroll,app.kubernetes.io/component=admin';
const API_PORT = 'api';

/** What is needed of a Service to get to its pods. */
export interface AdminService {
  readonly namespace: string;
  readonly name: string;
  readonly selector: Readonly<Record<string, string>>;
  /** Name or number, of a container. */
  readonly targetPort: string | number;
}

const SERVICES = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string(), namespace: z.string() }),
      spec: z.object({
        selector: z.record(z.string(), z.string()).optional(),
        ports: z
          .array(
            z.object({
              name: z.string().optional(),
              port: z.number(),
              targetPort: z.union([z.string(), z.number()]).optional(),
            }),
          )
          .optional(),
      }),
    }),
  ),
});

export interface Whereabouts {
  /** `--admin-namespace`: where it is looked for. */
  readonly adminNamespace?: string | undefined;
  /** `--admin-service`: its name, for whoever may not list. */
  readonly adminService?: string | undefined;
  /** Of the context. */
  readonly namespace: string;
}

/**
 * The admin's Service, by its labels; undefined if there is none.
 * @throws a `CliError` if there are several, or if one may not look and nothing else tells where it is
 */
export async function findAdmin(client: KubeClient, where: Whereabouts): Promise<AdminService | undefined> {
  const { adminNamespace, adminService } = where;
  const found = await look(client, where);
  const named = found.filter(({ name }) => adminService === undefined || name === adminService);
  if (named.length > 1) {
    const names = named.map(({ namespace, name }) => `${namespace}/${name}`).join(', ');
    throw new CliError(`found more than one admin: ${names}`, {
      hints: ['choose one with --admin-namespace, and --admin-service if need be'],
    });
  }
  if (named[0] !== undefined) return named[0];
  if (adminNamespace === undefined || adminService === undefined) return undefined;
  return { namespace: adminNamespace, name: adminService, selector: {}, targetPort: API_PORT };
}

async function look(client: KubeClient, where: Whereabouts): Promise<readonly AdminService[]> {
  const { adminNamespace, adminService, namespace } = where;
  if (adminNamespace !== undefined) {
    return (
      (await listIfAllowed(client, adminNamespace)) ??
      (adminService === undefined ? refuse(adminNamespace) : [])
    );
  }
  const everywhere = await listIfAllowed(client);
  if (everywhere !== undefined) return everywhere;
  // Who may not list in all namespaces may yet do so where it usually is.
  const likely = [...new Set(['reroll', namespace])];
  const lists = await Promise.all(likely.map((each) => listIfAllowed(client, each)));
  const found = lists.flatMap((list) => list ?? []);
  if (found.length > 0) return found;
  throw new CliError('you may not list services in all namespaces, so the admin could not be found', {
    hints: [
      `looked in the namespaces ${likely.join(', ')}; say where it is: --admin-namespace NAMESPACE --admin-service NAME`,
    ],
  });
}

function refuse(namespace: string): never {
  throw new CliError(`you may not list services in the namespace ${namespace}`, {
    hints: ['name the Service itself: --admin-service NAME'],
  });
}

async function listIfAllowed(
  client: KubeClient,
  namespace?: string,
): Promise<readonly AdminService[] | undefined> {
  const scope = namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  try {
    const { body } = await client.get(`/api/v1${scope}/services`, { query: { labelSelector: ADMIN_LABELS } });
    return SERVICES.parse(body).items.map(({ metadata, spec }) => {
      const port = spec.ports?.find(({ name }) => name === API_PORT);
      return {
        ...metadata,
        selector: spec.selector ?? {},
        targetPort: port?.targetPort ?? port?.port ?? API_PORT,
      };
    });
  } catch (error) {
    if (error instanceof KubeError && error.status === 403) return undefined;
    throw error;
  }
}
