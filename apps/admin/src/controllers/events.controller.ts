import { Controller, Inject } from '@nestjs/common';
import { errorFields } from '@reroll/shared/platform/logging/error-fields';
import type { Logger } from '@reroll/shared/platform/logging/logging';
import type { AdminMetrics } from '@reroll/shared/platform/metrics/admin';
import { Lifecycle } from '@reroll/shared/platform/process/shutdown';
import { EventStream } from '../history/event-stream.ts';
import { EventWriter, SlowReaderError } from '../history/event-writer.ts';
import { ReadModel } from '../history/read-model.ts';
import { countedAs } from '../http/limits/counted-as.ts';
import { MostAtOnce } from '../http/limits/most-at-once.ts';
import type { Input } from '../http/operation-types.ts';
import { Cursors } from '../http/cursors.ts';
import { Serves } from '../http/serves.ts';
import { ShownHashes } from '../shown-hashes.ts';
import { LOG } from '@reroll/nest/tokens';
import { ADMIN_METRICS } from '../tokens.ts';

/** Concurrent streams of one caller: the tabs of a browser and a few terminals. */
const MOST_PER_CALLER = 10;
const LONGEST_ID = 256;

@Controller()
export class EventsController {
  private readonly streams = new MostAtOnce(
    MOST_PER_CALLER,
    `expected at most ${MOST_PER_CALLER} streams of one caller at the same time`,
  );

  constructor(
    private readonly model: ReadModel,
    private readonly hashes: ShownHashes,
    private readonly cursors: Cursors,
    @Inject(ADMIN_METRICS) private readonly metrics: AdminMetrics,
    private readonly lifecycle: Lifecycle,
    @Inject(LOG) private readonly log: Logger,
  ) {}

  @Serves('streamEvents')
  async stream(input: Input<'streamEvents'>): Promise<void> {
    const { request, response } = input;
    // Express treats HEAD as GET. The response has no body, so nothing would ever end the stream.
    if (request.method === 'HEAD') return void response.type('text/event-stream').end();
    await this.streams.run(countedAs(request), async () => {
      this.metrics.eventStreams.inc();
      try {
        await this.run(input);
      } finally {
        this.metrics.eventStreams.dec();
      }
    });
  }

  private async run({
    caller,
    query,
    request,
    response,
    gone,
    requestId,
  }: Input<'streamEvents'>): Promise<void> {
    const ended = this.metrics.eventStreamsEnded;
    const { model, hashes, cursors, lifecycle } = this;
    const writer = new EventWriter(response, gone);
    const signal = AbortSignal.any([gone, lifecycle.signal]);
    const stream = new EventStream({
      model,
      hashes,
      cursors,
      caller,
      namespace: query.namespace,
      writer,
      signal,
    });
    const given = request.headers['last-event-id'];
    try {
      const reason = await stream.run(typeof given === 'string' ? given.slice(0, LONGEST_ID) : undefined);
      ended.inc({ reason: lifecycle.signal.aborted ? 'shutdown' : reason });
      writer.end();
    } catch (error) {
      if (!response.headersSent) throw error;
      const isSlow = error instanceof SlowReaderError;
      ended.inc({ reason: isSlow ? 'slow' : 'error' });
      this.log.warning('a stream of events was cut off', { requestId, ...errorFields(error) });
      writer.cut();
    }
  }
}
