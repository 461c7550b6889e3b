/** What a role adds to the monitoring of Redis' memory. */
export class RoomHooks {
  /** Whether this process trims the history before Redis is full. */
  trims: () => boolean = () => false;
  /** Called when Redis runs out of room for the history, and when it has room again. */
  onRoom: (isFull: boolean) => void = () => undefined;
}
