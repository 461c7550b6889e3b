type Action = () => unknown;
type Register = (action: Action) => void;

const ofRun: Action[] = [];
let register: Register = (action) => void ofRun.push(action);

/**
 * Does this when the present test has finished, passed or failed; outside of a test (in `beforeAll`) when all
 * tests of the file have; without a test runner at `cleanUpRun`. The last one asked for is done first.
 */
export function cleanUp(action: Action): void {
  register(action);
}

/** Says who decides when an action is done. */
export function cleanUpBy(own: Register): void {
  register = own;
}

export async function cleanUpRun(): Promise<void> {
  await doAll(ofRun);
}

/** Also those after one that failed. */
export async function doAll(actions: Action[]): Promise<void> {
  const failures: unknown[] = [];
  for (const action of actions.splice(0).reverse()) {
    try {
      await action();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, 'cleaning up failed');
}
