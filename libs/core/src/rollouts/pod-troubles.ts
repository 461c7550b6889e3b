import type { PodTrouble } from './rollout.ts';
import { kubeletText } from './kubelet-text.ts';

/** As much of a Pod as is looked at. It comes from the API server, whose schema holds for it. */
export interface PodSeen {
  readonly metadata: { readonly name: string };
  readonly status?: {
    readonly initContainerStatuses?: readonly ContainerSeen[] | undefined;
    readonly containerStatuses?: readonly ContainerSeen[] | undefined;
  };
}

interface ContainerSeen {
  readonly name: string;
  readonly state?: {
    readonly waiting?: { readonly reason?: string; readonly message?: string };
    readonly terminated?: { readonly reason?: string; readonly exitCode?: number };
  };
}

const MOST_PODS = 5;
/** What the API calls a reason: a word, no text. */
const WORD = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/u;
/**
 * The reasons to wait whose message is of the kubelet's own words, of names and of the registry's answer. Others can
 * quote what a container was given or has printed: its command line (`RunContainerError`), its hook (`PostStartHookError`).
 */
const OWN_WORDS: ReadonlySet<string> = new Set([
  'ContainerCreating',
  'CrashLoopBackOff',
  'CreateContainerConfigError',
  'ErrImageNeverPull',
  'ErrImagePull',
  'ImageInspectError',
  'ImagePullBackOff',
  'InvalidImageName',
  'PodInitializing',
  'RegistryUnavailable',
  'SignatureValidationFailed',
]);
/** Paths of `subPathExpr`, expanded: made of environment variables. */
const QUOTED_PATH = /`[^`]*`?/gu;

/**
 * Why the pods do not run: of each that has a container which waits or has failed the first of these, at most five. Of a
 * container that ended only reason and exit code: its message is the container's own text, its last log lines perhaps.
 */
export function podTroubles(pods: readonly PodSeen[]): PodTrouble[] {
  return pods.flatMap((pod) => troubleOf(pod) ?? []).slice(0, MOST_PODS);
}

function troubleOf({ metadata, status }: PodSeen): PodTrouble | undefined {
  const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  const troubles = containers.flatMap((container) => {
    const why = whyNotRunning(container);
    return why ? [{ name: metadata.name, container: container.name, ...why }] : [];
  });
  // A container that waits for another says less than that one.
  return troubles.find(({ reason }) => reason !== 'PodInitializing') ?? troubles[0];
}

function whyNotRunning({ state = {} }: ContainerSeen): Pick<PodTrouble, 'reason' | 'message'> | undefined {
  const { waiting, terminated } = state;
  if (waiting) return { reason: word(waiting.reason), message: messageOf(waiting) };
  if (!terminated || terminated.exitCode === 0) return undefined;
  return { reason: word(terminated.reason), message: `exit code ${terminated.exitCode ?? 'unknown'}` };
}

function messageOf({ reason = '', message = '' }: { reason?: string; message?: string }): string {
  return OWN_WORDS.has(reason) ? kubeletText(message.replace(QUOTED_PATH, '…')) : '';
}

function word(value = ''): string {
  return WORD.test(value) ? value : '';
}
