import { App, type Launch } from '../../../e2e/support/processes.ts';
import { ClusterError, messageOf } from '../../cluster/src/errors.ts';

/** The processes of a reloader: always stopped, also when the bench is killed. */
export class Processes {
  #apps: App[] = [];

  start(launch: Launch): App {
    const app = new App(launch);
    this.#apps.push(app);
    return app;
  }

  /** @throws ClusterError with the end of its log when one of them has ended. */
  verify(): void {
    try {
      for (const app of this.#apps) app.verify();
    } catch (error) {
      throw new ClusterError(messageOf(error));
    }
  }

  /** Asks them to end, and ends those that do not in time. Safe to repeat. */
  async stop(): Promise<void> {
    const apps = this.#apps;
    this.#apps = [];
    await Promise.all(apps.map((app) => app.discard()));
  }
}
