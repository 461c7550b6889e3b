import { Controller, Inject } from '@nestjs/common';
import type { Status } from '@reroll/shared/api/status';
import { History } from '@reroll/redis/history/history';
import { RuntimeLimits } from '@reroll/redis/processes/limits';
import { Processes } from '@reroll/redis/processes/processes';
import type { AdminOptions } from '@reroll/shared/platform/options/parsing/table';
import { VERSION } from '@reroll/shared/platform/process/version';
import type { Caller } from '../auth/caller.ts';
import type { AnswerOf, Input } from '../http/operation-types.ts';
import { Serves } from '../http/serves.ts';
import { JobBoard } from '../jobs/job-board.ts';
import { NamespaceHoldsReader } from '../objects/namespace-holds.ts';
import { installStatus, UNKNOWN, type InstallParts, type InstallStatus } from '../status/install-status.ts';
import { Servers } from '../status/servers.service.ts';
import { warningsOf } from '../status/warnings.ts';
import { takesClusterTokens } from '../steering/callers-cluster.ts';
import { ADMIN_OPTIONS } from '../tokens.ts';

/** The path that stands for any manual reload, to ask whether the caller may request them at all. */
const ANY_RELOAD = '/api/v1/workloads/Deployment/default/any/reload';
const ANY_FREEZE = '/api/v1/workloads/Deployment/default/any/freeze';
const ANY_PAUSE = '/api/v1/queues/reloads/pause';

@Controller()
export class StatusController {
  constructor(
    private readonly servers: Servers,
    private readonly processes: Processes,
    private readonly history: History,
    private readonly limits: RuntimeLimits,
    private readonly board: JobBoard,
    private readonly namespaces: NamespaceHoldsReader,
    @Inject(ADMIN_OPTIONS) private readonly options: AdminOptions,
  ) {}

  get #parts(): InstallParts {
    const { processes, history, limits, board } = this;
    return { processes, history, limits, board };
  }

  /** Also answers while Redis is unreachable, and says so. */
  @Serves('getStatus')
  async status({ caller }: Input<'getStatus'>): Promise<AnswerOf<'getStatus'>> {
    const [redis, apiServer, frozen] = await Promise.all([
      this.servers.redis(),
      this.servers.apiServer(),
      this.namespaces.freeze(),
    ]);
    const { live, paused, ...known }: InstallStatus = redis.ok
      ? await installStatus(this.#parts, caller)
      : UNKNOWN;
    const full =
      redis.full === true || (live ?? []).some((process) => process.redisFull === true && process.isLive);
    const status = {
      ...known,
      redis: redis.ok ? { ...redis, full } : redis,
      apiServer,
      ...(frozen === undefined ? {} : { frozen }),
    };
    return {
      version: VERSION,
      cluster: this.servers.cluster,
      ...status,
      warnings: warningsOf({ status, processes: live, paused, now: Date.now() }),
      caller: await callerView(caller, takesClusterTokens(this.options)),
    };
  }
}

async function callerView(caller: Caller, takesClusterTokens: boolean): Promise<Status['caller']> {
  const may = (path: string): Promise<boolean> => caller.mayRequest({ method: 'post', path, writes: true });
  const [clusterWide, mayReload, mayFreeze, mayPause, maySteer] = await Promise.all([
    caller.seesAll(),
    may(ANY_RELOAD),
    may(ANY_FREEZE),
    may(ANY_PAUSE),
    caller.maySteer(),
  ]);
  return {
    name: caller.name,
    clusterWide,
    mayReload,
    mayHold: takesClusterTokens && !caller.isAnonymous && mayFreeze,
    maySteer: mayPause && maySteer,
  };
}
