import { SentinelConnector, type SentinelConnectionOptions } from 'ioredis';

interface WithDetector {
  readonly failoverDetector: { cleanup(): void } | null;
}

/**
 * Asks Sentinels for the master, and ignores their messages about a new master meanwhile. ioredis' own connector takes such a message
 * for an order to close the connection, which then never opens again.
 */
export class LastingSentinelConnector extends SentinelConnector {
  constructor(options: unknown) {
    super(options as SentinelConnectionOptions);
  }

  override connect(
    ...args: Parameters<SentinelConnector['connect']>
  ): ReturnType<SentinelConnector['connect']> {
    (this as unknown as WithDetector).failoverDetector?.cleanup();
    return super.connect(...args);
  }
}
