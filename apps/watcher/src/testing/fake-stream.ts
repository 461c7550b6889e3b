import type { Stream } from '../watch/stream-group.ts';

/** A stream whose `synced` the spec sets. */
export class FakeStream implements Stream {
  synced = false;
  isOpen = false;

  get status(): Stream['status'] {
    const never = { connected: false, lastEventAt: 0, relists: 0, reconnects: 0, handlerErrors: 0 };
    return { ...never, synced: this.synced, resourceVersion: undefined };
  }

  start(): void {
    this.isOpen = true;
  }

  async stop(): Promise<void> {
    this.isOpen = false;
  }

  async waitSynced(): Promise<boolean> {
    return this.synced;
  }
}
