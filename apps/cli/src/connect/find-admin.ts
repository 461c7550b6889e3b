import { KubeError } from '@reroll/kube/client/errors';
import type { KubeClient } from '@reroll/kube/client/connection';
import { z } from 'zod';
import { CliError } from '../errors.ts';

const ADMIN_LABELS = 'app.kubernetes.io/part-of=reroll,app.kubernetes.io/component=admin';
const API_PORT = 'api';
/** The namespace where an admin is trusted by default. */
export const DEFAULT_ADMIN_NAMESPACE = 'reroll';

/** The part of a Service that leads to its pods. */
export interface AdminService {
  readonly namespace: string;
  readonly name: string;
  readonly selector: Readonly<Record<string, string>>;
  /** The name or number of a container's port. */
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
  /** `--admin-namespace`: where to look for the admin; undefined: in `DEFAULT_ADMIN_NAMESPACE`. */
  readonly adminNamespace?: string | undefined;
  /** `--admin-service`: its name, for users who may not list Services. */
  readonly adminService?: string | undefined;
}

/**
 * A Service with the admin's labels exists in a namespace that the user did not name. Any tenant can label a Service so,
 * and would get the user's token.
 */
export class AdminElsewhere extends CliError {
  constructor(names: readonly string[], namespace: string) {
    const all = names.join(', ');
    super(`found no admin of Reroll in the namespace ${DEFAULT_ADMIN_NAMESPACE}, but one elsewhere: ${all}`, {
      hints: [
        'nothing was sent to it: anyone can put these labels on a Service and so receive your token',
        `if it is yours: --admin-namespace ${namespace}, or REROLL_ADMIN_NAMESPACE=${namespace}`,
      ],
    });
    this.name = 'AdminElsewhere';
  }
}

/**
 * Finds the admin's Service by its labels, in the one namespace that is trusted with tokens; undefined if there is none.
 * @throws a `CliError` if there are several, or if the user may not look and nothing else tells where it is; an
 * `AdminElsewhere` if no namespace was named and there is one outside the default
 */
export async function findAdmin(client: KubeClient, where: Whereabouts): Promise<AdminService | undefined> {
  const { adminNamespace, adminService } = where;
  const namespace = adminNamespace ?? DEFAULT_ADMIN_NAMESPACE;
  const found = await listIfAllowed(client, namespace);
  const named = found?.filter(({ name }) => adminService === undefined || name === adminService) ?? [];
  if (named.length > 1) {
    throw new CliError(`found more than one admin: ${namesOf(named).join(', ')}`, {
      hints: ['choose one with --admin-service'],
    });
  }
  if (named[0] !== undefined) return named[0];
  if (adminService !== undefined)
    return { namespace, name: adminService, selector: {}, targetPort: API_PORT };
  if (found === undefined) refuse(namespace);
  if (adminNamespace === undefined) await tellOfOthers(client);
  return undefined;
}

async function tellOfOthers(client: KubeClient): Promise<void> {
  const others = (await listIfAllowed(client)) ?? [];
  if (others[0] !== undefined) throw new AdminElsewhere(namesOf(others), others[0].namespace);
}

function namesOf(services: readonly AdminService[]): readonly string[] {
  return services.map(({ namespace, name }) => `${namespace}/${name}`);
}

function refuse(namespace: string): never {
  throw new CliError(`you may not list services in the namespace ${namespace}`, {
    hints: [
      'name the Service itself: --admin-service NAME, and if it is not in this namespace --admin-namespace NAMESPACE',
    ],
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
