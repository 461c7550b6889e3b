// `helm test`: changes a ConfigMap (or Secret) and waits until the Deployment that uses it is reloaded; then asks admin for
// its API, and sees that it answers nobody without a token, unless it is to.
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

const {
  KUBERNETES_SERVICE_HOST: host,
  KUBERNETES_SERVICE_PORT: port,
  TEST_NAMESPACE: namespace,
} = process.env;
const {
  TEST_SOURCE: source,
  TEST_DEPLOYMENT: deployment,
  TEST_TIMEOUT: timeout,
  TEST_ADMIN: admin,
} = process.env;
const api = `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
const deadline = Date.now() + Number(timeout) * 1000;

async function call(path, init = {}) {
  const token = readFileSync('/var/run/secrets/kubernetes.io/serviceaccount/token', 'utf8');
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/merge-patch+json' };
  const response = await fetch(`${api}${path}`, { headers, signal: AbortSignal.timeout(10_000), ...init });
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return response.json();
}

const read = () => call(`/apis/apps/v1/namespaces/${namespace}/deployments/${deployment}`);
const write = (body) => call(source, { method: 'PATCH', body: JSON.stringify(body) });

function isRolledOut({ metadata, spec, status }) {
  const { observedGeneration, updatedReplicas, availableReplicas, replicas } = status;
  const wanted = spec.replicas;
  const all = [updatedReplicas, availableReplicas, replicas].every((count) => count === wanted);
  return observedGeneration >= metadata.generation && all;
}

async function until(what, isSo, look = read) {
  while (Date.now() < deadline) {
    const found = await look().catch((error) => console.log(`asking again: ${error.message}`));
    if (found && isSo(found)) return found;
    await pause(500);
  }
  throw new Error(`not within ${timeout} s: ${what}`);
}

async function askAdmin() {
  const get = async (path) => {
    const response = await fetch(`${admin}${path}`, { signal: AbortSignal.timeout(10_000) });
    return { status: response.status, body: await response.json() };
  };
  await until(
    'admin has an API',
    ({ body }) => body.openapi,
    () => get('/api/openapi.json'),
  );
  await until(
    'it asks for a token',
    ({ status }) => status === 401 || status === 200,
    () => get('/api/v1/queues'),
  );
  console.log(`${admin} answers`);
}

try {
  const before = await until('the Deployment is there', isRolledOut);
  const template = JSON.stringify(before.spec.template);
  const changed = new Date().toISOString();
  await write(source.includes('/secrets/') ? { stringData: { changed } } : { data: { changed } });
  console.log(`changed ${source}`);
  await until('its pod template is another', ({ spec }) => JSON.stringify(spec.template) !== template);
  console.log(`the pod template of ${deployment} is another`);
  await until('every pod is new', isRolledOut);
  console.log(`every pod of ${deployment} is new: it works`);
  if (admin) await askAdmin();
} catch (error) {
  console.error(`failed: ${error.message}`);
  process.exitCode = 1;
}
