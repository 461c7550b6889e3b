import { createHash } from 'node:crypto';
import { decisionSettings } from '@reroll/shared/platform/options/decision-settings';
import { scopeOptions } from '@reroll/shared/platform/options/groups/scope';
import type { WatcherOptions } from '@reroll/shared/platform/options/parsing/table';

/** Says how often something is looked for, not what. */
const NO_SCOPE: readonly string[] = ['discoveryInterval'];

/** Returns a digest of the options that say what Reroll watches and what asks for a reload. */
export function scopeDigest(options: WatcherOptions): string {
  const names = Object.keys(scopeOptions).filter((name) => !NO_SCOPE.includes(name));
  const watched = names.map((name) => options[name as keyof typeof scopeOptions]);
  return createHash('sha256')
    .update(JSON.stringify([decisionSettings(options), watched]))
    .digest('hex')
    .slice(0, 16);
}
