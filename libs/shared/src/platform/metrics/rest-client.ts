/** Metrics of requests to the Kubernetes API, under client-go's names. */
import type { Registry } from 'prom-client';
import { counter, histogram } from './registry.ts';

export function restClientMetrics(registry: Registry) {
  return {
    /** `code` is the HTTP status, or `<error>` without a response. */
    requests: counter(registry, {
      name: 'rest_client_requests_total',
      help: 'HTTP requests to the Kubernetes API, by status code, method and host.',
      labels: { code: [], method: [], host: [] },
    }),
    duration: histogram(registry, {
      name: 'rest_client_request_duration_seconds',
      help: 'Duration of HTTP requests to the Kubernetes API, by verb and host.',
      labels: { verb: [], host: [] },
      buckets: [0.001, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30],
    }),
  };
}

const METHODS: Readonly<Record<string, string>> = {
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
};

/** Returns an observer that counts each request. `host` is called at every request, since the client may be made later. */
export function observeRequests(
  registry: Registry,
  host: () => string,
): (request: { verb: string; status: number; durationMs: number }) => void {
  const { requests, duration } = restClientMetrics(registry);
  return ({ verb, status, durationMs }) => {
    const labels = { host: host() };
    requests.inc({
      ...labels,
      code: status === 0 ? '<error>' : String(status),
      method: METHODS[verb] ?? 'GET',
    });
    duration.observe({ ...labels, verb }, durationMs / 1000);
  };
}
