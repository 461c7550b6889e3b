import type { Logger } from '@reroll/shared/platform/logging';
import type { AdminOptions } from '@reroll/shared/platform/options/table';
import type { Authenticator } from './caller.ts';
import { StaticTokens } from './static-tokens.ts';

/** As `--auth` says. Throws a `StaticTokensError`. */
export function authenticatorOf(by: { options: AdminOptions; log: Logger }): Authenticator {
  const { options, log } = by;
  const anonymous = options.anonymous === 'read';
  return new StaticTokens(options.staticTokensFile, {
    anonymous,
    onUnusable: (problem) => log.warning('the tokens that were read before stay in force', { problem }),
  });
}
