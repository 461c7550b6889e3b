/** Setup file of the suites that use this harness: ties it to tests and their ends. */
import { TestRunner, afterAll, afterEach, onTestFinished } from 'vitest';
import { cleanUpBy, doAll } from './cleanup.ts';
import { logsOfFailures } from './processes.ts';

/** What a file has to undo: setup files are run anew for every spec file. */
const ofFile: (() => unknown)[] = [];

cleanUpBy((action) => {
  if (TestRunner.getCurrentTest()) onTestFinished(async () => void (await action()));
  else ofFile.push(action);
});

afterAll(async () => await doAll(ofFile));

/** A test that fails shows the logs of what it ran. */
afterEach(({ task }) => {
  if (task.result?.state !== 'fail') return;
  for (const read of logsOfFailures.values()) console.error(read());
});
