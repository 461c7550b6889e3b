import { KubeError } from '@reroll/kube/client/errors';
import { namespaceName, objectName } from '@reroll/shared/api/common';
import { z } from 'zod';
import { CliError, usageError } from '../errors.ts';
import type { ClusterAccess } from './cluster-access.ts';

/** The shortest lifetime that the API server allows. */
const LIFE_SECONDS = 600;
/** The audience that the admin expects, unless `--api-audience` sets another. */
export const DEFAULT_AUDIENCE = 'reroll';
const TOKEN_ANSWER = z.object({ status: z.object({ token: z.string().min(1) }) });
const SERVICE_ACCOUNT = 'system:serviceaccount:';

export const TOKEN_HINTS = [
  '--service-account NAME asks the API server for a token of ten minutes (REROLL_SERVICE_ACCOUNT)',
  'or set one, e.g. REROLL_TOKEN="$(kubectl create token NAME --audience=reroll)"',
] as const;

export interface BearerChoice {
  /** The cluster without `--as`, for requesting the token of another user. */
  readonly asOneself: () => ClusterAccess;
  /** `--service-account`: `NAME` or `NAMESPACE/NAME`. */
  readonly serviceAccount?: string | undefined;
  readonly as?: string | undefined;
  readonly namespace: string;
  /** `--audience`: the audience of a requested token. */
  readonly audience: string;
  /** `--send-kubeconfig-token`: sends a token with which the admin could act as the user in the whole cluster. */
  readonly sendsKubeconfigToken: boolean;
}

/**
 * The token for the admin: one of ten minutes for a service account or, if chosen, the kubeconfig's own. Undefined if
 * neither was chosen.
 * @throws a `CliError` if no token can be obtained
 */
export async function bearerForAdmin(
  cluster: ClusterAccess,
  choice: BearerChoice,
): Promise<string | undefined> {
  const account = accountOf(choice);
  if (account !== undefined) return await requestToken(choice.asOneself(), account, choice.audience);
  if (cluster.isImpersonating) {
    throw new CliError(
      'the admin cannot be asked in the name of another user: it knows callers by their token',
      {
        hints: [
          `--as ${SERVICE_ACCOUNT}NAMESPACE:NAME and --service-account work, for whoever may create its tokens`,
        ],
      },
    );
  }
  if (!choice.sendsKubeconfigToken) return undefined;
  const token = await cluster.bearerToken();
  if (token !== undefined) return token;
  throw new CliError('this user of the kubeconfig has no token that could be sent', { hints: TOKEN_HINTS });
}

interface Account {
  readonly namespace: string;
  readonly name: string;
}

function accountOf({ serviceAccount, as, namespace }: BearerChoice): Account | undefined {
  if (serviceAccount !== undefined) {
    const parts = serviceAccount.split('/');
    return account(parts.length === 1 ? [namespace, ...parts] : parts, serviceAccount);
  }
  if (as === undefined || !as.startsWith(SERVICE_ACCOUNT)) return undefined;
  return account(as.slice(SERVICE_ACCOUNT.length).split(':'), as);
}

function account([namespace = '', name = '', ...more]: readonly string[], given: string): Account {
  const isOne = namespaceName.safeParse(namespace).success && objectName.safeParse(name).success;
  if (isOne && more.length === 0) return { namespace, name };
  throw usageError(`expected a service account as NAME or NAMESPACE/NAME, given ${JSON.stringify(given)}`);
}

async function requestToken(
  { client }: ClusterAccess,
  { namespace, name }: Account,
  audience: string,
): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
  const request = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { audiences: [audience], expirationSeconds: LIFE_SECONDS },
  };
  const { body } = await client.post(path, request).catch((error: unknown) => {
    throw noTokenError(error, `${namespace}/${name}`);
  });
  const answer = TOKEN_ANSWER.safeParse(body);
  if (!answer.success) throw new CliError(`the API server gave no token for ${namespace}/${name}`);
  return answer.data.status.token;
}

function noTokenError(error: unknown, account: string): unknown {
  if (!(error instanceof KubeError)) return error;
  if (error.status === 404) return new CliError(`there is no service account ${account}`);
  if (error.status !== 403) return error;
  return new CliError(`you may not request tokens for the service account ${account}`, {
    hints: ['this needs the right to create serviceaccounts/token'],
  });
}
