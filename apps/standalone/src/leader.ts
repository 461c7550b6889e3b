import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Leader } from '@reroll/admin/http/leader-relay';
import type { ProcessOptions } from '@reroll/nest/process';
import { formatListenAddress } from '@reroll/shared/platform/http/listen-address';
import type { StandaloneOptions } from '@reroll/shared/platform/options/parsing/table';
import { Leadership } from '@reroll/watcher/leadership.service';

/** What the Lease is to say of this process while it leads. */
export function leaderAddress({
  podIp: host,
  apiAddr: { port },
}: Pick<StandaloneOptions, 'podIp' | 'apiAddr'>): Pick<ProcessOptions, 'leaderAddress'> {
  return host === undefined ? {} : { leaderAddress: formatListenAddress({ host, port }) };
}

/** Who leads, as the watcher of this process knows it. */
export function leaderOf(app: NestExpressApplication): Leader {
  const leadership = app.get(Leadership, { strict: false });
  return {
    isHere: () => leadership.isLeader(),
    address: () => leadership.address,
    whenHere: (signal) => leadership.state.whenLeading(signal),
  };
}
