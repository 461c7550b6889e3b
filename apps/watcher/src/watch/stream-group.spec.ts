import { expect, test, vi } from 'vitest';
import { NamespaceStreams, StreamGroup } from './stream-group.ts';
import { FakeStream } from '../testing/fake-stream.ts';

/** A stream whose `waitSynced` the spec ends. */
class SlowStream extends FakeStream {
  #waiting = Promise.withResolvers<void>();

  override async stop(): Promise<void> {
    await super.stop();
    this.endWait();
  }

  override async waitSynced(): Promise<boolean> {
    await this.#waiting.promise;
    return this.synced;
  }

  list(): void {
    this.synced = true;
    this.endWait();
  }

  endWait(): void {
    this.#waiting.resolve();
    this.#waiting = Promise.withResolvers();
  }
}

function namespaceOf() {
  const [source, workload] = [new SlowStream(), new SlowStream()];
  const streams = new NamespaceStreams({
    sources: new StreamGroup([source]),
    workloads: new StreamGroup([workload]),
    ending: new AbortController(),
  });
  const told: string[] = [];
  const done = streams.follow({
    onSources: () => told.push('sources'),
    onWorkloads: () => told.push('workloads'),
    onTurn: () => told.push('turn'),
  });
  const isOpen = (): boolean[] => [source, workload].map((stream) => stream.isOpen);
  return { streams, source, workload, told, done, isOpen };
}

test('workloads are asked for when the sources are known, and others have their turn when all is', async () => {
  const { streams, source, workload, told, done, isOpen } = namespaceOf();
  expect([isOpen(), streams.isBusy, streams.isListed, streams.isSynced]).toEqual([
    [true, false],
    true,
    false,
    true,
  ]);
  source.list();
  await vi.waitFor(() => expect(isOpen()).toEqual([true, true]));
  expect(told).toEqual(['sources']);
  workload.list();
  await done;
  expect(told).toEqual(['sources', 'workloads', 'turn']);
  expect([streams.isBusy, streams.isListed, streams.isSynced]).toEqual([false, true, true]);
});

test('one that cannot be listed in time lets others have their turn, and is followed once it can be', async () => {
  const { streams, source, workload, told, done, isOpen } = namespaceOf();
  source.endWait();
  await vi.waitFor(() => expect(told).toEqual(['turn']));
  expect([streams.isBusy, streams.isListed]).toEqual([false, false]);
  source.list();
  await vi.waitFor(() => expect(isOpen()).toEqual([true, true]));
  workload.list();
  await done;
  expect(streams.isListed).toBe(true);
});

test('one that goes while its sources are listed never asks for workloads', async () => {
  const { streams, told, done, isOpen } = namespaceOf();
  await streams.stop(100);
  await done;
  expect([isOpen(), told]).toEqual([[false, false], []]);
});

test('lists that are complete and then break make it not in sync until they are complete again', async () => {
  const { streams, source, workload, done } = namespaceOf();
  source.list();
  await vi.waitFor(() => expect(workload.isOpen).toBe(true));
  workload.list();
  await done;
  workload.synced = false;
  expect([streams.isListed, streams.isSynced]).toEqual([true, false]);
});
