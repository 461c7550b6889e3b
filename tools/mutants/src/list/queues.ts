/** The queues: what is merged, what waits, and who is next. */
import { inFile } from '../mutant.ts';

const QUEUE = 'libs/redis/src/queue';
const SPEC = `${QUEUE}/queues.spec.ts`;
const FAIRNESS = `${QUEUE}/fairness.spec.ts`;
const RATE = 'libs/redis/src/processes/rate';

const CHANGE = `deduplication: { id: source, keepLastIfActive: true, replace: true },`;
const RELOAD =
  'deduplication: { id: isAdoption ? `adoption:${workload}` : workload, keepLastIfActive: true },';

export const queueMutants = [
  ...inFile(`${QUEUE}/queues.ts`, [
    {
      name: 'a change that comes while its job runs is lost',
      text: CHANGE,
      replacement: `deduplication: { id: source, replace: true },`,
      killedBy: {
        spec: SPEC,
        test: 'that come while its job is active are not lost if that fails for good',
      },
    },
    {
      name: 'a change waits with the job that failed before it',
      text: CHANGE,
      replacement: `deduplication: { id: source, keepLastIfActive: true },`,
      killedBy: {
        spec: SPEC,
        test: 'that come while its job backs off are handled at once, by one job with all its attempts',
      },
    },
    {
      name: 'a reload job that comes while another runs is lost',
      text: RELOAD,
      replacement: 'deduplication: { id: isAdoption ? `adoption:${workload}` : workload },',
      killedBy: { spec: SPEC, test: 'that come while its job is active give exactly one follow-up' },
    },
    {
      name: 'every change of a workload restarts its debounce',
      text: RELOAD,
      replacement:
        'deduplication: { id: isAdoption ? `adoption:${workload}` : workload, keepLastIfActive: true, replace: true },',
      killedBy: {
        spec: SPEC,
        test: 'become one job after the debounce, whose deadline the first of them fixes',
      },
    },
    {
      name: 'a reload merges with an adoption that waits behind everything',
      text: RELOAD,
      replacement: `deduplication: { id: workload, keepLastIfActive: true },`,
      killedBy: { spec: FAIRNESS, test: 'that waits holds up no real reload job of the same workload' },
    },
    {
      name: 'adoption waits behind nothing',
      text: `priority: isAdoption ? ADOPTION : this.#reloadLevels.next(namespaceOf(workload)),`,
      replacement: `priority: this.#reloadLevels.next(namespaceOf(workload)),`,
      killedBy: { spec: FAIRNESS, test: 'waits behind whatever is real, however long the burst' },
    },
  ]),
  ...inFile(`${QUEUE}/burst-levels.ts`, [
    {
      name: 'a namespace with many jobs lets no other pass',
      text: `if (jobs < BURST) return 0;`,
      replacement: `return 0;`,
      killedBy: { spec: FAIRNESS, test: 'of reloads, that of another is handled after the first only' },
    },
  ]),
  ...inFile(`${QUEUE}/change-debounce.ts`, [
    {
      name: 'changes of a source are not debounced',
      text: `return last > now ? last : Math.max(now, last + this.#debounce);`,
      replacement: `return now;`,
      killedBy: {
        spec: `${QUEUE}/change-debounce.spec.ts`,
        test: 'the first runs at once, and then one each debounce, however often the source changes',
      },
    },
  ]),
  ...inFile(`${RATE}.ts`, [
    {
      name: 'the slot of a worker that died is lost',
      text: `if redis.call('ZSCORE', held, workload) then return 0 end`,
      replacement: ``,
      killedBy: {
        spec: `${RATE}.spec.ts`,
        test: 'is still held by a workload whose worker died, and by no other',
      },
    },
    {
      name: 'who does not come back for a slot holds up all others',
      text: `leave(first)`,
      replacement: `break`,
      killedBy: { spec: `${RATE}.spec.ts`, test: 'passes over those that do not come back' },
    },
    {
      name: 'a slot that was not used is gone',
      text: `if redis.call('ZREM', held, ARGV[2]) == 0 or ARGV[3] == '1' then return end`,
      replacement: `do redis.call('ZREM', held, ARGV[2]) return end`,
      killedBy: { spec: `${RATE}.spec.ts`, test: 'that was not used is given back, once' },
    },
    {
      name: 'a namespace with many waiting workloads has all slots before the next',
      text: `tag = math.max(served, tonumber(redis.call('HGET', tags, namespace) or '0')) + 1`,
      replacement: `tag = served + 1`,
      killedBy: {
        spec: `${RATE}.spec.ts`,
        test: 'between namespaces is round robin, whoever came first and however many they are',
      },
    },
  ]),
];
