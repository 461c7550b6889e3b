import { STATES } from './words.ts';
import { refOf, spoken, type Ref } from './names.ts';
import type { LiveEvent } from './state/live.ts';

const CAUSE_SENTENCES = {
  updated: 'changed',
  created: 'was created',
  deleted: 'was deleted',
  missed: 'changed while no watcher saw it',
  repeated: 'was processed again',
  manual: '',
} as const;

const ROLLOUT_SENTENCES = {
  progressing: 'is rolling out',
  complete: 'rolled out',
  stuck: 'is stuck: its new pods do not become ready',
} as const;

/** An event of the stream as a sentence; undefined if it is none that a reader follows. */
export function sentenceOf(event: LiveEvent): string | undefined {
  switch (event.name) {
    case 'change': {
      const { source, cause, request } = event.data;
      if (!source) return `${request?.actor ?? 'Somebody'} requested a reload`;
      return `${spoken(source)} ${CAUSE_SENTENCES[cause]}`;
    }
    case 'outcome':
      return `${spoken(event.data.workload)}: ${STATES[event.data.state].word.toLowerCase()}`;
    case 'rollout':
      return `${spoken(event.data.workload)} ${ROLLOUT_SENTENCES[event.data.rollout.state]}`;
    case 'audit':
      return `${event.data.actor}: ${event.data.action} on ${event.data.target}`;
    default:
      return undefined;
  }
}

/** What the event is about, for a link; undefined: nothing that has a page. */
export function subjectOf(
  event: LiveEvent,
): { page: 'changes'; id: string } | { page: 'workloads'; ref: Ref } | undefined {
  switch (event.name) {
    case 'change':
      return { page: 'changes', id: event.data.id };
    case 'outcome':
    case 'rollout':
      return { page: 'workloads', ref: event.data.workload };
    default:
      return undefined;
  }
}

/** Whether a reader who has chosen a namespace is shown the event; empty: all. What is of no namespace concerns everybody. */
export function isShownIn(namespace: string, event: LiveEvent): boolean {
  return namespace === '' || [namespace, undefined].includes(namespaceOf(event));
}

function namespaceOf(event: LiveEvent): string | undefined {
  switch (event.name) {
    case 'change':
      return (event.data.source ?? event.data.workload)?.namespace;
    case 'outcome':
    case 'rollout':
      return event.data.workload.namespace;
    case 'audit':
      return refOf(event.data.target)?.namespace;
    default:
      return undefined;
  }
}

export function timeOf(event: LiveEvent): string | undefined {
  if (event.name === 'change') return event.data.seenAt;
  return event.name === 'reset' ? undefined : event.data.at;
}
