import type { Registry } from 'prom-client';
import { OPERATIONS } from '../../api/operations.ts';
import { counter, gauge, histogram } from './registry.ts';
import { heartbeatErrors, redisMetrics } from './shared.ts';

const OPERATION_IDS = Object.keys(OPERATIONS);
const CODE_CLASSES = ['2xx', '4xx', '5xx'];

export type AdminMetrics = ReturnType<typeof adminMetrics>;

export function adminMetrics(registry: Registry) {
  return {
    ...redisMetrics(registry),
    heartbeatErrors: heartbeatErrors(registry),
    requests: counter(registry, {
      name: 'reroll_api_requests_total',
      help: 'API requests, by operation and class of status code.',
      labels: { operation: [...OPERATION_IDS, 'none'], code: CODE_CLASSES },
    }),
    duration: histogram(registry, {
      name: 'reroll_api_request_duration_seconds',
      help: 'Response time of the API, by operation, without server-sent events.',
      labels: { operation: OPERATION_IDS },
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15],
    }),
    reviews: counter(registry, {
      name: 'reroll_api_reviews_total',
      help: 'TokenReviews and SubjectAccessReviews by the API server, by result, without cached answers.',
      labels: { review: ['token', 'access'], result: ['allowed', 'denied', 'error'] },
    }),
    refused: counter(registry, {
      name: 'reroll_api_refused_total',
      help: 'API requests rejected before they were read, by reason.',
      labels: { reason: ['address_rate', 'actor_rate', 'cross_site'] },
    }),
    ...historyMetrics(registry),
  };
}

function historyMetrics(registry: Registry) {
  return {
    historyFailures: counter(registry, {
      name: 'reroll_history_failures_total',
      help: 'Failed attempts to read the history. They are retried until one succeeds.',
    }),
    historyUnusable: counter(registry, {
      name: 'reroll_history_unusable_total',
      help: 'History entries skipped because they could not be parsed.',
    }),
    historyEntries: gauge(registry, {
      name: 'reroll_history_entries',
      help: 'History entries in memory, by stream.',
      labels: { stream: ['changes', 'outcomes', 'rollouts', 'audit'] },
    }),
    eventStreams: gauge(registry, {
      name: 'reroll_event_streams',
      help: 'Open streams of server-sent events.',
    }),
    eventStreamsEnded: counter(registry, {
      name: 'reroll_event_streams_ended_total',
      help: 'Closed streams of server-sent events, by reason.',
      labels: { reason: ['gone', 'slow', 'right', 'error', 'shutdown'] },
    }),
  };
}
