/** What a role adds to the monitoring of Redis' memory. */
export class RoomHooks {
  /** Whether this process trims the history before Redis is full. */
  trims: () => boolean = () => false;
  /** Called when Redis has no room for a history any more, or has it again. */
  onRoom: (isFull: boolean) => void = () => undefined;
}
