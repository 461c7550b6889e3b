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
      help: 'Number of API requests, by operation and class of status code.',
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
      help: 'Number of reviews of tokens (TokenReview) and access (SubjectAccessReview) by the API server, by result. Cached answers do not count.',
      labels: { review: ['token', 'access'], result: ['allowed', 'denied', 'error'] },
    }),
    refused: counter(registry, {
      name: 'reroll_api_refused_total',
      help: 'Number of API requests rejected before they were read, by reason.',
      labels: { reason: ['address_rate', 'actor_rate', 'cross_site'] },
    }),
    ...historyMetrics(registry),
  };
}

function historyMetrics(registry: Registry) {
  return {
    historyFailures: counter(registry, {
      name: 'reroll_history_failures_total',
      help: 'Number of failed attempts to read the history. They are retried until one succeeds.',
    }),
    historyUnusable: counter(registry, {
      name: 'reroll_history_unusable_total',
      help: 'Number of history entries that were skipped because they could not be parsed.',
    }),
    historyEntries: gauge(registry, {
      name: 'reroll_history_entries',
      help: 'Number of history entries in memory, by stream.',
      labels: { stream: ['changes', 'outcomes', 'rollouts', 'audit'] },
    }),
    eventStreams: gauge(registry, {
      name: 'reroll_event_streams',
      help: 'Number of open streams of server-sent events.',
    }),
    eventStreamsEnded: counter(registry, {
      name: 'reroll_event_streams_ended_total',
      help: 'Number of closed streams of server-sent events, by reason.',
      labels: { reason: ['gone', 'slow', 'right', 'error', 'shutdown'] },
    }),
  };
}
