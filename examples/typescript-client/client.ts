import { argv, env } from 'node:process';
import createClient from 'openapi-fetch';
import type { components, paths } from './reroll-api.ts';

type Problem = components['schemas']['Problem'];

/** `<kind>/<namespace>/<name>`, such as Secret/shop/db. */
const source = argv[2];
const { REROLL_URL, REROLL_TOKEN } = env;
if (!source || !REROLL_URL || !REROLL_TOKEN)
  throw new Error(
    'expected a source (Secret/shop/db) as argument, and REROLL_URL and REROLL_TOKEN in the environment',
  );

const api = createClient<paths>({
  baseUrl: `${REROLL_URL}/api/v1`,
  headers: { authorization: `Bearer ${REROLL_TOKEN}` },
});

const changes = await api.GET('/changes', { params: { query: { source, limit: 5 } } });
for (const { seenAt, cause, states } of answerOf(changes).items)
  console.log(`${seenAt} ${source} ${cause}: ${JSON.stringify(states)}`);

// What would be reloaded, and whether we may. Nothing is changed.
const body = { reason: 'rotated by hand', selector: { source }, dryRun: true };
const planned = answerOf(await api.POST('/bulk/reload', { body }));
for (const { target, result } of planned.items) console.log(`${target} ${result}`);

if (argv.includes('--do')) {
  // Exactly what was shown: if something else matches by now, this is refused.
  const done = answerOf(
    await api.POST('/bulk/reload', { body: { ...body, dryRun: false, plan: planned.plan } }),
  );
  for (const { target, result } of done.items) console.log(`${target} ${result}`);
}

function answerOf<Answer>({ data, error }: { data?: Answer; error?: Problem }): Answer {
  if (error) throw new Error(`${error.code}: ${error.detail ?? error.title}`);
  return data as Answer;
}
