/** Setup file of the suites that use this harness: ties it to tests and their ends. */
import { TestRunner, afterAll, afterEach, onTestFinished } from 'vitest';
import { cleanUpBy, doAll } from './cleanup.ts';
import { showLogs } from './processes.ts';

/** What a file has to undo; every spec file has a copy of this module of its own. */
const ofFile: (() => unknown)[] = [];

cleanUpBy((action) => {
  if (TestRunner.getCurrentTest()) onTestFinished(async () => void (await action()));
  else ofFile.push(action);
});

afterAll(async () => await doAll(ofFile));

/** Whoever fails sees what the processes had to say. */
afterEach(({ task }) => {
  if (task.result?.state === 'fail') showLogs();
});
