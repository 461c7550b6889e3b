/** Returns the value of a line `name:value` of INFO. */
export function fieldOf(info: string, name: string): string | undefined {
  const line = info.split('\r\n').find((each) => each.startsWith(`${name}:`));
  return line?.slice(name.length + 1);
}
