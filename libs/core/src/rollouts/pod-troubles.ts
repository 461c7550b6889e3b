import type { PodTrouble } from './rollout.ts';
import { kubeletText } from './kubelet-text.ts';

/** The parts of a Pod that are read. They come from the API server, which validates them. */
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
/** A reason in the sense of the API: one word, no free text. */
const WORD = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/u;
/**
 * Waiting reasons whose message consists of the kubelet's own words, names and the registry's answer. Other messages can quote what
 * a container was given or printed: its command line (`RunContainerError`) or its hook (`PostStartHookError`).
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
/** Expanded paths of `subPathExpr`, which are made of environment variables. */
const QUOTED_PATH = /`[^`]*`?/gu;

/**
 * Returns why the pods do not run: for each pod with a waiting or failed container the first cause, at most five. Of a container
 * that ended only the reason and exit code, because its message is the container's own text, perhaps its last log lines.
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
  // A container that waits for another one says less than that other one.
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
