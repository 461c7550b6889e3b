import type { Change } from '@reroll/shared/api/changes';
import type { Waves } from '@reroll/shared/api/waves';
import type { AdminApi } from '../api/admin-api.ts';
import { CliError } from '../errors.ts';

/**
 * How far the change has come, while its source still has its data, and has had no other since. Undefined: that is over, or the
 * source is not known any more.
 * @throws a `CliError` if the admin cannot tell
 */
export async function wavesOf(api: AdminApi, { source, to, overtaken }: Change): Promise<Waves | undefined> {
  if (source === null || overtaken) return undefined;
  try {
    const waves = await api.call('getWaves', { params: source });
    return waves.hash === to ? waves : undefined;
  } catch (error) {
    if (error instanceof CliError && error.status === 404) return undefined;
    throw error;
  }
}
