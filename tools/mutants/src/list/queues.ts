/** The queues: what is merged, what waits, and who is next. */
import { inFile } from '../mutant.ts';

const QUEUE = 'libs/redis/src/queue';
const SPEC = `${QUEUE}/queues.spec.ts`;
const FAIRNESS = `${QUEUE}/fairness.spec.ts`;
const RATE = 'libs/redis/src/processes/rate';

const DEBOUNCE = `${QUEUE}/reload-debounce.spec.ts`;
const CHANGES_ALWAYS = {
  spec: `${QUEUE}/change-debounce.spec.ts`,
  test: 'of a source that does not stop changing, jobs run every half quiet period for one debounce, then each debounce',
};

const CHANGE = `deduplication: { id: source, keepLastIfActive: true, replace: true },`;

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
      name: 'a reload merges with an adoption that waits behind everything',
      text: 'return isAdoption ? `adoption:${workload}` : workload;',
      replacement: `return workload;`,
      killedBy: { spec: FAIRNESS, test: 'that waits holds up no real reload job of the same workload' },
    },
    {
      name: 'adoption waits behind nothing',
      text: `return isAdoption ? ADOPTION : this.#reloadLevels.next(namespaceOf(workload));`,
      replacement: `return this.#reloadLevels.next(namespaceOf(workload));`,
      killedBy: { spec: FAIRNESS, test: 'waits behind whatever is real, however long the burst' },
    },
  ]),
  ...inFile(`${QUEUE}/reload-debounce.ts`, [
    {
      name: 'a reload job that comes while another runs is lost',
      text: `return { id, keepLastIfActive: true };`,
      replacement: `return { id };`,
      killedBy: { spec: SPEC, test: 'that come while its job is active give exactly one follow-up' },
    },
    {
      name: 'a workload whose sources do not stop changing is never reloaded',
      text: `Math.min(now + this.#quiet - timestamp, this.#debounce)`,
      replacement: `now + this.#quiet - timestamp`,
      killedBy: { spec: DEBOUNCE, test: 'a debounce after the first of ten changes' },
    },
    {
      name: 'a change does not put off the reload that waits',
      text: `reschedule: true`,
      replacement: `reschedule: false`,
      killedBy: { spec: DEBOUNCE, test: 'the quiet period after the last change' },
    },
    {
      name: 'a change moves a reload job that backs off',
      text: `if (first === null || begun !== null)`,
      replacement: `if (first === null)`,
      killedBy: { spec: DEBOUNCE, test: 'backs off neither moves it nor adds another' },
    },
    {
      name: 'the follow-up of a reload job that has just begun waits for the whole debounce',
      text: `if (timestamp + Number(delayed) <= now + SOON)`,
      replacement: `if (timestamp + Number(delayed) <= 0)`,
      killedBy: {
        spec: DEBOUNCE,
        test: 'begins before it can be put off gives one follow-up, after the quiet period',
      },
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
      text: `return { due: Math.max(now, last.due + pause), began: last.began };`,
      replacement: `return { due: now, began: last.began };`,
      killedBy: CHANGES_ALWAYS,
    },
    {
      name: 'a source that does not stop changing is read every half quiet period',
      text: `last.due - last.began < this.#debounce ? this.#pace : this.#debounce`,
      replacement: `this.#pace`,
      killedBy: CHANGES_ALWAYS,
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
