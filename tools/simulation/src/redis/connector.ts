import { AbstractConnector, type RedisOptions } from 'ioredis';
import type { SimulatedSocket } from './simulated-socket.ts';

export type ConnectorClass = NonNullable<RedisOptions['Connector']>;

/** A class for the option `Connector` of ioredis, whose connections are opened by `connect`. */
export function connectorTo(connect: () => SimulatedSocket): ConnectorClass {
  class SimulatedConnector extends AbstractConnector {
    constructor({ disconnectTimeout = 2000 }: RedisOptions) {
      super(disconnectTimeout);
    }

    connect(): ReturnType<AbstractConnector['connect']> {
      this.connecting = true;
      // It has what ioredis uses of a socket.
      this.stream = connect() as unknown as typeof this.stream;
      return Promise.resolve(this.stream);
    }
  }
  return SimulatedConnector as unknown as ConnectorClass;
}
