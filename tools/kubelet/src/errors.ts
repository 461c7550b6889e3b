/** What the machine or a pod does not allow: the message says what was expected and what was found. */
export class KubeletError extends Error {
  override readonly name = 'KubeletError';
}

/** A pod asks for something that is not there (yet): its container waits with this reason, and is tried again. */
export class NotYet extends Error {
  override readonly name = 'NotYet';
  /** As kubelets name it: `CreateContainerConfigError`, `ErrImagePull`, `ContainerCreating`. */
  readonly reason: string;

  constructor(reason: string, message: string) {
    super(message);
    this.reason = reason;
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
