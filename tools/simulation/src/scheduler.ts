/** A simulated process. What belongs to it no longer runs once it is killed. */
export interface Owner {
  readonly name: string;
  isAlive: boolean;
}
export interface Scheduler {
  /** Virtual Unix milliseconds. */
  now(): number;
  /** Seeded, in [0, 1). */
  random(): number;
  /** Runs the action once after so many virtual milliseconds (0: as soon as what runs now has ended), unless its owner was killed by then. `undefined` as owner: the world itself. Returns what cancels it. */
  after(milliseconds: number, owner: Owner | undefined, action: () => void): () => void;
}
