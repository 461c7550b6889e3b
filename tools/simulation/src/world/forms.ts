/** In which form the API servers serve pod templates: those of another version have another default in it. */

/** Whether the next write of a workload can be told from the same template in another form. */
export class Forms {
  #changedAt = -Infinity;
  #isMixed = false;

  /** A server was upgraded. `isMixed`: not all are, so any connection may lead to another form. */
  upgraded({ now, isMixed }: { now: number; isMixed: boolean }): void {
    this.#changedAt = now;
    this.#isMixed = isMixed;
  }

  /** `writtenAt`: when it was written before, in virtual milliseconds. */
  isInDoubt(writtenAt: number): boolean {
    return this.#isMixed || writtenAt <= this.#changedAt;
  }
}
