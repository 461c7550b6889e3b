// node hold-redis.ts DIR — starts a Redis, tells its pid, and stays until it is killed.
import { startRedis } from '../src/servers/redis.ts';

const redis = await startRedis({ dir: process.argv[2] ?? '' });
process.stderr.write(`${redis.pid}\n`);
setInterval(() => {}, 60_000);
