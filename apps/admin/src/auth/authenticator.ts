import type { KubeClient } from '@reroll/kube/client/connection';
import type { Logger } from '@reroll/shared/platform/logging/logging';
import type { AdminMetrics } from '@reroll/shared/platform/metrics/admin';
import type { AdminOptions } from '@reroll/shared/platform/options/parsing/table';
import type { Authenticator } from './caller.ts';
import { KubernetesTokens } from './kubernetes-tokens.ts';
import { Reviews } from './reviews.ts';
import { anonymousReader, StaticTokens } from './static-tokens.ts';

/** Makes the authenticator that `--auth` and `--anonymous` ask for. Throws a `StaticTokensError`. */
export function authenticatorOf(by: {
  options: AdminOptions;
  log: Logger;
  metrics: AdminMetrics;
  client: KubeClient;
}): Authenticator {
  const { options, log } = by;
  const anonymous = options.anonymous === 'read' ? anonymousReader() : undefined;
  if (options.auth === 'kubernetes')
    return new KubernetesTokens({ reviews: new Reviews(by), anonymous, options });
  const onUnusable = (problem: string): void => log.warning('the file of tokens is invalid', { problem });
  return new StaticTokens(options.staticTokensFile, { anonymous, onUnusable });
}
