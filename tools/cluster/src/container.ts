import { run } from './run.ts';
import type { Container } from './state.ts';

/** The client in the foreground does not pass SIGKILL on, so signals go through the runtime. */
export async function signalContainer(container: Container, signal: NodeJS.Signals): Promise<void> {
  await run(container.runtime, ['kill', '--signal', signal, container.name]);
}

/** Removes the container if it is still there. */
export async function removeContainer(container: Container): Promise<void> {
  await run(container.runtime, ['rm', '--force', '--volumes', container.name]);
}
