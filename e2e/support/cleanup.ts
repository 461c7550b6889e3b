import { TestRunner, afterAll, onTestFinished } from 'vitest';

type Action = () => unknown;

/** What a file has to undo; every spec file has a copy of this module of its own. */
const ofFile: Action[] = [];

/**
 * Does this when the present test has finished, passed or failed; outside of a test (in `beforeAll`) when all
 * tests of the file have. The last one asked for is done first.
 */
export function cleanUp(action: Action): void {
  if (TestRunner.getCurrentTest()) onTestFinished(async () => void (await action()));
  else ofFile.push(action);
}

afterAll(async () => {
  const failures: unknown[] = [];
  for (const action of ofFile.splice(0).reverse()) {
    try {
      await action();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, 'cleaning up failed');
});
